/* ngc_probe.c - see ngc_recorder.h. */
#include <string.h>

#include "ngc_recorder.h"

enum { LINE_BYTES = 64 };

static void touch_line(ngc_recorder *recorder, uint64_t line)
{
    size_t at = (size_t)((line * UINT64_C(0x9FB21C651E98DF25)) >> 32) & (recorder->n_slots - 1);
    for (size_t i = 0; i < recorder->n_slots; i++) {
        uint64_t *slot = &recorder->lines[(at + i) & (recorder->n_slots - 1)];
        if (*slot == line) {
            return;
        }
        if (*slot == 0) {
            *slot = line;
            recorder->probe->cache_lines++;
            return;
        }
    }
}

void ngc_recorder_touch(ngc_recorder *recorder, const void *bytes, size_t n_bytes)
{
    if (recorder->lines == NULL) {
        return;
    }
    uint64_t first = (uint64_t)(uintptr_t)bytes / LINE_BYTES;
    uint64_t last = ((uint64_t)(uintptr_t)bytes + n_bytes - 1) / LINE_BYTES;
    for (uint64_t line = first; line <= last; line++) {
        touch_line(recorder, line);
    }
}

static int stands_before(const ngc_candidate *a, const ngc_candidate *b, int by_token)
{
    if (a->score != b->score) {
        return a->score > b->score;
    }
    return by_token && a->token < b->token;
}

void ngc_row_show(ngc_row *row, int32_t token, int32_t count, int64_t weight, int64_t score,
                  int by_token)
{
    ngc_candidate seen = {token, count, weight, score};
    int32_t at = row->n_shown;
    while (at > 0 && stands_before(&seen, &row->shown[at - 1], by_token)) {
        at--;
    }
    if (at == NGC_SHOWN) {
        return;
    }
    int32_t last = row->n_shown < NGC_SHOWN ? row->n_shown++ : NGC_SHOWN - 1;
    memmove(&row->shown[at + 1], &row->shown[at], (size_t)(last - at) * sizeof row->shown[0]);
    row->shown[at] = seen;
}

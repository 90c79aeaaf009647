/* ngc_probe.c - see ngc_recorder.h. */
#include <string.h>

#include "ngc_inside.h"

enum { LINE_BYTES = 64, FIRST_SLOTS = 1 << 10 };

void ngc_recorder_init(ngc_recorder *recorder, ngc_allocator *allocator, ngc_probe *probe)
{
    memset(recorder, 0, sizeof *recorder);
    recorder->allocator = allocator;
    recorder->probe = probe;
    ngc_recorder_begin(recorder);
}

void ngc_recorder_destroy(ngc_recorder *recorder)
{
    ngc_free(recorder->allocator, recorder->lines, recorder->n_slots * sizeof *recorder->lines,
             NGC_KIND_OTHER);
    recorder->lines = NULL;
    recorder->n_slots = 0;
}

void ngc_recorder_begin(ngc_recorder *recorder)
{
    memset(recorder->probe, 0, sizeof *recorder->probe);
    recorder->n_touches = 0;
    recorder->n_lines = 0;
    recorder->n_drafted = 0;
    recorder->failed = false;
    recorder->stamp++;
    if (recorder->stamp == 0) { /* after 2^32 calls */
        ngc_recorder_destroy(recorder);
        recorder->stamp = 1;
    }
}

/* ---- lines ---- */

/* Where a line stands, or would. */
static ngc_line *place_of(const ngc_recorder *recorder, uint64_t line)
{
    size_t mask = recorder->n_slots - 1;
    size_t at = (size_t)((line * UINT64_C(0x9FB21C651E98DF25)) >> 32) & mask;
    while (recorder->lines[at].stamp == recorder->stamp && recorder->lines[at].line != line) {
        at = (at + 1) & mask;
    }
    return &recorder->lines[at];
}

/* Room for one more line, a third of the table at least being free. */
static bool make_room(ngc_recorder *recorder)
{
    if ((size_t)recorder->n_lines < recorder->n_slots / 3 * 2) {
        return true;
    }
    ngc_recorder bigger = *recorder;
    bigger.n_slots = recorder->n_slots == 0 ? FIRST_SLOTS : 2 * recorder->n_slots;
    size_t bytes = bigger.n_slots * sizeof *bigger.lines;
    bigger.lines = ngc_alloc(recorder->allocator, bytes, NGC_KIND_OTHER);
    if (bigger.lines == NULL) {
        recorder->failed = true;
        return false;
    }
    memset(bigger.lines, 0, bytes);
    for (size_t i = 0; i < recorder->n_slots; i++) {
        if (recorder->lines[i].stamp == recorder->stamp) {
            *place_of(&bigger, recorder->lines[i].line) = recorder->lines[i];
        }
    }
    ngc_recorder_destroy(recorder);
    recorder->lines = bigger.lines;
    recorder->n_slots = bigger.n_slots;
    return true;
}

static void touch_line(ngc_recorder *recorder, uint64_t line, ngc_touch *touch)
{
    if (!make_room(recorder)) {
        return;
    }
    ngc_line *place = place_of(recorder, line);
    touch->is_first = place->stamp != recorder->stamp;
    if (touch->is_first) {
        *place = (ngc_line){line, recorder->stamp, recorder->n_lines++};
        recorder->probe->cache_lines++;
    }
    touch->line = place->number;
}

/* ---- touches ---- */

static void count(ngc_probe *probe, int32_t what)
{
    switch (what) {
    case NGC_TOUCH_NODE:
    case NGC_TOUCH_SLOT:
    case NGC_TOUCH_CELL:
    case NGC_TOUCH_LINE:
        probe->visited_nodes++;
        break;
    case NGC_TOUCH_SCANNED:
        probe->scanned++;
        break;
    case NGC_TOUCH_SCORED:
        probe->scored++;
        break;
    case NGC_TOUCH_COPIED:
        probe->copied++;
        break;
    case NGC_TOUCH_SEARCHED:
    case NGC_TOUCH_MAP_NODE:
        probe->search_steps++;
        break;
    default:
        break;
    }
}

/* Candidates are searched for among the static followers of the last two tokens, whichever
 * cache they come from. */
static bool is_search(int32_t what)
{
    return what == NGC_TOUCH_SEARCHED || what == NGC_TOUCH_FINAL ||
           what == NGC_TOUCH_MAP_BUCKET || what == NGC_TOUCH_MAP_NODE;
}

/* One touch a line. */
static void touch_lines(ngc_recorder *recorder, ngc_touch *touch, const void *array,
                        const void *item, size_t n_bytes)
{
    if (recorder->only_rows) {
        return;
    }
    uint64_t first = (uint64_t)(uintptr_t)item / LINE_BYTES;
    uint64_t last = ((uint64_t)(uintptr_t)item + n_bytes - 1) / LINE_BYTES;
    uint64_t start = (uint64_t)(uintptr_t)array / LINE_BYTES;
    bool is_static = is_search(touch->what);
    touch->cache = is_static ? (int32_t)NGC_FROM_STATIC : recorder->from;
    touch->n = is_static ? 2 : recorder->n;
    touch->step = recorder->n_drafted;
    count(recorder->probe, touch->what);
    for (uint64_t line = first; line <= last; line++) {
        touch->part = (int32_t)(line - first);
        touch->array_line = array == NULL ? -1 : (int64_t)(line - start);
        touch_line(recorder, line, touch);
        if (recorder->n_touches < recorder->capacity) {
            recorder->touches[recorder->n_touches] = *touch;
        }
        recorder->n_touches++;
    }
}

void ngc_recorder_touch(ngc_recorder *recorder, int32_t what, const void *array, const void *item,
                        size_t n_bytes, int64_t index, int64_t value)
{
    ngc_touch touch = {.what = what, .index = index, .value = value, .n_items = 1};
    touch_lines(recorder, &touch, array, item, n_bytes);
}

void ngc_recorder_search(ngc_recorder *recorder, const void *pairs, size_t index, size_t n_pairs,
                         int32_t token)
{
    const ngc_pair *compared = (const ngc_pair *)pairs + index;
    ngc_touch touch = {
        .what = NGC_TOUCH_SEARCHED,
        .index = (int64_t)index,
        .value = compared->token,
        .n_items = (int32_t)n_pairs,
    };
    for (size_t i = 0; i < n_pairs; i++) {
        touch.n_below += compared[i].token < token;
    }
    touch_lines(recorder, &touch, pairs, compared, n_pairs * sizeof *compared);
}

void ngc_recorder_compare(ngc_recorder *recorder, const void *array, const void *item,
                          size_t n_bytes, size_t index, int32_t value, bool is_below)
{
    ngc_touch touch = {
        .what = NGC_TOUCH_SEARCHED,
        .index = (int64_t)index,
        .value = value,
        .n_items = 1,
        .n_below = is_below,
    };
    touch_lines(recorder, &touch, array, item, n_bytes);
}

/* ---- sums ---- */

_Static_assert(sizeof(ngc_probe) % sizeof(int64_t) == 0, "a probe is counters and nothing else");

void ngc_probe_add(ngc_probe *sum, const ngc_probe *probe)
{
    enum { N_COUNTERS = sizeof *sum / sizeof(int64_t) };
    int64_t sums[N_COUNTERS], added[N_COUNTERS];
    memcpy(sums, sum, sizeof sums);
    memcpy(added, probe, sizeof added);
    for (size_t i = 0; i < N_COUNTERS; i++) {
        sums[i] += added[i];
    }
    memcpy(sum, sums, sizeof sums);
}

/* ---- rows ---- */

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

/* ngc_probe.c - what a recorded step keeps of a row's followers. */
#include "ngc_internal.h"

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

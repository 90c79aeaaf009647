/* ngc_scan.h - the loops over the followers of one n-gram: the part of the draft rule that runs
 * once a candidate.
 *
 * There is a loop for each way followers (VIEW) and static followers (WEIGHTS) are stored, all
 * compiled from ngc_scan_template.h into ngc_scan.c; the rule calls one of them once a row.
 */
#ifndef NGC_SCAN_H
#define NGC_SCAN_H

#include "ngc_followers_chained.h"
#include "ngc_packed.h"
#include "ngc_slice.h"
#include "ngc_summed.h"

typedef struct ngc_best {
    int32_t token; /* NGC_NO_TOKEN: no score was above 0 */
    int32_t count;
    int64_t score;
    int64_t sum;
} ngc_best;

/* The numbers and switches of one row. */
typedef struct ngc_scoring {
    int32_t factor; /* weights are this times the static count; never 0 */
    int32_t search;
    bool exact;
    bool by_token;
} ngc_scoring;

/* The follower with the highest score, the first of equals, and the sum of all counts. `row` and
 * `recorder` are NULL where nothing is recorded. */
#define NGC_SCAN(VIEW, WEIGHTS)                                                                    \
    ngc_best ngc_scan_##VIEW##_##WEIGHTS(VIEW##_view followers, WEIGHTS##_view weights,            \
                                         const ngc_scoring *scoring, ngc_row *row,                 \
                                         ngc_recorder *recorder);                                  \
    ngc_best ngc_scan_##VIEW##_##WEIGHTS##_recorded(VIEW##_view followers, WEIGHTS##_view weights, \
                                                    const ngc_scoring *scoring, ngc_row *row,      \
                                                    ngc_recorder *recorder);
NGC_SCAN(chained, chained)
NGC_SCAN(chained, slice)
NGC_SCAN(chained, packed)
NGC_SCAN(slice, slice)
NGC_SCAN(slice, packed)
NGC_SCAN(summed, slice)
NGC_SCAN(summed, packed)
NGC_SCAN(summed, summed)
#undef NGC_SCAN

/* The follower with the highest count and the sum: the static fallback, and the check before
 * scoring. */
ngc_best ngc_top_chained(chained_view followers, bool by_token, ngc_recorder *recorder);
ngc_best ngc_top_chained_recorded(chained_view followers, bool by_token, ngc_recorder *recorder);
ngc_best ngc_top_slice(slice_view followers, bool by_token, ngc_recorder *recorder);
ngc_best ngc_top_slice_recorded(slice_view followers, bool by_token, ngc_recorder *recorder);

/* Where both are kept with the followers nothing is scanned; ties go by token there. */
#define NGC_TOP(NAME, VIEW, TOP_TOKEN, TOP_COUNT)                                                  \
    NGC_INLINE ngc_best NAME(VIEW##_view followers, bool by_token, ngc_recorder *recorder)         \
    {                                                                                              \
        (void)by_token;                                                                            \
        (void)recorder;                                                                            \
        return (ngc_best){followers.TOP_TOKEN, followers.TOP_COUNT, followers.TOP_COUNT,           \
                          followers.sum};                                                          \
    }
NGC_TOP(ngc_top_packed, packed, top_token, top_count)
NGC_TOP(ngc_top_packed_recorded, packed, top_token, top_count)
NGC_TOP(ngc_top_summed, summed, top.token, top.count)
NGC_TOP(ngc_top_summed_recorded, summed, top.token, top.count)
#undef NGC_TOP

#endif

/* ngc_outlook.h - the outlook of an n-gram: what its followers can pass at most, in four bits.
 *
 *     bits 0, 1   the sum of the counts: 1, 2, 3, or 4 and more
 *     bits 2, 3   the share of the most frequent: below 50 %, below 66 %, below 75 %, or any
 *
 * The steps are where llama.cpp's thresholds stand. A table that keeps the outlook beside a key
 * knows without a look at the followers that a row must fail; where it may pass, they are read.
 * With other thresholds an outlook rules out less, never too much.
 */
#ifndef NGC_OUTLOOK_H
#define NGC_OUTLOOK_H

#include "ngc_internal.h"

enum { OUTLOOK_SUM = 3, OUTLOOK_SHARE = 12, OUTLOOK_MOST_SUM = 4 };
enum { OUTLOOK_HALF = 50, OUTLOOK_TWO_THIRDS = 66, OUTLOOK_THREE_QUARTERS = 75 };

/* Of followers that are there: `sum` is above 0. */
NGC_INLINE uint32_t ngc_outlook_of(int64_t sum, int32_t top_count)
{
    if (sum > INT64_MAX / NGC_MOST_PERCENT) {
        return OUTLOOK_SUM; /* no count has half of it */
    }
    int64_t share = (int64_t)100 * top_count;
    uint32_t steps = (uint32_t)(share >= OUTLOOK_HALF * sum) +
                     (uint32_t)(share >= OUTLOOK_TWO_THIRDS * sum) +
                     (uint32_t)(share >= OUTLOOK_THREE_QUARTERS * sum);
    return steps << 2 | (uint32_t)((sum < OUTLOOK_MOST_SUM ? sum : OUTLOOK_MOST_SUM) - 1);
}

/* The lowest outlook with which thresholds can be passed. */
NGC_INLINE uint32_t ngc_outlook_least(int32_t min_sum, int32_t min_percent)
{
    int32_t sum = min_sum < 1 ? 1 : min_sum > OUTLOOK_MOST_SUM ? OUTLOOK_MOST_SUM : min_sum;
    uint32_t steps = (uint32_t)(min_percent >= OUTLOOK_HALF) +
                     (uint32_t)(min_percent >= OUTLOOK_TWO_THIRDS) +
                     (uint32_t)(min_percent >= OUTLOOK_THREE_QUARTERS);
    return steps << 2 | (uint32_t)(sum - 1);
}

NGC_INLINE bool ngc_outlook_may_pass(uint32_t outlook, uint32_t least)
{
    return ((outlook & OUTLOOK_SUM) >= (least & OUTLOOK_SUM)) &
           ((outlook & OUTLOOK_SHARE) >= (least & OUTLOOK_SHARE));
}

#endif

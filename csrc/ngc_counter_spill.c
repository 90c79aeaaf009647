/* ngc_counter_spill.c - counts that need no order: a table that would grow beyond 64 MB is emptied
 * into sorted runs (ngc_runs.h), and filled again.
 *
 *     squeeze     the used slots, first in their block: each its 2-gram, its token and its count
 *     sort        and append to the runs
 *     clear       the table; or free it, after the last
 *     merge       the runs, after the last
 *
 * So a pair of a 2-gram and a follower takes 4 or 5 bytes instead of a slot of 16 in a table that is
 * not full; and the table, being small, is seldom missed by the processor's caches.
 */
#include "ngc_counter_parts.h"

void ngc_counter_begin_spilling(ngc_counter *counter)
{
    counter->spilling = SQUEEZING;
    counter->at = 0;
    counter->length = 0;
}

static int32_t greater(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static radix_record take_slot(ngc_counter *counter, const counter_slot *slot)
{
    const int32_t *tokens = counter->ids.tokens;
    uint64_t key = counter_unspread(slot->key);
    int32_t a = tokens[key >> (2 * ID_BITS)], b = tokens[key >> ID_BITS & MOST_IDS];
    int32_t follower = tokens[key & MOST_IDS];
    counter->greatest = greater(greater(counter->greatest, a), greater(b, follower));
    return (radix_record){(uint64_t)(uint32_t)a << 32 | (uint32_t)b, (uint32_t)follower,
                          slot->count};
}

static void squeeze_slice(ngc_counter *counter, size_t n_slots)
{
    size_t n_all = counter->slots_bytes / sizeof(counter_slot);
    for (; n_slots > 0 && counter->at < n_all; n_slots--, counter->at++) {
        if (counter->slots[counter->at].key != 0) {
            counter->slots[counter->length++] = take_slot(counter, &counter->slots[counter->at]);
        }
    }
    if (counter->at == n_all) {
        ngc_runs_take(&counter->runs, counter->slots, counter->length, counter->greatest);
        counter->spilling = SORTING;
        counter->at = 0;
    }
}

ngc_status ngc_counter_spill_slice(ngc_counter *counter, size_t n_slots)
{
    if (counter->spilling == SQUEEZING) {
        squeeze_slice(counter, n_slots);
        return NGC_OK;
    }
    ngc_status status = ngc_runs_slice(&counter->runs, n_slots);
    if (status == NGC_OK && !ngc_runs_busy(&counter->runs)) {
        if (counter->phase == COUNTING) {
            memset(counter->slots, 0, counter->slots_bytes);
        } else {
            ngc_counter_free_slots(counter);
        }
        counter->length = 0;
        counter->spilling = SPILLED;
    }
    return status;
}

ngc_status ngc_counter_finish_runs(ngc_counter *counter, size_t n_slots)
{
    if (counter->phase == SPILL && counter->slots == NULL) {
        counter->phase = MERGE;
        ngc_runs_merge(&counter->runs);
    } else if (counter->phase == SPILL && counter->spilling == SPILLED) {
        ngc_counter_begin_spilling(counter);
    } else if (counter->phase == SPILL) {
        return ngc_counter_spill_slice(counter, n_slots);
    } else if (ngc_runs_busy(&counter->runs)) {
        return ngc_runs_slice(&counter->runs, n_slots);
    } else {
        counter->phase = GROUPED;
    }
    return NGC_OK;
}

static double fraction_of_spilling(const ngc_counter *counter)
{
    bool ends = counter->slots == NULL || counter->runs.phase == RUNS_MERGE;
    return ends ? 1 : counter->spilling == SORTING ? ngc_runs_fraction(&counter->runs) : 0;
}

double ngc_counter_runs_fraction(const ngc_counter *counter)
{
    const double spilling = 0.3;
    switch (counter->phase) {
    case SPILL:
        return spilling * fraction_of_spilling(counter);
    case MERGE:
        return spilling + (1 - spilling) * ngc_runs_fraction(&counter->runs);
    case GROUPED:
        return 1;
    default:
        return 0;
    }
}

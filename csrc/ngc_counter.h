/* ngc_counter.h - counts the 2-grams of a corpus in bounded memory; the contract is in ngc.h. */
#ifndef NGC_COUNTER_H
#define NGC_COUNTER_H

#include "ngc_internal.h"
#include "ngc_order.h"
#include "ngc_runs.h"

/* What was counted, once finished: 2-grams in the order of their first occurrence, each with its
 * followers in theirs.
 *
 *     keys     | a b | a b | ...            one a 2-gram
 *     starts   | 0 | 3 | 4 | ... | n_pairs  where its pairs begin
 *     pairs    | token count | ...
 */
typedef struct ngc_counts {
    size_t n_grams;
    size_t n_pairs;
    int32_t (*keys)[2];
    size_t *starts;
    ngc_pair *pairs;
} ngc_counts;

/* The list order of the 2-grams in llama.cpp's file, and scratch for that of followers. */
typedef struct ngc_save_order {
    uint32_t *next; /* of a 2-gram; NULL: not worked out */
    uint32_t head;
    size_t n_hashed;       /* 2-grams whose hash is known */
    ngc_ordering ordering; /* while it is worked out */
    size_t longest;        /* list that the scratch has room for */
    uint64_t *hashes;
    uint32_t *buckets;
    uint32_t *links;
} ngc_save_order;

void ngc_save_order_free(ngc_allocator *allocator, ngc_save_order *order, size_t n_grams);

ngc_allocator *ngc_counter_allocator(ngc_counter *counter);
ngc_save_order *ngc_counter_order(ngc_counter *counter);
bool ngc_counter_has_order(const ngc_counter *counter);
const ngc_counts *ngc_counter_counts(const ngc_counter *counter);

/* What was counted where no order was wanted, once finished; NULL otherwise. */
const ngc_runs *ngc_counter_runs(const ngc_counter *counter);

/* For tests, before anything is counted where no order is wanted: spills a table of so many homes,
 * 64 or more. */
void ngc_counter_bound(ngc_counter *counter, size_t n_homes);

#endif

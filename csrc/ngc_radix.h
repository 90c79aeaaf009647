/* ngc_radix.h - sorts records of 16 bytes where they lie, by digits of 8 bits, in slices.
 *
 * Source: McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993).
 */
#ifndef NGC_RADIX_H
#define NGC_RADIX_H

#include "ngc_internal.h"

typedef struct radix_record {
    uint64_t key;
    uint32_t minor;
    uint32_t count;
} radix_record;

/* By key, then by minor: the most that each can be. 0: not by this one, whatever it is. */
typedef struct radix_order {
    uint64_t most_key;
    uint32_t most_minor;
} radix_order;

/* Eight bits of the key or of the minor, from `shift` on. */
typedef struct radix_digit {
    bool of_minor;
    uint32_t shift;
} radix_digit;

/* Records that are put into bins by one digit. It starts zeroed. */
typedef struct radix_binning {
    size_t heads[256]; /* where each bin's next record goes; first how many belong there */
    size_t ends[256];
    size_t n_counted;
    uint32_t digit; /* bins before this one are full */
} radix_binning;

/* The highest digit: the bins of the lowest numbers are small then. */
radix_digit ngc_radix_first(radix_order order);

/* Goes on with it for some n_more records; true when all are in their bins. */
bool ngc_radix_bin_slice(radix_binning *bins, radix_record *records, size_t n, size_t n_more,
                         radix_digit digit);

/* Sorts by all digits below this one. */
void ngc_radix_sort_below(radix_record *records, size_t n, radix_order order, radix_digit digit);

#endif

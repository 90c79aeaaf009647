/* ngc_buckets.c - see ngc_buckets.h.
 *
 * libstdc++ doubles and takes the next prime of its own table, which skips many; these are the
 * values it then visits. Beyond them it would be out of 32-bit memory; growth stops there.
 */
#include "ngc_buckets.h"

#include <stdint.h>

static const uint32_t sizes[] = {
    1,         13,        29,        59,        127,        257,       541,
    1109,      2357,      5087,      10273,     20753,      42043,     85229,
    172933,    351061,    712697,    1447153,   2938679,    5967347,   12117689,
    24607243,  49969847,  101473717, 206062531, 418451333,  849749479, 1725587117,
    3504151727,
};

enum { N_SIZES = sizeof sizes / sizeof sizes[0] };

size_t ngc_next_buckets(size_t n_buckets)
{
    for (size_t i = 0; i + 1 < N_SIZES; i++) {
        if (sizes[i] >= n_buckets) {
            return sizes[i + 1];
        }
    }
    return n_buckets;
}

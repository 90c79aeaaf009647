/* ngc_bloom.h - a Bloom filter of hashes, one word a key: it says "not in" without fail, and "in"
 * for a few that are not.
 *
 *     word of a hash: its upper bits times n_words         bits of it: four, by its lowest 24 bits
 *
 * With eight bits a key some 4 of 100 absent ones are let through. Sources: Bloom, "Space/Time
 * Trade-offs in Hash Coding with Allowable Errors" (1970); for one block a key, Putze, Sanders and
 * Singler, "Cache-, Hash- and Space-Efficient Bloom Filters" (2007).
 */
#ifndef NGC_BLOOM_H
#define NGC_BLOOM_H

#include <stdbool.h>

#include "ngc_platform.h"

enum { NGC_BLOOM_KEYS_A_WORD = 8 };

NGC_INLINE size_t ngc_bloom_word(size_t n_words, uint64_t hash)
{
    return (size_t)ngc_platform_multiply_high(hash, n_words);
}

NGC_INLINE uint64_t ngc_bloom_bits(uint64_t hash)
{
    return UINT64_C(1) << (hash & 63) | UINT64_C(1) << (hash >> 6 & 63) |
           UINT64_C(1) << (hash >> 12 & 63) | UINT64_C(1) << (hash >> 18 & 63);
}

NGC_INLINE bool ngc_bloom_has(uint64_t word, uint64_t hash)
{
    return (~word & ngc_bloom_bits(hash)) == 0;
}

#endif

/* fixtures.h - texts, caches and comparisons that several tests share. */
#ifndef FIXTURES_H
#define FIXTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ngc.h"

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

/* Two short recipes as token ids; A is replayed, B is what was read before. */
extern const int32_t RECIPE_A[117];
extern const int32_t RECIPE_B[58];

/* Ids of the words that tests name. */
enum { THE = 1, FLOUR = 2, INTO = 3, BOWL = 4, AND = 7, STIR = 13, REST = 17, TIN = 22, BAKE = 23 };

/* Toggles of every kind: each structure with each other, each search, hash and score at least once.
 * The first is nocopy, the second upstream; NULL past the last one. */
const ngc_toggles *toggles_at(size_t i);

/* Those that a test of the kind EACH is run with now, once with each of them. */
extern const ngc_toggles *with_toggles;

/* Chained maps in chained maps. */
ngc_toggles toggles_of(int32_t copy_followers, int32_t ties, int32_t score);

/* The same numbers each time; ids 0..n_vocab - 1, in runs that repeat often enough to draft. */
void random_text(int32_t *text, size_t length, int32_t n_vocab, uint64_t seed);
uint64_t random_next(uint64_t *state);

/* A cache that counted a text token by token. */
ngc_cache *counted(const ngc_toggles *toggles, int32_t n_min, int32_t n_max, const int32_t *text,
                   size_t length);

/* The static cache of a corpus, of the kind that the toggles ask for. */
ngc_cache *counted_static(const ngc_toggles *toggles, const int32_t *corpus, size_t length);

/* Our own static file's structure, from a cache or from counts, so many 2-grams at once. */
ngc_status pack(const ngc_toggles *toggles, const ngc_cache *cache, const ngc_counter *counter,
                int64_t n_vocab, size_t n_at_once, ngc_cache **out);

/* A cache's file as one block of *bytes bytes, to be freed. */
uint8_t *saved(const ngc_cache *cache, size_t *bytes);

/* A cache from such a block, or NULL. */
ngc_cache *loaded(const ngc_toggles *toggles, const uint8_t *file, size_t bytes);

/* Equal n-grams, followers and counts; in any order, or in the same one. */
bool same_counts(const ngc_cache *a, const ngc_cache *b);
bool same_file(const ngc_cache *a, const ngc_cache *b);

/* Checks every invariant, and that the allocator holds what stands in the cache, no more. */
void check_sound(const ngc_cache *cache);

#endif

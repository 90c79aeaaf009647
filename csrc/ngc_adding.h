/* ngc_adding.h - adding to a cache in slices: a text's counts, or another cache's.
 *
 * All is added or nothing: what was added until the caller stops, or memory runs out, is taken back
 * in slices as well. What full counts did not take is noted on the way (ngc_lost.h).
 */
#ifndef NGC_ADDING_H
#define NGC_ADDING_H

#include "ngc_internal.h"
#include "ngc_lost.h"

struct ngc_adding {
    ngc_cache *cache;
    const ngc_cache *added; /* NULL: a text */
    uint64_t added_changes; /* that `added` had seen at first */
    const int32_t *text;
    size_t length_tokens;
    size_t n_new_tokens;
    bool takes_back;
    bool done;
    ngc_lost lost;
    /* Of a text: size of n-grams and place of the token to be counted next. Merging into a cache of
     * places: size and slot of the n-gram that comes next. */
    int32_t n;
    size_t place;
    /* Of a merge: n-grams passed. */
    ngc_cursor added_to;
    ngc_cursor taken_back_to;
    /* Merging into a cache of places alone; see ngc_places.c. */
    int32_t phase;
    size_t index;
    size_t n_added;
    size_t text_start;
    struct places_slot **found; /* where each n-gram stands */
    size_t n_found;
};

/* The public functions for one that stands in the caller's memory. */
ngc_status ngc_adding_init_merge(ngc_adding *adding, ngc_cache *cache, const ngc_cache *added);
void ngc_adding_destroy(ngc_adding *adding);

/* To the end in one go, or back to where it began; then destroys it. */
ngc_status ngc_adding_finish(ngc_adding *adding);

#endif

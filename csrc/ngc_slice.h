/* ngc_slice.h - followers as an array of (token, count), ascending by token, and four ways to
 * find a token in it.
 *
 *     pairs   | 3 x7 | 9 x1 | 12 x2 | 40 x1 | ...      8 bytes each, 8 to a cache line
 *
 * Each search gives the position of the first token that is not below the one wanted:
 *
 *   fixed        halves the length whatever it reads: the number of turns depends on the length
 *                alone, so the processor runs ahead of the loads (Hayder Tirmazi; the loop is
 *                the branchless binary search of Khuong and Morin, "Array layouts for
 *                comparison-based searching", 2017)
 *   lower_bound  the classic loop: what it reads decides how far it goes on
 *   linear       from the front
 *   simd         halves until few are left, then counts those below, four at a time
 */
#ifndef NGC_SLICE_H
#define NGC_SLICE_H

#include "ngc_bytes.h"
#include "ngc_internal.h"
#include "ngc_simd.h"

typedef struct ngc_slice {
    const ngc_pair *pairs; /* NULL: there is none */
    size_t length;
} ngc_slice;

/* ---- making ---- */

static inline int ngc_pair_compare(const void *a, const void *b)
{
    int32_t left = ((const ngc_pair *)a)->token;
    int32_t right = ((const ngc_pair *)b)->token;
    return (left > right) - (left < right);
}

/* Reads the pairs of a file, whatever their order, into an array of as many: ascending. */
static inline ngc_status ngc_pairs_take(ngc_pair *array, const uint8_t *pairs, size_t n_pairs)
{
    bool ascends = true;
    for (size_t i = 0; i < n_pairs; i++) {
        array[i].token = ngc_get_int32(pairs + NGC_PAIR_BYTES * i);
        array[i].count = ngc_get_int32(pairs + NGC_PAIR_BYTES * i + 4);
        ascends = ascends && (i == 0 || array[i - 1].token < array[i].token);
    }
    if (ascends) {
        return NGC_OK;
    }
    qsort(array, n_pairs, sizeof *array, ngc_pair_compare);
    for (size_t i = 1; i < n_pairs; i++) {
        if (array[i - 1].token == array[i].token) {
            return NGC_DUPLICATE;
        }
    }
    return NGC_OK;
}

/* ---- searching ---- */

/* All bits or none: a mask, not a condition, so that there is no branch to predict. */
NGC_INLINE size_t ngc_mask_if(bool holds)
{
    return ngc_platform_opaque((size_t)-(ptrdiff_t)holds);
}

NGC_INLINE size_t ngc_search_fixed(const ngc_pair *pairs, size_t length, int32_t token,
                                   ngc_recorder *recorder)
{
    if (length == 0) {
        return 0;
    }
    size_t base = 0;
    while (length > 1) {
        size_t half = length / 2;
        ngc_record_search(recorder, pairs, base + half, 1, token);
        base += half & ngc_mask_if(pairs[base + half].token < token);
        length -= half;
    }
    ngc_record_search(recorder, pairs, base, 1, token);
    return base + (size_t)(pairs[base].token < token);
}

NGC_INLINE size_t ngc_search_lower_bound(const ngc_pair *pairs, size_t length, int32_t token,
                                         ngc_recorder *recorder)
{
    size_t first = 0;
    while (length > 0) {
        size_t half = length / 2;
        ngc_record_search(recorder, pairs, first + half, 1, token);
        if (pairs[first + half].token < token) {
            first += half + 1;
            length -= half + 1;
        } else {
            length = half;
        }
    }
    return first;
}

NGC_INLINE size_t ngc_search_linear(const ngc_pair *pairs, size_t length, int32_t token,
                                    ngc_recorder *recorder)
{
    size_t i = 0;
    for (; i < length; i++) {
        ngc_record_search(recorder, pairs, i, 1, token);
        if (pairs[i].token >= token) {
            break;
        }
    }
    return i;
}

NGC_INLINE size_t ngc_search_simd(const ngc_pair *pairs, size_t length, int32_t token,
                                  ngc_recorder *recorder)
{
    size_t base = 0;
    while (length > 2 * NGC_SIMD_PAIRS) {
        size_t half = length / 2;
        ngc_record_search(recorder, pairs, base + half, 1, token);
        base += half & ngc_mask_if(pairs[base + half].token < token);
        length -= half;
    }
    for (size_t i = 0; recorder != NULL && i < length; i += NGC_SIMD_PAIRS) {
        size_t n_left = length - i;
        ngc_record_search(recorder, pairs, base + i, n_left < NGC_SIMD_PAIRS ? n_left : NGC_SIMD_PAIRS,
                          token);
    }
    return base + ngc_count_below(pairs + base, length, token);
}

NGC_INLINE size_t ngc_search(const ngc_pair *pairs, size_t length, int32_t token, int32_t search,
                             ngc_recorder *recorder)
{
    switch (search) {
    case NGC_SEARCH_LOWER_BOUND:
        return ngc_search_lower_bound(pairs, length, token, recorder);
    case NGC_SEARCH_LINEAR:
        return ngc_search_linear(pairs, length, token, recorder);
    case NGC_SEARCH_SIMD:
        return ngc_search_simd(pairs, length, token, recorder);
    default:
        return ngc_search_fixed(pairs, length, token, recorder);
    }
}

/* ---- as a view of followers: what the draft rule reads (ngc_scan.h) ---- */

typedef ngc_slice slice_view;
typedef const ngc_pair *slice_view_cursor;

NGC_INLINE slice_view slice_view_none(void)
{
    return (slice_view){NULL, 0};
}

NGC_INLINE bool slice_view_is_none(slice_view view)
{
    return view.pairs == NULL;
}

NGC_INLINE size_t slice_view_length(slice_view view)
{
    return view.length;
}

NGC_INLINE slice_view_cursor slice_view_first(slice_view view)
{
    return view.pairs;
}

NGC_INLINE bool slice_view_more(slice_view view, slice_view_cursor c)
{
    return c < view.pairs + view.length;
}

NGC_INLINE slice_view_cursor slice_view_next(slice_view_cursor c)
{
    return c + 1;
}

/* Writes down that a follower is touched. */
NGC_INLINE void slice_view_record(ngc_recorder *recorder, int32_t what, slice_view view,
                                  slice_view_cursor c)
{
    ngc_record(recorder, what, view.pairs, c, sizeof *c, c - view.pairs, c->token);
}

/* Writes down what making a copy touches. */
static inline void slice_view_record_copy(slice_view from, slice_view copy, ngc_recorder *recorder)
{
    for (size_t i = 0; i < from.length; i++) {
        ngc_record(recorder, NGC_TOUCH_COPIED, from.pairs, &from.pairs[i], sizeof *from.pairs,
                   (int64_t)i, from.pairs[i].token);
        ngc_record(recorder, NGC_TOUCH_COPY, copy.pairs, &copy.pairs[i], sizeof *copy.pairs,
                   (int64_t)i, copy.pairs[i].token);
    }
}

NGC_INLINE ngc_pair slice_view_at(slice_view view, slice_view_cursor c)
{
    (void)view;
    return *c;
}

/* Whether `search` means anything for this kind of view. */
NGC_INLINE bool slice_view_searched(void)
{
    return true;
}

/* Whether the highest count is known without a scan. */
NGC_INLINE bool slice_view_knows_top(void)
{
    return false;
}

/* The count of a token, 0 if it is absent. */
NGC_INLINE int32_t slice_view_count(slice_view view, int32_t token, int32_t search,
                                    ngc_recorder *recorder)
{
    size_t at = ngc_search(view.pairs, view.length, token, search, recorder);
    if (recorder != NULL && at < view.length) {
        ngc_record(recorder, NGC_TOUCH_FINAL, view.pairs, &view.pairs[at], sizeof *view.pairs,
                   (int64_t)at, view.pairs[at].token);
    }
    return at < view.length && view.pairs[at].token == token ? view.pairs[at].count : 0;
}

/* A copy in one piece: the toggle copy_followers for arrays. */
typedef ngc_slice slice_holder;

/* Holds nothing yet. */
NGC_INLINE void slice_holder_init(slice_holder *holder)
{
    *holder = slice_view_none();
}

NGC_INLINE ngc_status slice_holder_copy(ngc_allocator *allocator, slice_holder *holder,
                                        slice_view view)
{
    size_t bytes = view.length * sizeof *view.pairs;
    ngc_pair *pairs = ngc_alloc(allocator, bytes, NGC_KIND_FOLLOWERS);
    if (pairs == NULL) {
        return NGC_NO_MEMORY;
    }
    memcpy(pairs, view.pairs, bytes);
    *holder = (slice_holder){pairs, view.length};
    return NGC_OK;
}

NGC_INLINE slice_view slice_holder_view(const slice_holder *holder)
{
    return *holder;
}

NGC_INLINE void slice_holder_destroy(ngc_allocator *allocator, slice_holder *holder)
{
    ngc_free(allocator, (void *)(uintptr_t)holder->pairs, holder->length * sizeof *holder->pairs,
             NGC_KIND_FOLLOWERS);
}

#endif

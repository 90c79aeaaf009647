/* ngc_followers_sorted.h - followers of one n-gram as a growing array, ascending by token.
 *
 *     pairs --> | token count | token count | ... | room |      one malloc, 8 bytes a follower
 *
 * The array grows 1, 2, 4, 8, ...; a new token moves those behind it. Most n-grams have one
 * follower, so most arrays hold 8 bytes where a hash map takes 120 (a node of 16, buckets of 104).
 */
#ifndef NGC_FOLLOWERS_SORTED_H
#define NGC_FOLLOWERS_SORTED_H

#include "ngc_bytes.h"
#include "ngc_slice.h"

typedef struct sorted_followers {
    ngc_pair *pairs;
    uint32_t length;
    uint32_t capacity;
} sorted_followers;

typedef const ngc_pair *sorted_followers_cursor;

NGC_INLINE sorted_followers_cursor sorted_followers_first(const sorted_followers *f)
{
    return f->pairs;
}

NGC_INLINE bool sorted_followers_more(const sorted_followers *f, sorted_followers_cursor c)
{
    return c < f->pairs + f->length;
}

NGC_INLINE sorted_followers_cursor sorted_followers_next(sorted_followers_cursor c)
{
    return c + 1;
}

NGC_INLINE slice_view sorted_followers_view(const sorted_followers *f)
{
    return (slice_view){f->pairs, f->length};
}

NGC_INLINE void sorted_followers_init(sorted_followers *f)
{
    *f = (sorted_followers){NULL, 0, 0};
}

/* Nothing in it points to itself: it may be moved as bytes. */
NGC_INLINE void sorted_followers_moved(sorted_followers *f)
{
    (void)f;
}

NGC_INLINE void sorted_followers_destroy(ngc_allocator *allocator, sorted_followers *f)
{
    ngc_free(allocator, f->pairs, f->capacity * sizeof *f->pairs, NGC_KIND_FOLLOWERS);
}

static inline int64_t sorted_followers_slack_bytes(const ngc_allocator *allocator,
                                                   int64_t n_followers)
{
    return allocator->kind_bytes[NGC_KIND_FOLLOWERS] - n_followers * (int64_t)sizeof(ngc_pair);
}

NGC_INLINE int32_t *sorted_followers_find(const sorted_followers *f, int32_t token, int32_t search)
{
    size_t at = ngc_search(f->pairs, f->length, token, search, NULL);
    return at < f->length && f->pairs[at].token == token ? &f->pairs[at].count : NULL;
}

NGC_INLINE ngc_status sorted_followers_copy(ngc_allocator *allocator, sorted_followers *dst,
                                            const sorted_followers *src)
{
    sorted_followers_init(dst);
    size_t bytes = src->length * sizeof *src->pairs;
    ngc_pair *pairs = ngc_alloc(allocator, bytes, NGC_KIND_FOLLOWERS);
    if (pairs == NULL) {
        return NGC_NO_MEMORY;
    }
    memcpy(pairs, src->pairs, bytes);
    *dst = (sorted_followers){pairs, src->length, src->length};
    return NGC_OK;
}

static NGC_NOINLINE ngc_status sorted_followers_grow(ngc_allocator *allocator, sorted_followers *f)
{
    if (f->capacity > UINT32_MAX / 2) {
        return NGC_NO_MEMORY;
    }
    uint32_t capacity = f->capacity == 0 ? 1 : 2 * f->capacity;
    ngc_pair *pairs = ngc_grow(allocator, f->pairs, f->capacity * sizeof *pairs,
                               capacity * sizeof *pairs, NGC_KIND_FOLLOWERS);
    if (pairs == NULL) {
        return NGC_NO_MEMORY;
    }
    f->pairs = pairs;
    f->capacity = capacity;
    return NGC_OK;
}

/* Adds a token that is absent. */
NGC_INLINE ngc_status sorted_followers_add(ngc_allocator *allocator, sorted_followers *f,
                                           int32_t token, int32_t count)
{
    if (f->length == f->capacity && sorted_followers_grow(allocator, f) != NGC_OK) {
        return NGC_NO_MEMORY;
    }
    size_t at = ngc_search_fixed(f->pairs, f->length, token, NULL);
    memmove(&f->pairs[at + 1], &f->pairs[at], (f->length - at) * sizeof *f->pairs);
    f->pairs[at] = (ngc_pair){token, count};
    f->length++;
    return NGC_OK;
}

/* Fills an empty array from the pairs of a file, whatever their order. */
static inline ngc_status sorted_followers_take(ngc_allocator *allocator, sorted_followers *f,
                                               const uint8_t *pairs, size_t n_pairs)
{
    if (n_pairs > UINT32_MAX) {
        return NGC_NO_MEMORY;
    }
    f->pairs = ngc_alloc(allocator, n_pairs * sizeof *f->pairs, NGC_KIND_FOLLOWERS);
    if (f->pairs == NULL) {
        return NGC_NO_MEMORY;
    }
    f->capacity = f->length = (uint32_t)n_pairs;
    return ngc_pairs_take(f->pairs, pairs, n_pairs);
}

/* Takes a token out that is there. */
static inline void sorted_followers_remove(ngc_allocator *allocator, sorted_followers *f,
                                           int32_t token)
{
    (void)allocator;
    size_t at = ngc_search_fixed(f->pairs, f->length, token, NULL);
    f->length--;
    memmove(&f->pairs[at], &f->pairs[at + 1], (f->length - at) * sizeof *f->pairs);
}

static inline const char *sorted_followers_broken(const sorted_followers *f)
{
    for (uint32_t i = 0; i < f->length; i++) {
        if (f->pairs[i].token < 0 || f->pairs[i].count <= 0) {
            return "a follower has a negative token or no count";
        }
        if (i > 0 && f->pairs[i - 1].token >= f->pairs[i].token) {
            return "followers do not ascend";
        }
    }
    return f->length <= f->capacity ? NULL : "an array holds more than it has room for";
}

#endif

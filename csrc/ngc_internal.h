/* ngc_internal.h - what the engine's files share; not part of the contract.
 *
 * A cache is one of several structures behind one small table of operations. Those are called
 * once a token, a file record or a draft step; what runs once a candidate is inlined into them
 * (ngc_rule.h).
 */
#ifndef NGC_INTERNAL_H
#define NGC_INTERNAL_H

#include "ngc.h"
#include "ngc_alloc.h"
#include "ngc_hash.h"
#include "ngc_recorder.h"

/* A follower in an array. */
typedef struct ngc_pair {
    int32_t token;
    int32_t count;
} ngc_pair;

/* The caches that one draft step reads, and where its copies come from. */
typedef struct ngc_view {
    const ngc_cache *context; /* NULL: not asked */
    const ngc_cache *dynamic_cache;
    const ngc_cache *static_cache;
    const ngc_rule *rule;
    const ngc_toggles *toggles;
    const uint8_t (*least)[NGC_N_MAX]; /* outlooks that the rule's thresholds need: context, dynamic */
    ngc_allocator *scratch;
} ngc_view;

/* What one run of the rule drafted. */
typedef struct ngc_pick {
    int32_t token; /* NGC_NO_TOKEN: the rule stopped */
    int32_t from;
    int32_t n;
} ngc_pick;

enum { NGC_STATIC_KINDS = 3, NGC_MOST_PERCENT = 1000 };
enum { NGC_GROWN_AT_ONCE = 1 << 16 }; /* some 10 to 40 ms */

typedef struct ngc_cache_operations {
    void (*destroy)(ngc_cache *cache);
    void (*clear)(ngc_cache *cache);
    /* Goes on growing where a slice has begun it, by n entries; true when it is done. NULL: it grows
     * in one go. */
    bool (*grow_on)(ngc_cache *cache, size_t n);
    ngc_status (*set_buckets)(ngc_cache *cache, size_t n_buckets); /* of an empty one */
    ngc_status (*update)(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                         size_t n_new_tokens);
    /* Slices of adding (ngc_adding.h), and of taking back, which does not fail. A cache that counts
     * a text in any parts alike has no slices of it. */
    ngc_status (*count_slice)(ngc_adding *adding, size_t n_tokens);
    void (*uncount_slice)(ngc_adding *adding, size_t n_tokens);
    ngc_status (*merge_slice)(ngc_adding *adding, size_t n_pairs);
    void (*unmerge_slice)(ngc_adding *adding, size_t n_pairs);
    ngc_status (*insert)(ngc_cache *cache, const ngc_key *key, const uint8_t *pairs,
                         size_t n_pairs); /* as in a file, checked */
    void (*followers)(const ngc_cache *cache, const ngc_key *key, int32_t *tokens,
                      int32_t *counts, size_t capacity, size_t *n_followers);
    void (*facts)(const ngc_cache *cache, ngc_cache_facts *facts);
    int64_t (*slack_bytes)(const ngc_cache *cache); /* of the allocator's; see ngc_cache_memory */
    void (*walk)(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                 size_t capacity, size_t *n_written);
    ngc_status (*save)(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                       size_t capacity_bytes, size_t *n_written);
    /* What is sorted to save n-grams ascending: items that begin with a place; 0: it is not sorted.
     * Gathering goes over some n_grams more, and writes an item for each, at most `capacity`. */
    size_t sorted_item_bytes;
    int (*compare_items)(const void *a, const void *b);
    size_t (*gather_items)(const ngc_cache *cache, ngc_cursor *cursor, void *items,
                           size_t capacity, size_t n_grams, bool *last);
    ngc_status (*save_sorted)(const ngc_cache *cache, const void *const *places, size_t n_places,
                              ngc_cursor *cursor, uint8_t *buffer, size_t capacity_bytes,
                              size_t *n_written);
    /* A slice of checking every invariant: what is broken, or NULL; sets checking->done. */
    const char *(*check_slice)(const ngc_cache *cache, ngc_checking *checking, size_t n_grams);
    const struct ngc_inside_operations *inside; /* ngc_inside.h; NULL: nothing to look at */
    /* The rule over context and dynamic caches of this kind, by NGC_STATIC_... */
    ngc_status (*pick[NGC_STATIC_KINDS])(const ngc_view *view, const int32_t *text,
                                         size_t length_tokens, ngc_pick *pick);
    ngc_status (*pick_recorded[NGC_STATIC_KINDS])(const ngc_view *view, const int32_t *text,
                                                  size_t length_tokens, ngc_pick *pick,
                                                  ngc_recorder *recorder);
} ngc_cache_operations;

/* The common head of every kind of cache. */
struct ngc_cache {
    const ngc_cache_operations *operations;
    ngc_toggles toggles;
    int32_t n_min;
    int32_t n_max;
    uint64_t changes;     /* calls that may have moved or freed entries */
    uint64_t passed;      /* entries passed on the way to a place, for records of a file */
    int64_t mapped_bytes; /* of a file that it reads where it lies */
    int32_t largest_count; /* no follower has more; 0: that is not known */
    bool in_slices;        /* what runs is a slice: a table that is full grows in slices, too */
    size_t grown_at_once;  /* entries of it */
    ngc_allocator allocator;
};

/* The instances; each makes an empty cache of its kind. */
typedef ngc_status ngc_cache_constructor(const ngc_toggles *toggles, int32_t n_min, int32_t n_max,
                                         ngc_cache **out);
ngc_cache_constructor ngc_chained_chained_new, ngc_chained_sorted_new;
ngc_cache_constructor ngc_segmented_chained_new, ngc_segmented_sorted_new;
ngc_cache_constructor ngc_dense_chained_new, ngc_dense_sorted_new;
ngc_cache_constructor ngc_places_new;

/* Whether two caches can be read by one instance of the rule. */
int ngc_same_structure(const ngc_toggles *a, const ngc_toggles *b);

/* Goes on growing where a slice has begun it; true when it is done. */
bool ngc_grow_on(ngc_cache *cache, size_t n);

/* After a slice that may be the last: where it has failed, the table is whole all the same. */
void ngc_end_slice(ngc_cache *cache, ngc_status status);

ngc_status ngc_check_toggles(const ngc_toggles *toggles);
ngc_status ngc_check_rule(const ngc_rule *rule);
ngc_status ngc_check_tokens(const int32_t *tokens, size_t n_tokens);
ngc_status ngc_check_update(const ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens);
ngc_status ngc_check_merge(const ngc_cache *cache, const ngc_cache *added);
/* For a source that does not hold what it said: it was changed, or is a file's, which never changes
 * and is damaged then. */
ngc_status ngc_changed(const ngc_cache *source);
ngc_status ngc_check_cursor(const ngc_cache *cache, ngc_cursor *cursor);

#endif

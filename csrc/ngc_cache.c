/* ngc_cache.c - the public face of caches: checks arguments, then calls the kind's operations. */
#include "ngc_adding.h"
#include "ngc_bytes.h"

enum {
    /* Past this many bytes a freed cache is given back to the system: a process that builds one
     * big cache after another would else keep the biggest. */
    TRIM_BYTES = 64 << 20
};

static int is_within(int32_t value, int32_t last)
{
    return value >= 0 && value <= last;
}

ngc_status ngc_check_toggles(const ngc_toggles *toggles)
{
    return is_within(toggles->copy_followers, 1) && is_within(toggles->outer, NGC_OUTER_PLACES) &&
                   is_within(toggles->followers, NGC_FOLLOWERS_SUMMED) &&
                   (toggles->outer == NGC_OUTER_PLACES) ==
                       (toggles->followers == NGC_FOLLOWERS_SUMMED) &&
                   is_within(toggles->bound, 1) && is_within(toggles->late_static, 1) &&
                   is_within(toggles->prefetch, 1) && is_within(toggles->glance, 1) &&
                   is_within(toggles->search, NGC_SEARCH_SIMD) &&
                   is_within(toggles->static_cache, NGC_STATIC_NGC) &&
                   is_within(toggles->precheck, 1) && is_within(toggles->hash, NGC_HASH_MIXED) &&
                   is_within(toggles->ties, NGC_TIES_TOKEN) &&
                   is_within(toggles->score, NGC_SCORE_EXACT) &&
                   (toggles->ties == NGC_TIES_TOKEN ||
                    (toggles->followers == NGC_FOLLOWERS_CHAINED &&
                     toggles->static_cache == NGC_STATIC_SAME))
               ? NGC_OK
               : NGC_UNSUPPORTED;
}

ngc_status ngc_check_tokens(const int32_t *tokens, size_t n_tokens)
{
    for (size_t i = 0; i < n_tokens; i++) {
        if (tokens[i] < 0 || tokens[i] == INT32_MAX) {
            return NGC_BAD_TOKEN;
        }
    }
    return NGC_OK;
}

ngc_status ngc_check_cursor(const ngc_cache *cache, ngc_cursor *cursor)
{
    if (cursor->at == NULL && cursor->n_done == 0) {
        cursor->changes = cache->changes;
    }
    return cursor->changes == cache->changes ? NGC_OK : NGC_CHANGED;
}

/* A static cache that never changes: a constmap, or our own file. */
static int is_fixed(const ngc_cache *cache)
{
    return cache->operations->update == NULL;
}

int ngc_same_structure(const ngc_toggles *a, const ngc_toggles *b)
{
    return a->outer == b->outer && a->followers == b->followers && a->hash == b->hash;
}

ngc_status ngc_cache_new(const ngc_toggles *toggles, int32_t n_min, int32_t n_max,
                         ngc_cache **out)
{
    *out = NULL;
    if (n_min < 1 || n_max > NGC_N_MAX || n_min > n_max) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = ngc_check_toggles(toggles);
    if (status != NGC_OK) {
        return status;
    }
    static ngc_cache_constructor *const constructors[4][3] = {
        {ngc_chained_chained_new, ngc_chained_sorted_new, NULL},
        {ngc_segmented_chained_new, ngc_segmented_sorted_new, NULL},
        {ngc_dense_chained_new, ngc_dense_sorted_new, NULL},
        {NULL, NULL, ngc_places_new},
    };
    return constructors[toggles->outer][toggles->followers](toggles, n_min, n_max, out);
}

void ngc_cache_free(ngc_cache *cache)
{
    if (cache == NULL) {
        return;
    }
    int64_t live_bytes = ngc_live_bytes(&cache->allocator);
    cache->operations->destroy(cache);
    if (live_bytes > TRIM_BYTES) {
        ngc_platform_trim();
    }
}

void ngc_end_slice(ngc_cache *cache, ngc_status status)
{
    cache->in_slices = false;
    if (status != NGC_OK && status != NGC_NOT_YET) {
        ngc_grow_on(cache, SIZE_MAX);
    }
}

bool ngc_grow_on(ngc_cache *cache, size_t n)
{
    return cache->operations->grow_on == NULL || cache->operations->grow_on(cache, n);
}

void ngc_cache_grow_at_once(ngc_cache *cache, size_t n)
{
    cache->grown_at_once = n == 0 ? 1 : n;
}

ngc_status ngc_cache_clear(ngc_cache *cache)
{
    if (is_fixed(cache)) {
        return NGC_UNSUPPORTED;
    }
    cache->changes++;
    cache->operations->clear(cache);
    cache->passed = 0;
    return NGC_OK;
}

ngc_status ngc_check_update(const ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens)
{
    if (n_new_tokens > length_tokens) {
        return NGC_BAD_ARGUMENT;
    }
    if (is_fixed(cache)) {
        return NGC_UNSUPPORTED;
    }
    if (n_new_tokens == 0) {
        return NGC_OK;
    }
    /* What is read: the new tokens and the n_max before the first of them. */
    size_t before = length_tokens - n_new_tokens;
    size_t start = before > (size_t)cache->n_max ? before - (size_t)cache->n_max : 0;
    return ngc_check_tokens(text + start, length_tokens - start);
}

ngc_status ngc_cache_update(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens)
{
    ngc_status status = ngc_check_update(cache, text, length_tokens, n_new_tokens);
    if (status != NGC_OK || n_new_tokens == 0) {
        return status;
    }
    cache->changes++;
    return cache->operations->update(cache, text, length_tokens, n_new_tokens);
}

ngc_status ngc_check_merge(const ngc_cache *cache, const ngc_cache *added)
{
    if (is_fixed(cache) || is_fixed(added)) {
        return NGC_UNSUPPORTED;
    }
    if (cache == added || !ngc_same_structure(&cache->toggles, &added->toggles) ||
        added->n_min < cache->n_min || added->n_max > cache->n_max) {
        return NGC_BAD_ARGUMENT;
    }
    return NGC_OK;
}

ngc_status ngc_cache_merge(ngc_cache *cache, const ngc_cache *added)
{
    ngc_adding adding;
    ngc_status status = ngc_adding_init_merge(&adding, cache, added);
    return status == NGC_OK ? ngc_adding_finish(&adding) : status;
}

ngc_status ngc_cache_followers(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                               int32_t *tokens, int32_t *counts, size_t capacity,
                               size_t *n_followers)
{
    *n_followers = 0;
    if (n < 1 || n > NGC_N_MAX) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = ngc_check_tokens(ngram, (size_t)n);
    if (status != NGC_OK) {
        return status;
    }
    ngc_key key = ngc_key_of(ngram, n);
    cache->operations->followers(cache, &key, tokens, counts, capacity, n_followers);
    return NGC_OK;
}

ngc_status ngc_cache_facts_of(const ngc_cache *cache, ngc_cache_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    cache->operations->facts(cache, facts);
    return NGC_OK;
}

ngc_status ngc_cache_memory(const ngc_cache *cache, ngc_memory *memory)
{
    ngc_memory_of(&cache->allocator, memory);
    memory->slack_bytes = cache->operations->slack_bytes(cache);
    memory->mapped_bytes = cache->mapped_bytes;
    return NGC_OK;
}

ngc_status ngc_cache_validate_slice(const ngc_cache *cache, ngc_checking *checking,
                                    size_t n_grams, const char **reason)
{
    *reason = NULL;
    bool begins = checking->phase == 0 && checking->n_passed == 0;
    checking->changes = begins ? cache->changes : checking->changes;
    if (checking->changes != cache->changes) {
        return NGC_CHANGED;
    }
    if (!checking->done) {
        *reason = cache->operations->check_slice(cache, checking, n_grams == 0 ? 1 : n_grams);
    }
    return *reason == NULL ? NGC_OK : NGC_BAD_RECORD;
}

ngc_status ngc_cache_validate(const ngc_cache *cache, const char **reason)
{
    ngc_checking checking = {0};
    ngc_status status = NGC_OK;
    while (status == NGC_OK && !checking.done) {
        status = ngc_cache_validate_slice(cache, &checking, SIZE_MAX, reason);
    }
    return status;
}

void ngc_cache_fail_allocation(ngc_cache *cache, int64_t nth)
{
    cache->allocator.fail_in = nth;
}

ngc_status ngc_cache_walk(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                          size_t capacity, size_t *n_written)
{
    *n_written = 0;
    if (cache->operations->walk == NULL) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = ngc_check_cursor(cache, cursor);
    if (status == NGC_OK) {
        cache->operations->walk(cache, cursor, facts, capacity, n_written);
    }
    return status;
}

ngc_status ngc_changed(const ngc_cache *source)
{
    size_t n_bytes;
    return ngc_packed_bytes_view(source, &n_bytes) != NULL ? NGC_BAD_RECORD : NGC_CHANGED;
}

/* One n-gram with its followers, as a file would list them. */
static ngc_status take_one(ngc_cache *cache, const ngc_cache *source, const ngc_ngram_facts *gram,
                           int32_t *room)
{
    size_t length = (size_t)gram->n_followers, found;
    int32_t *tokens = room, *counts = room + length;
    uint8_t *pairs = (uint8_t *)(room + 2 * length), *out = pairs;
    ngc_key key = ngc_key_of(gram->tokens, gram->n);
    source->operations->followers(source, &key, tokens, counts, length, &found);
    for (size_t i = 0; i < length; i++) {
        out = ngc_put_int32s(out, &tokens[i], 1);
        out = ngc_put_int32s(out, &counts[i], 1);
    }
    return found == length ? cache->operations->insert(cache, &key, pairs, length)
                           : ngc_changed(source);
}

ngc_status ngc_cache_take(ngc_cache *cache, const ngc_cache *source, ngc_cursor *cursor,
                          size_t n_grams, size_t *n_done)
{
    return ngc_cache_take_frequent(cache, source, cursor, n_grams, 0, n_done);
}

ngc_status ngc_cache_take_frequent(ngc_cache *cache, const ngc_cache *source, ngc_cursor *cursor,
                                   size_t n_grams, int64_t least_sum, size_t *n_done)
{
    enum { CHUNK = 64 };
    ngc_ngram_facts chunk[CHUNK];
    int32_t *room = NULL;
    size_t longest = 0;
    *n_done = 0;
    if (is_fixed(cache) || cache == source) {
        return NGC_UNSUPPORTED;
    }
    cache->changes++;
    cache->in_slices = n_grams < SIZE_MAX;
    ngc_status status = NGC_OK;
    while (status == NGC_OK && *n_done < n_grams) {
        size_t left = n_grams - *n_done, n, i;
        ngc_cursor before = *cursor;
        status = ngc_cache_walk(source, cursor, chunk, left < CHUNK ? left : CHUNK, &n);
        if (status != NGC_OK || n == 0) {
            break;
        }
        for (i = 0; i < n && status == NGC_OK; i++) {
            if (chunk[i].n < cache->n_min || chunk[i].n > cache->n_max ||
                chunk[i].sum < least_sum) {
                continue;
            }
            if ((size_t)chunk[i].n_followers > longest) {
                free(room);
                longest = 2 * (size_t)chunk[i].n_followers;
                room = malloc(longest * (2 * sizeof *room + NGC_PAIR_BYTES));
            }
            status = room == NULL ? NGC_NO_MEMORY : take_one(cache, source, &chunk[i], room);
        }
        if (status == NGC_NOT_YET) { /* the last one once more */
            *cursor = before;
            ngc_cache_walk(source, cursor, chunk, i - 1, &n);
        }
        *n_done += n;
    }
    free(room);
    ngc_end_slice(cache, status);
    return status;
}

/* ngc_inside.c - the public face of the views of the inside; see ngc_inside.h. */
#include "ngc_inside.h"

#include "ngc_constmap.h"
#include "ngc_fuse.h"

static const ngc_inside_operations nothing;

static const ngc_inside_operations *inside_of(const ngc_cache *cache)
{
    return cache->operations->inside == NULL ? &nothing : cache->operations->inside;
}

static ngc_status check_key(const int32_t *ngram, int32_t n, ngc_key *key)
{
    if (n < 1 || n > NGC_N_MAX) {
        return NGC_BAD_ARGUMENT;
    }
    *key = ngc_key_of(ngram, n);
    return ngc_check_tokens(ngram, (size_t)n);
}

/* A recorder of touches for one look-up or search, with an allocator of its own. */
typedef struct recording {
    ngc_allocator allocator;
    ngc_probe probe;
    ngc_recorder recorder;
} recording;

static void begin(recording *recording, ngc_touch *touches, size_t capacity)
{
    memset(recording, 0, sizeof *recording);
    ngc_recorder_init(&recording->recorder, &recording->allocator, &recording->probe);
    recording->recorder.touches = touches;
    recording->recorder.capacity = capacity;
}

static ngc_status end(recording *recording, size_t *n_touches)
{
    bool failed = recording->recorder.failed;
    *n_touches = failed ? 0 : recording->recorder.n_touches;
    ngc_recorder_destroy(&recording->recorder);
    return failed ? NGC_NO_MEMORY : NGC_OK;
}

/* ---- tables ---- */

ngc_status ngc_cache_table_around(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                                  int32_t n_before, int32_t n_after, ngc_around *around,
                                  ngc_place *places, size_t places_capacity, ngc_touch *touches,
                                  size_t touches_capacity, size_t *n_touches)
{
    ngc_key key;
    *n_touches = 0;
    memset(around, 0, sizeof *around);
    around->home = around->found = -1;
    if (inside_of(cache)->around == NULL) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = check_key(ngram, n, &key);
    if (status == NGC_OK && (n_before < 0 || n_after < 0)) {
        status = NGC_BAD_ARGUMENT;
    }
    if (status != NGC_OK) {
        return status;
    }
    recording recording;
    begin(&recording, touches, touches_capacity);
    recording.recorder.n = n;
    inside_of(cache)->around(cache, &key, (size_t)n_before, (size_t)n_after, around, places,
                             places_capacity, &recording.recorder);
    return end(&recording, n_touches);
}

/* ---- searches ---- */

ngc_status ngc_search_path(const int32_t *pairs, size_t length, int32_t token, int32_t search,
                           int32_t *count, ngc_touch *touches, size_t capacity,
                           size_t *n_touches)
{
    *n_touches = 0;
    *count = 0;
    if (search < NGC_SEARCH_FIXED || search > NGC_SEARCH_SIMD) {
        return NGC_BAD_ARGUMENT;
    }
    recording recording;
    begin(&recording, touches, capacity);
    slice_view view = {(const ngc_pair *)(const void *)pairs, length};
    *count = slice_view_count(view, token, search, &recording.recorder);
    return end(&recording, n_touches);
}

ngc_status ngc_time_searches(const int32_t *pairs, size_t length, const int32_t *tokens,
                             size_t n_tokens, size_t rounds, int32_t search, int64_t *n_found,
                             int64_t *ns)
{
    *n_found = 0;
    *ns = 0;
    if (search < NGC_SEARCH_FIXED || search > NGC_SEARCH_SIMD) {
        return NGC_BAD_ARGUMENT;
    }
    slice_view view = {(const ngc_pair *)(const void *)pairs, length};
    int64_t start = ngc_platform_clock_ns();
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n_tokens; i++) {
            *n_found += slice_view_count(view, tokens[i], search, NULL) > 0;
        }
    }
    *ns = ngc_platform_clock_ns() - start;
    return NGC_OK;
}

ngc_status ngc_cache_search_path(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                                 int32_t token, int32_t search, int32_t *count, size_t *length,
                                 ngc_touch *touches, size_t capacity, size_t *n_touches)
{
    ngc_key key;
    *n_touches = 0;
    *count = 0;
    *length = 0;
    if (search < NGC_SEARCH_FIXED || search > NGC_SEARCH_SIMD) {
        return NGC_BAD_ARGUMENT;
    }
    if (inside_of(cache)->search == NULL) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = check_key(ngram, n, &key);
    if (status != NGC_OK) {
        return status;
    }
    recording recording;
    begin(&recording, touches, capacity);
    *count = inside_of(cache)->search(cache, &key, token, search, length, &recording.recorder);
    return end(&recording, n_touches);
}

/* ---- fuse maps ---- */

ngc_status ngc_constmap_look_up(const ngc_cache *cache, const int32_t *ngram,
                                ngc_fuse_lookup *lookup)
{
    ngc_key key;
    size_t n_touches;
    memset(lookup, 0, sizeof *lookup);
    if (!ngc_is_constmap(cache)) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = check_key(ngram, 2, &key);
    if (status != NGC_OK) {
        return status;
    }
    recording recording;
    begin(&recording, NULL, 0);
    recording.recorder.fuse = lookup;
    ngc_constmap_find_recorded(cache, &key, &recording.recorder);
    return end(&recording, &n_touches);
}

static void fill_cells(const ngc_fuse *fuse, const uint64_t *hashes, uint32_t *cells)
{
    for (uint32_t key = 0; key < fuse->n_keys; key++) {
        ngc_fuse_cells own = ngc_fuse_cells_of(fuse, ngc_fuse_hash(hashes[key], fuse->seed));
        memcpy(cells + 3 * (size_t)key, own.at, sizeof own.at);
    }
}

static void hash_keys(const int32_t *ngrams, size_t n_keys, uint64_t *hashes)
{
    for (size_t key = 0; key < n_keys; key++) {
        hashes[key] = ngc_constmap_key_hash(ngrams[2 * key], ngrams[2 * key + 1]);
    }
}

/* The shape of a map of these keys, as far as it is known before a seed is tried. */
static ngc_status shape_of(const int32_t *ngrams, size_t n_keys, ngc_fuse *fuse,
                           ngc_peeling *peeling)
{
    memset(peeling, 0, sizeof *peeling);
    if (n_keys < 1 || n_keys > NGC_MOST_PEELED) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = ngc_check_tokens(ngrams, 2 * n_keys);
    if (status == NGC_OK) {
        status = ngc_fuse_shape(n_keys, fuse);
    }
    if (status == NGC_OK) {
        peeling->segment_length = fuse->segment_length;
        peeling->segment_count = fuse->segment_count;
        peeling->n_cells = fuse->data_len;
    }
    return status;
}

ngc_status ngc_fuse_peeling(const int32_t *ngrams, const uint64_t *values, size_t n_keys,
                            ngc_peeling *peeling, uint32_t *cells, ngc_peel_step *peeled,
                            ngc_assign_step *assigned, uint64_t *data, uint64_t *checks,
                            size_t n_cells)
{
    ngc_fuse fuse;
    ngc_status status = shape_of(ngrams, n_keys, &fuse, peeling);
    if (status != NGC_OK) {
        return status;
    }
    if (n_cells < fuse.data_len) {
        return NGC_SMALL_BUFFER;
    }
    uint64_t *hashes = malloc(n_keys * sizeof *hashes);
    if (hashes == NULL) {
        return NGC_NO_MEMORY;
    }
    hash_keys(ngrams, n_keys, hashes);
    ngc_allocator allocator = {0};
    ngc_fuse_recorder recorder = {.peeled = peeled, .assigned = assigned};
    status = ngc_fuse_build_recorded(&allocator, &fuse, hashes, values, data, checks, &recorder);
    if (status == NGC_OK) {
        peeling->seed = fuse.seed;
        peeling->n_attempts = recorder.n_attempts;
        fill_cells(&fuse, hashes, cells);
    }
    free(hashes);
    return status;
}

ngc_status ngc_fuse_attempt(const int32_t *ngrams, size_t n_keys, int32_t nth,
                            ngc_peeling *peeling, uint32_t *cells)
{
    memset(peeling, 0, sizeof *peeling);
    if (nth < 1 || nth > NGC_FUSE_ATTEMPTS) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_fuse fuse;
    ngc_status status = shape_of(ngrams, n_keys, &fuse, peeling);
    if (status != NGC_OK) {
        return status;
    }
    uint64_t *hashes = malloc(n_keys * sizeof *hashes);
    if (hashes == NULL) {
        return NGC_NO_MEMORY;
    }
    hash_keys(ngrams, n_keys, hashes);
    fuse.seed = ngc_fuse_seed(nth);
    peeling->seed = fuse.seed;
    peeling->n_attempts = nth;
    fill_cells(&fuse, hashes, cells);
    free(hashes);
    return NGC_OK;
}

/* fixtures.c - see fixtures.h. */
#include "fixtures.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

const int32_t RECIPE_A[117] = {
    0,  1,  2,  3,  1,  4,  5,  1,  6,  7,  1,  8,  9,  10, 7,  11, 12, 1,  2,  7,  13, 7,  13, 7,
    13, 9,  14, 15, 1,  16, 17, 18, 19, 20, 21, 1,  16, 3,  1,  22, 7,  23, 9,  1,  24, 25, 26, 18,
    1,  27, 28, 5,  1,  6,  7,  1,  8,  9,  10, 7,  11, 12, 1,  29, 7,  13, 7,  13, 9,  14, 15, 1,
    16, 17, 18, 19, 20, 30, 31, 1,  16, 17, 32, 21, 1,  17, 3,  1,  22, 7,  23, 9,  1,  24, 25, 26,
    33, 1,  34, 9,  10, 7,  11, 35, 1,  34, 36, 1,  37, 28, 7,  38, 1,  27, 28, 39, 24,
};

const int32_t RECIPE_B[58] = {
    21, 1,  16, 3,  1,  22, 7,  23, 9,  1,  24, 25, 26, 21, 40, 25, 41, 3,  1,  22,
    7,  23, 9,  1,  24, 25, 26, 33, 42, 43, 1,  34, 9,  10, 44, 33, 1,  17, 43, 1,
    34, 9,  10, 44, 45, 46, 47, 48, 49, 1,  28, 45, 46, 47, 48, 49, 1,  50,
};

ngc_toggles toggles_of(int32_t copy_followers, int32_t ties, int32_t score)
{
    ngc_toggles toggles = {.copy_followers = copy_followers, .ties = ties, .score = score};
    return toggles;
}

#define TOGGLES(copy, OUTER, FOLLOWERS, SEARCH, STATIC, check, HASH, TIES, SCORE)                  \
    {copy,  NGC_OUTER_##OUTER, NGC_FOLLOWERS_##FOLLOWERS, NGC_SEARCH_##SEARCH, NGC_STATIC_##STATIC, \
     check, NGC_HASH_##HASH,   NGC_TIES_##TIES,           NGC_SCORE_##SCORE,   0, 0, 0, 0}

#define PLACES(STATIC, HASH, SCORE, copy, check, shorter, late, early, short_look)                 \
    {.copy_followers = copy, .outer = NGC_OUTER_PLACES, .followers = NGC_FOLLOWERS_SUMMED,         \
     .static_cache = NGC_STATIC_##STATIC, .precheck = check, .hash = NGC_HASH_##HASH,              \
     .ties = NGC_TIES_TOKEN, .score = NGC_SCORE_##SCORE, .bound = shorter, .late_static = late,    \
     .prefetch = early, .glance = short_look}

const ngc_toggles *toggles_at(size_t i)
{
    static const ngc_toggles all[] = {
        TOGGLES(0, CHAINED, CHAINED, FIXED, SAME, 0, XOR, LIBRARY, INT32),
        TOGGLES(1, CHAINED, CHAINED, FIXED, SAME, 0, XOR, LIBRARY, INT32),
        TOGGLES(0, SEGMENTED, CHAINED, FIXED, SAME, 0, XOR, LIBRARY, INT32),
        TOGGLES(1, CHAINED, CHAINED, FIXED, SAME, 1, MIXED, TOKEN, EXACT),
        TOGGLES(1, SEGMENTED, CHAINED, LINEAR, CONSTMAP, 0, XOR, TOKEN, INT32),
        TOGGLES(0, SEGMENTED, SORTED, FIXED, SAME, 0, XOR, TOKEN, INT32),
        TOGGLES(0, SEGMENTED, SORTED, FIXED, CONSTMAP, 1, XOR, TOKEN, INT32),
        TOGGLES(1, SEGMENTED, SORTED, LOWER_BOUND, CONSTMAP, 1, MIXED, TOKEN, EXACT),
        TOGGLES(1, DENSE, CHAINED, FIXED, SAME, 1, MIXED, TOKEN, INT32),
        TOGGLES(0, DENSE, SORTED, LINEAR, SAME, 1, XOR, TOKEN, EXACT),
        TOGGLES(1, DENSE, SORTED, SIMD, CONSTMAP, 0, MIXED, TOKEN, EXACT),
        TOGGLES(0, CHAINED, SORTED, SIMD, SAME, 1, MIXED, TOKEN, INT32),
        TOGGLES(1, CHAINED, CHAINED, FIXED, NGC, 0, XOR, TOKEN, INT32),
        TOGGLES(0, SEGMENTED, SORTED, FIXED, NGC, 1, MIXED, TOKEN, EXACT),
        PLACES(NGC, MIXED, INT32, 0, 1, 1, 1, 1, 1),
        PLACES(SAME, XOR, EXACT, 1, 0, 1, 1, 0, 1),
        PLACES(CONSTMAP, MIXED, INT32, 0, 0, 0, 1, 1, 0),
    };
    return i < LENGTH(all) ? &all[i] : NULL;
}

const ngc_toggles *with_toggles;

/* xorshift64*, by Marsaglia and Vigna. */
uint64_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

void random_text(int32_t *text, size_t length, int32_t n_vocab, uint64_t seed)
{
    uint64_t state = seed + UINT64_C(0x9E3779B97F4A7C15);
    size_t copied_from = 0;
    for (size_t i = 0; i < length; i++) {
        uint64_t number = random_next(&state) >> 16;
        if (number % 8 == 0) {
            copied_from = i == 0 ? 0 : (size_t)(number / 8 % i);
        }
        bool fresh = i == copied_from || number % 4 == 1;
        text[i] = fresh ? (int32_t)(number / 64 % (uint64_t)n_vocab) : text[copied_from++];
    }
}

ngc_cache *counted(const ngc_toggles *toggles, int32_t n_min, int32_t n_max, const int32_t *text,
                   size_t length)
{
    ngc_cache *cache;
    CHECK_OK(ngc_cache_new(toggles, n_min, n_max, &cache));
    for (size_t i = 1; i <= length; i++) {
        CHECK_OK(ngc_cache_update(cache, text, i, 1));
    }
    return cache;
}

ngc_cache *counted_static(const ngc_toggles *toggles, const int32_t *corpus, size_t length)
{
    ngc_cache *cache = counted(toggles, 2, 2, corpus, length);
    if (toggles->static_cache == NGC_STATIC_SAME) {
        return cache;
    }
    ngc_cache *fixed;
    if (toggles->static_cache == NGC_STATIC_CONSTMAP) {
        CHECK_OK(ngc_constmap_build(toggles, cache, &fixed));
    } else {
        CHECK_OK(pack(toggles, cache, NULL, 0, 1000, &fixed));
    }
    ngc_cache_free(cache);
    return fixed;
}

ngc_status pack(const ngc_toggles *toggles, const ngc_cache *cache, const ngc_counter *counter,
                int64_t n_vocab, size_t n_at_once, ngc_cache **out)
{
    ngc_packed_about about = {.n_vocab = n_vocab, .tokenizer = "t", .corpus = "some text"};
    ngc_packed_builder *builder;
    *out = NULL;
    ngc_status status = cache != NULL
                            ? ngc_packed_begin(toggles, cache, &about, &builder)
                            : ngc_packed_begin_counts(toggles, counter, &about, &builder);
    CHECK((status == NGC_OK) == (builder != NULL));
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_packed_step(builder, n_at_once, &done);
        double fraction = ngc_packed_fraction(builder);
        CHECK(status != NGC_OK || (fraction >= 0 && fraction <= 1));
    }
    if (status == NGC_OK) {
        status = ngc_packed_take(builder, out);
    }
    ngc_packed_builder_free(builder);
    return status;
}

uint8_t *saved(const ngc_cache *cache, size_t *bytes)
{
    ngc_cache_facts facts;
    CHECK_OK(ngc_cache_facts_of(cache, &facts));
    size_t size = 20 * (size_t)facts.n_grams + 8 * (size_t)facts.n_followers;
    uint8_t *file = malloc(size + 1);
    ngc_cursor cursor = {0};
    CHECK_OK(ngc_cache_save_legacy(cache, &cursor, file, size, bytes));
    CHECK_EQUAL(*bytes, size);
    return file;
}

ngc_cache *loaded(const ngc_toggles *toggles, const uint8_t *file, size_t bytes)
{
    ngc_cache *cache;
    ngc_load_report report = {0};
    size_t n_used;
    CHECK_OK(ngc_cache_new(toggles, 1, NGC_N_MAX, &cache));
    if (CHECK_OK(ngc_cache_load_legacy(cache, file, bytes, bytes, &n_used, &report))) {
        return cache;
    }
    ngc_cache_free(cache);
    return NULL;
}

/* ---- comparing ---- */

typedef struct follower {
    int32_t token, count;
} follower;

static int by_token(const void *a, const void *b)
{
    int32_t left = ((const follower *)a)->token;
    int32_t right = ((const follower *)b)->token;
    return (left > right) - (left < right);
}

/* The followers of one n-gram, ascending; to be freed. */
static follower *followers_of(const ngc_cache *cache, const ngc_ngram_facts *ngram, size_t *length)
{
    size_t n = (size_t)ngram->n_followers;
    int32_t *values = malloc(2 * (n + 1) * sizeof *values);
    follower *followers = malloc((n + 1) * sizeof *followers);
    CHECK_OK(
        ngc_cache_followers(cache, ngram->tokens, ngram->n, values, values + n, n, length));
    for (size_t i = 0; i < n && i < *length; i++) {
        followers[i] = (follower){values[i], values[n + i]};
    }
    qsort(followers, *length < n ? *length : n, sizeof *followers, by_token);
    free(values);
    return followers;
}

static bool same_followers(const ngc_cache *a, const ngc_cache *b, const ngc_ngram_facts *ngram)
{
    size_t length_a, length_b;
    follower *of_a = followers_of(a, ngram, &length_a);
    follower *of_b = followers_of(b, ngram, &length_b);
    bool same = length_a == length_b && memcmp(of_a, of_b, length_a * sizeof *of_a) == 0;
    free(of_a);
    free(of_b);
    return same;
}

bool same_counts(const ngc_cache *a, const ngc_cache *b)
{
    ngc_cache_facts facts_a, facts_b;
    ngc_cache_facts_of(a, &facts_a);
    ngc_cache_facts_of(b, &facts_b);
    bool same = facts_a.n_grams == facts_b.n_grams && facts_a.n_followers == facts_b.n_followers;
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    size_t n_written;
    ngc_status status = NGC_OK;
    while (same && (status = ngc_cache_walk(a, &cursor, &ngram, 1, &n_written)) == NGC_OK &&
           n_written == 1) {
        same = same_followers(a, b, &ngram);
    }
    /* A constmap cannot be listed; it cannot change either. */
    return same && (status == NGC_OK || status == NGC_UNSUPPORTED);
}

bool same_file(const ngc_cache *a, const ngc_cache *b)
{
    size_t bytes_a, bytes_b;
    uint8_t *file_a = saved(a, &bytes_a);
    uint8_t *file_b = saved(b, &bytes_b);
    bool same = bytes_a == bytes_b && memcmp(file_a, file_b, bytes_a) == 0;
    free(file_a);
    free(file_b);
    return same;
}

void check_sound(const ngc_cache *cache)
{
    const char *reason;
    ngc_memory memory;
    CHECK_OK(ngc_cache_validate(cache, &reason));
    CHECK(reason == NULL);
    CHECK_OK(ngc_cache_memory(cache, &memory));
    CHECK_EQUAL(memory.live_bytes, memory.ngrams_bytes + memory.index_bytes +
                                       memory.followers_bytes + memory.follower_index_bytes);
    CHECK_EQUAL(memory.other_bytes, 0);
    CHECK(memory.slack_bytes >= 0 && memory.slack_bytes <= memory.live_bytes);
    CHECK(memory.peak_bytes >= memory.live_bytes && memory.total_bytes >= memory.peak_bytes);
}

/* test_order.c - the order of followers and n-grams: libstdc++'s, against a plain model of it.
 *
 * The model keeps the list as an array and knows nothing of links: a new item goes before the
 * first one of its bucket, else to the front; growing inserts all anew, front to back.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { MOST = 3000 };

typedef struct model {
    uint64_t hashes[MOST];
    size_t length;
    uint64_t n_buckets;
} model;

static const uint64_t GROWTH[] = {1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087};

static void model_place(model *list, uint64_t hash)
{
    size_t at = 0;
    while (at < list->length && list->hashes[at] % list->n_buckets != hash % list->n_buckets) {
        at++;
    }
    at = at == list->length ? 0 : at;
    memmove(&list->hashes[at + 1], &list->hashes[at], (list->length - at) * sizeof hash);
    list->hashes[at] = hash;
    list->length++;
}

static void model_add(model *list, uint64_t hash)
{
    static model old;
    if (list->length + 1 > list->n_buckets || list->n_buckets == 1) {
        size_t size = 0;
        while (GROWTH[size] <= list->n_buckets) {
            size++;
        }
        old = *list;
        list->length = 0;
        list->n_buckets = GROWTH[size];
        for (size_t i = 0; i < old.length; i++) {
            model_place(list, old.hashes[i]);
        }
    }
    model_place(list, hash);
}

static void check_followers_order(const ngc_cache *cache, int32_t ngram, const model *wanted)
{
    static int32_t tokens[MOST], counts[MOST];
    size_t length;
    CHECK_OK(ngc_cache_followers(cache, &ngram, 1, tokens, counts, MOST, &length));
    if (CHECK_EQUAL(length, wanted->length)) {
        for (size_t i = 0; i < length; i++) {
            CHECK_EQUAL(tokens[i], wanted->hashes[i]);
        }
    }
}

/* Counts `token` after the 1-gram 7. */
static void follow(ngc_cache *cache, int32_t token)
{
    int32_t text[2] = {7, token};
    CHECK_OK(ngc_cache_update(cache, text, 2, 1));
}

/* By hand: 13 buckets hold 0..12, each new one in front; the 14th grows them to 29, which turns
 * the list around. */
void test_followers_order_by_hand(void)
{
    ngc_toggles toggles = toggles_of(0, NGC_TIES_LIBRARY, NGC_SCORE_INT32);
    ngc_cache *cache;
    int32_t seven = 7, tokens[16], counts[16];
    size_t length;
    CHECK_OK(ngc_cache_new(&toggles, 1, 1, &cache));
    for (int32_t token = 0; token < 13; token++) {
        follow(cache, token);
    }
    CHECK_OK(ngc_cache_followers(cache, &seven, 1, tokens, counts, 16, &length));
    for (int32_t i = 0; i < 13; i++) {
        CHECK_EQUAL(tokens[i], 12 - i);
    }
    follow(cache, 13);
    CHECK_OK(ngc_cache_followers(cache, &seven, 1, tokens, counts, 16, &length));
    CHECK_EQUAL(length, 14);
    CHECK_EQUAL(tokens[0], 13);
    for (int32_t i = 1; i < 14; i++) {
        CHECK_EQUAL(tokens[i], i - 1);
    }
    ngc_cache_free(cache);

    /* 0, 13, 26 share a bucket: the newest stands first in it, wherever the bucket stands. */
    CHECK_OK(ngc_cache_new(&toggles, 1, 1, &cache));
    const int32_t added[] = {0, 13, 5, 26};
    const int32_t wanted[] = {5, 26, 13, 0};
    for (size_t i = 0; i < 4; i++) {
        follow(cache, added[i]);
    }
    CHECK_OK(ngc_cache_followers(cache, &seven, 1, tokens, counts, 16, &length));
    CHECK(length == 4 && memcmp(tokens, wanted, sizeof wanted) == 0);
    ngc_cache_free(cache);
}

/* Random ids, large ones too, past every growth up to 2357 buckets. */
void test_followers_order_as_the_model(void)
{
    ngc_toggles toggles = toggles_of(0, NGC_TIES_LIBRARY, NGC_SCORE_INT32);
    for (uint64_t seed = 0; seed < 3; seed++) {
        static model wanted;
        uint64_t state = seed + 99;
        int32_t n_vocab = seed == 0 ? 4000 : INT32_MAX;
        ngc_cache *cache;
        CHECK_OK(ngc_cache_new(&toggles, 1, 1, &cache));
        wanted.length = 0;
        wanted.n_buckets = 1;
        for (size_t i = 0; i < 1500; i++) {
            int32_t token = (int32_t)(random_next(&state) % (uint64_t)n_vocab);
            bool known = false;
            for (size_t k = 0; k < wanted.length; k++) {
                known = known || wanted.hashes[k] == (uint64_t)token;
            }
            if (!known) {
                model_add(&wanted, (uint64_t)token);
            }
            follow(cache, token);
            if (i % 97 == 0 || wanted.length == wanted.n_buckets) {
                check_followers_order(cache, 7, &wanted);
            }
        }
        check_followers_order(cache, 7, &wanted);
        check_sound(cache);
        ngc_cache_free(cache);
    }
}

/* ---- copies ---- */

/* An n-gram that is merged in keeps the order of its followers, and its number of buckets: the
 * next one lands where it would have landed in the original. */
void test_copies_keep_the_order(void)
{
    ngc_toggles toggles = toggles_of(0, NGC_TIES_LIBRARY, NGC_SCORE_INT32);
    for (int32_t n_followers = 1; n_followers < 70; n_followers++) {
        ngc_cache *original, *copy;
        CHECK_OK(ngc_cache_new(&toggles, 1, 1, &original));
        CHECK_OK(ngc_cache_new(&toggles, 1, 1, &copy));
        for (int32_t i = 0; i < n_followers; i++) {
            follow(original, i * 17 % 101);
        }
        CHECK_OK(ngc_cache_merge(copy, original));
        CHECK(same_file(copy, original));
        follow(original, 500);
        follow(copy, 500);
        CHECK(same_file(copy, original));
        check_sound(copy);
        ngc_cache_free(copy);
        ngc_cache_free(original);
    }
}

/* ---- n-grams ---- */

static uint64_t hash_of(const int32_t tokens[4])
{
    uint64_t hash = 0;
    for (size_t i = 0; i < 4; i++) {
        hash ^= (uint64_t)(int64_t)tokens[i] * UINT64_C(11400714819323198485);
    }
    return hash;
}

static void check_ngrams_order(const ngc_cache *cache, const model *wanted)
{
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    size_t n_written, i = 0;
    while (ngc_cache_walk(cache, &cursor, &ngram, 1, &n_written) == NGC_OK && n_written == 1) {
        CHECK(i < wanted->length && hash_of(ngram.tokens) == wanted->hashes[i]);
        i++;
    }
    CHECK_EQUAL(i, wanted->length);
}

/* 2-grams of a random text; (a, b) and (b, a) share a hash, and every (a, a) has the same one. */
void test_ngrams_order_as_the_model(void)
{
    enum { N = 2500 };
    static int32_t text[N];
    static model wanted;
    ngc_toggles toggles = toggles_of(0, NGC_TIES_LIBRARY, NGC_SCORE_INT32);
    random_text(text, N, 60, 5);
    ngc_cache *cache;
    ngc_cache_facts facts;
    CHECK_OK(ngc_cache_new(&toggles, 2, 2, &cache));
    wanted.length = 0;
    wanted.n_buckets = 1;
    for (size_t i = 2; i < N; i++) {
        int32_t key[4] = {text[i - 2], text[i - 1], -1, -1};
        int32_t token, count;
        size_t length;
        CHECK_OK(ngc_cache_followers(cache, key, 2, &token, &count, 1, &length));
        if (length == 0) {
            model_add(&wanted, hash_of(key));
        }
        CHECK_OK(ngc_cache_update(cache, text, i + 1, 1));
    }
    check_ngrams_order(cache, &wanted);
    CHECK_OK(ngc_cache_facts_of(cache, &facts));
    CHECK_EQUAL(facts.n_buckets, wanted.n_buckets);
    CHECK(wanted.length > 541);

    /* Cleared, it keeps its buckets. */
    ngc_cache_clear(cache);
    check_sound(cache);
    wanted.length = 0;
    for (size_t i = 2; i < 300; i++) {
        int32_t key[4] = {text[i - 2], text[i - 1], -1, -1};
        int32_t token, count;
        size_t length;
        CHECK_OK(ngc_cache_followers(cache, key, 2, &token, &count, 1, &length));
        if (length == 0) {
            model_place(&wanted, hash_of(key));
        }
        CHECK_OK(ngc_cache_update(cache, text, i + 1, 1));
    }
    check_ngrams_order(cache, &wanted);
    ngc_cache_free(cache);
}

/* Doubled tokens in any number: one hash for all, one long chain. */
void test_one_hash_for_all(void)
{
    enum { N = 900 };
    int32_t text[3 * N];
    ngc_toggles toggles = toggles_of(1, NGC_TIES_TOKEN, NGC_SCORE_EXACT);
    for (int32_t i = 0; i < N; i++) {
        text[3 * i] = text[3 * i + 1] = i;
        text[3 * i + 2] = i + 1;
    }
    ngc_cache *cache = counted(&toggles, 1, 4, text, 3 * N);
    check_sound(cache);
    for (int32_t i = 0; i < N; i++) {
        int32_t key[2] = {i, i}, tokens[2], counts[2];
        size_t length;
        CHECK_OK(ngc_cache_followers(cache, key, 2, tokens, counts, 2, &length));
        CHECK(length >= 1 && length <= 2);
    }
    ngc_cache_free(cache);
}

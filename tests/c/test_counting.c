/* test_counting.c - update, merge, rewind and what they must leave. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 600 };

/* One by one, in sevens, all at once: the same counts. */
void test_updates_of_any_size(void)
{
    int32_t text[N];
    ngc_toggles toggles = *with_toggles;
    for (uint64_t seed = 0; seed < 2; seed++) {
        random_text(text, N, seed % 2 ? 5 : 300, seed);
        ngc_cache *one_by_one = counted(&toggles, 1, 4, text, N);
        check_sound(one_by_one);
        const size_t sizes[] = {2, 7, 599, N};
        for (size_t k = 0; k < LENGTH(sizes); k++) {
            ngc_cache *cache;
            CHECK_OK(ngc_cache_new(&toggles, 1, 4, &cache));
            size_t done = 0;
            while (done < N) {
                size_t n = N - done < sizes[k] ? N - done : sizes[k];
                done += n;
                CHECK_OK(ngc_cache_update(cache, text, done, n));
            }
            check_sound(cache);
            CHECK(same_counts(cache, one_by_one));
            ngc_cache_free(cache);
        }
        ngc_cache_free(one_by_one);
    }
}

/* Each n-gram of the text has the counts that plain comparison finds. */
void test_counts_are_those_of_the_text(void)
{
    int32_t text[N];
    ngc_toggles toggles = *with_toggles;
    random_text(text, N, 9, 77);
    ngc_cache *cache = counted(&toggles, 1, 4, text, N);
    for (int32_t n = 1; n <= 4; n++) {
        for (size_t at = (size_t)n; at + 1 < N; at += 23) {
            const int32_t *ngram = text + at - n;
            int32_t tokens[9], counts[9];
            size_t length;
            CHECK_OK(ngc_cache_followers(cache, ngram, n, tokens, counts, 9, &length));
            CHECK(length >= 1 && length <= 9);
            for (size_t k = 0; k < length; k++) {
                int32_t seen = 0;
                for (size_t i = (size_t)n; i < N; i++) {
                    seen += text[i] == tokens[k] &&
                            memcmp(text + i - n, ngram, (size_t)n * sizeof *text) == 0;
                }
                CHECK_EQUAL(counts[k], seen);
            }
        }
    }
    ngc_cache_free(cache);
}

/* Only the n-grams of its sizes. */
void test_sizes_are_kept_apart(void)
{
    int32_t text[N];
    ngc_toggles toggles = *with_toggles;
    random_text(text, N, 20, 4);
    for (int32_t n_min = 1; n_min <= 4; n_min++) {
        for (int32_t n_max = n_min; n_max <= 4; n_max++) {
            ngc_cache *cache = counted(&toggles, n_min, n_max, text, N);
            ngc_cache_facts facts;
            CHECK_OK(ngc_cache_facts_of(cache, &facts));
            int64_t sum = 0;
            for (int32_t n = 1; n <= 4; n++) {
                CHECK_EQUAL(facts.n_grams_by_n[n - 1] > 0, n >= n_min && n <= n_max);
                sum += facts.n_grams_by_n[n - 1];
            }
            CHECK_EQUAL(sum, facts.n_grams);
            check_sound(cache);
            ngc_cache_free(cache);
        }
    }
}

/* ---- merging ---- */

/* Two texts merged have the counts of both. */
void test_merge_adds_counts(void)
{
    int32_t first[N], second[N];
    random_text(first, N, 15, 10);
    random_text(second, N, 15, 11);
    ngc_cache *merged = counted(with_toggles, 1, 4, first, N);
    ngc_cache *added = counted(with_toggles, 1, 4, second, N);
    ngc_cache *both = counted(with_toggles, 1, 4, first, N);
    for (size_t i = 1; i <= N; i++) {
        CHECK_OK(ngc_cache_update(both, second, i, 1));
    }
    CHECK_OK(ngc_cache_merge(merged, added));
    CHECK(same_counts(merged, both));
    check_sound(merged);
    check_sound(added);
    ngc_cache_free(both);
    ngc_cache_free(added);
    ngc_cache_free(merged);
}

static int32_t count_of(const ngc_cache *cache, int32_t ngram, int32_t token)
{
    int32_t tokens[8], counts[8];
    size_t length;
    CHECK_OK(ngc_cache_followers(cache, &ngram, 1, tokens, counts, 8, &length));
    for (size_t i = 0; i < length; i++) {
        if (tokens[i] == token) {
            return counts[i];
        }
    }
    return 0;
}

/* A cache in which 1 was followed by 2 `count` times. */
static ngc_cache *one_count(const ngc_toggles *toggles, uint32_t count)
{
    uint8_t file[28] = {1, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                        255, 255, 1, 0, 0, 0, 2, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        file[24 + i] = (uint8_t)(count >> 8 * i);
    }
    return loaded(toggles, file, sizeof file);
}

void test_counts_stay_at_the_largest(void)
{
    ngc_toggles toggles = *with_toggles;
    const int32_t text[] = {1, 2};
    ngc_cache *large = one_count(&toggles, INT32_MAX - 1);
    ngc_cache *three = one_count(&toggles, 3);
    CHECK_EQUAL(count_of(large, 1, 2), INT32_MAX - 1);
    CHECK_OK(ngc_cache_update(large, text, 2, 1));
    CHECK_EQUAL(count_of(large, 1, 2), INT32_MAX);
    CHECK_OK(ngc_cache_update(large, text, 2, 1));
    CHECK_EQUAL(count_of(large, 1, 2), INT32_MAX);
    CHECK_OK(ngc_cache_merge(large, three));
    CHECK_EQUAL(count_of(large, 1, 2), INT32_MAX);
    CHECK_OK(ngc_cache_merge(three, large));
    CHECK_EQUAL(count_of(three, 1, 2), INT32_MAX);
    check_sound(three);
    ngc_cache_free(large);
    ngc_cache_free(three);
}

/* ---- rewinding ---- */

static ngc_drafter *drafter_with(const ngc_toggles *toggles, ngc_cache *dynamic_cache)
{
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_rule_default(&rule);
    CHECK_OK(ngc_drafter_new(toggles, &rule, NULL, dynamic_cache, &drafter));
    return drafter;
}

static void feed(ngc_drafter *drafter, const int32_t *tokens, size_t n)
{
    size_t n_done;
    CHECK_OK(ngc_drafter_feed(drafter, tokens, n, &n_done));
    CHECK_EQUAL(n_done, n);
}

static void check_same_state(const ngc_drafter *a, const ngc_drafter *b)
{
    size_t length = ngc_drafter_length(a);
    CHECK_EQUAL(length, ngc_drafter_length(b));
    CHECK(length == 0 || memcmp(ngc_drafter_text_view(a), ngc_drafter_text_view(b),
                                length * sizeof(int32_t)) == 0);
    CHECK(same_file(ngc_drafter_context_view(a), ngc_drafter_context_view(b)));
    check_sound(ngc_drafter_context_view(a));
}

/* At once, or in slices: stopped, and begun for another length, before they come to their end. */
static void rewind_to(ngc_drafter *drafter, size_t length, size_t n_at_once)
{
    int32_t done = 0;
    if (n_at_once == SIZE_MAX) {
        CHECK_OK(ngc_drafter_rewind(drafter, length));
        return;
    }
    size_t length_before = ngc_drafter_length(drafter);
    CHECK_EQUAL(ngc_drafter_rewind_slice(drafter, length_before + 1, 1, &done), NGC_BAD_ARGUMENT);
    CHECK_OK(ngc_drafter_rewind_slice(drafter, length_before / 2, 9, &done));
    CHECK(!done);
    CHECK_EQUAL(ngc_drafter_length(drafter), length_before);
    ngc_cache *rest = ngc_drafter_leftover(drafter);
    CHECK(rest != NULL);
    CHECK(ngc_drafter_leftover(drafter) == NULL);
    ngc_cache_free(rest);
    CHECK_OK(ngc_drafter_rewind_slice(drafter, length_before / 3, 5, &done));
    while (!done) {
        CHECK_OK(ngc_drafter_rewind_slice(drafter, length, n_at_once, &done));
    }
}

/* As if the tokens had never been fed, order included; also after an earlier text, whose number
 * of buckets the context cache keeps. */
void test_rewind_is_as_if_never_fed(void)
{
    int32_t text[N];
    ngc_toggles toggles = *with_toggles;
    random_text(text, N, 50, 21);
    const size_t lengths[] = {0, 1, 2, 5, 100, 333, 599, N};
    for (size_t earlier = 0; earlier <= 300; earlier += 300) {
        for (size_t k = 0; k < LENGTH(lengths); k++) {
            ngc_drafter *rewound = drafter_with(&toggles, NULL);
            ngc_drafter *straight = drafter_with(&toggles, NULL);
            if (earlier > 0) {
                feed(rewound, text, earlier);
                feed(straight, text, earlier);
                CHECK_OK(ngc_drafter_end_text(rewound));
                CHECK_OK(ngc_drafter_end_text(straight));
            }
            feed(rewound, text, N);
            rewind_to(rewound, lengths[k], k % 2 == 0 ? SIZE_MAX : 7);
            feed(straight, text, lengths[k]);
            check_same_state(rewound, straight);
            feed(rewound, text + 200, 100);
            feed(straight, text + 200, 100);
            check_same_state(rewound, straight);
            ngc_drafter_free(rewound);
            ngc_drafter_free(straight);
        }
    }
}

/* The text's counts go into the dynamic cache, and the text is empty. */
void test_end_of_text_merges(void)
{
    int32_t text[N];
    ngc_toggles toggles = *with_toggles;
    random_text(text, N, 50, 22);
    ngc_cache *dynamic_cache, *merged;
    CHECK_OK(ngc_cache_new(&toggles, 1, 4, &dynamic_cache));
    CHECK_OK(ngc_cache_new(&toggles, 1, 4, &merged));
    ngc_drafter *drafter = drafter_with(&toggles, dynamic_cache);
    for (int round = 0; round < 3; round++) {
        feed(drafter, text + 100 * round, 400);
        CHECK_OK(ngc_cache_merge(merged, ngc_drafter_context_view(drafter)));
        CHECK_OK(ngc_drafter_end_text(drafter));
        CHECK_EQUAL(ngc_drafter_length(drafter), 0);
        ngc_cache_facts facts;
        CHECK_OK(ngc_cache_facts_of(ngc_drafter_context_view(drafter), &facts));
        CHECK_EQUAL(facts.n_grams, 0);
        CHECK(same_file(dynamic_cache, merged));
    }
    check_sound(dynamic_cache);
    ngc_drafter_free(drafter);
    ngc_cache_free(dynamic_cache);
    ngc_cache_free(merged);
}

/* test_arguments.c - what no caller should pass: refused, and nothing is done. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

static const int32_t BAD_TOKENS[] = {-1, -2, INT32_MIN, INT32_MAX};

void test_bad_toggles(void)
{
    static const size_t offsets[] = {
        offsetof(ngc_toggles, copy_followers), offsetof(ngc_toggles, outer),
        offsetof(ngc_toggles, followers),      offsetof(ngc_toggles, static_cache),
        offsetof(ngc_toggles, hash),           offsetof(ngc_toggles, ties),
        offsetof(ngc_toggles, score),
    };
    static const int32_t values[] = {-1, 99, INT32_MIN, INT32_MAX};
    ngc_rule rule;
    ngc_rule_default(&rule);
    for (size_t i = 0; i < LENGTH(offsets); i++) {
        for (size_t k = 0; k < LENGTH(values); k++) {
            ngc_toggles toggles = *toggles_at(0);
            memcpy((char *)&toggles + offsets[i], &values[k], sizeof values[k]);
            ngc_cache *cache;
            ngc_drafter *drafter;
            ngc_replay *replay;
            ngc_replay_options options = {.n_ctx = 10, .n_draft = 1};
            CHECK_EQUAL(ngc_cache_new(&toggles, 1, 4, &cache), NGC_UNSUPPORTED);
            CHECK(cache == NULL);
            CHECK_EQUAL(ngc_drafter_new(&toggles, &rule, NULL, NULL, &drafter), NGC_UNSUPPORTED);
            CHECK(drafter == NULL);
            CHECK_EQUAL(ngc_replay_new(&toggles, &rule, &options, RECIPE_A, LENGTH(RECIPE_A), NULL,
                                       NULL, &replay),
                        NGC_UNSUPPORTED);
            CHECK(replay == NULL);
        }
    }
}

void test_bad_sizes(void)
{
    static const int32_t pairs[][2] = {{0, 4}, {-1, 4}, {1, 5}, {3, 2}, {5, 5},
                                       {INT32_MIN, 4}, {1, INT32_MAX}, {0, 0}};
    ngc_toggles toggles = *toggles_at(0);
    for (size_t i = 0; i < LENGTH(pairs); i++) {
        ngc_cache *cache;
        CHECK_EQUAL(ngc_cache_new(&toggles, pairs[i][0], pairs[i][1], &cache), NGC_BAD_ARGUMENT);
        CHECK(cache == NULL);
    }
}

void test_bad_updates(void)
{
    ngc_toggles toggles = *toggles_at(0);
    ngc_cache *cache = counted(&toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *before = counted(&toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B));
    CHECK_EQUAL(ngc_cache_update(cache, RECIPE_A, 3, 4), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_cache_update(cache, RECIPE_A, 0, SIZE_MAX), NGC_BAD_ARGUMENT);
    CHECK_OK(ngc_cache_update(cache, RECIPE_A, 10, 0));
    CHECK_OK(ngc_cache_update(cache, RECIPE_A, 0, 0));
    CHECK_OK(ngc_cache_update(cache, NULL, 0, 0));
    for (size_t i = 0; i < LENGTH(BAD_TOKENS); i++) {
        for (size_t at = 0; at < 8; at++) {
            int32_t text[8] = {1, 2, 3, 4, 5, 6, 7, 8};
            text[at] = BAD_TOKENS[i];
            CHECK_EQUAL(ngc_cache_update(cache, text, 8, 8), NGC_BAD_TOKEN);
            CHECK_EQUAL(ngc_cache_update(cache, text, 8, 4), NGC_BAD_TOKEN);
        }
    }
    CHECK(same_counts(cache, before));
    check_sound(cache);
    ngc_cache_free(before);
    ngc_cache_free(cache);
}

void test_bad_lookups(void)
{
    ngc_toggles toggles = *toggles_at(0);
    ngc_cache *cache = counted(&toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B));
    int32_t token, count;
    size_t length = 77;
    static const int32_t sizes[] = {0, -1, 5, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        CHECK_EQUAL(ngc_cache_followers(cache, RECIPE_B, sizes[i], &token, &count, 1, &length),
                    NGC_BAD_ARGUMENT);
        CHECK_EQUAL(length, 0);
    }
    for (size_t i = 0; i < LENGTH(BAD_TOKENS); i++) {
        int32_t ngram[2] = {THE, BAD_TOKENS[i]};
        CHECK_EQUAL(ngc_cache_followers(cache, ngram, 2, &token, &count, 1, &length),
                    NGC_BAD_TOKEN);
    }
    const int32_t the = THE;
    CHECK_OK(ngc_cache_followers(cache, &the, 1, NULL, NULL, 0, &length));
    CHECK_EQUAL(length, 7);
    ngc_cache_free(cache);
}

void test_bad_merges(void)
{
    ngc_toggles toggles = *toggles_at(0);
    ngc_cache *cache = counted(&toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *empty = counted(&toggles, 1, 4, NULL, 0);
    CHECK_EQUAL(ngc_cache_merge(cache, cache), NGC_BAD_ARGUMENT);
    CHECK_OK(ngc_cache_merge(cache, empty));
    CHECK_OK(ngc_cache_merge(empty, cache));
    CHECK(same_counts(cache, empty));
    ngc_cache *pairs = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    CHECK_EQUAL(ngc_cache_merge(pairs, cache), NGC_BAD_ARGUMENT);
    CHECK_OK(ngc_cache_merge(cache, pairs));
    ngc_cache_free(pairs);
    ngc_cache_free(empty);
    ngc_cache_free(cache);
}

/* Each field of the rule, set to what it cannot be. */
void test_bad_rules(void)
{
    enum { FIELDS = sizeof(ngc_rule) / sizeof(int32_t) };
    ngc_toggles toggles = *toggles_at(0);
    for (size_t i = 0; i < FIELDS; i++) {
        static const int32_t values[] = {-2, INT32_MIN, INT32_MAX};
        for (size_t k = 0; k < LENGTH(values); k++) {
            ngc_rule rule;
            ngc_drafter *drafter;
            ngc_rule_default(&rule);
            memcpy((char *)&rule + i * sizeof(int32_t), &values[k], sizeof values[k]);
            CHECK_EQUAL(ngc_drafter_new(&toggles, &rule, NULL, NULL, &drafter), NGC_BAD_ARGUMENT);
            CHECK(drafter == NULL);
        }
    }
}

void test_bad_drafts(void)
{
    enum { MOST = NGC_MAX_DRAFT };
    static int32_t drafted[MOST];
    ngc_toggles toggles = *toggles_at(0);
    ngc_rule rule;
    ngc_drafter *drafter;
    int32_t n = 5;
    size_t n_done = 5;
    ngc_rule_default(&rule);
    CHECK_OK(ngc_drafter_new(&toggles, &rule, NULL, NULL, &drafter));
    CHECK_OK(ngc_drafter_feed(drafter, NULL, 0, &n_done));
    CHECK_EQUAL(n_done, 0);
    CHECK_OK(ngc_drafter_draft(drafter, 0, NULL, &n));
    CHECK_EQUAL(n, 0);
    CHECK_OK(ngc_drafter_feed(drafter, (int32_t[]){1, 1, 1, 1, 1, 1}, 6, &n_done));
    static const int32_t bad[] = {-1, INT32_MIN, NGC_MAX_DRAFT + 1, INT32_MAX};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        CHECK_EQUAL(ngc_drafter_draft(drafter, bad[i], drafted, &n), NGC_BAD_ARGUMENT);
        CHECK_EQUAL(n, 0);
    }
    CHECK_OK(ngc_drafter_draft(drafter, MOST, drafted, &n));
    CHECK_EQUAL(n, MOST);
    for (size_t i = 0; i < LENGTH(BAD_TOKENS); i++) {
        const int32_t tokens[3] = {1, 2, BAD_TOKENS[i]};
        CHECK_EQUAL(ngc_drafter_feed(drafter, tokens, 3, &n_done), NGC_BAD_TOKEN);
        CHECK_EQUAL(n_done, 0);
    }
    CHECK_EQUAL(ngc_drafter_length(drafter), 6);
    CHECK_EQUAL(ngc_drafter_rewind(drafter, 7), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_drafter_rewind(drafter, SIZE_MAX), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_drafter_length(drafter), 6);
    ngc_drafter_free(drafter);
}

void test_bad_replays(void)
{
    static const ngc_replay_options bad[] = {
        {0, 8, 0, 0, 0},  {-1, 8, 0, 0, 0},  {INT64_MIN, 8, 0, 0, 0},
        {10, -1, 0, 0, 0}, {10, NGC_MAX_DRAFT + 1, 0, 0, 0},
        {10, 8, -1, 0, 0}, {10, 8, 2, 0, 0}, {10, 8, 0, 8, 0}, {10, 8, 0, -1, 0},
    };
    ngc_toggles toggles = *toggles_at(0);
    ngc_rule rule;
    ngc_replay *replay;
    ngc_sample sample;
    size_t n;
    ngc_rule_default(&rule);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        CHECK_EQUAL(ngc_replay_new(&toggles, &rule, &bad[i], RECIPE_A, LENGTH(RECIPE_A), NULL,
                                   NULL, &replay),
                    NGC_BAD_ARGUMENT);
        CHECK(replay == NULL);
    }
    ngc_replay_options options = {.n_ctx = 10, .n_draft = 8, .record = 3};
    for (size_t i = 0; i < LENGTH(BAD_TOKENS); i++) {
        const int32_t tokens[3] = {1, 2, BAD_TOKENS[i]};
        CHECK_EQUAL(ngc_replay_new(&toggles, &rule, &options, tokens, 3, NULL, NULL, &replay),
                    NGC_BAD_TOKEN);
    }
    /* A text without tokens is done at once. */
    CHECK_OK(ngc_replay_new(&toggles, &rule, &options, NULL, 0, NULL, NULL, &replay));
    CHECK_OK(ngc_replay_advance(replay, 1, 1, &sample));
    CHECK(sample.done && sample.n_calls == 0);
    CHECK_OK(ngc_replay_advance(replay, INT64_MIN, INT64_MIN, &sample));
    CHECK_OK(ngc_replay_take_drafts(replay, NULL, 0, &n));
    CHECK_EQUAL(n, 0);
    CHECK_OK(ngc_replay_take_calls(replay, NULL, 0, &n));
    CHECK_EQUAL(n, 0);
    ngc_replay_free(replay);
}

void test_freeing_nothing(void)
{
    ngc_cache_free(NULL);
    ngc_drafter_free(NULL);
    ngc_replay_free(NULL);
}

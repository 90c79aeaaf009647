/* test_glance.c - what says no without a look at followers: tags, outlooks, filters. */
#include <string.h>

#include "check.h"
#include "ngc_bloom.h"
#include "ngc_outlook.h"
#include "ngc_packed_format.h"
#include "ngc_simd.h"
#include "ngc_splitmix.h"
#include "tests.h"

void test_tags_match_as_one_by_one(void)
{
    uint64_t seed = 5;
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[NGC_SIMD_BYTES];
        uint64_t random = ngc_splitmix(&seed);
        memcpy(bytes, &random, sizeof bytes);
        for (int i = 0; i < NGC_SIMD_BYTES; i++) {
            bytes[i] = round % 2 == 0 ? bytes[i] : bytes[i] % 3;
        }
        for (int wanted = 0; wanted < 256; wanted++) {
            CHECK_EQUAL(ngc_match_bytes(bytes, (uint8_t)wanted),
                        ngc_match_bytes_plain(bytes, (uint8_t)wanted));
        }
    }
}

/* Both tests of RULE.md's step 2, written anew: the largest count against the thresholds. */
static bool passes(int64_t sum, int32_t top_count, int32_t min_sum, int32_t min_percent)
{
    return sum >= min_sum && (int64_t)100 * top_count >= min_percent * sum;
}

/* For all small rows: what an outlook rules out fails, and with llama.cpp's thresholds it rules out
 * all that fails. */
void test_an_outlook_rules_out_what_fails(void)
{
    static const int32_t own[] = {50, 66, 75};
    for (int32_t sum = 1; sum <= 40; sum++) {
        for (int32_t top = 1; top <= sum; top++) {
            uint32_t outlook = ngc_outlook_of(sum, top);
            CHECK(outlook < 16);
            for (int32_t min_sum = 0; min_sum <= 12; min_sum++) {
                for (int32_t percent = 0; percent <= 110; percent++) {
                    uint32_t least = ngc_outlook_least(min_sum, percent);
                    CHECK(ngc_outlook_may_pass(outlook, least) ||
                          !passes(sum, top, min_sum, percent));
                }
                for (size_t i = 0; min_sum <= 4 && i < 3; i++) {
                    uint32_t least = ngc_outlook_least(min_sum, own[i]);
                    CHECK_EQUAL(ngc_outlook_may_pass(outlook, least),
                                passes(sum, top, min_sum, own[i]));
                }
            }
        }
    }
}

/* Sums past 63 bits when taken times 100 have no share that counts. */
void test_an_outlook_of_the_largest_sums(void)
{
    const int64_t sums[] = {INT64_MAX / NGC_MOST_PERCENT, INT64_MAX / NGC_MOST_PERCENT + 1,
                            INT64_MAX};
    for (size_t i = 0; i < 3; i++) {
        uint32_t outlook = ngc_outlook_of(sums[i], INT32_MAX);
        CHECK(!ngc_outlook_may_pass(outlook, ngc_outlook_least(1, 50)));
        CHECK(ngc_outlook_may_pass(outlook, ngc_outlook_least(INT32_MAX, 49)));
    }
    CHECK(ngc_outlook_may_pass(ngc_outlook_of(INT32_MAX, INT32_MAX), ngc_outlook_least(4, 100)));
}

/* What was put in is always found; of others not more than one in ten. */
void test_a_filter_holds_what_was_put_in(void)
{
    enum { KEYS = 4000, WORDS = KEYS / NGC_BLOOM_KEYS_A_WORD };
    static uint64_t words[WORDS];
    memset(words, 0, sizeof words);
    for (int32_t i = 0; i < KEYS; i++) {
        uint64_t hash = packed_filter_hash(i, 7 * i);
        words[ngc_bloom_word(WORDS, hash)] |= ngc_bloom_bits(hash);
    }
    int n_wrong = 0;
    for (int32_t i = 0; i < KEYS; i++) {
        uint64_t in = packed_filter_hash(i, 7 * i), out = packed_filter_hash(i, 7 * i + 1);
        CHECK(ngc_bloom_has(words[ngc_bloom_word(WORDS, in)], in));
        n_wrong += ngc_bloom_has(words[ngc_bloom_word(WORDS, out)], out);
    }
    CHECK(n_wrong > 0 && n_wrong < KEYS / 10);
}

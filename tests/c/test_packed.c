/* test_packed.c - our own static file: built, opened where it lies, turned into others, lied to. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 1200, N_VOCAB = 60, LONGEST = 400 };

static const ngc_toggles *sorted(void)
{
    return toggles_at(5);
}

/* Opens a file's bytes and checks them to the end. */
static ngc_status open_file(const uint8_t *file, size_t bytes, ngc_cache **out)
{
    ngc_fault fault;
    int32_t done = 0;
    ngc_status status = ngc_packed_open(sorted(), file, bytes, out, &fault);
    CHECK((status == NGC_OK) == (*out != NULL));
    while (status == NGC_OK && !done) {
        status = ngc_packed_check(*out, &done, &fault);
    }
    CHECK(status == NGC_OK || (fault.part != NULL && fault.at_byte <= bytes));
    return status;
}

static void check_holds(const ngc_cache *plain, int64_t n_vocab)
{
    ngc_cache *packed, *opened;
    CHECK_OK(pack(sorted(), plain, NULL, n_vocab, 1000, &packed));
    CHECK(same_counts(plain, packed));
    CHECK(same_counts(packed, plain));
    check_sound(packed);
    size_t bytes;
    const uint8_t *file = ngc_packed_bytes_view(packed, &bytes);
    CHECK_OK(open_file(file, bytes, &opened));
    CHECK(same_counts(plain, opened));
    ngc_memory memory;
    CHECK_OK(ngc_cache_memory(opened, &memory));
    CHECK(memory.mapped_bytes == (int64_t)bytes && memory.live_bytes == 0);
    ngc_cache_free(opened);
    ngc_cache_free(packed);
}

void test_packed_holds_what_it_was_built_from(void)
{
    static const int32_t scales[] = {1, 2, 1000, (INT32_MAX - 1) / N_VOCAB};
    static const size_t lengths[] = {0, 2, 3, 4, 5, 10, 100, N};
    int32_t text[N];
    for (size_t scale = 0; scale < LENGTH(scales); scale++) {
        random_text(text, N, N_VOCAB, 71 + scale);
        for (size_t i = 0; i < N; i++) {
            text[i] *= scales[scale];
        }
        for (size_t i = 0; i < LENGTH(lengths); i++) {
            ngc_cache *plain = counted(sorted(), 2, 2, text, lengths[i]);
            check_holds(plain, 0);
            check_holds(plain, INT32_MAX);
            ngc_cache_free(plain);
        }
    }
}

/* Counts every text for itself, with one counter. */
static ngc_counter *counted_apart(const int32_t *a, size_t n_a, const int32_t *b, size_t n_b)
{
    ngc_counter *counter;
    CHECK_OK(ngc_counter_new(&counter));
    CHECK_OK(ngc_counter_add(counter, a, n_a));
    CHECK_OK(ngc_counter_end_text(counter));
    CHECK_OK(ngc_counter_add(counter, b, n_b));
    CHECK_OK(ngc_counter_end_text(counter));
    CHECK_OK(ngc_counter_finish(counter));
    CHECK_EQUAL(ngc_counter_end_text(counter), NGC_BAD_ARGUMENT);
    return counter;
}

static bool same_bytes(const ngc_cache *a, const ngc_cache *b)
{
    size_t bytes_a, bytes_b;
    const uint8_t *file_a = ngc_packed_bytes_view(a, &bytes_a);
    const uint8_t *file_b = ngc_packed_bytes_view(b, &bytes_b);
    return bytes_a == bytes_b && memcmp(file_a, file_b, bytes_a) == 0;
}

static ngc_cache *merged(const ngc_cache *a, const ngc_cache *b, size_t n_at_once)
{
    ngc_packed_about about = {.tokenizer = "t", .corpus = "some text"};
    ngc_packed_builder *builder;
    ngc_cache *sum = NULL;
    double before = 0;
    CHECK_OK(ngc_packed_begin_merge(sorted(), a, b, &about, &builder));
    for (int32_t done = 0; !done;) {
        if (!CHECK_OK(ngc_packed_step(builder, n_at_once, &done))) {
            break;
        }
        double fraction = ngc_packed_fraction(builder);
        CHECK(fraction >= before && fraction <= 1);
        before = fraction;
    }
    CHECK_OK(ngc_packed_take(builder, &sum));
    ngc_packed_builder_free(builder);
    return sum;
}

/* Two parts merged, of whatever structures, are what one counter makes of both, byte for byte. */
void test_packed_merges_exactly(void)
{
    static const size_t lengths[] = {0, 2, 40, N};
    int32_t text[2 * N];
    random_text(text, 2 * N, N_VOCAB, 11);
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        for (size_t j = 0; j < LENGTH(lengths); j++) {
            ngc_counter *counter = counted_apart(text, lengths[i], text + N, lengths[j]);
            ngc_cache *wanted, *packed_a, *packed_b;
            CHECK_OK(pack(sorted(), NULL, counter, 0, 1000, &wanted));
            ngc_cache *a = counted(toggles_at(0), 2, 2, text, lengths[i]);
            ngc_cache *b = counted(sorted(), 2, 2, text + N, lengths[j]);
            CHECK_OK(pack(sorted(), a, NULL, 0, 1000, &packed_a));
            CHECK_OK(pack(sorted(), b, NULL, 0, 1000, &packed_b));
            ngc_cache *sums[] = {merged(a, b, 1), merged(b, a, 1000), merged(packed_a, packed_b, 7),
                                 merged(packed_b, a, SIZE_MAX)};
            for (size_t k = 0; k < LENGTH(sums); k++) {
                check_sound(sums[k]);
                CHECK(same_bytes(sums[k], wanted));
                ngc_cache_free(sums[k]);
            }
            ngc_cache_free(packed_b);
            ngc_cache_free(packed_a);
            ngc_cache_free(b);
            ngc_cache_free(a);
            ngc_cache_free(wanted);
            ngc_counter_free(counter);
        }
    }
}

/* Whatever it is made of, in whatever order, in slices of whatever size. */
void test_packed_bytes_do_not_depend_on_order(void)
{
    static const size_t at_once[] = {0, 1, 3, SIZE_MAX};
    int32_t text[N];
    random_text(text, N, N_VOCAB, 5);
    ngc_cache *plain = counted(sorted(), 2, 2, text, N), *wanted;
    CHECK_OK(pack(sorted(), plain, NULL, 0, 100, &wanted));
    ngc_counter *counter;
    CHECK_OK(ngc_counter_new(&counter));
    CHECK_OK(ngc_counter_add(counter, text, N));
    CHECK_OK(ngc_counter_finish(counter));
    ngc_cache *maps = counted(toggles_at(0), 2, 2, text, N);
    for (size_t i = 0; i < LENGTH(at_once); i++) {
        ngc_cache *from_counts, *from_maps, *again;
        CHECK_OK(pack(sorted(), NULL, counter, 0, at_once[i], &from_counts));
        CHECK_OK(pack(sorted(), maps, NULL, 0, at_once[i], &from_maps));
        CHECK_OK(pack(sorted(), wanted, NULL, 0, at_once[i], &again));
        CHECK(same_bytes(wanted, from_counts));
        CHECK(same_bytes(wanted, from_maps));
        CHECK(same_bytes(wanted, again));
        ngc_cache_free(from_counts);
        ngc_cache_free(from_maps);
        ngc_cache_free(again);
    }
    ngc_cache_free(maps);
    ngc_counter_free(counter);
    ngc_cache_free(wanted);
    ngc_cache_free(plain);
}

static void put_row(ngc_cache *cache, int32_t a, int32_t b, int32_t n, int32_t most)
{
    uint8_t *record = malloc(20 + 8 * (size_t)n);
    int32_t head[5] = {a, b, NGC_NO_TOKEN, NGC_NO_TOKEN, n};
    memcpy(record, head, sizeof head);
    for (int32_t i = 0; i < n; i++) {
        int32_t pair[2] = {i, i == n / 2 ? most : 1 + i % 3};
        memcpy(record + 20 + 8 * (size_t)i, pair, sizeof pair);
    }
    size_t bytes = 20 + 8 * (size_t)n, n_used;
    ngc_load_report report = {0};
    CHECK_OK(ngc_cache_load_legacy(cache, record, bytes, bytes, &n_used, &report));
    free(record);
}

/* Rows that fit no record, counts up to the largest, all 2-grams there can be, and more 2-grams
 * with one home than can stand near it. */
void test_packed_takes_crowds_and_giants(void)
{
    ngc_cache *cache;
    CHECK_OK(ngc_cache_new(sorted(), 2, 2, &cache));
    for (int32_t i = 0; i < 200; i++) {
        put_row(cache, i, 2 * i, 1 + i, i % 7 == 0 ? INT32_MAX : 1 + 300 * i);
    }
    put_row(cache, 1000, 1000, 1, INT32_MAX);
    put_row(cache, 1000, 1001, 100000, 5);
    check_holds(cache, 0);
    check_holds(cache, 1 << 20);
    ngc_cache_free(cache);

    CHECK_OK(ngc_cache_new(sorted(), 2, 2, &cache));
    for (int32_t a = 0; a < 64; a++) {
        for (int32_t b = 0; b < 64; b++) {
            put_row(cache, a, b, 1 + (a == b), 1);
        }
    }
    check_holds(cache, 0); /* every home is full */
    ngc_cache_free(cache);

    /* Of a wide vocabulary, those that all mix to nearly the same number: found by trying. */
    CHECK_OK(ngc_cache_new(sorted(), 2, 2, &cache));
    int32_t n = 0;
    for (uint32_t mixed = 0; n < 3000; mixed++) {
        /* The inverse of the mix for 31-bit tokens, as RULE says it: see ngc_packed_format.h. */
        uint64_t mask = (UINT64_C(1) << 62) - 1, key = mixed;
        key ^= key >> 31;
        key = key * UINT64_C(0xcfee444d8b59a89b) & mask;
        key ^= key >> 31;
        key = key * UINT64_C(0xf1de83e19937733d) & mask;
        key ^= key >> 31;
        int32_t a = (int32_t)(key >> 31), b = (int32_t)(key & INT32_MAX);
        if (a != INT32_MAX && b != INT32_MAX) {
            put_row(cache, a, b, 1, 1);
            n++;
        }
    }
    ngc_cache *packed;
    ngc_status status = pack(sorted(), cache, NULL, INT32_MAX, 1000, &packed);
    CHECK(status == NGC_OK || status == NGC_UNSUPPORTED || status == NGC_NO_MEMORY);
    if (status == NGC_OK) {
        CHECK(same_counts(cache, packed));
    }
    ngc_cache_free(packed);
    ngc_cache_free(cache);
}

void test_packed_says_what_it_was_told(void)
{
    ngc_cache *plain = counted(sorted(), 2, 2, RECIPE_B, LENGTH(RECIPE_B)), *packed;
    ngc_packed_about told = {.n_vocab = 51, .tokenizer = "names", .built_by = "this test"}, said;
    ngc_packed_builder *builder;
    for (size_t i = 0; i < sizeof told.fingerprint; i++) {
        told.fingerprint[i] = (uint8_t)(7 * i + 1);
    }
    CHECK_OK(ngc_packed_begin(sorted(), plain, &told, &builder));
    for (int32_t done = 0; !done;) {
        CHECK_OK(ngc_packed_step(builder, 100, &done));
    }
    CHECK_OK(ngc_packed_take(builder, &packed));
    ngc_packed_builder_free(builder);
    CHECK_OK(ngc_packed_about_of(packed, &said));
    CHECK_EQUAL(said.n_vocab, 51);
    CHECK(memcmp(said.fingerprint, told.fingerprint, sizeof said.fingerprint) == 0);
    CHECK(strcmp(said.tokenizer, "names") == 0 && strcmp(said.corpus, "") == 0);
    CHECK(strcmp(said.built_by, "this test") == 0);
    CHECK_EQUAL(ngc_packed_about_of(plain, &said), NGC_UNSUPPORTED);
    ngc_cache_free(packed);
    CHECK_EQUAL(pack(sorted(), plain, NULL, 50, 10, &packed), NGC_BAD_TOKEN); /* 50 is in it */
    CHECK_EQUAL(pack(sorted(), plain, NULL, -1, 10, &packed), NGC_BAD_ARGUMENT);
    ngc_cache_free(plain);
}

void test_packed_refuses_what_it_cannot(void)
{
    ngc_cache *plain = counted(sorted(), 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *all_sizes = counted(sorted(), 1, 4, RECIPE_B, LENGTH(RECIPE_B)), *packed, *out;
    CHECK_OK(pack(sorted(), plain, NULL, 0, 10, &packed));
    ngc_cursor cursor = {0};
    ngc_load_report report = {0};
    ngc_fault fault;
    uint8_t byte = 0;
    size_t n;
    int32_t done;
    CHECK_EQUAL(ngc_cache_update(packed, RECIPE_B, 3, 1), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_merge(packed, plain), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_merge(plain, packed), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_clear(packed), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_take(packed, plain, &cursor, 1, &n), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_take(plain, plain, &cursor, 1, &n), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_save_legacy(packed, &cursor, &byte, 1, &n), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_load_legacy(packed, &byte, 1, 1, &n, &report), NGC_UNSUPPORTED);
    CHECK_EQUAL(pack(sorted(), all_sizes, NULL, 0, 10, &out), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_packed_check(plain, &done, &fault), NGC_UNSUPPORTED);
    CHECK(ngc_packed_bytes_view(plain, &n) == NULL);
    CHECK_EQUAL(n, 0);
    ngc_cache_free(packed);
    ngc_cache_free(all_sizes);
    ngc_cache_free(plain);
}

/* The n-grams of `plain` whose counts add up to so much, and no others. */
static void check_frequent(const ngc_cache *cache, const ngc_cache *plain, int64_t least_sum)
{
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    ngc_cache_facts facts;
    int64_t n_frequent = 0, n_rare = 0;
    for (size_t n = 0; ngc_cache_walk(plain, &cursor, &ngram, 1, &n) == NGC_OK && n == 1;) {
        size_t length;
        bool is_frequent = ngram.sum >= least_sum;
        CHECK_OK(ngc_cache_followers(cache, ngram.tokens, 2, NULL, NULL, 0, &length));
        CHECK_EQUAL((int64_t)length, is_frequent ? ngram.n_followers : 0);
        n_frequent += is_frequent;
        n_rare += !is_frequent;
    }
    CHECK_OK(ngc_cache_facts_of(cache, &facts));
    CHECK_EQUAL(facts.n_grams, n_frequent);
    CHECK(n_frequent > 0 && n_rare > 0);
}

/* Only with toggles that say so, and then nothing else. */
void test_packed_as_a_static_cache(void)
{
    ngc_toggles same = *sorted(), ngc = *sorted(), constmap = *toggles_at(6);
    ngc.static_cache = NGC_STATIC_NGC;
    ngc_cache *plain = counted(&same, 2, 2, RECIPE_B, LENGTH(RECIPE_B)), *packed, *fuse;
    CHECK_OK(pack(&ngc, plain, NULL, 0, 10, &packed));
    CHECK_OK(ngc_constmap_build(&constmap, plain, &fuse));
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_rule_default(&rule);
    CHECK_EQUAL(ngc_drafter_new(&same, &rule, packed, NULL, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(&constmap, &rule, packed, NULL, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(&ngc, &rule, plain, NULL, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(&ngc, &rule, fuse, NULL, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(&ngc, &rule, NULL, packed, &drafter), NGC_UNSUPPORTED);
    CHECK_OK(ngc_drafter_new(&ngc, &rule, packed, NULL, &drafter));
    ngc_drafter_free(drafter);
    ngc_cache_free(fuse);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

void test_packed_becomes_any_structure(void)
{
    static const size_t at_once[] = {1, 7, SIZE_MAX};
    int32_t text[N];
    random_text(text, N, N_VOCAB, 31);
    ngc_cache *plain = counted(sorted(), 2, 2, text, N), *packed;
    CHECK_OK(pack(sorted(), plain, NULL, 0, 100, &packed));
    for (size_t i = 0; toggles_at(i) != NULL; i++) {
        ngc_toggles toggles = *toggles_at(i);
        for (size_t k = 0; k < LENGTH(at_once); k++) {
            ngc_cache *cache;
            ngc_cursor cursor = {0};
            size_t n_done;
            CHECK_OK(ngc_cache_new(&toggles, 2, 2, &cache));
            do {
                CHECK_OK(ngc_cache_take(cache, packed, &cursor, at_once[k], &n_done));
                CHECK(n_done <= at_once[k]);
            } while (n_done > 0);
            CHECK(same_counts(cache, plain));
            check_sound(cache);
            cursor = (ngc_cursor){0};
            CHECK_EQUAL(ngc_cache_take(cache, packed, &cursor, 1, &n_done), NGC_DUPLICATE);
            ngc_cache_free(cache);
            CHECK_OK(ngc_cache_new(toggles_at(i), 2, 2, &cache));
            cursor = (ngc_cursor){0};
            CHECK_OK(ngc_cache_take_frequent(cache, packed, &cursor, SIZE_MAX, 3, &n_done));
            check_frequent(cache, plain, 3);
            check_sound(cache);
            ngc_cache_free(cache);
        }
    }
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

/* ---- files that lie ---- */

static void look_everywhere(const ngc_cache *cache)
{
    int32_t tokens[LONGEST], counts[LONGEST];
    size_t length;
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    for (int32_t a = -1; a < 60; a++) {
        for (int32_t b = 0; b < 60; b++) {
            int32_t key[2] = {a < 0 ? INT32_MAX - 1 : a, b};
            CHECK_OK(ngc_cache_followers(cache, key, 2, tokens, counts, LONGEST, &length));
        }
    }
    for (size_t n = 1; n == 1;) {
        CHECK_OK(ngc_cache_walk(cache, &cursor, &ngram, 1, &n));
    }
    ngc_table_facts facts;
    CHECK_OK(ngc_cache_table_facts(cache, &facts));
    for (int32_t a = 0; a < 60; a++) {
        int32_t key[2] = {a, 59 - a};
        ngc_around around;
        ngc_place places[8];
        CHECK_OK(ngc_cache_table_around(cache, key, 2, 1, 1, &around, places, 8, NULL, 0, &length));
    }
}

/* Any byte changed is found out, by opening it or by checking all of it; and where only the check
 * would find it, look-ups stay within the file. */
void test_packed_with_any_byte_changed(void)
{
    ngc_cache *plain = counted(sorted(), 2, 2, RECIPE_B, LENGTH(RECIPE_B)), *packed, *opened;
    CHECK_OK(pack(sorted(), plain, NULL, 0, 10, &packed));
    size_t bytes;
    const uint8_t *file = ngc_packed_bytes_view(packed, &bytes);
    uint8_t *changed = malloc(bytes);
    for (size_t at = 0; at < bytes; at++) {
        static const uint8_t by[] = {0x01, 0x80, 0xff};
        for (size_t k = 0; k < LENGTH(by); k++) {
            memcpy(changed, file, bytes);
            changed[at] ^= by[k];
            ngc_status status = open_file(changed, bytes, &opened);
            CHECK(status == NGC_BAD_SUM || status == NGC_BAD_RECORD || status == NGC_BAD_VERSION);
            CHECK(at >= 256 || opened == NULL);
            if (opened != NULL) {
                const char *reason;
                CHECK_EQUAL(ngc_cache_validate(opened, &reason), NGC_BAD_RECORD);
                look_everywhere(opened);
                ngc_cache_free(opened);
            }
        }
    }
    free(changed);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

void test_packed_cut_at_any_byte(void)
{
    ngc_cache *plain = counted(sorted(), 2, 2, RECIPE_B, LENGTH(RECIPE_B)), *packed, *opened;
    CHECK_OK(pack(sorted(), plain, NULL, 0, 10, &packed));
    size_t bytes;
    const uint8_t *file = ngc_packed_bytes_view(packed, &bytes);
    for (size_t cut = 0; cut < bytes; cut++) {
        uint8_t *part = malloc(cut + (cut == 0));
        memcpy(part, file, cut);
        CHECK(open_file(part, cut, &opened) == NGC_TRUNCATED && opened == NULL);
        free(part);
    }
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

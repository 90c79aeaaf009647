/* test_constmap.c - the packed static cache: built, written as a file, opened again, and lied to. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 1200, N_VOCAB = 60, LONGEST = 80 };

static ngc_cache *packed_from(const ngc_cache *source)
{
    ngc_cache *packed;
    ngc_toggles toggles = *toggles_at(0);
    CHECK_OK(ngc_constmap_build(&toggles, source, &packed));
    return packed;
}

/* Fills a constmap with a file's bytes and checks it to the end. */
static ngc_status open_file(const uint8_t *file, size_t bytes, ngc_cache **out)
{
    ngc_toggles toggles = *toggles_at(0);
    uint8_t *room;
    CHECK_OK(ngc_constmap_new(&toggles, bytes, out, &room));
    memcpy(room, file, bytes);
    int32_t done = 0;
    ngc_status status = NGC_OK;
    while (status == NGC_OK && !done) {
        status = ngc_constmap_check(*out, &done);
    }
    return status;
}

static bool same_row(const ngc_cache *packed, const ngc_cache *plain, int32_t a, int32_t b)
{
    int32_t key[2] = {a, b}, tokens[2][LONGEST], counts[2][LONGEST];
    size_t length[2];
    CHECK_OK(ngc_cache_followers(packed, key, 2, tokens[0], counts[0], LONGEST, &length[0]));
    CHECK_OK(ngc_cache_followers(plain, key, 2, tokens[1], counts[1], LONGEST, &length[1]));
    return length[0] == length[1] && length[0] <= LONGEST &&
           memcmp(tokens[0], tokens[1], length[0] * sizeof(int32_t)) == 0 &&
           memcmp(counts[0], counts[1], length[0] * sizeof(int32_t)) == 0;
}

/* Every 2-gram there is, and every one there is not. */
static void check_same_rows(const ngc_cache *packed, const ngc_cache *plain)
{
    for (int32_t a = 0; a <= N_VOCAB; a++) {
        for (int32_t b = 0; b <= N_VOCAB; b++) {
            CHECK(same_row(packed, plain, a, b));
        }
    }
}

void test_constmap_holds_what_it_was_built_from(void)
{
    int32_t text[N];
    ngc_toggles toggles = *toggles_at(5); /* sorted: the same order */
    const size_t lengths[] = {0, 1, 2, 3, 4, 5, 10, 100, N};
    random_text(text, N, N_VOCAB, 71);
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        ngc_cache *plain = counted(&toggles, 2, 2, text, lengths[i]);
        ngc_cache *packed = packed_from(plain), *opened;
        ngc_cache_facts of_plain, of_packed;
        CHECK_OK(ngc_cache_facts_of(plain, &of_plain));
        CHECK_OK(ngc_cache_facts_of(packed, &of_packed));
        CHECK_EQUAL(of_packed.n_grams, of_plain.n_grams);
        CHECK_EQUAL(of_packed.n_followers, of_plain.n_followers);
        check_same_rows(packed, plain);
        check_sound(packed);
        size_t bytes;
        const uint8_t *file = ngc_constmap_bytes_view(packed, &bytes);
        CHECK_OK(open_file(file, bytes, &opened));
        check_same_rows(opened, plain);
        check_sound(opened);
        ngc_cache_free(opened);
        ngc_cache_free(packed);
        ngc_cache_free(plain);
    }
}

/* It cannot change, be listed or be written as anything else. */
void test_constmap_refuses_what_it_cannot(void)
{
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *plain = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *all_sizes = counted(&toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *packed = packed_from(plain), *out;
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    ngc_load_report report = {0};
    uint8_t byte = 0;
    size_t n;
    int32_t done;
    CHECK_EQUAL(ngc_cache_update(packed, RECIPE_B, 3, 1), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_merge(packed, plain), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_merge(plain, packed), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_clear(packed), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_walk(packed, &cursor, &ngram, 1, &n), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_save_legacy(packed, &cursor, &byte, 1, &n), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_load_legacy(packed, &byte, 1, 1, &n, &report), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_constmap_build(&toggles, packed, &out), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_constmap_build(&toggles, all_sizes, &out), NGC_UNSUPPORTED);
    CHECK(out == NULL);
    /* And other caches are no constmap. */
    CHECK_EQUAL(ngc_constmap_check(plain, &done), NGC_UNSUPPORTED);
    CHECK(ngc_constmap_bytes_view(plain, &n) == NULL);
    CHECK_EQUAL(n, 0);
    ngc_cache_free(packed);
    ngc_cache_free(all_sizes);
    ngc_cache_free(plain);
}

/* Only with toggles that say so, and then only a constmap. */
void test_constmap_as_a_static_cache(void)
{
    ngc_toggles same = *toggles_at(5), constmap = *toggles_at(6);
    ngc_cache *plain = counted(&same, 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *packed = packed_from(plain);
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_rule_default(&rule);
    CHECK_EQUAL(ngc_drafter_new(&same, &rule, packed, NULL, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(&constmap, &rule, plain, NULL, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(&constmap, &rule, NULL, packed, &drafter), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_drafter_new(toggles_at(0), &rule, NULL, packed, &drafter), NGC_UNSUPPORTED);
    CHECK_OK(ngc_drafter_new(&constmap, &rule, packed, NULL, &drafter));
    ngc_drafter_free(drafter);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

/* ---- files that lie ---- */

static void look_everywhere(const ngc_cache *cache)
{
    int32_t tokens[LONGEST], counts[LONGEST];
    size_t length;
    for (int32_t a = 0; a < 60; a++) {
        for (int32_t b = 0; b < 60; b++) {
            int32_t key[2] = {a, b};
            CHECK_OK(ngc_cache_followers(cache, key, 2, tokens, counts, LONGEST, &length));
            for (size_t i = 0; i < length && i < LONGEST; i++) {
                CHECK(tokens[i] >= 0 && counts[i] > 0 && (i == 0 || tokens[i - 1] < tokens[i]));
            }
        }
    }
}

/* Any byte changed: it is refused or, among the followers, whose sum the format lacks, what is found
 * is still a list of followers. Once refused, it stays so, and nothing is found in it. */
void test_constmap_with_any_byte_changed(void)
{
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *plain = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *packed = packed_from(plain), *opened;
    ngc_cache_facts facts;
    size_t bytes;
    const uint8_t *file = ngc_constmap_bytes_view(packed, &bytes);
    uint8_t *changed = malloc(bytes);
    CHECK_OK(ngc_cache_facts_of(packed, &facts));
    size_t map_at = 24 + 8 * (size_t)facts.n_followers;
    for (size_t at = 0; at < bytes; at++) {
        static const uint8_t by[] = {0x01, 0x80, 0xff};
        for (size_t k = 0; k < LENGTH(by); k++) {
            memcpy(changed, file, bytes);
            changed[at] ^= by[k];
            ngc_status status = open_file(changed, bytes, &opened);
            CHECK(status != NGC_OK || (at >= 24 && at < map_at));
            int32_t done = 0;
            if (status != NGC_OK) {
                for (int again = 0; again < 20; again++) {
                    CHECK(ngc_constmap_check(opened, &done) == status && done == 0);
                }
                CHECK_EQUAL(ngc_cache_validate(opened, &(const char *){NULL}), NGC_BAD_RECORD);
            }
            look_everywhere(opened);
            ngc_cache_free(opened);
        }
    }
    free(changed);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

/* The checksum of a map, as its format has it: FNV-1a. */
static void sum_again(uint8_t *map, size_t bytes)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < bytes - 8; i++) {
        sum = (sum ^ map[i]) * UINT64_C(0x100000001b3);
    }
    memcpy(map + bytes - 8, &sum, sizeof sum);
}

/* A value that leads elsewhere, in a file whose checksum is right: nothing is found, or a list. */
void test_constmap_with_forged_places(void)
{
    enum { HEAD = 24, MAP_HEAD = 32 };
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *plain = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *packed = packed_from(plain), *opened;
    ngc_cache_facts facts;
    ngc_fuse_lookup lookup;
    size_t bytes;
    const uint8_t *file = ngc_constmap_bytes_view(packed, &bytes);
    uint8_t *forged = malloc(bytes);
    CHECK_OK(ngc_cache_facts_of(packed, &facts));
    CHECK_OK(ngc_constmap_look_up(packed, RECIPE_B, &lookup));
    CHECK_EQUAL(lookup.verdict, NGC_FUSE_FOUND);
    uint64_t n = (uint64_t)facts.n_followers;
    size_t map_at = HEAD + 8 * (size_t)n;
    size_t cell_at = map_at + MAP_HEAD + 8 * (size_t)lookup.cells[0];
    const uint64_t places[][2] = {{n, 1},     {n - 1, 2},          {0, n + 1},
                                  {0, 0},     {n, (1 << 24) - 1},  {n + 64, 1},
                                  {1u << 30, 1}, {(UINT64_C(1) << 40) - 1, 1}};
    for (size_t i = 0; i < LENGTH(places); i++) {
        uint64_t value = places[i][0] << 24 | places[i][1];
        uint64_t cell = lookup.data[0] ^ lookup.value ^ value;
        memcpy(forged, file, bytes);
        memcpy(forged + cell_at, &cell, sizeof cell);
        sum_again(forged + map_at, bytes - map_at);
        CHECK_OK(open_file(forged, bytes, &opened));
        ngc_fuse_lookup again;
        CHECK_OK(ngc_constmap_look_up(opened, RECIPE_B, &again));
        CHECK(again.value == value && again.check == again.needed);
        CHECK_EQUAL(again.verdict, NGC_FUSE_NO_PLACE);
        look_everywhere(opened);
        ngc_cache_free(opened);
    }
    free(forged);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

void test_constmap_cut_at_any_byte(void)
{
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *plain = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B));
    ngc_cache *packed = packed_from(plain), *opened;
    size_t bytes;
    const uint8_t *file = ngc_constmap_bytes_view(packed, &bytes);
    for (size_t cut = 0; cut < bytes; cut++) {
        CHECK(open_file(file, cut, &opened) != NGC_OK);
        look_everywhere(opened);
        ngc_cache_free(opened);
    }
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

/* ---- in slices ---- */

static void check_same_file(const ngc_cache *a, const ngc_cache *b)
{
    size_t bytes_a, bytes_b;
    const uint8_t *file_a = ngc_constmap_bytes_view(a, &bytes_a);
    const uint8_t *file_b = ngc_constmap_bytes_view(b, &bytes_b);
    CHECK(bytes_a == bytes_b && memcmp(file_a, file_b, bytes_a) == 0);
}

/* Runs a builder to its end, a slice after the other, and frees it. */
static ngc_cache *stepped(ngc_constmap_builder *builder, size_t n_at_once, size_t *n_slices)
{
    ngc_cache *out;
    double before = 0;
    int32_t done = 0;
    for (*n_slices = 0; !done; ++*n_slices) {
        CHECK_EQUAL(ngc_constmap_take(builder, &out), NGC_BAD_ARGUMENT);
        if (!CHECK_OK(ngc_constmap_step(builder, n_at_once, &done))) {
            break;
        }
        double fraction = ngc_constmap_fraction(builder);
        CHECK(fraction >= before && fraction <= 1);
        before = fraction;
    }
    CHECK(before == 1);
    CHECK_OK(ngc_constmap_take(builder, &out));
    ngc_constmap_builder_free(builder);
    return out;
}

void test_constmap_in_slices_of_any_size(void)
{
    static const size_t lengths[] = {0, 2, 3, 100, N}, at_once[] = {0, 1, 7, SIZE_MAX};
    ngc_toggles toggles = *toggles_at(5);
    int32_t text[N];
    random_text(text, N, N_VOCAB, 72);
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        ngc_cache *plain = counted(&toggles, 2, 2, text, lengths[i]);
        ngc_cache *packed = packed_from(plain), *whole;
        ngc_counter *counter;
        CHECK_OK(ngc_counter_new(&counter));
        CHECK_OK(ngc_counter_add(counter, text, lengths[i]));
        CHECK_OK(ngc_counter_finish(counter));
        CHECK_OK(ngc_constmap_count(&toggles, counter, &whole));
        for (size_t k = 0; k < LENGTH(at_once); k++) {
            ngc_constmap_builder *builder;
            size_t n_slices;
            CHECK_OK(ngc_constmap_begin(&toggles, plain, &builder));
            ngc_cache *out = stepped(builder, at_once[k], &n_slices);
            CHECK(at_once[k] > 7 || lengths[i] < N || n_slices > 500);
            check_same_file(out, packed);
            check_same_rows(out, plain);
            check_sound(out);
            ngc_cache_free(out);
            CHECK_OK(ngc_constmap_begin_counts(&toggles, counter, &builder));
            out = stepped(builder, at_once[k], &n_slices);
            check_same_file(out, whole);
            check_same_rows(out, plain);
            ngc_cache_free(out);
        }
        ngc_constmap_builder *left; /* in the middle */
        int32_t done;
        CHECK_OK(ngc_constmap_begin(&toggles, plain, &left));
        CHECK_OK(ngc_constmap_step(left, 1, &done));
        ngc_constmap_builder_fail_allocation(left, 1);
        ngc_status status = NGC_OK;
        for (done = 0; status == NGC_OK && !done;) {
            status = ngc_constmap_step(left, 50, &done);
        }
        CHECK_EQUAL(status, NGC_NO_MEMORY);
        ngc_constmap_builder_free(left);
        ngc_counter_free(counter);
        ngc_cache_free(whole);
        ngc_cache_free(packed);
        ngc_cache_free(plain);
    }
}

/* A file of ours with any byte changed, as far as it opens: what it says of its size may be wrong by
 * then, and a constmap of it is made or refused, never written past its end. */
void test_constmap_from_a_damaged_file(void)
{
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *plain = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B)), *ours;
    CHECK_OK(pack(&toggles, plain, NULL, 0, 10, &ours));
    size_t bytes, n_opened = 0, n_refused = 0;
    const uint8_t *file = ngc_packed_bytes_view(ours, &bytes);
    uint8_t *changed = malloc(bytes);
    for (size_t at = 0; at < bytes; at++) {
        for (int bit = 0; bit < 8; bit++) {
            ngc_fault fault;
            ngc_cache *opened, *out;
            memcpy(changed, file, bytes);
            changed[at] ^= (uint8_t)(1 << bit);
            if (ngc_packed_open(&toggles, changed, bytes, &opened, &fault) == NGC_OK) {
                ngc_status status = ngc_constmap_build(&toggles, opened, &out);
                CHECK((status == NGC_OK) == (out != NULL));
                n_refused += status != NGC_OK;
                n_opened++;
                ngc_cache_free(out);
                ngc_cache_free(opened);
            }
        }
    }
    CHECK(n_opened > 1000 && n_refused > 100);
    free(changed);
    ngc_cache_free(ours);
    ngc_cache_free(plain);
}

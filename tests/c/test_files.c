/* test_files.c - llama.cpp's cache file: out and in again, in pieces, and what must be refused. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

static ngc_cache *some_cache(const ngc_toggles *toggles)
{
    int32_t text[150];
    random_text(text, LENGTH(text), 12, 8);
    return counted(toggles, 1, 4, text, LENGTH(text));
}

/* A buffer of any size that holds the longest record gives the same bytes. */
void test_save_in_pieces_of_any_size(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache = some_cache(&toggles);
    size_t bytes;
    uint8_t *file = saved(cache, &bytes);
    uint8_t *pieces = malloc(bytes);
    for (size_t capacity = 0; capacity <= bytes + 8; capacity += capacity < 200 ? 1 : 97) {
        ngc_cursor cursor = {0};
        size_t done = 0, n_written;
        ngc_status status;
        do {
            size_t room = capacity < bytes - done ? capacity : bytes - done;
            status = ngc_cache_save_legacy(cache, &cursor, pieces + done, room, &n_written);
            done += n_written;
        } while (status == NGC_OK && n_written > 0);
        CHECK(status == NGC_OK || status == NGC_SMALL_BUFFER);
        CHECK(status == NGC_OK ? done == bytes : capacity < 200);
        CHECK(memcmp(file, pieces, done) == 0);
    }
    free(pieces);
    free(file);
    ngc_cache_free(cache);
}

/* A record that does not fit is no end: with a larger buffer it goes on where it stopped. */
void test_save_goes_on_after_a_small_buffer(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache = some_cache(&toggles);
    size_t bytes, done = 0, n_written = 1;
    uint8_t *file = saved(cache, &bytes);
    uint8_t *pieces = malloc(bytes);
    ngc_cursor cursor = {0};
    while (n_written > 0) {
        n_written = 0;
        for (size_t room = 0; n_written == 0 && room <= bytes - done; room += 4) {
            ngc_status status =
                ngc_cache_save_legacy(cache, &cursor, pieces + done, room, &n_written);
            CHECK_EQUAL(status, n_written > 0 || done == bytes ? NGC_OK : NGC_SMALL_BUFFER);
        }
        done += n_written;
    }
    CHECK(done == bytes && memcmp(file, pieces, bytes) == 0);
    free(pieces);
    free(file);
    ngc_cache_free(cache);
}

/* Loads a file of which never more than piece_bytes new ones are shown at a time. */
static ngc_status load_in_pieces(ngc_cache *cache, const uint8_t *file, size_t bytes,
                                 size_t piece_bytes, ngc_load_report *report)
{
    size_t start = 0, end = 0;
    while (start < bytes) {
        end = end + piece_bytes < bytes ? end + piece_bytes : bytes;
        size_t n_used;
        ngc_status status = ngc_cache_load_legacy(cache, file + start, end - start, bytes - start,
                                                  &n_used, report);
        start += n_used;
        CHECK_EQUAL(report->n_bytes, start);
        if (status != NGC_OK) {
            return status;
        }
    }
    return NGC_OK;
}

void test_load_in_pieces_of_any_size(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache = some_cache(&toggles);
    size_t bytes;
    uint8_t *file = saved(cache, &bytes);
    ngc_cache *whole = loaded(&toggles, file, bytes);
    CHECK(same_counts(cache, whole));
    for (size_t piece = 1; piece <= bytes; piece += piece < 200 ? 1 : 131) {
        ngc_cache *again;
        ngc_cache_facts facts;
        ngc_load_report report = {0};
        CHECK_OK(ngc_cache_new(&toggles, 1, 4, &again));
        CHECK_OK(load_in_pieces(again, file, bytes, piece, &report));
        CHECK(same_file(again, whole));
        CHECK_OK(ngc_cache_facts_of(again, &facts));
        CHECK_EQUAL(report.n_grams, facts.n_grams);
        CHECK_EQUAL(report.n_followers, facts.n_followers);
        check_sound(again);
        ngc_cache_free(again);
    }
    ngc_cache_free(whole);
    ngc_cache_free(cache);
    free(file);
}

/* Other sizes of n-grams are counted and left out. */
void test_load_leaves_other_sizes_out(void)
{
    int32_t text[150];
    ngc_toggles toggles = *with_toggles;
    random_text(text, LENGTH(text), 12, 8);
    ngc_cache *all = some_cache(&toggles);
    ngc_cache *pairs = counted(&toggles, 2, 2, text, LENGTH(text));
    ngc_cache *kept;
    ngc_load_report report = {0};
    ngc_cache_facts facts;
    size_t bytes, n_used;
    uint8_t *file = saved(all, &bytes);
    CHECK_OK(ngc_cache_new(&toggles, 2, 2, &kept));
    CHECK_OK(ngc_cache_load_legacy(kept, file, bytes, bytes, &n_used, &report));
    CHECK_OK(ngc_cache_facts_of(all, &facts));
    CHECK(same_counts(kept, pairs));
    CHECK_EQUAL(report.n_left_out, facts.n_grams - facts.n_grams_by_n[1]);
    CHECK_EQUAL(report.n_grams, facts.n_grams_by_n[1]);
    ngc_cache_free(kept);
    ngc_cache_free(pairs);
    ngc_cache_free(all);
    free(file);
}

/* ---- what must be refused ---- */

/* Cut anywhere: the whole records before the cut are in, and the cut is told unless it falls
 * between two records. */
void test_load_cut_at_any_byte(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *whole = some_cache(&toggles);
    size_t bytes;
    uint8_t *file = saved(whole, &bytes);
    for (size_t cut = 1; cut < (bytes < 900 ? bytes : 900); cut++) {
        ngc_cache *cache;
        ngc_load_report report = {0};
        size_t n_used;
        CHECK_OK(ngc_cache_new(&toggles, 1, 4, &cache));
        ngc_status status = ngc_cache_load_legacy(cache, file, cut, cut, &n_used, &report);
        CHECK_EQUAL(status, n_used == cut ? NGC_OK : NGC_TRUNCATED);
        CHECK_EQUAL(report.n_bytes, n_used);
        size_t saved_bytes;
        uint8_t *again = saved(cache, &saved_bytes);
        CHECK_EQUAL(saved_bytes, n_used);
        free(again);
        check_sound(cache);
        ngc_cache_free(cache);
    }
    free(file);
    ngc_cache_free(whole);
}

static size_t put(uint8_t *out, const int32_t *values, size_t n)
{
    for (size_t i = 0; i < 4 * n; i++) {
        out[i] = (uint8_t)((uint32_t)values[i / 4] >> i % 4 * 8);
    }
    return 4 * n;
}

/* A good record, then one of these; the good one stays, the other's offset is told. */
static void check_refused(const int32_t *record, size_t n_values, ngc_status wanted)
{
    static const int32_t good[] = {1, 2, 3, 4, 1, 5, 6};
    uint8_t file[200];
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache;
    ngc_cache_facts facts;
    ngc_load_report report = {0};
    size_t n_used;
    size_t bytes = put(file, good, LENGTH(good));
    bytes += put(file + bytes, record, n_values);
    CHECK_OK(ngc_cache_new(&toggles, 1, 4, &cache));
    CHECK_EQUAL(ngc_cache_load_legacy(cache, file, bytes, bytes, &n_used, &report), wanted);
    CHECK_EQUAL(n_used, 28);
    CHECK_EQUAL(report.n_bytes, 28);
    CHECK_EQUAL(report.n_grams, 1);
    CHECK_OK(ngc_cache_facts_of(cache, &facts));
    CHECK_EQUAL(facts.n_grams, 1);
    check_sound(cache);
    ngc_cache_free(cache);
}

#define REFUSED(status, ...) \
    check_refused((const int32_t[]){__VA_ARGS__}, LENGTH(((const int32_t[]){__VA_ARGS__})), status)

void test_load_refuses_bad_records(void)
{
    REFUSED(NGC_DUPLICATE, 1, 2, 3, 4, 1, 7, 8);
    REFUSED(NGC_DUPLICATE, 1, -1, -1, -1, 2, 7, 8, 7, 9);
    REFUSED(NGC_BAD_RECORD, -1, -1, -1, -1, 1, 7, 8);
    REFUSED(NGC_BAD_RECORD, -1, 2, -1, -1, 1, 7, 8);
    REFUSED(NGC_BAD_RECORD, 1, -1, 2, -1, 1, 7, 8);
    REFUSED(NGC_BAD_RECORD, 1, 2, -2, -1, 1, 7, 8);
    REFUSED(NGC_BAD_RECORD, INT32_MAX, -1, -1, -1, 1, 7, 8);
    REFUSED(NGC_BAD_RECORD, INT32_MIN, -1, -1, -1, 1, 7, 8);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, 0);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, -1, 7, 8);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, INT32_MIN, 7, 8);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, 1, -1, 8);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, 1, INT32_MAX, 8);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, 1, 7, 0);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, 1, 7, -8);
    REFUSED(NGC_BAD_RECORD, 1, -1, -1, -1, 2, 7, 8, 9, 0);
    REFUSED(NGC_TRUNCATED, 1, -1, -1, -1);
    REFUSED(NGC_TRUNCATED, 1, -1, -1, -1, 2, 7, 8);
    REFUSED(NGC_TRUNCATED, 1, -1, -1, -1, INT32_MAX, 7, 8); /* 16 GB claimed; none asked for */
}

/* Loading into a cache that holds something adds; what it has already is refused. */
void test_load_adds(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache = some_cache(&toggles);
    ngc_load_report report = {0};
    size_t bytes, n_used;
    uint8_t *file = saved(cache, &bytes);
    ngc_cache *before = loaded(&toggles, file, bytes);
    CHECK_EQUAL(ngc_cache_load_legacy(cache, file, bytes, bytes, &n_used, &report),
                NGC_DUPLICATE);
    CHECK(same_counts(cache, before));
    ngc_cache_clear(cache);
    report = (ngc_load_report){0};
    CHECK_OK(ngc_cache_load_legacy(cache, file, bytes, bytes, &n_used, &report));
    CHECK(same_counts(cache, before));
    check_sound(cache);
    ngc_cache_free(before);
    ngc_cache_free(cache);
    free(file);
}

/* An empty cache is an empty file, and the other way round. */
void test_empty_file(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache;
    ngc_cursor cursor = {0};
    ngc_load_report report = {0};
    uint8_t byte = 0;
    size_t n = 1;
    CHECK_OK(ngc_cache_new(&toggles, 1, 4, &cache));
    CHECK_OK(ngc_cache_save_legacy(cache, &cursor, &byte, 1, &n));
    CHECK_EQUAL(n, 0);
    n = 1;
    CHECK_OK(ngc_cache_load_legacy(cache, &byte, 0, 0, &n, &report));
    CHECK_EQUAL(n, 0);
    CHECK_EQUAL(ngc_cache_load_legacy(cache, &byte, 1, 0, &n, &report), NGC_BAD_ARGUMENT);
    check_sound(cache);
    ngc_cache_free(cache);
}

/* A walk over a cache that has changed stops, whatever changed it. */
void test_no_walk_goes_on_after_a_change(void)
{
    ngc_toggles toggles = *with_toggles;
    ngc_cache *other = some_cache(&toggles);
    size_t bytes;
    uint8_t *whole = saved(other, &bytes);
    uint8_t file[200];
    for (int change = 0; change < 4; change++) {
        ngc_cache *cache = some_cache(&toggles);
        ngc_cursor walk = {0}, save = {0};
        ngc_ngram_facts ngram;
        ngc_load_report report = {0};
        size_t n;
        CHECK_OK(ngc_cache_walk(cache, &walk, &ngram, 1, &n));
        CHECK_OK(ngc_cache_save_legacy(cache, &save, file, sizeof file, &n));
        switch (change) {
        case 0:
            ngc_cache_clear(cache);
            break;
        case 1:
            CHECK_OK(ngc_cache_update(cache, RECIPE_A, 2, 1));
            break;
        case 2:
            CHECK_OK(ngc_cache_merge(cache, other));
            break;
        default:
            CHECK_EQUAL(ngc_cache_load_legacy(cache, whole, bytes, bytes, &n, &report),
                        NGC_DUPLICATE);
        }
        CHECK_EQUAL(ngc_cache_walk(cache, &walk, &ngram, 1, &n), NGC_CHANGED);
        CHECK_EQUAL(n, 0);
        CHECK_EQUAL(ngc_cache_save_legacy(cache, &save, file, sizeof file, &n), NGC_CHANGED);
        CHECK_EQUAL(n, 0);
        walk = (ngc_cursor){0};
        CHECK_OK(ngc_cache_walk(cache, &walk, &ngram, 1, &n));
        ngc_cache_free(cache);
    }
    free(whole);
    ngc_cache_free(other);
}

/* Walking in pieces of any size meets every n-gram once, with its sum. */
void test_walk_in_pieces_of_any_size(void)
{
    enum { MOST = 600 };
    static ngc_ngram_facts whole[MOST], pieces[MOST];
    ngc_toggles toggles = *with_toggles;
    ngc_cache *cache = some_cache(&toggles);
    ngc_cache_facts facts;
    ngc_cursor cursor = {0};
    size_t n, n_written;
    CHECK_OK(ngc_cache_facts_of(cache, &facts));
    CHECK_OK(ngc_cache_walk(cache, &cursor, whole, MOST, &n));
    CHECK_EQUAL(n, facts.n_grams);
    for (size_t piece = 1; piece < n + 2; piece += 1 + piece / 4) {
        size_t done = 0;
        cursor = (ngc_cursor){0};
        do {
            size_t room = MOST - done < piece ? MOST - done : piece;
            CHECK_OK(ngc_cache_walk(cache, &cursor, pieces + done, room, &n_written));
            done += n_written;
        } while (n_written > 0);
        CHECK(done == n && memcmp(whole, pieces, n * sizeof *whole) == 0);
        CHECK_EQUAL(cursor.n_done, n);
    }
    ngc_cache_free(cache);
}

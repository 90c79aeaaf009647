/* test_counter.c - counting in bounded memory gives what counting into a cache gives. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "ngc_counter.h"
#include "tests.h"

enum { N = 20000 };

static ngc_counter *counted_in_pieces(const int32_t *text, size_t length, size_t piece)
{
    ngc_counter *counter;
    CHECK_OK(ngc_counter_new(&counter));
    for (size_t at = 0; at < length; at += piece) {
        CHECK_OK(ngc_counter_add(counter, text + at, length - at < piece ? length - at : piece));
    }
    CHECK_EQUAL(ngc_counter_tokens(counter), length);
    CHECK_OK(ngc_counter_finish(counter));
    return counter;
}

/* The file of finished counts, in pieces of that size or larger where a record needs it. */
static uint8_t *saved_counts(ngc_counter *counter, size_t piece, size_t *bytes)
{
    ngc_cache_facts facts;
    ngc_cursor cursor = {0};
    CHECK_OK(ngc_counter_facts(counter, &facts));
    size_t size = 20 * (size_t)facts.n_grams + 8 * (size_t)facts.n_followers;
    uint8_t *file = malloc(size + 1);
    size_t done = 0, n_written = 1, room = piece;
    CHECK_OK(ngc_counter_begin_save(counter));
    while (n_written > 0) {
        room = room < size - done ? room : size - done;
        ngc_status status =
            ngc_counter_save_legacy(counter, &cursor, file + done, room, &n_written);
        done += n_written;
        if (status == NGC_SMALL_BUFFER) {
            n_written = 1;
            room = 2 * room + 1;
        } else if (CHECK_OK(status)) {
            room = piece;
        }
    }
    CHECK_EQUAL(done, size);
    *bytes = done;
    return file;
}

/* In as many slices as it takes; *n_waits of them ended before all was in. */
static ngc_status fill(ngc_counter *counter, ngc_cache *cache, int64_t first, int64_t n_grams,
                       size_t *n_waits)
{
    ngc_status status = NGC_NOT_YET;
    for (*n_waits = 0; status == NGC_NOT_YET; *n_waits += status == NGC_NOT_YET) {
        int64_t n_done;
        status = ngc_counter_fill(counter, cache, first, n_grams, &n_done);
        first += n_done;
        n_grams -= n_done;
    }
    return status;
}

static void check_counts(const int32_t *text, size_t length, size_t piece)
{
    ngc_cache *wanted = counted(toggles_at(0), 2, 2, text, length);
    ngc_counter *counter = counted_in_pieces(text, length, piece);
    size_t bytes, wanted_bytes;
    uint8_t *file = saved_counts(counter, piece, &bytes);
    uint8_t *wanted_file = saved(wanted, &wanted_bytes);
    CHECK(bytes == wanted_bytes && memcmp(file, wanted_file, bytes) == 0);
    for (size_t k = 0; toggles_at(k) != NULL; k++) {
        ngc_cache_facts facts;
        ngc_cache *cache, *straight = counted(toggles_at(k), 2, 2, text, length);
        size_t n_waits;
        CHECK_OK(ngc_counter_facts(counter, &facts));
        CHECK_OK(ngc_cache_new(toggles_at(k), 2, 2, &cache));
        ngc_cache_grow_at_once(cache, piece);
        CHECK_OK(fill(counter, cache, 0, facts.n_grams / 2, &n_waits));
        CHECK_OK(fill(counter, cache, facts.n_grams / 2, facts.n_grams - facts.n_grams / 2,
                      &n_waits));
        CHECK(same_file(cache, straight));
        check_sound(cache);
        ngc_cache_free(cache);
        ngc_cache_free(straight);
    }
    free(file);
    free(wanted_file);
    ngc_counter_free(counter);
    ngc_cache_free(wanted);
}

void test_counter_counts_as_a_cache_does(void)
{
    static int32_t text[N];
    const size_t lengths[] = {0, 1, 2, 3, 25, 1000, N};
    for (size_t i = 0; i < LENGTH(lengths); i++) {
        random_text(text, N, i % 2 ? 3000 : 30, 81 + i);
        check_counts(text, lengths[i], lengths[i] < 1000 ? 1 : 777);
    }
    /* Ids of any size, and one 2-gram with more followers than fit a small buffer. */
    uint64_t state = 9;
    for (size_t i = 0; i < 3000; i++) {
        text[i] = i % 3 == 2 ? (int32_t)(random_next(&state) % INT32_MAX) : 7;
    }
    check_counts(text, 3000, 100);
}

/* Grouped in slices of any size, and looked at in between, when there is nothing yet; put into a
 * cache that grows so, too. */
void test_counter_groups_in_slices_of_any_size(void)
{
    enum { N_TEXT = 3000 };
    static const size_t sizes[] = {0, 1, 7, 100, SIZE_MAX};
    int32_t text[N_TEXT];
    random_text(text, N_TEXT, 50, 9);
    ngc_cache *wanted = counted(toggles_at(0), 2, 2, text, N_TEXT);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        ngc_counter *counter;
        ngc_cache *cache;
        ngc_cache_facts facts;
        size_t n_waits;
        CHECK_OK(ngc_counter_new(&counter));
        CHECK_OK(ngc_counter_add(counter, text, N_TEXT));
        double last = 0;
        for (int32_t done = 0; !done;) {
            CHECK_OK(ngc_counter_facts(counter, &facts));
            CHECK_EQUAL(facts.n_grams, 0);
            CHECK_OK(ngc_counter_finish_slice(counter, sizes[i], &done));
            double fraction = ngc_counter_fraction(counter);
            CHECK(fraction >= last && fraction <= 1.0001);
            last = fraction;
        }
        CHECK_EQUAL(ngc_counter_add(counter, text, 1), NGC_BAD_ARGUMENT);
        CHECK_OK(ngc_counter_facts(counter, &facts));
        CHECK_OK(ngc_cache_new(toggles_at(0), 2, 2, &cache));
        ngc_cache_grow_at_once(cache, sizes[i]);
        CHECK_OK(fill(counter, cache, 0, facts.n_grams, &n_waits));
        CHECK((n_waits > 1000) == (sizes[i] <= 1)); /* once for each node that gets another bucket */
        CHECK(same_file(cache, wanted));
        ngc_cache_free(cache);
        ngc_counter_free(counter);
    }
    ngc_cache_free(wanted);
}

/* The table grows some ten times on the way, and each time in slices; the list is worked out so, too.
 * What was counted in between is counted once; a slice that only grows counts nothing. */
void test_counter_grows_in_slices_of_any_size(void)
{
    enum { N_TEXT = 12000 };
    static const size_t sizes[] = {1, 5, 300, 5000};
    static int32_t text[N_TEXT];
    random_text(text, N_TEXT, 3000, 14);
    ngc_counter *whole = counted_in_pieces(text, N_TEXT, N_TEXT);
    size_t wanted_bytes, bytes;
    uint8_t *wanted = saved_counts(whole, N_TEXT, &wanted_bytes);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        ngc_counter *counter;
        size_t n_idle = 0;
        CHECK_OK(ngc_counter_new(&counter));
        for (size_t done = 0, n_done; done < N_TEXT; done += n_done) {
            size_t n = N_TEXT - done < sizes[i] ? N_TEXT - done : sizes[i];
            CHECK_OK(ngc_counter_add_slice(counter, text + done, n, &n_done));
            CHECK(n_done <= n);
            n_idle += n_done == 0;
            CHECK_EQUAL(ngc_counter_tokens(counter), done + n_done);
        }
        CHECK(n_idle > (sizes[i] == 1 ? 5000 : 3));
        int32_t done = 0, n_steps = 0;
        while (!done) {
            CHECK_OK(ngc_counter_finish_slice(counter, sizes[i], &done));
        }
        for (done = 0; !done; n_steps++) {
            CHECK_OK(ngc_counter_begin_save_slice(counter, sizes[i], &done));
        }
        CHECK(n_steps > 2);
        uint8_t *file = saved_counts(counter, N_TEXT, &bytes);
        CHECK(bytes == wanted_bytes && memcmp(file, wanted, bytes) == 0);
        free(file);
        ngc_counter_free(counter);
    }
    free(wanted);
    ngc_counter_free(whole);
}

/* Wherever growing has come to, what was counted before it is all there. */
void test_counter_finishes_while_it_grows(void)
{
    enum { N_TEXT = 6000 };
    static int32_t text[N_TEXT];
    random_text(text, N_TEXT, 3000, 15);
    size_t n_counted = 0;
    for (size_t n_idle = 0; n_idle < 60; n_idle++) {
        ngc_counter *counter;
        size_t n_done, done = 0, idle = 0;
        CHECK_OK(ngc_counter_new(&counter));
        while (done < N_TEXT && idle < n_idle) {
            size_t n = done < 3200 ? 3200 - done : 60; /* then it is about to grow */
            CHECK_OK(ngc_counter_add_slice(counter, text + done, n, &n_done));
            idle += n_done == 0 && done > 3000;
            done += n_done;
        }
        CHECK_OK(ngc_counter_finish(counter));
        ngc_counter *wanted = counted_in_pieces(text, done, N_TEXT);
        size_t bytes, wanted_bytes;
        uint8_t *file = saved_counts(counter, N_TEXT, &bytes);
        uint8_t *wanted_file = saved_counts(wanted, N_TEXT, &wanted_bytes);
        CHECK(bytes == wanted_bytes && memcmp(file, wanted_file, bytes) == 0);
        n_counted += done;
        free(file);
        free(wanted_file);
        ngc_counter_free(wanted);
        ngc_counter_free(counter);
    }
    CHECK(n_counted > 30 * 3000);
}

static void check_refused(ngc_counter *any)
{
    ngc_cache *plain, *constmap;
    int64_t n_done;
    CHECK_OK(ngc_cache_new(toggles_at(0), 2, 2, &plain));
    CHECK_EQUAL(ngc_counter_in_any_order(any), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_counter_begin_save(any), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_counter_fill(any, plain, 0, 0, &n_done), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_constmap_count(toggles_at(5), any, &constmap), NGC_UNSUPPORTED);
    ngc_cache_free(plain);
}

/* Without an order, counted and finished in slices of any size, spilled or not. */
static ngc_counter *counted_without_order(const int32_t *text, size_t length, size_t size,
                                          size_t most_homes)
{
    ngc_counter *any;
    CHECK_OK(ngc_counter_new(&any));
    CHECK_OK(ngc_counter_in_any_order(any));
    ngc_counter_bound(any, most_homes);
    size_t piece = size < 1000 ? 1000 : size;
    for (size_t done = 0, n_done; done < length; done += n_done) {
        size_t left = length - done;
        if (!CHECK_OK(ngc_counter_add_slice(any, text + done, left < piece ? left : piece,
                                            &n_done))) {
            break;
        }
    }
    double last = 0;
    for (int32_t done = 0; !done;) {
        CHECK_OK(ngc_counter_finish_slice(any, size, &done));
        double fraction = ngc_counter_fraction(any);
        CHECK(fraction >= last && fraction <= 1.0001);
        last = fraction;
    }
    return any;
}

static bool packs_alike(const ngc_counter *a, const ngc_counter *b, int64_t n_vocab)
{
    ngc_cache *packed_a, *packed_b;
    size_t bytes_a, bytes_b;
    CHECK_OK(pack(toggles_at(5), NULL, a, n_vocab, 1000, &packed_a));
    CHECK_OK(pack(toggles_at(5), NULL, b, n_vocab, 1000, &packed_b));
    const uint8_t *file_a = ngc_packed_bytes_view(packed_a, &bytes_a);
    const uint8_t *file_b = ngc_packed_bytes_view(packed_b, &bytes_b);
    bool alike = bytes_a == bytes_b && memcmp(file_a, file_b, bytes_a) == 0;
    ngc_cache_free(packed_a);
    ngc_cache_free(packed_b);
    return alike;
}

/* The same packed cache, byte for byte, and nothing else. */
void test_counter_needs_no_order(void)
{
    static const size_t lengths[] = {0, 2, 3, 4, 100, 3000, N}, sizes[] = {0, 1, 1000, SIZE_MAX};
    static const size_t bounds[] = {64, 5000, SIZE_MAX};
    static const int32_t vocabularies[] = {1, 3, 50, 5000};
    static int32_t text[N];
    for (size_t i = 0; i < LENGTH(lengths) * LENGTH(vocabularies); i++) {
        size_t length = lengths[i % LENGTH(lengths)], size = sizes[i % LENGTH(sizes)];
        random_text(text, length, vocabularies[i / LENGTH(lengths)], 17 + i);
        ngc_counter *ordered = counted_in_pieces(text, length, 1000);
        ngc_cache_facts wanted, facts;
        CHECK_OK(ngc_counter_facts(ordered, &wanted));
        CHECK_EQUAL(ngc_counter_in_any_order(ordered), NGC_BAD_ARGUMENT);
        for (size_t k = 0; k < LENGTH(bounds); k++) {
            size_t slice = length > 3000 && size < 1000 ? 1000 : size;
            ngc_counter *any = counted_without_order(text, length, slice, bounds[k]);
            CHECK_OK(ngc_counter_facts(any, &facts));
            CHECK_EQUAL(facts.n_grams, wanted.n_grams);
            CHECK_EQUAL(facts.n_followers, wanted.n_followers);
            CHECK(packs_alike(ordered, any, 0));
            CHECK(packs_alike(ordered, any, INT32_MAX)); /* keyed by more bits */
            check_refused(any);
            ngc_counter_free(any);
        }
        ngc_counter_free(ordered);
    }
}

/* A spill that finds no memory loses nothing, and is tried again. */
void test_counter_spills_without_memory(void)
{
    enum { BOUND = 64 };
    static int32_t text[3000];
    random_text(text, LENGTH(text), 900, 4);
    ngc_counter *ordered = counted_in_pieces(text, LENGTH(text), 1000);
    for (int64_t nth = 1; nth < 60; nth++) {
        ngc_counter *any;
        size_t n_failed = 0, n_done = 1;
        CHECK_OK(ngc_counter_new(&any));
        CHECK_OK(ngc_counter_in_any_order(any));
        ngc_counter_bound(any, BOUND);
        for (size_t done = 0; done < LENGTH(text); done += n_done) {
            if (n_done > 0 && done % 100 < 50) {
                ngc_counter_fail_allocation(any, nth); /* once; then it is tried again */
            }
            size_t left = LENGTH(text) - done;
            ngc_status status =
                ngc_counter_add_slice(any, text + done, left < 50 ? left : 50, &n_done);
            CHECK(status == NGC_OK || status == NGC_NO_MEMORY);
            n_failed += status == NGC_NO_MEMORY;
        }
        ngc_counter_fail_allocation(any, 0);
        CHECK_OK(ngc_counter_finish(any));
        CHECK(nth > 5 || n_failed > 0);
        CHECK(packs_alike(ordered, any, 0));
        ngc_counter_free(any);
    }
    ngc_counter_free(ordered);
}

/* The same constmap from counts and from a cache, byte for byte. */
void test_counter_fills_a_constmap(void)
{
    static int32_t text[N];
    random_text(text, N, 500, 91);
    ngc_counter *counter = counted_in_pieces(text, N, 1000);
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *cache = counted(&toggles, 2, 2, text, N), *a, *b;
    CHECK_OK(ngc_constmap_count(&toggles, counter, &a));
    CHECK_OK(ngc_constmap_build(&toggles, cache, &b));
    size_t bytes_a, bytes_b;
    const uint8_t *file_a = ngc_constmap_bytes_view(a, &bytes_a);
    const uint8_t *file_b = ngc_constmap_bytes_view(b, &bytes_b);
    CHECK(bytes_a == bytes_b && memcmp(file_a, file_b, bytes_a) == 0);
    ngc_cache_free(a);
    ngc_cache_free(b);
    ngc_cache_free(cache);
    ngc_counter_free(counter);
}

void test_counter_refuses_what_it_cannot(void)
{
    ngc_counter *counter;
    ngc_cache *ones, *pairs;
    ngc_cursor cursor = {0}, walk = {0};
    ngc_ngram_facts gram;
    uint8_t buffer[64];
    size_t n;
    int64_t n_done;
    CHECK_OK(ngc_cache_new(toggles_at(0), 1, 1, &ones));
    CHECK_OK(ngc_cache_new(toggles_at(0), 2, 2, &pairs));
    CHECK_OK(ngc_counter_new(&counter));
    CHECK_OK(ngc_counter_add(counter, NULL, 0));
    const int32_t bad[] = {1, 2, -1};
    CHECK_EQUAL(ngc_counter_add(counter, bad, 3), NGC_BAD_TOKEN);
    CHECK_EQUAL(ngc_counter_tokens(counter), 0);
    CHECK_OK(ngc_counter_add(counter, RECIPE_A, LENGTH(RECIPE_A)));
    CHECK_OK(ngc_counter_finish(counter));
    CHECK_OK(ngc_counter_finish(counter));
    CHECK_EQUAL(ngc_counter_add(counter, RECIPE_A, 1), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_counter_save_legacy(counter, &cursor, buffer, sizeof buffer, &n),
                NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_counter_fill(counter, ones, 0, 1, &n_done), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_counter_fill(counter, pairs, -1, 1, &n_done), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_counter_fill(counter, pairs, 0, 10000, &n_done), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_counter_fill(counter, pairs, INT64_MAX, INT64_MAX, &n_done),
                NGC_BAD_ARGUMENT);
    CHECK_OK(ngc_counter_fill(counter, pairs, 0, 10, &n_done));
    CHECK_EQUAL(n_done, 10);
    CHECK_OK(ngc_cache_walk(pairs, &walk, &gram, 1, &n));
    CHECK_EQUAL(ngc_counter_fill(counter, pairs, 9, 10, &n_done), NGC_DUPLICATE);
    CHECK_EQUAL(n_done, 0);
    CHECK_EQUAL(ngc_cache_walk(pairs, &walk, &gram, 1, &n), NGC_CHANGED);
    ngc_counter_free(counter);
    ngc_counter_free(NULL);
    ngc_cache_free(ones);
    ngc_cache_free(pairs);
}

/* test_slices.c - long work on a cache in slices: the same as in one go, and stopped anywhere. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 120 };

/* A cache, and what is added to it: a text, or another cache. */
typedef struct work {
    ngc_cache *cache;
    ngc_cache *added; /* NULL: a text */
    int32_t text[N];
} work;

/* A count near 2^31 - 1 in both, so that some of what is added is lost. */
static void add_large_counts(ngc_cache *cache, int32_t count)
{
    uint8_t file[28] = {99, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255,
                        255, 255, 1, 0, 0, 0, 2, 0, 0, 0};
    ngc_load_report report = {0};
    size_t n_used;
    for (int i = 0; i < 4; i++) {
        file[24 + i] = (uint8_t)((uint32_t)count >> 8 * i);
    }
    CHECK_OK(ngc_cache_load_legacy(cache, file, sizeof file, sizeof file, &n_used, &report));
}

static void begin(work *work, bool merges)
{
    int32_t first[N];
    random_text(first, N, 12, 70);
    random_text(work->text, N, 12, 71);
    work->text[N - 3] = 99;
    work->text[N - 2] = 2;
    work->cache = counted(with_toggles, 1, 4, first, N);
    ngc_cache_grow_at_once(work->cache, 7); /* its table is made larger in many slices */
    work->added = merges ? counted(with_toggles, 1, 4, work->text, N - 3) : NULL;
    add_large_counts(work->cache, merges ? INT32_MAX - 5 : INT32_MAX);
    if (merges) {
        add_large_counts(work->added, INT32_MAX - 7);
    }
}

static void end(work *work)
{
    ngc_cache_free(work->added);
    ngc_cache_free(work->cache);
}

static ngc_status begin_adding(work *work, ngc_adding **adding)
{
    return work->added != NULL
               ? ngc_adding_begin_merge(work->cache, work->added, adding)
               : ngc_adding_begin_update(work->cache, work->text, N, N - 5, adding);
}

/* As it is when all is added in one go. */
static ngc_cache *wanted_of(bool merges)
{
    work work;
    begin(&work, merges);
    CHECK_OK(work.added != NULL ? ngc_cache_merge(work.cache, work.added)
                                : ngc_cache_update(work.cache, work.text, N, N - 5));
    ngc_cache_free(work.added);
    return work.cache;
}

static void in_slices(bool merges)
{
    static const size_t sizes[] = {1, 7, 60, SIZE_MAX};
    ngc_cache *wanted = wanted_of(merges);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        work work;
        ngc_adding *adding;
        double before = 0;
        begin(&work, merges);
        CHECK_OK(begin_adding(&work, &adding));
        int32_t done = 0, n_steps = 0;
        for (; !done; n_steps++) {
            CHECK_OK(ngc_adding_step(adding, sizes[i], &done));
            CHECK(ngc_adding_fraction(adding) >= before && ngc_adding_fraction(adding) <= 1);
            before = ngc_adding_fraction(adding);
        }
        CHECK(before == 1);
        CHECK(n_steps > 100 || sizes[i] > 1);
        CHECK_OK(ngc_adding_step(adding, 1, &done)); /* nothing */
        CHECK(done);
        ngc_adding_free(adding);
        check_sound(work.cache);
        CHECK(same_file(work.cache, wanted)); /* in the same order */
        end(&work);
    }
    ngc_cache_free(wanted);
}

/* Stopped after each number of steps, and turned back: as before, and good for another time. */
static void turned_back(bool merges)
{
    ngc_cache *wanted = wanted_of(merges);
    work untouched;
    begin(&untouched, merges);
    int32_t all_done = 0;
    for (int n_steps = 0; !all_done; n_steps += 1 + n_steps / 8) {
        work work;
        ngc_adding *adding;
        begin(&work, merges);
        CHECK_OK(begin_adding(&work, &adding));
        for (int i = 0; i < n_steps && !all_done; i++) {
            CHECK_OK(ngc_adding_step(adding, 3, &all_done));
        }
        ngc_adding_turn_back(adding);
        for (int32_t done = 0; !done;) {
            CHECK_OK(ngc_adding_step(adding, 5, &done));
        }
        ngc_adding_free(adding);
        check_sound(work.cache);
        CHECK(same_counts(work.cache, untouched.cache)); /* be it from the end */
        CHECK_OK(begin_adding(&work, &adding));
        for (int32_t done = 0; !done;) {
            CHECK_OK(ngc_adding_step(adding, 40, &done));
        }
        ngc_adding_free(adding);
        check_sound(work.cache);
        CHECK(same_counts(work.cache, wanted));
        end(&work);
    }
    end(&untouched);
    ngc_cache_free(wanted);
}

static bool counts_in_slices(void)
{
    return with_toggles->outer != NGC_OUTER_PLACES;
}

void test_adding_in_slices_of_any_size(void)
{
    in_slices(true);
    if (counts_in_slices()) {
        in_slices(false);
    }
}

void test_adding_is_taken_back_from_anywhere(void)
{
    turned_back(true);
    if (counts_in_slices()) {
        turned_back(false);
    }
}

void test_adding_refuses_what_it_cannot(void)
{
    work work;
    ngc_adding *adding;
    begin(&work, true);
    CHECK_EQUAL(ngc_adding_begin_merge(work.cache, work.cache, &adding), NGC_BAD_ARGUMENT);
    CHECK(adding == NULL);
    CHECK_EQUAL(ngc_adding_begin_update(work.cache, work.text, 2, 3, &adding), NGC_BAD_ARGUMENT);
    work.text[0] = -1;
    CHECK_EQUAL(ngc_adding_begin_update(work.cache, work.text, N, N, &adding), NGC_BAD_TOKEN);
    CHECK_EQUAL(ngc_adding_begin_update(work.cache, work.text + 1, N - 1, 1, &adding),
                counts_in_slices() ? NGC_OK : NGC_UNSUPPORTED);
    ngc_adding_free(adding);
    /* What is added must not change meanwhile. */
    int32_t done;
    CHECK_OK(begin_adding(&work, &adding));
    CHECK_OK(ngc_adding_step(adding, 1, &done));
    CHECK_OK(ngc_cache_update(work.added, work.text + 1, 5, 5));
    CHECK_EQUAL(ngc_adding_step(adding, 1, &done), NGC_CHANGED);
    ngc_adding_free(adding); /* half done: the cache can be freed, no more */
    ngc_adding_free(NULL);
    end(&work);
}

/* ---- filling ---- */

/* A table that grows in slices is, when it is full, what it is when it grows in one go. */
void test_tables_grow_in_slices_of_any_size(void)
{
    static const size_t sizes[] = {1, 7, 100, SIZE_MAX};
    work work;
    size_t bytes;
    begin(&work, false);
    uint8_t *file = saved(work.cache, &bytes);
    ngc_cache *wanted = loaded(with_toggles, file, bytes);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        ngc_cache *caches[2]; /* filled from a file, and from a cache */
        ngc_status status = NGC_NOT_YET;
        ngc_load_report report = {0};
        ngc_cursor cursor = {0};
        size_t n, n_waits = 0;
        for (int k = 0; k < 2; k++) {
            CHECK_OK(ngc_cache_new(with_toggles, 1, 4, &caches[k]));
            ngc_cache_grow_at_once(caches[k], sizes[i]);
        }
        for (size_t at = 0; status == NGC_NOT_YET; at += n) {
            status = ngc_cache_load_legacy(caches[0], file + at, bytes - at, bytes - at, &n, &report);
            n_waits += status == NGC_NOT_YET;
        }
        CHECK_OK(status);
        CHECK_EQUAL(report.n_bytes, bytes);
        for (size_t n_left = 1000000; n_left > 0 && n > 0;) {
            status = ngc_cache_take(caches[1], work.cache, &cursor, n_left, &n);
            n = status == NGC_NOT_YET ? 1 : n;
        }
        CHECK_OK(status);
        for (int k = 0; k < 2; k++) {
            check_sound(caches[k]);
            CHECK(same_file(caches[k], wanted));
            ngc_cache_free(caches[k]);
        }
        CHECK((n_waits > 100) == (sizes[i] == 1 && with_toggles->outer == NGC_OUTER_CHAINED));
    }
    free(file);
    ngc_cache_free(wanted);
    end(&work);
}

/* Half grown, it is cleared or freed; and where memory runs out then, it is whole. */
void test_half_grown_tables(void)
{
    work work;
    size_t bytes, n;
    begin(&work, false);
    uint8_t *file = saved(work.cache, &bytes);
    for (int64_t nth = 1; nth < 400; nth += 13) {
        ngc_cache *cache;
        ngc_status status = NGC_NOT_YET;
        ngc_load_report report = {0};
        CHECK_OK(ngc_cache_new(with_toggles, 1, 4, &cache));
        ngc_cache_grow_at_once(cache, 1);
        ngc_cache_fail_allocation(cache, nth);
        for (size_t at = 0, i = 0; status == NGC_NOT_YET && (nth % 2 || i < (size_t)nth); i++) {
            status = ngc_cache_load_legacy(cache, file + at, bytes - at, bytes - at, &n, &report);
            at += n;
        }
        if (status == NGC_NO_MEMORY) {
            check_sound(cache);
        }
        ngc_cache_fail_allocation(cache, 0);
        if (nth % 4 < 2) {
            CHECK_OK(ngc_cache_clear(cache));
            check_sound(cache);
            report = (ngc_load_report){0};
            for (size_t at = 0; at < bytes; at += n) {
                status = ngc_cache_load_legacy(cache, file + at, bytes - at, bytes - at, &n, &report);
                CHECK(status == NGC_OK || status == NGC_NOT_YET);
            }
            check_sound(cache);
            CHECK(same_counts(cache, work.cache));
        }
        ngc_cache_free(cache);
    }
    free(file);
    end(&work);
}

/* ---- looking over a whole cache ---- */

void test_checks_in_slices_of_any_size(void)
{
    static const size_t sizes[] = {1, 6, 50, SIZE_MAX};
    work work;
    const char *reason;
    begin(&work, false);
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        ngc_checking checking = {0};
        int n_steps = 0;
        for (; !checking.done; n_steps++) {
            CHECK_OK(ngc_cache_validate_slice(work.cache, &checking, sizes[i], &reason));
        }
        CHECK(n_steps > 100 || sizes[i] > 1);
        CHECK_OK(ngc_cache_validate_slice(work.cache, &checking, 1, &reason));
    }
    ngc_checking checking = {0};
    CHECK_OK(ngc_cache_validate_slice(work.cache, &checking, 1, &reason));
    CHECK_OK(ngc_cache_update(work.cache, work.text, 3, 1));
    CHECK_EQUAL(ngc_cache_validate_slice(work.cache, &checking, 1, &reason), NGC_CHANGED);
    end(&work);
}

static bool same_table_facts(const ngc_table_facts *a, const ngc_table_facts *b)
{
    return a->n_grams == b->n_grams && a->n_buckets == b->n_buckets && a->n_empty == b->n_empty &&
           a->longest == b->longest && a->sum_visited == b->sum_visited &&
           a->n_sharing == b->n_sharing && a->most_sharing == b->most_sharing &&
           a->shared_hash == b->shared_hash && a->longest_tokens[0] == b->longest_tokens[0];
}

void test_tables_are_measured_in_slices_of_any_size(void)
{
    static const size_t sizes[] = {1, 6, 50};
    ngc_table_facts wanted, facts;
    work work;
    begin(&work, false);
    CHECK_OK(ngc_cache_table_facts(work.cache, &wanted));
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        ngc_measuring *measuring;
        CHECK_OK(ngc_measuring_begin(work.cache, &measuring));
        int32_t done = 0;
        while (!done) {
            CHECK_OK(ngc_measuring_step(measuring, sizes[i], &facts, &done));
        }
        CHECK_OK(ngc_measuring_step(measuring, 1, &facts, &done));
        CHECK(same_table_facts(&facts, &wanted));
        CHECK_OK(ngc_cache_clear(work.cache));
        CHECK_EQUAL(ngc_measuring_step(measuring, 1, &facts, &done), NGC_CHANGED);
        ngc_measuring_free(measuring);
        end(&work);
        begin(&work, false);
    }
    ngc_measuring_free(NULL);
    end(&work);
}

/* The n-grams ascend, and they are those of the file in list order. */
static void check_ascends(const uint8_t *file, size_t bytes, const ngc_cache *cache)
{
    ngc_cache *again = loaded(with_toggles, file, bytes);
    if (CHECK(again != NULL)) {
        CHECK(same_counts(again, cache));
    }
    ngc_cache_free(again);
    int32_t before[5] = {0};
    for (size_t at = 0; at < bytes;) {
        int32_t record[5], key[5] = {0};
        memcpy(record, file + at, sizeof record);
        for (int i = 0; i < 4; i++) {
            key[0] += record[i] != NGC_NO_TOKEN;
            key[i + 1] = record[i];
        }
        int differs = 0;
        while (differs < 4 && key[differs] == before[differs]) {
            differs++;
        }
        CHECK(key[differs] > before[differs]);
        memcpy(before, key, sizeof before);
        at += 20 + 8 * (size_t)record[4];
    }
}

void test_sorts_in_slices_of_any_size(void)
{
    enum { MANY = 3000, ROOM = 400000 }; /* n-grams enough for some passes over them */
    static const size_t sizes[] = {1, 77, 5000, SIZE_MAX};
    static int32_t text[MANY];
    random_text(text, MANY, 40, 72);
    ngc_cache *cache = counted(with_toggles, 1, 4, text, MANY);
    uint8_t *file = malloc(ROOM);
    ngc_sorter *sorter;
    size_t bytes = 0, n_written = 0;
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        CHECK_OK(ngc_sorter_begin(cache, &sorter));
        CHECK_EQUAL(ngc_sorter_save(sorter, file, ROOM, &n_written), NGC_BAD_ARGUMENT);
        for (int32_t done = 0; !done;) {
            CHECK_OK(ngc_sorter_step(sorter, sizes[i], &done));
        }
        CHECK_EQUAL(ngc_sorter_save(sorter, file, 10, &n_written), NGC_SMALL_BUFFER);
        bytes = 0;
        do { /* in pieces */
            CHECK_OK(ngc_sorter_save(sorter, file + bytes, i == 0 ? 1000 : ROOM - bytes,
                                     &n_written));
            bytes += n_written;
        } while (n_written > 0);
        check_ascends(file, bytes, cache);
        CHECK_OK(ngc_cache_update(cache, text, 3, 1));
        int32_t done;
        CHECK_EQUAL(ngc_sorter_step(sorter, 1, &done), NGC_CHANGED);
        CHECK_EQUAL(ngc_sorter_save(sorter, file, ROOM, &n_written), NGC_CHANGED);
        ngc_sorter_free(sorter);
    }
    free(file);
    ngc_sorter_free(NULL);
    ngc_cache_free(cache);
}

/* ---- the end of a text ---- */

/* A drafter that has read a text, and the dynamic cache that it will go into. */
static ngc_drafter *begin_text(work *work, bool has_dynamic)
{
    ngc_rule rule;
    ngc_drafter *drafter;
    size_t n_done;
    ngc_rule_default(&rule);
    begin(work, true);
    CHECK_OK(ngc_drafter_new(with_toggles, &rule, NULL, has_dynamic ? work->cache : NULL,
                             &drafter));
    CHECK_OK(ngc_drafter_feed(drafter, work->text, N, &n_done));
    return drafter;
}

/* The same text once more: the same drafts, in the same order. */
static void check_next_text(ngc_drafter *a, ngc_drafter *b, const int32_t *text)
{
    int32_t drafted[2][20], n_drafted[2];
    ngc_drafter *drafters[2] = {a, b};
    for (int i = 0; i < 2; i++) {
        size_t n_done;
        CHECK_EQUAL(ngc_drafter_length(drafters[i]), 0);
        CHECK_OK(ngc_drafter_feed(drafters[i], text, N / 2, &n_done));
        CHECK_OK(ngc_drafter_draft(drafters[i], 20, drafted[i], &n_drafted[i]));
    }
    CHECK_EQUAL(n_drafted[0], n_drafted[1]);
    CHECK(memcmp(drafted[0], drafted[1], sizeof(int32_t) * (size_t)n_drafted[0]) == 0);
    CHECK(same_file(ngc_drafter_context_view(a), ngc_drafter_context_view(b)));
}

void test_a_text_ends_in_slices_of_any_size(void)
{
    static const size_t sizes[] = {1, 7, 60, SIZE_MAX};
    for (size_t i = 0; i < 2 * LENGTH(sizes); i++) {
        work whole, sliced;
        ngc_drafter *at_once = begin_text(&whole, i % 2), *drafter = begin_text(&sliced, i % 2);
        CHECK_OK(ngc_drafter_end_text(at_once));
        for (int32_t done = 0; !done;) {
            CHECK_OK(ngc_drafter_end_text_slice(drafter, sizes[i / 2], &done));
        }
        check_sound(sliced.cache);
        check_sound(ngc_drafter_context_view(drafter));
        CHECK(same_file(sliced.cache, whole.cache));
        check_next_text(drafter, at_once, whole.text);
        ngc_drafter_free(drafter);
        ngc_drafter_free(at_once);
        end(&sliced);
        end(&whole);
    }
}

/* Stopped after each number of slices and settled: the text is as it was, or ended whole. */
void test_the_end_of_a_text_is_settled_from_anywhere(void)
{
    work untouched, whole;
    ngc_drafter *before = begin_text(&untouched, true), *after = begin_text(&whole, true);
    CHECK_OK(ngc_drafter_end_text(after));
    int32_t all_done = 0;
    for (int n_steps = 0; !all_done; n_steps += 1 + n_steps / 8) {
        work stopped;
        int32_t done = 0;
        ngc_drafter *drafter = begin_text(&stopped, true);
        for (int i = 0; i < n_steps && !all_done; i++) {
            CHECK_OK(ngc_drafter_end_text_slice(drafter, 3, &all_done));
        }
        if (n_steps % 7 == 6) { /* it can be freed as it is, too */
            ngc_drafter_free(drafter);
            end(&stopped);
            continue;
        }
        while (!done) {
            ngc_drafter_settle_slice(drafter, 5, &done);
        }
        bool is_back = ngc_drafter_length(drafter) == N;
        check_sound(stopped.cache);
        CHECK(same_counts(stopped.cache, is_back ? untouched.cache : whole.cache));
        CHECK(same_counts(ngc_drafter_context_view(drafter),
                          ngc_drafter_context_view(is_back ? before : after)));
        if (is_back) {
            CHECK_OK(ngc_drafter_end_text(drafter));
        }
        check_sound(stopped.cache);
        CHECK(same_counts(stopped.cache, whole.cache));
        CHECK_EQUAL(ngc_drafter_length(drafter), 0);
        ngc_drafter_free(drafter);
        end(&stopped);
    }
    ngc_drafter_free(before);
    ngc_drafter_free(after);
    end(&untouched);
    end(&whole);
}

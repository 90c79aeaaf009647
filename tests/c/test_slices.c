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

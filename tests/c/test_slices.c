/* test_slices.c - long work on a cache in slices: the same as in one go, and stopped anywhere. */
#include <stdlib.h>

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

/* test_runs.c - sorted runs hold what they took in, in their order, whatever the counts and keys. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fault.h"
#include "fixtures.h"
#include "ngc_packed_format.h"
#include "ngc_runs.h"
#include "tests.h"

enum { N = 9000 };

static int compare_records(const void *a, const void *b)
{
    const radix_record *left = a, *right = b;
    if (left->key != right->key) {
        return left->key < right->key ? -1 : 1;
    }
    return (left->minor > right->minor) - (left->minor < right->minor);
}

/* Sorted, and what is said twice added up; how many are left. */
static size_t fold(radix_record *records, size_t n)
{
    size_t kept = 0;
    qsort(records, n, sizeof *records, compare_records);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && compare_records(&records[kept - 1], &records[i]) == 0) {
            uint64_t sum = (uint64_t)records[kept - 1].count + records[i].count;
            records[kept - 1].count = sum < INT32_MAX ? (uint32_t)sum : INT32_MAX;
        } else {
            records[kept++] = records[i];
        }
    }
    return kept;
}

/* Tokens up to `most`, mostly few different ones; counts of every length. */
static void random_records(radix_record *records, size_t n, int32_t most, uint64_t seed)
{
    uint64_t state = seed;
    for (size_t i = 0; i < n; i++) {
        int32_t tokens[3];
        for (size_t k = 0; k < 3; k++) {
            uint64_t drawn = random_next(&state);
            uint64_t range = drawn >> 60 < 12 ? 20 : (uint64_t)most + 1;
            tokens[k] = (int32_t)((drawn & UINT32_MAX) % (range < (uint64_t)most + 1 ? range : (uint64_t)most + 1));
        }
        uint64_t drawn = random_next(&state);
        uint32_t count = 1 + (uint32_t)((drawn >> 8) & INT32_MAX) % (drawn % 4 == 0   ? 6
                                                                     : drawn % 4 == 1 ? 8
                                                                     : drawn % 4 == 2 ? 300
                                                                                      : INT32_MAX);
        records[i] = (radix_record){(uint64_t)(uint32_t)tokens[0] << 32 | (uint32_t)tokens[1],
                                    (uint32_t)tokens[2], count};
    }
}

static void take_all(ngc_runs *runs, const radix_record *records, size_t n, int32_t greatest,
                     size_t slice)
{
    radix_record *copy = malloc((n + 1) * sizeof *copy);
    memcpy(copy, records, n * sizeof *copy);
    ngc_runs_take(runs, copy, n, greatest);
    while (ngc_runs_busy(runs) && CHECK_OK(ngc_runs_slice(runs, slice))) {
    }
    free(copy);
}

static void merge_all(ngc_runs *runs, size_t slice)
{
    ngc_runs_merge(runs);
    while (ngc_runs_busy(runs) && CHECK_OK(ngc_runs_slice(runs, slice))) {
    }
}

/* Merged runs are these records, which are folded. */
static void check_runs(const ngc_runs *runs, radix_record *wanted, size_t n)
{
    radix_record *got = malloc((n + 1) * sizeof *got);
    radix_record entry, before = {0};
    runs_cursor cursor = runs_first(runs);
    size_t n_got = 0, n_grams = 0;
    bool same = false;
    while (runs_next(&cursor, &entry) && CHECK(n_got < n)) {
        CHECK(n_got == 0 || compare_records(&before, &entry) < 0);
        CHECK_EQUAL(same, n_got > 0 && before.key == entry.key);
        n_grams += n_got == 0 || before.key != entry.key;
        same = runs_same_gram(&cursor);
        before = entry;
        got[n_got++] = ngc_runs_unmixed(&entry, runs->token_bits);
    }
    CHECK(!same && !runs_next(&cursor, &entry));
    qsort(got, n_got, sizeof *got, compare_records);
    if (CHECK_EQUAL(n_got, n)) {
        for (size_t i = 0; i < n; i++) {
            CHECK(memcmp(&got[i], &wanted[i], sizeof *got) == 0);
        }
    }
    CHECK_EQUAL(ngc_runs_entries(runs), n);
    CHECK_EQUAL(ngc_runs_grams(runs), n_grams);
    free(got);
}

void test_runs_hold_what_they_took(void)
{
    static const int32_t greatest[] = {0, 1, 15, 300, 151935, 5000000, INT32_MAX - 1};
    static const size_t slices[] = {1, 500, SIZE_MAX};
    static radix_record records[N];
    for (size_t i = 0; i < LENGTH(greatest); i++) {
        for (size_t times = 0; times < 4; times++) {
            ngc_allocator allocator = {0};
            ngc_runs runs;
            ngc_runs_begin(&runs, &allocator, times == 3 ? 31 : 0);
            random_records(records, N, greatest[i], 5 * i + times);
            for (size_t at = 0, n = N; times > 0 && at < N; at += n) {
                n = N - at < N / times ? N - at : N / times;
                take_all(&runs, records + at, n, greatest[i], slices[(i + times) % 3]);
            }
            merge_all(&runs, slices[i % 3]);
            check_runs(&runs, records, times == 0 ? 0 : fold(records, N));
            ngc_runs_free(&runs);
            CHECK_EQUAL(ngc_live_bytes(&allocator), 0);
        }
    }
}

/* Tokens of ever more bits. */
void test_runs_are_keyed_anew(void)
{
    static const int32_t greatest[] = {1, 1, 3, 500, 499, 70000, INT32_MAX - 1};
    static radix_record records[LENGTH(greatest) * 600];
    ngc_allocator allocator = {0};
    ngc_runs runs;
    ngc_runs_begin(&runs, &allocator, 0);
    for (size_t i = 0; i < LENGTH(greatest); i++) {
        random_records(records + 600 * i, 600, greatest[i], i);
        take_all(&runs, records + 600 * i, 600, greatest[i], i % 2 == 0 ? 100 : SIZE_MAX);
    }
    CHECK_EQUAL(runs.token_bits, 31);
    merge_all(&runs, 1000);
    check_runs(&runs, records, fold(records, LENGTH(records)));
    ngc_runs_free(&runs);
    CHECK_EQUAL(ngc_live_bytes(&allocator), 0);
}

/* Every allocation fails once: nothing is lost, nothing is there twice. */
void test_runs_without_memory(void)
{
    static radix_record records[4000], copy[2000];
    random_records(records, 2000, 500, 1);
    random_records(records + 2000, 2000, 70000, 2);
    size_t n_failed = 0;
    for (int64_t nth = 1; nth < 1500; nth += nth < 20 ? 1 : 37) {
        ngc_allocator allocator = {.fail_in = nth};
        ngc_runs runs;
        ngc_runs_begin(&runs, &allocator, 0);
        for (size_t part = 0; part < 3; part++) {
            memcpy(copy, records + 2000 * (part % 2), sizeof copy);
            if (part < 2) {
                ngc_runs_take(&runs, copy, 2000, part == 0 ? 500 : 70000);
            } else {
                ngc_runs_merge(&runs);
            }
            while (ngc_runs_busy(&runs)) {
                ngc_status status = ngc_runs_slice(&runs, 300);
                CHECK(status == NGC_OK || status == NGC_NO_MEMORY);
                n_failed += status == NGC_NO_MEMORY;
            }
        }
        random_records(records, 2000, 500, 1);
        random_records(records + 2000, 2000, 70000, 2);
        check_runs(&runs, records, fold(records, 4000));
        random_records(records, 2000, 500, 1);
        random_records(records + 2000, 2000, 70000, 2);
        ngc_runs_free(&runs);
        CHECK_EQUAL(ngc_live_bytes(&allocator), 0);
    }
    CHECK(n_failed > 30);
}

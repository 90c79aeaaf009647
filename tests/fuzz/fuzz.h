/* fuzz.h - what the fuzzers share: reading their bytes, and checks that stop the process.
 *
 * A fuzzer is one file with LLVMFuzzerTestOneInput, for clang's -fsanitize=fuzzer. Compiled with
 * -DREPLAY it is a plain program that runs the files it is given, with any compiler.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ngc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition) must((condition), #condition, __FILE__, __LINE__)

static inline void must(bool held, const char *what, const char *file, int line)
{
    if (!held) {
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, what);
        abort();
    }
}

/* ---- the input ---- */

typedef struct input {
    const uint8_t *at, *end;
} input;

/* The next byte; 0 past the end. */
static inline uint8_t take(input *input)
{
    return input->at < input->end ? *input->at++ : 0;
}

/* Any legal toggles in which the smaller id wins a tie: all of them draft the same. */
static inline ngc_toggles take_toggles(input *input, int32_t score)
{
    uint8_t structure = take(input), step = take(input);
    ngc_toggles toggles = {
        .outer = structure % 3,
        .followers = structure / 3 % 2,
        .static_cache = structure / 6 % 2, /* our own file has a fuzzer of its own */
        .hash = structure / 12 % 2,
        .search = step % 4,
        .copy_followers = step / 4 % 2,
        .precheck = step / 8 % 2,
        .ties = NGC_TIES_TOKEN,
        .score = score,
        .bound = step / 16 % 2,
        .late_static = step / 32 % 2,
        .prefetch = step / 64 % 2,
        .glance = step / 128,
    };
    if (structure / 24 % 3 == 2) {
        toggles.outer = NGC_OUTER_PLACES;
        toggles.followers = NGC_FOLLOWERS_SUMMED;
    }
    return toggles;
}

/* ---- caches ---- */

static inline uint64_t mixed(uint64_t hash, int32_t value)
{
    hash = (hash ^ (uint32_t)value) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 29;
}

/* A number for one count of one follower; those of all counts together add up to the digest. */
static inline uint64_t digest_of_one(const int32_t *ngram, int32_t n, int32_t token)
{
    uint64_t hash = mixed(0, n);
    for (int32_t i = 0; i < n; i++) {
        hash = mixed(hash, ngram[i]);
    }
    return mixed(mixed(hash, token), n) | 1;
}

/* Equal counts have equal digests, whatever their order; merging adds digests. */
static inline uint64_t digest(const ngc_cache *cache)
{
    uint64_t sum = 0;
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    size_t n_written, length;
    while (ngc_cache_walk(cache, &cursor, &ngram, 1, &n_written) == NGC_OK && n_written == 1) {
        size_t n = (size_t)ngram.n_followers;
        int32_t *values = malloc(2 * n * sizeof *values);
        MUST(values != NULL);
        MUST(ngc_cache_followers(cache, ngram.tokens, ngram.n, values, values + n, n, &length) ==
             NGC_OK);
        MUST(length == n);
        for (size_t i = 0; i < n; i++) {
            sum += digest_of_one(ngram.tokens, ngram.n, values[i]) * (uint64_t)values[n + i];
        }
        free(values);
    }
    return sum;
}

static inline void must_be_sound(const ngc_cache *cache)
{
    const char *reason;
    ngc_memory memory;
    ngc_status status = ngc_cache_validate(cache, &reason);
    must(status == NGC_OK, reason == NULL ? "" : reason, __FILE__, __LINE__);
    MUST(ngc_cache_memory(cache, &memory) == NGC_OK);
    MUST(memory.other_bytes == 0);
    MUST(memory.live_bytes == memory.ngrams_bytes + memory.index_bytes + memory.followers_bytes +
                                  memory.follower_index_bytes);
}

/* ---- replaying files ---- */

#ifdef REPLAY
int main(int argc, char **argv)
{
    enum { MOST = 1 << 20 };
    uint8_t *data = malloc(MOST);
    MUST(data != NULL);
    for (int i = 1; i < argc; i++) {
        FILE *file = fopen(argv[i], "rb");
        must(file != NULL, argv[i], __FILE__, __LINE__);
        size_t size = fread(data, 1, MOST, file);
        fclose(file);
        /* A copy of the exact size, so that reading past it is seen. */
        uint8_t *input = malloc(size + (size == 0));
        MUST(input != NULL);
        memcpy(input, data, size);
        LLVMFuzzerTestOneInput(input, size);
        free(input);
    }
    free(data);
    printf("%d files\n", argc - 1);
    return 0;
}
#endif

#endif

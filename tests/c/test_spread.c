/* test_spread.c - spread tokens, and the search that computes where one of them stands. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "ngc_packed.h"
#include "tests.h"

enum { BITS = 17, MOST = 300, COUNT = 3, COUNT_BITS = 7, ENTRY_BYTES = 3 };

void test_spread_tokens_come_back(void)
{
    static uint8_t seen[1 << 12];
    uint64_t state = 7;
    for (uint32_t bits = 1; bits <= 31; bits++) {
        uint32_t most = (uint32_t)((UINT64_C(1) << bits) - 1);
        for (int i = 0; i < 2000; i++) {
            int32_t token = (int32_t)(i == 0 ? most : random_next(&state) & most);
            uint32_t spread = packed_spread(token, bits);
            CHECK(spread <= most);
            CHECK_EQUAL(packed_gathered(spread, bits), token);
            CHECK_EQUAL(packed_gathered(spread | (most == UINT32_MAX >> 1 ? 0 : most + 1), bits),
                        token); /* whatever stands above its bits */
        }
    }
    for (int32_t token = 0; token < 1 << 12; token++) {
        CHECK(seen[packed_spread(token, 12)]++ == 0);
    }
}

/* A block of entries, as it lies in a file, with the eight bytes behind it that may be read. */
static packed_view view_of(uint8_t *bytes, const uint32_t *spreads, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        uint32_t entry = (uint32_t)(COUNT + i % 50) << BITS | spreads[i];
        for (int byte = 0; byte < ENTRY_BYTES; byte++) {
            bytes[i * ENTRY_BYTES + (size_t)byte] = (uint8_t)(entry >> 8 * byte);
        }
    }
    return (packed_view){
        .entries = bytes,
        .length = length,
        .sum = 1,
        .entry_mask = (UINT64_C(1) << 8 * ENTRY_BYTES) - 1,
        .top_token = -1, /* so that all are searched for */
        .top_count = (1 << COUNT_BITS) - 1,
        .entry_bytes = ENTRY_BYTES,
        .token_bits = BITS,
    };
}

static int compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* Spread tokens of several kinds: anywhere, as tokens side by side are, at one end, in two heaps. */
static size_t spreads_of(int kind, size_t length, uint64_t *state, uint32_t *spreads)
{
    size_t n = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t most = (1u << BITS) - 1;
        spreads[i] = kind == 0   ? (uint32_t)random_next(state) & most
                     : kind == 1 ? packed_spread((int32_t)(1000 + i), BITS)
                     : kind == 2 ? (uint32_t)i
                     : kind == 3 ? most - (uint32_t)i
                                 : (uint32_t)(i % 2 == 0 ? i : most - i);
    }
    qsort(spreads, length, sizeof *spreads, compare);
    for (size_t i = 0; i < length; i++) {
        if (n == 0 || spreads[n - 1] != spreads[i]) {
            spreads[n++] = spreads[i];
        }
    }
    return n;
}

void test_search_finds_what_is_there_and_nothing_else(void)
{
    uint64_t state = 11;
    for (int kind = 0; kind < 5; kind++) {
        for (size_t length = 2; length <= MOST; length += length < 20 ? 1 : 31) {
            uint32_t spreads[MOST];
            size_t n = spreads_of(kind, length, &state, spreads);
            uint8_t *bytes = malloc(n * ENTRY_BYTES + 8 - ENTRY_BYTES); /* no byte more */
            packed_view view = view_of(bytes, spreads, n);
            for (size_t i = 0; i < n && n > 1; i++) {
                int32_t token = packed_gathered(spreads[i], BITS);
                CHECK_EQUAL(packed_view_count(view, token, 0, NULL), COUNT + (int32_t)(i % 50));
                CHECK_EQUAL(packed_view_count(view, token | 1 << BITS, 0, NULL), 0);
                uint32_t next = spreads[i] + 1;
                if (next < 1u << BITS && (i + 1 == n || spreads[i + 1] != next)) {
                    CHECK_EQUAL(packed_view_count(view, packed_gathered(next, BITS), 0, NULL), 0);
                }
            }
            free(bytes);
        }
    }
}

void test_search_ends_in_a_damaged_block(void)
{
    uint64_t state = 13;
    for (int kind = 0; kind < 4; kind++) {
        uint32_t spreads[MOST];
        for (size_t i = 0; i < MOST; i++) {
            spreads[i] = kind == 0   ? 5000
                         : kind == 1 ? (uint32_t)(MOST - i)
                         : kind == 2 ? (uint32_t)(i % 2) * ((1u << BITS) - 1)
                                     : (uint32_t)random_next(&state) & ((1u << BITS) - 1);
        }
        uint8_t *bytes = malloc(MOST * ENTRY_BYTES + 8 - ENTRY_BYTES);
        packed_view view = view_of(bytes, spreads, MOST);
        for (int32_t token = 0; token < 1 << BITS; token += 3) {
            int32_t count = packed_view_count(view, token, 0, NULL);
            CHECK(count == 0 || (count >= COUNT && count < COUNT + 50));
        }
        free(bytes);
    }
}

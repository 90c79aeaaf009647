/* ngc_counter_parts.h - a counter as an object; shared by what counts (ngc_counter.c), what groups
 * the counts in their order (ngc_counter_group.c) and what needs no order (ngc_counter_spill.c).
 */
#ifndef NGC_COUNTER_PARTS_H
#define NGC_COUNTER_PARTS_H

#include "ngc_counter.h"
#include "ngc_runs.h"

enum {
    ID_BITS = 21,
    MOST_IDS = (1 << ID_BITS) - 1, /* the packed key 0 stays free: numbers begin at 1 */
    AHEAD = 24,                    /* tokens between asking for a slot and using it */
    FIRST_SLOTS = 1 << 12,
    SLACK = 256, /* slots behind the last home: no run goes round */
    SLOTS_A_TOKEN = 4, /* that are moved in the time in which one token is counted */
    MOST_HOMES = 1 << 22 /* of a table whose counts need no order: 64 MB */
};

/* key: the packed key, spread; 0: empty. While grouping: what slots are sorted by.
 * minor: where it was first seen, as a number of tokens. */
typedef radix_record counter_slot;

typedef struct counter_ids {
    uint32_t *slots; /* number of a token, 0: empty; open addressing */
    size_t n_slots;
    int32_t *tokens; /* token of a number */
    size_t length;
    size_t capacity;
} counter_ids;

/* A map from a 2-gram to its number, by first occurrence. The packed 2-grams stand by number. */
typedef struct counter_grams {
    uint32_t *slots; /* a number + 1; 0: empty; open addressing */
    size_t n_slots;  /* a power of two */
    uint64_t *grams;
    size_t capacity;
    uint32_t length;
    uint32_t n_placed; /* of them, those that have a slot since it grew */
} counter_grams;

/* How far the table of slots has grown; it holds nothing that could be found meanwhile. */
typedef struct counter_growth {
    enum { GROWN, FITTING, MOVING_UP, MOVING_DOWN } phase;
    size_t n_homes; /* that it will have */
    size_t at;
    size_t next;
} counter_growth;

/* See ngc_counter_group.c; SPILL and MERGE: ngc_counter_spill.c. */
typedef enum counter_phase {
    COUNTING,
    COMPACT,
    BY_FIRST,
    NUMBER,
    BY_GRAM,
    PAIRS,
    SPILL,
    MERGE,
    GROUPED
} counter_phase;

/* How far a full table has come into runs. */
typedef enum counter_spilling { SPILLED, SQUEEZING, SORTING } counter_spilling;

struct ngc_counter {
    ngc_allocator allocator;
    counter_ids ids;
    counter_slot *slots;
    size_t slots_bytes; /* of their block */
    size_t n_homes;     /* SLACK more slots stand behind them; 0: there are none */
    size_t length;
    counter_growth growth;
    uint64_t last_two; /* tokens, packed; of the first ones fewer */
    uint64_t n_tokens;
    uint64_t n_before; /* tokens of earlier texts: no 2-gram reaches back to them */
    counter_phase phase;
    bool in_any_order;
    size_t most_homes;         /* beyond them the table is spilled; 0: never */
    counter_spilling spilling;
    int32_t greatest; /* token of what was spilled; a text of two tokens counts nothing */
    ngc_runs runs; /* what was spilled */
    size_t at;          /* how far the phase has come */
    ngc_status outcome; /* of grouping */
    radix_binning bins; /* of a sort */
    counter_grams grams;
    ngc_counts counts;
    ngc_save_order order;
    uint8_t *record; /* scratch: one record */
    size_t record_bytes;
};

NGC_INLINE uint64_t counter_spread(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ (key >> 32);
}

/* The factor is the inverse of the one above, modulo 2^64. */
NGC_INLINE uint64_t counter_unspread(uint64_t spread)
{
    return (spread ^ (spread >> 32)) * UINT64_C(0xf1de83e19937733d);
}

/* Moves the table on, as far as some n_slots go; where moving has begun, it cannot fail. */
ngc_status ngc_counter_grow_slice(ngc_counter *counter, size_t n_slots);

/* Begins to empty the table into runs; then does so by some n_slots. A slice that fails can be tried
 * again: nothing is lost. */
void ngc_counter_begin_spilling(ngc_counter *counter);
ngc_status ngc_counter_spill_slice(ngc_counter *counter, size_t n_slots);

/* A slice of what ends the counting where no order is wanted. */
ngc_status ngc_counter_finish_runs(ngc_counter *counter, size_t n_slots);
double ngc_counter_runs_fraction(const ngc_counter *counter);

void ngc_counter_free_counts(ngc_counter *counter);
void ngc_counter_free_grams(ngc_allocator *allocator, counter_grams *table);
void ngc_counter_free_slots(ngc_counter *counter);

#endif

/* ngc_counter_parts.h - a counter as an object; shared by what counts (ngc_counter.c) and what
 * groups the counts (ngc_counter_group.c).
 */
#ifndef NGC_COUNTER_PARTS_H
#define NGC_COUNTER_PARTS_H

#include "ngc_counter.h"

enum {
    ID_BITS = 21,
    MOST_IDS = (1 << ID_BITS) - 1, /* the packed key 0 stays free: numbers begin at 1 */
    AHEAD = 24,                    /* tokens between asking for a slot and using it */
    FIRST_SLOTS = 1 << 12,
    SLACK = 256, /* slots behind the last home: no run goes round */
    SLOTS_A_TOKEN = 4 /* that are moved in the time in which one token is counted */
};

typedef struct counter_slot {
    uint64_t spread; /* of the packed key; 0: empty. While grouping: what slots are sorted by */
    uint32_t count;
    uint32_t first;
} counter_slot;

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

/* Slots that are put into bins by a digit of 8 bits, in place, in slices.
 * Source: McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993). */
typedef struct counter_binning {
    size_t heads[256]; /* where each bin's next slot goes; first how many belong there */
    size_t ends[256];
    size_t n_counted;
    uint32_t digit; /* bins before this one are full */
} counter_binning;

/* See ngc_counter_group.c. */
typedef enum counter_phase {
    COUNTING,
    COMPACT,
    BY_FIRST,
    NUMBER,
    BY_GRAM,
    PAIRS,
    GROUPED
} counter_phase;

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
    size_t at;          /* how far the phase has come */
    ngc_status outcome; /* of grouping */
    counter_binning bins; /* of a sort */
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

void ngc_counter_free_counts(ngc_counter *counter);
void ngc_counter_free_grams(ngc_allocator *allocator, counter_grams *table);
void ngc_counter_free_slots(ngc_counter *counter);

#endif

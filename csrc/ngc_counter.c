/* ngc_counter.c - counts 3-grams in one flat table, then groups them into 2-grams with followers.
 *
 *     slots   | a b c packed in 63 bits, count, place of first occurrence | ...     16 bytes each
 *
 * A map of maps takes a node, buckets and headers for each 2-gram: 10 GB for 541 MB of text. Here a
 * pair takes 16 bytes in a table that is at least two fifths full. Token ids are packed as 21-bit
 * numbers, given out in the order of first appearance, so any ids will do. Each token costs one
 * look-up, and its cache miss is asked for some tokens ahead.
 */
#include "ngc_counter.h"

#include "ngc_bytes.h"

enum {
    ID_BITS = 21,
    MOST_IDS = (1 << ID_BITS) - 1, /* the packed key 0 stays free: numbers begin at 1 */
    AHEAD = 24,                    /* tokens between asking for a slot and using it */
    FIRST_SLOTS = 1 << 12
};

typedef struct slot {
    uint64_t key; /* 0: empty */
    uint32_t count;
    uint32_t first;
} slot;

typedef struct ids {
    uint32_t *slots; /* number of a token, 0: empty; open addressing */
    size_t n_slots;
    int32_t *tokens; /* token of a number */
    size_t length;
    size_t capacity;
} ids;

struct ngc_counter {
    ngc_allocator allocator;
    ids ids;
    slot *slots;
    size_t n_slots; /* a power of two */
    size_t length;
    uint64_t last_two; /* packed */
    uint64_t n_tokens;
    int finished;
    ngc_status outcome; /* of finishing */
    ngc_counts counts;
    ngc_save_order order;
    uint8_t *record; /* scratch: one record */
    size_t record_bytes;
};

/* ---- numbers for tokens ---- */

static size_t id_home(const ids *ids, int32_t token)
{
    return (size_t)((uint32_t)token * UINT32_C(0x9E3779B1)) & (ids->n_slots - 1);
}

static ngc_status grow_ids(ngc_allocator *allocator, ids *ids)
{
    size_t n_slots = ids->n_slots == 0 ? FIRST_SLOTS : 2 * ids->n_slots;
    size_t capacity = n_slots / 2;
    uint32_t *slots = ngc_alloc(allocator, n_slots * sizeof *slots, NGC_KIND_OTHER);
    if (slots == NULL) {
        return NGC_NO_MEMORY;
    }
    int32_t *tokens = ngc_grow(allocator, ids->tokens, ids->capacity * sizeof *tokens,
                               (capacity + 1) * sizeof *tokens, NGC_KIND_OTHER);
    if (tokens == NULL) {
        ngc_free(allocator, slots, n_slots * sizeof *slots, NGC_KIND_OTHER);
        return NGC_NO_MEMORY;
    }
    ngc_free(allocator, ids->slots, ids->n_slots * sizeof *slots, NGC_KIND_OTHER);
    memset(slots, 0, n_slots * sizeof *slots);
    ids->slots = slots;
    ids->n_slots = n_slots;
    ids->tokens = tokens;
    ids->capacity = capacity + 1;
    for (uint32_t number = 1; number <= ids->length; number++) {
        size_t at = id_home(ids, tokens[number]);
        while (slots[at] != 0) {
            at = (at + 1) & (n_slots - 1);
        }
        slots[at] = number;
    }
    return NGC_OK;
}

/* The number of a token, a new one if it was not seen before. */
static ngc_status number_of(ngc_allocator *allocator, ids *ids, int32_t token, uint32_t *number)
{
    if (ids->length + 1 >= ids->capacity) {
        ngc_status status = grow_ids(allocator, ids);
        if (status != NGC_OK) {
            return status;
        }
    }
    size_t at = id_home(ids, token);
    for (; ids->slots[at] != 0; at = (at + 1) & (ids->n_slots - 1)) {
        if (ids->tokens[ids->slots[at]] == token) {
            *number = ids->slots[at];
            return NGC_OK;
        }
    }
    if (ids->length >= MOST_IDS) {
        return NGC_UNSUPPORTED;
    }
    *number = (uint32_t)++ids->length;
    ids->slots[at] = *number;
    ids->tokens[*number] = token;
    return NGC_OK;
}

/* ---- the table ---- */

static uint64_t spread(uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    return key ^ (key >> 32);
}

static slot *home_of(const ngc_counter *counter, uint64_t key)
{
    return &counter->slots[spread(key) & (counter->n_slots - 1)];
}

static slot *slot_of(const ngc_counter *counter, uint64_t key)
{
    slot *at = home_of(counter, key);
    const slot *end = counter->slots + counter->n_slots;
    while (at->key != 0 && at->key != key) {
        at = at + 1 == end ? counter->slots : at + 1;
    }
    return at;
}

static ngc_status grow_slots(ngc_counter *counter)
{
    size_t n_slots = counter->n_slots == 0 ? FIRST_SLOTS : 2 * counter->n_slots;
    slot *old = counter->slots;
    size_t n_old = counter->n_slots;
    slot *slots = ngc_alloc(&counter->allocator, n_slots * sizeof *slots, NGC_KIND_OTHER);
    if (slots == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_platform_prefer_big_pages(slots, n_slots * sizeof *slots);
    memset(slots, 0, n_slots * sizeof *slots);
    counter->slots = slots;
    counter->n_slots = n_slots;
    for (size_t i = 0; i < n_old; i++) {
        if (old[i].key != 0) {
            *slot_of(counter, old[i].key) = old[i];
        }
    }
    ngc_free(&counter->allocator, old, n_old * sizeof *old, NGC_KIND_OTHER);
    return NGC_OK;
}

static void count_key(ngc_counter *counter, uint64_t key, uint64_t at_token)
{
    slot *slot = slot_of(counter, key);
    if (slot->key == 0) {
        slot->key = key;
        slot->first = (uint32_t)at_token;
        counter->length++;
    }
    slot->count += slot->count < INT32_MAX;
}

/* Counts up to AHEAD tokens whose keys are known, their slots on the way. */
static ngc_status count_keys(ngc_counter *counter, const uint64_t *keys, size_t n)
{
    /* Grown before it is four fifths full; the keys at hand may all be new. */
    while ((counter->length + n) * 5 > counter->n_slots * 4) {
        ngc_status status = grow_slots(counter);
        if (status != NGC_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < n; i++) {
        ngc_platform_prefetch(home_of(counter, keys[i]));
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t place = counter->n_tokens + i;
        if (place >= 2) {
            count_key(counter, keys[i], place);
        }
    }
    counter->n_tokens += n;
    return NGC_OK;
}

/* ---- the public part ---- */

ngc_status ngc_counter_new(ngc_counter **out)
{
    *out = calloc(1, sizeof **out);
    return *out == NULL ? NGC_NO_MEMORY : NGC_OK;
}

static void free_counts(ngc_counter *counter)
{
    ngc_counts *counts = &counter->counts;
    ngc_free(&counter->allocator, counts->keys, counts->n_grams * sizeof *counts->keys,
             NGC_KIND_NGRAMS);
    ngc_free(&counter->allocator, counts->starts, (counts->n_grams + 1) * sizeof *counts->starts,
             NGC_KIND_INDEX);
    ngc_free(&counter->allocator, counts->pairs, counts->n_pairs * sizeof *counts->pairs,
             NGC_KIND_FOLLOWERS);
    memset(counts, 0, sizeof *counts);
}

static void free_slots(ngc_counter *counter)
{
    ngc_free(&counter->allocator, counter->slots, counter->n_slots * sizeof *counter->slots,
             NGC_KIND_OTHER);
    counter->slots = NULL;
    counter->n_slots = 0;
}

void ngc_counter_free(ngc_counter *counter)
{
    if (counter == NULL) {
        return;
    }
    ngc_save_order_free(&counter->allocator, &counter->order, counter->counts.n_grams);
    free_counts(counter);
    free_slots(counter);
    ngc_free(&counter->allocator, counter->record, counter->record_bytes, NGC_KIND_OTHER);
    ngc_free(&counter->allocator, counter->ids.slots,
             counter->ids.n_slots * sizeof *counter->ids.slots, NGC_KIND_OTHER);
    ngc_free(&counter->allocator, counter->ids.tokens,
             counter->ids.capacity * sizeof *counter->ids.tokens, NGC_KIND_OTHER);
    free(counter);
    ngc_platform_trim();
}

ngc_status ngc_counter_add(ngc_counter *counter, const int32_t *tokens, size_t n_tokens)
{
    const uint64_t mask = ((uint64_t)1 << (3 * ID_BITS)) - 1;
    if (counter->finished || counter->n_tokens + n_tokens > UINT32_MAX) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = ngc_check_tokens(tokens, n_tokens);
    for (size_t done = 0; status == NGC_OK && done < n_tokens;) {
        uint64_t keys[AHEAD];
        uint64_t last_two = counter->last_two;
        size_t n = 0;
        for (; status == NGC_OK && n < AHEAD && done + n < n_tokens; n++) {
            uint32_t number;
            status = number_of(&counter->allocator, &counter->ids, tokens[done + n], &number);
            if (status == NGC_OK) {
                last_two = (last_two << ID_BITS | number) & mask;
                keys[n] = last_two;
            }
        }
        if (status == NGC_OK) {
            status = count_keys(counter, keys, n);
        }
        if (status == NGC_OK) {
            counter->last_two = last_two;
            done += n;
        }
    }
    return status;
}

int64_t ngc_counter_tokens(const ngc_counter *counter)
{
    return (int64_t)counter->n_tokens;
}

/* ---- grouping ---- */

/* Sorts by first occurrence, in place: a digit of 8 bits decides the bin, bins are sorted by the
 * next one. Source: McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993). */
static void sort_by_first(slot *slots, size_t n, int shift)
{
    if (n < 64) {
        for (size_t i = 1; i < n; i++) {
            slot moving = slots[i];
            size_t at = i;
            for (; at > 0 && slots[at - 1].first > moving.first; at--) {
                slots[at] = slots[at - 1];
            }
            slots[at] = moving;
        }
        return;
    }
    size_t heads[256] = {0};
    size_t tails[256];
    for (size_t i = 0; i < n; i++) {
        heads[slots[i].first >> shift & 0xff]++;
    }
    size_t sum = 0;
    for (int digit = 0; digit < 256; digit++) {
        size_t count = heads[digit];
        heads[digit] = sum;
        sum += count;
        tails[digit] = sum;
    }
    for (int digit = 0; digit < 256; digit++) {
        while (heads[digit] < tails[digit]) {
            slot moving = slots[heads[digit]];
            for (uint32_t to; (to = moving.first >> shift & 0xff) != (uint32_t)digit;) {
                slot other = slots[heads[to]];
                slots[heads[to]++] = moving;
                moving = other;
            }
            slots[heads[digit]++] = moving;
        }
    }
    for (int digit = 0; shift > 0 && digit < 256; digit++) {
        size_t from = digit == 0 ? 0 : tails[digit - 1];
        sort_by_first(slots + from, tails[digit] - from, shift - 8);
    }
}

/* A map from a 2-gram to its number, by first occurrence. */
typedef struct gram_table {
    uint64_t *keys; /* 0: empty */
    uint32_t *numbers;
    size_t n_slots;
    uint32_t length;
} gram_table;

static void free_grams(ngc_allocator *allocator, gram_table *table)
{
    ngc_free(allocator, table->keys, table->n_slots * sizeof *table->keys, NGC_KIND_OTHER);
    ngc_free(allocator, table->numbers, table->n_slots * sizeof *table->numbers, NGC_KIND_OTHER);
}

static size_t gram_slot(const gram_table *table, uint64_t key)
{
    size_t at = (size_t)(spread(key) & (table->n_slots - 1));
    while (table->keys[at] != 0 && table->keys[at] != key) {
        at = (at + 1) & (table->n_slots - 1);
    }
    return at;
}

static ngc_status grow_grams(ngc_allocator *allocator, gram_table *table)
{
    gram_table bigger = {NULL, NULL, table->n_slots == 0 ? FIRST_SLOTS : 2 * table->n_slots,
                         table->length};
    bigger.keys = ngc_alloc(allocator, bigger.n_slots * sizeof *bigger.keys, NGC_KIND_OTHER);
    bigger.numbers =
        ngc_alloc(allocator, bigger.n_slots * sizeof *bigger.numbers, NGC_KIND_OTHER);
    if (bigger.keys == NULL || bigger.numbers == NULL) {
        free_grams(allocator, &bigger);
        return NGC_NO_MEMORY;
    }
    memset(bigger.keys, 0, bigger.n_slots * sizeof *bigger.keys);
    for (size_t i = 0; i < table->n_slots; i++) {
        if (table->keys[i] != 0) {
            size_t at = gram_slot(&bigger, table->keys[i]);
            bigger.keys[at] = table->keys[i];
            bigger.numbers[at] = table->numbers[i];
        }
    }
    free_grams(allocator, table);
    *table = bigger;
    return NGC_OK;
}

/* Numbers the 2-grams of the slots; these stand sorted, so that each is numbered when first seen.
 * The number replaces the place of first occurrence. */
static ngc_status number_grams(ngc_counter *counter, uint32_t *n_grams)
{
    gram_table table = {NULL, NULL, 0, 0};
    ngc_status status = NGC_OK;
    for (size_t i = 0; status == NGC_OK && i < counter->length; i++) {
        if (((size_t)table.length + 1) * 3 > table.n_slots * 2) {
            status = grow_grams(&counter->allocator, &table);
            if (status != NGC_OK) {
                break;
            }
        }
        uint64_t key = counter->slots[i].key >> ID_BITS;
        size_t at = gram_slot(&table, key);
        if (table.keys[at] == 0) {
            table.keys[at] = key;
            table.numbers[at] = table.length++;
        }
        counter->slots[i].first = table.numbers[at];
    }
    *n_grams = table.length;
    free_grams(&counter->allocator, &table);
    return status;
}

static ngc_status allocate_counts(ngc_counter *counter, size_t n_grams)
{
    ngc_counts *counts = &counter->counts;
    ngc_allocator *allocator = &counter->allocator;
    counts->n_grams = n_grams;
    counts->n_pairs = counter->length;
    counts->keys = ngc_alloc(allocator, n_grams * sizeof *counts->keys, NGC_KIND_NGRAMS);
    counts->starts = ngc_alloc(allocator, (n_grams + 1) * sizeof *counts->starts, NGC_KIND_INDEX);
    counts->pairs =
        ngc_alloc(allocator, counter->length * sizeof *counts->pairs, NGC_KIND_FOLLOWERS);
    if (counts->keys != NULL && counts->starts != NULL && counts->pairs != NULL) {
        return NGC_OK;
    }
    free_counts(counter);
    return NGC_NO_MEMORY;
}

/* Puts each slot's pair where its 2-gram's stand, in order. */
static void place_pairs(ngc_counter *counter)
{
    ngc_counts *counts = &counter->counts;
    const int32_t *tokens = counter->ids.tokens;
    const uint64_t id_mask = ((uint64_t)1 << ID_BITS) - 1;
    memset(counts->starts, 0, (counts->n_grams + 1) * sizeof *counts->starts);
    for (size_t i = 0; i < counter->length; i++) {
        counts->starts[counter->slots[i].first + 1]++;
    }
    for (size_t i = 0; i < counts->n_grams; i++) {
        counts->starts[i + 1] += counts->starts[i];
    }
    for (size_t i = 0; i < counter->length; i++) {
        const slot *slot = &counter->slots[i];
        size_t at = counts->starts[slot->first]++;
        counts->pairs[at] = (ngc_pair){tokens[slot->key & id_mask], (int32_t)slot->count};
        counts->keys[slot->first][0] = tokens[slot->key >> (2 * ID_BITS)];
        counts->keys[slot->first][1] = tokens[slot->key >> ID_BITS & id_mask];
    }
    memmove(counts->starts + 1, counts->starts, counts->n_grams * sizeof *counts->starts);
    counts->starts[0] = 0;
}

/* The used slots, first in the block, and the rest of it given back. */
static void compact_slots(ngc_counter *counter)
{
    size_t n = 0;
    for (size_t i = 0; i < counter->n_slots; i++) {
        if (counter->slots[i].key != 0) {
            counter->slots[n++] = counter->slots[i];
        }
    }
    counter->slots = ngc_shrink(&counter->allocator, counter->slots,
                                counter->n_slots * sizeof *counter->slots,
                                n * sizeof *counter->slots, NGC_KIND_OTHER);
    counter->n_slots = n;
}

ngc_status ngc_counter_finish(ngc_counter *counter)
{
    if (counter->finished) {
        return counter->outcome;
    }
    counter->finished = 1;
    compact_slots(counter);
    sort_by_first(counter->slots, counter->length, 24);
    uint32_t n_grams;
    ngc_status status = number_grams(counter, &n_grams);
    if (status == NGC_OK) {
        status = allocate_counts(counter, n_grams);
    }
    if (status == NGC_OK) {
        place_pairs(counter);
    }
    free_slots(counter);
    counter->outcome = status;
    return status;
}

ngc_allocator *ngc_counter_allocator(ngc_counter *counter)
{
    return &counter->allocator;
}

ngc_save_order *ngc_counter_order(ngc_counter *counter)
{
    return &counter->order;
}

const ngc_counts *ngc_counter_counts(const ngc_counter *counter)
{
    return &counter->counts;
}

/* ---- into a cache ---- */

/* Room for one record as a file has it. */
static ngc_status reserve_record(ngc_counter *counter, size_t bytes)
{
    if (bytes <= counter->record_bytes) {
        return NGC_OK;
    }
    uint8_t *record = ngc_alloc(&counter->allocator, 2 * bytes, NGC_KIND_OTHER);
    if (record == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_free(&counter->allocator, counter->record, counter->record_bytes, NGC_KIND_OTHER);
    counter->record = record;
    counter->record_bytes = 2 * bytes;
    return NGC_OK;
}

ngc_status ngc_counter_fill(ngc_counter *counter, ngc_cache *cache, int64_t first_gram,
                            int64_t n_grams)
{
    const ngc_counts *counts = &counter->counts;
    if (cache->operations->insert == NULL || cache->n_min > 2 || cache->n_max < 2) {
        return NGC_UNSUPPORTED;
    }
    int64_t n_all = (int64_t)counts->n_grams;
    if (first_gram < 0 || first_gram > n_all || n_grams < 0 || n_grams > n_all - first_gram) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = NGC_OK;
    for (int64_t i = first_gram; status == NGC_OK && i < first_gram + n_grams; i++) {
        size_t n_pairs = counts->starts[i + 1] - counts->starts[i];
        status = reserve_record(counter, n_pairs * NGC_PAIR_BYTES);
        if (status == NGC_OK) {
            const int32_t *numbers = &counts->pairs[counts->starts[i]].token;
            ngc_put_int32s(counter->record, numbers, 2 * n_pairs);
            ngc_key key = ngc_key_of(counts->keys[i], 2);
            status = cache->operations->insert(cache, &key, counter->record, n_pairs);
        }
    }
    return status;
}

ngc_status ngc_counter_facts(const ngc_counter *counter, ngc_cache_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    facts->n_grams = (int64_t)counter->counts.n_grams;
    facts->n_grams_by_n[1] = facts->n_grams;
    facts->n_followers = (int64_t)counter->counts.n_pairs;
    return NGC_OK;
}

ngc_status ngc_counter_memory(const ngc_counter *counter, ngc_memory *memory)
{
    ngc_memory_of(&counter->allocator, memory);
    return NGC_OK;
}

void ngc_counter_fail_allocation(ngc_counter *counter, int64_t nth)
{
    counter->allocator.fail_in = nth;
}

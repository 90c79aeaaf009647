/* ngc_counter.c - counts 3-grams in one flat table, then groups them into 2-grams with followers.
 *
 *     slots   | a b c packed in 63 bits and spread, count, place of first occurrence | ...
 *
 * A map of maps takes a node, buckets and headers for each 2-gram: 10 GB for 541 MB of text. Here a
 * pair takes a slot of 16 bytes in a table that is at least 64 % full: slots stand in the order of
 * their spread keys, so that the table can be stretched by a quarter within its own block. Token
 * ids are packed as 21-bit numbers, given out in the order of first appearance, so any ids will do.
 * Each token costs one look-up, and its cache miss is asked for some tokens ahead. Grouping turns
 * the slots into pairs where they are.
 */
#include "ngc_counter.h"

#include "ngc_bytes.h"

enum {
    ID_BITS = 21,
    MOST_IDS = (1 << ID_BITS) - 1, /* the packed key 0 stays free: numbers begin at 1 */
    AHEAD = 24,                    /* tokens between asking for a slot and using it */
    FIRST_SLOTS = 1 << 12,
    SLACK = 256, /* slots behind the last home: no run goes round */
    SLOTS_A_TOKEN = 4 /* that are moved in the time in which one token is counted */
};

typedef struct slot {
    uint64_t spread; /* of the packed key; 0: empty. While grouping: what slots are sorted by */
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

/* A map from a 2-gram to its number, by first occurrence. The packed 2-grams stand by number. */
typedef struct gram_table {
    uint32_t *slots; /* a number + 1; 0: empty; open addressing */
    size_t n_slots;  /* a power of two */
    uint64_t *grams;
    size_t capacity;
    uint32_t length;
    uint32_t n_placed; /* of them, those that have a slot since it grew */
} gram_table;

/* How far the table of slots has grown; it holds nothing that could be found meanwhile. */
typedef struct growth {
    enum { GROWN, FITTING, MOVING_UP, MOVING_DOWN } phase;
    size_t n_homes; /* that it will have */
    size_t at;
    size_t next;
} growth;

/* Slots that are put into bins by a digit of 8 bits, in place, in slices.
 * Source: McIlroy, Bostic and McIlroy, "Engineering Radix Sort" (1993). */
typedef struct binning {
    size_t heads[256]; /* where each bin's next slot goes; first how many belong there */
    size_t ends[256];
    size_t n_counted;
    uint32_t digit; /* bins before this one are full */
} binning;

/* Grouping, in order; see the section on it. */
typedef enum phase { COUNTING, COMPACT, BY_FIRST, NUMBER, BY_GRAM, PAIRS, GROUPED } phase;

struct ngc_counter {
    ngc_allocator allocator;
    ids ids;
    slot *slots;
    size_t slots_bytes; /* of their block */
    size_t n_homes;     /* SLACK more slots stand behind them; 0: there are none */
    size_t length;
    growth growth;
    uint64_t last_two; /* tokens, packed; of the first ones fewer */
    uint64_t n_tokens;
    uint64_t n_before; /* tokens of earlier texts: no 2-gram reaches back to them */
    phase phase;
    bool in_any_order;
    size_t at;          /* how far the phase has come */
    ngc_status outcome; /* of grouping */
    binning bins; /* of a sort */
    gram_table grams;
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

/* The factor is the inverse of the one above, modulo 2^64. */
static uint64_t unspread(uint64_t spread)
{
    return (spread ^ (spread >> 32)) * UINT64_C(0xf1de83e19937733d);
}

static size_t home_in(uint64_t spread, size_t n_homes)
{
    return (size_t)ngc_platform_multiply_high(spread, n_homes);
}

/* ---- growing, in slices: at a quarter more homes ----
 *
 *     fitting        whether all, put into so many homes, leave a slot free at the end
 *     moving up      to the end of the block, which was stretched
 *     moving down    each to its place, from the front: no place is behind where its slot stands by
 *                    then, since all that follow fit behind it
 */

static void begin_growing(ngc_counter *counter)
{
    size_t n_homes = counter->n_homes == 0 ? FIRST_SLOTS : counter->n_homes / 4 * 5;
    counter->growth = (growth){.phase = FITTING, .n_homes = n_homes};
}

static ngc_status stretch_block(ngc_counter *counter)
{
    growth *growth = &counter->growth;
    size_t n_old = counter->slots_bytes / sizeof(slot);
    size_t bytes = (growth->n_homes + SLACK) * sizeof(slot);
    slot *slots = ngc_stretch(&counter->allocator, counter->slots, counter->slots_bytes, bytes,
                              NGC_KIND_OTHER);
    if (slots == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_platform_prefer_big_pages(slots, bytes);
    counter->slots = slots;
    counter->slots_bytes = bytes;
    counter->n_homes = growth->n_homes;
    growth->phase = MOVING_UP;
    growth->at = n_old;
    growth->next = growth->n_homes + SLACK;
    return NGC_OK;
}

/* `next` is behind the last slot that is in its place. */
static ngc_status fit_slice(ngc_counter *counter, size_t n_slots)
{
    growth *growth = &counter->growth;
    size_t n_old = counter->slots_bytes / sizeof(slot);
    for (; n_slots > 0 && growth->at < n_old; n_slots--, growth->at++) {
        if (counter->slots[growth->at].spread != 0) {
            size_t home = home_in(counter->slots[growth->at].spread, growth->n_homes);
            growth->next = (home > growth->next ? home : growth->next) + 1;
        }
    }
    if (growth->at < n_old) {
        return NGC_OK;
    }
    if (growth->next < growth->n_homes + SLACK) {
        return stretch_block(counter);
    }
    growth->n_homes *= 2; /* only for a text made for it */
    growth->at = growth->next = 0;
    return growth->n_homes / 64 > counter->length + FIRST_SLOTS ? NGC_UNSUPPORTED : NGC_OK;
}

/* `next` is the first slot at the end of the block. */
static void move_up_slice(ngc_counter *counter, size_t n_slots)
{
    growth *growth = &counter->growth;
    for (; n_slots > 0 && growth->at > 0; n_slots--) {
        slot moving = counter->slots[--growth->at];
        if (moving.spread != 0) {
            counter->slots[--growth->next] = moving;
        }
    }
    if (growth->at == 0) {
        growth->phase = MOVING_DOWN;
        growth->at = growth->next;
        growth->next = 0;
    }
}

/* `next` is behind the last slot that is in its place. */
static void move_down_slice(ngc_counter *counter, size_t n_slots)
{
    growth *growth = &counter->growth;
    slot *slots = counter->slots;
    size_t n_all = growth->n_homes + SLACK, next = growth->next;
    for (; n_slots > 0 && growth->at < n_all; n_slots--, growth->at++) {
        slot moving = slots[growth->at];
        size_t home = home_in(moving.spread, growth->n_homes);
        size_t to = home > next ? home : next;
        memset(slots + next, 0, (to - next) * sizeof *slots);
        slots[to] = moving;
        next = to + 1;
    }
    growth->next = next;
    if (growth->at == n_all) {
        memset(slots + next, 0, (n_all - next) * sizeof *slots);
        growth->phase = GROWN;
    }
}

/* A failure leaves the table as it was. */
static ngc_status grow_slice(ngc_counter *counter, size_t n_slots)
{
    ngc_status status = NGC_OK;
    switch (counter->growth.phase) {
    case FITTING:
        status = fit_slice(counter, n_slots);
        break;
    case MOVING_UP:
        move_up_slice(counter, n_slots);
        break;
    case MOVING_DOWN:
        move_down_slice(counter, n_slots);
        break;
    case GROWN:
        break;
    }
    if (status != NGC_OK) {
        counter->growth.phase = GROWN;
    }
    return status;
}

/* Counts one key; false if its run has no room, and then nothing is done. */
static bool count_key(ngc_counter *counter, uint64_t wanted, uint64_t at_token)
{
    slot *at = &counter->slots[home_in(wanted, counter->n_homes)];
    while (at->spread != 0 && at->spread < wanted) {
        at++;
    }
    if (at->spread != wanted) {
        slot *end = at, *last = &counter->slots[counter->n_homes + SLACK - 1];
        while (end->spread != 0) {
            end++;
        }
        if (end == last) {
            return false; /* it stays empty: runs are known to end there */
        }
        memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
        *at = (slot){wanted, 0, (uint32_t)at_token};
        counter->length++;
    }
    at->count += at->count < INT32_MAX;
    return true;
}

/* Counts up to AHEAD tokens whose spread keys are known, their slots on the way; fewer if the table
 * has to grow first. */
static void count_keys(ngc_counter *counter, const uint64_t *keys, size_t n)
{
    /* Grown before it is four fifths full; the keys at hand may all be new. */
    if ((counter->length + n) * 5 > counter->n_homes * 4) {
        begin_growing(counter);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        ngc_platform_prefetch(&counter->slots[home_in(keys[i], counter->n_homes)]);
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t place = counter->n_tokens;
        if (place - counter->n_before >= 2 && !count_key(counter, keys[i], place)) {
            begin_growing(counter);
            return;
        }
        counter->n_tokens++;
        counter->last_two = unspread(keys[i]);
    }
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

static void free_grams(ngc_allocator *allocator, gram_table *table)
{
    ngc_free(allocator, table->slots, table->n_slots * sizeof *table->slots, NGC_KIND_OTHER);
    ngc_free(allocator, table->grams, table->capacity * sizeof *table->grams, NGC_KIND_NGRAMS);
    memset(table, 0, sizeof *table);
}

static void free_slots(ngc_counter *counter)
{
    ngc_free(&counter->allocator, counter->slots, counter->slots_bytes, NGC_KIND_OTHER);
    counter->slots = NULL;
    counter->slots_bytes = 0;
}

void ngc_counter_free(ngc_counter *counter)
{
    if (counter == NULL) {
        return;
    }
    ngc_save_order_free(&counter->allocator, &counter->order, counter->counts.n_grams);
    free_counts(counter);
    free_slots(counter);
    free_grams(&counter->allocator, &counter->grams);
    ngc_free(&counter->allocator, counter->record, counter->record_bytes, NGC_KIND_OTHER);
    ngc_free(&counter->allocator, counter->ids.slots,
             counter->ids.n_slots * sizeof *counter->ids.slots, NGC_KIND_OTHER);
    ngc_free(&counter->allocator, counter->ids.tokens,
             counter->ids.capacity * sizeof *counter->ids.tokens, NGC_KIND_OTHER);
    free(counter);
    ngc_platform_trim();
}

/* Counts up to AHEAD tokens; their number is that by which the counter's number of tokens grows. */
static ngc_status count_some(ngc_counter *counter, const int32_t *tokens, size_t n_tokens)
{
    const uint64_t mask = ((uint64_t)1 << (3 * ID_BITS)) - 1;
    uint64_t keys[AHEAD];
    uint64_t last_two = counter->last_two;
    size_t n = n_tokens < AHEAD ? n_tokens : AHEAD;
    for (size_t i = 0; i < n; i++) {
        uint32_t number;
        ngc_status status = number_of(&counter->allocator, &counter->ids, tokens[i], &number);
        if (status != NGC_OK) {
            return status;
        }
        last_two = (last_two << ID_BITS | number) & mask;
        keys[i] = spread(last_two);
    }
    count_keys(counter, keys, n);
    return NGC_OK;
}

ngc_status ngc_counter_add_slice(ngc_counter *counter, const int32_t *tokens, size_t n_tokens,
                                 size_t *n_done)
{
    *n_done = 0;
    if (counter->phase != COUNTING || counter->n_tokens + n_tokens > UINT32_MAX) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_status status = ngc_check_tokens(tokens, n_tokens);
    if (status != NGC_OK || n_tokens == 0) {
        return status;
    }
    if (counter->growth.phase != GROWN) {
        size_t n_slots = n_tokens > SIZE_MAX / SLOTS_A_TOKEN ? SIZE_MAX : n_tokens * SLOTS_A_TOKEN;
        return grow_slice(counter, n_slots);
    }
    uint64_t before = counter->n_tokens;
    while (status == NGC_OK && *n_done < n_tokens && counter->growth.phase == GROWN) {
        status = count_some(counter, tokens + *n_done, n_tokens - *n_done);
        *n_done = (size_t)(counter->n_tokens - before);
    }
    return status;
}

ngc_status ngc_counter_add(ngc_counter *counter, const int32_t *tokens, size_t n_tokens)
{
    size_t n_done;
    ngc_status status = ngc_counter_add_slice(counter, tokens, n_tokens, &n_done);
    for (size_t done = n_done; status == NGC_OK && done < n_tokens; done += n_done) {
        status = ngc_counter_add_slice(counter, tokens + done, n_tokens - done, &n_done);
    }
    return status;
}

ngc_status ngc_counter_end_text(ngc_counter *counter)
{
    if (counter->phase != COUNTING) {
        return NGC_BAD_ARGUMENT;
    }
    counter->n_before = counter->n_tokens;
    return NGC_OK;
}

ngc_status ngc_counter_in_any_order(ngc_counter *counter)
{
    if (counter->phase != COUNTING) {
        return NGC_BAD_ARGUMENT;
    }
    counter->in_any_order = true;
    return NGC_OK;
}

bool ngc_counter_has_order(const ngc_counter *counter)
{
    return !counter->in_any_order;
}

int64_t ngc_counter_tokens(const ngc_counter *counter)
{
    return (int64_t)counter->n_tokens;
}

/* ---- grouping, in slices ----
 *
 *     compact     the used slots, first in their block
 *     by first    sorted by where a pair was first seen
 *     number      2-grams by first occurrence; a slot then holds its 2-gram's number
 *     by gram     sorted by that, and by first occurrence within
 *     pairs       made of the slots, in their block
 *
 * In any order: compact, which leaves the spread 2-gram in a slot; by gram, sorted by that; number,
 * for neighbours are of one 2-gram now; pairs.
 */

/* What slots are sorted by: where a pair was first seen, or a number that stands for the key. */
NGC_INLINE uint64_t sort_key(const slot *slot, bool by_first)
{
    return by_first ? slot->first : slot->spread;
}

static void end_counting(binning *bins)
{
    size_t sum = 0;
    for (int digit = 0; digit < 256; digit++) {
        size_t count = bins->heads[digit];
        bins->heads[digit] = sum;
        sum += count;
        bins->ends[digit] = sum;
    }
}

/* Goes on with it for some n_more slots; true when all are in their bins. It starts zeroed. */
static bool bin_slice(binning *bins, slot *slots, size_t n, size_t n_more, uint32_t shift,
                      bool by_first)
{
    size_t *heads = bins->heads;
    for (; bins->n_counted < n; n_more--) {
        if (n_more == 0) {
            return false;
        }
        heads[sort_key(&slots[bins->n_counted], by_first) >> shift & 0xff]++;
        if (++bins->n_counted == n) {
            end_counting(bins);
        }
    }
    for (; bins->digit < 256; bins->digit++) {
        uint32_t digit = bins->digit;
        while (heads[digit] < bins->ends[digit]) {
            if (n_more == 0) {
                return false;
            }
            slot moving = slots[heads[digit]];
            for (;;) {
                uint32_t to = sort_key(&moving, by_first) >> shift & 0xff;
                n_more -= n_more > 1;
                if (to == digit) {
                    break;
                }
                slot other = slots[heads[to]];
                slots[heads[to]++] = moving;
                moving = other;
            }
            slots[heads[digit]++] = moving;
        }
    }
    return true;
}

static uint32_t next_shift(uint32_t shift)
{
    return shift > 8 ? shift - 8 : 0;
}

static bool all_same(const slot *slots, size_t n, bool by_first)
{
    size_t i = 1;
    while (i < n && sort_key(&slots[i], by_first) == sort_key(&slots[0], by_first)) {
        i++;
    }
    return i == n;
}

/* Sorts by the digit at `shift` and those below. */
static void sort_slots(slot *slots, size_t n, uint32_t shift, bool by_first)
{
    if (n >= 64) {
        if (all_same(slots, n, by_first)) {
            return; /* the followers of a frequent 2-gram, in any order */
        }
        binning bins = {0};
        bin_slice(&bins, slots, n, SIZE_MAX, shift, by_first);
        for (int digit = 0; shift > 0 && digit < 256; digit++) {
            size_t from = digit == 0 ? 0 : bins.ends[digit - 1];
            sort_slots(slots + from, bins.ends[digit] - from, next_shift(shift), by_first);
        }
        return;
    }
    for (size_t i = 1; i < n; i++) {
        slot moving = slots[i];
        size_t at = i;
        for (; at > 0 && sort_key(&slots[at - 1], by_first) > sort_key(&moving, by_first); at--) {
            slots[at] = slots[at - 1];
        }
        slots[at] = moving;
    }
}

/* Where the highest eight bits of numbers up to `most` begin: the bins are small then. */
static uint32_t first_shift(uint64_t most)
{
    uint32_t bits = ngc_platform_bit_length(most);
    return bits <= 8 ? 0 : bits - 8;
}

static size_t gram_home(const gram_table *table, uint64_t gram)
{
    return (size_t)(spread(gram) & (table->n_slots - 1));
}

/* Room for another 2-gram's name. */
static ngc_status reserve_gram(ngc_allocator *allocator, gram_table *table)
{
    if (table->length == table->capacity) {
        size_t more = table->capacity == 0 ? FIRST_SLOTS : table->capacity / 4 * 5;
        uint64_t *grams = ngc_stretch(allocator, table->grams, table->capacity * sizeof *grams,
                                      more * sizeof *grams, NGC_KIND_NGRAMS);
        if (grams == NULL) {
            return NGC_NO_MEMORY;
        }
        table->grams = grams;
        table->capacity = more;
    }
    return NGC_OK;
}

/* Room for another 2-gram in the map; slots are at most two thirds full. */
static ngc_status reserve_gram_slot(ngc_allocator *allocator, gram_table *table)
{
    if (((size_t)table->length + 1) * 3 <= table->n_slots * 2) {
        return NGC_OK;
    }
    ngc_free(allocator, table->slots, table->n_slots * sizeof *table->slots, NGC_KIND_OTHER);
    table->n_slots = table->n_slots == 0 ? FIRST_SLOTS : 2 * table->n_slots;
    size_t bytes = table->n_slots * sizeof *table->slots;
    table->slots = ngc_alloc(allocator, bytes, NGC_KIND_OTHER);
    if (table->slots == NULL) {
        return NGC_NO_MEMORY;
    }
    memset(table->slots, 0, bytes);
    table->n_placed = 0;
    return NGC_OK;
}

/* Gives those a slot that have none since the table grew; how many of n it did not need. */
static size_t place_grams(gram_table *table, size_t n)
{
    for (; n > 0 && table->n_placed < table->length; n--) {
        size_t at = gram_home(table, table->grams[table->n_placed]);
        while (table->slots[at] != 0) {
            at = (at + 1) & (table->n_slots - 1);
        }
        table->slots[at] = ++table->n_placed;
    }
    return n;
}

/* The number of a 2-gram, a new one if it was not seen before; there is room for it. */
static uint32_t gram_number(gram_table *table, uint64_t gram)
{
    size_t at = gram_home(table, gram);
    for (; table->slots[at] != 0; at = (at + 1) & (table->n_slots - 1)) {
        if (table->grams[table->slots[at] - 1] == gram) {
            return table->slots[at] - 1;
        }
    }
    table->grams[table->length] = gram;
    table->slots[at] = table->n_placed = ++table->length;
    return table->length - 1;
}

/* The packed 2-grams as tokens, within their own block: both take 8 bytes. */
static void name_grams(ngc_counter *counter, gram_table *table)
{
    ngc_counts *counts = &counter->counts;
    uint8_t *block = (uint8_t *)table->grams;
    for (size_t i = 0; i < table->length; i++) {
        uint64_t gram;
        memcpy(&gram, block + 8 * i, sizeof gram);
        int32_t names[2] = {counter->ids.tokens[gram >> ID_BITS],
                            counter->ids.tokens[gram & MOST_IDS]};
        memcpy(block + 8 * i, names, sizeof names);
    }
    counts->n_grams = table->length;
    counts->keys = ngc_shrink(&counter->allocator, block, table->capacity * sizeof *table->grams,
                              counts->n_grams * sizeof *counts->keys, NGC_KIND_NGRAMS);
    table->grams = NULL;
}

static phase phase_after(const ngc_counter *counter)
{
    static const phase any_order[GROUPED] = {
        [COUNTING] = COMPACT, [COMPACT] = BY_GRAM, [BY_GRAM] = NUMBER,
        [NUMBER] = PAIRS,     [PAIRS] = GROUPED,
    };
    return counter->in_any_order ? any_order[counter->phase] : counter->phase + 1;
}

static void next_phase(ngc_counter *counter)
{
    counter->phase = phase_after(counter);
    counter->at = 0;
}

static size_t slice_end(const ngc_counter *counter, size_t n, size_t end)
{
    return end - counter->at < n ? end : counter->at + n;
}

/* What a slot is grouped by in any order. */
static slot slot_of_gram(const slot *counted)
{
    uint64_t key = unspread(counted->spread);
    return (slot){spread(key >> ID_BITS), counted->count, (uint32_t)(key & MOST_IDS)};
}

/* `at` is how many slots were looked at, `length` how many of them are used. */
static void compact_slice(ngc_counter *counter, size_t n)
{
    size_t n_all = counter->slots_bytes / sizeof(slot);
    size_t end = slice_end(counter, n, n_all);
    if (counter->at == 0) {
        counter->length = 0;
    }
    for (; counter->at < end; counter->at++) {
        if (counter->slots[counter->at].spread != 0) {
            const slot *counted = &counter->slots[counter->at];
            counter->slots[counter->length++] =
                counter->in_any_order ? slot_of_gram(counted) : *counted;
        }
    }
    if (end == n_all) {
        size_t bytes = counter->length * sizeof(slot);
        counter->slots = ngc_shrink(&counter->allocator, counter->slots, counter->slots_bytes,
                                    bytes, NGC_KIND_OTHER);
        counter->slots_bytes = bytes;
        next_phase(counter);
    }
}

/* `at` is 0, then one more than the bins that are sorted. */
static void sort_slice(ngc_counter *counter, size_t n, uint64_t most, bool by_first)
{
    uint32_t shift = first_shift(most);
    if (counter->at == 0) {
        bool binned = bin_slice(&counter->bins, counter->slots, counter->length, n, shift, by_first);
        counter->at = binned;
        return;
    }
    for (size_t sorted = 0; sorted < n && counter->at <= 256; counter->at++) {
        size_t from = counter->at == 1 ? 0 : counter->bins.ends[counter->at - 2];
        size_t in_bin = counter->bins.ends[counter->at - 1] - from;
        if (shift > 0 && in_bin > 0) {
            sort_slots(counter->slots + from, in_bin, next_shift(shift), by_first);
        }
        sorted += in_bin;
    }
    if (counter->at > 256) {
        counter->bins = (binning){0};
        next_phase(counter);
    }
}

/* Numbers the 2-grams of the slots, which stand by first occurrence. Then a slot holds the third
 * token's number, and is sorted by its 2-gram's number, then as it stands now. */
static ngc_status number_slice(ngc_counter *counter, size_t n)
{
    gram_table *table = &counter->grams;
    for (; (n = place_grams(table, n)) > 0 && counter->at < counter->length; n--, counter->at++) {
        size_t i = counter->at;
        if (i % AHEAD == 0 && table->n_slots > 0) {
            for (size_t k = i + AHEAD; k < i + 2 * AHEAD && k < counter->length; k++) {
                uint64_t gram = unspread(counter->slots[k].spread) >> ID_BITS;
                ngc_platform_prefetch(&table->slots[gram_home(table, gram)]);
            }
        }
        ngc_status status = reserve_gram(&counter->allocator, table);
        if (status == NGC_OK) {
            status = reserve_gram_slot(&counter->allocator, table);
        }
        if (status != NGC_OK) {
            return status;
        }
        if (table->n_placed < table->length) {
            return NGC_OK; /* it has just grown */
        }
        uint64_t key = unspread(counter->slots[i].spread);
        uint64_t number = gram_number(table, key >> ID_BITS);
        counter->slots[i].first = (uint32_t)(key & MOST_IDS);
        counter->slots[i].spread = number << 32 | i;
    }
    return NGC_OK;
}

/* The same in any order: a 2-gram begins where a slot's is another than that before it. */
static ngc_status number_neighbours(ngc_counter *counter, size_t n)
{
    gram_table *table = &counter->grams;
    size_t end = slice_end(counter, n, counter->length);
    for (; counter->at < end; counter->at++) {
        slot *slot = &counter->slots[counter->at];
        uint64_t gram = unspread(slot->spread);
        if (table->length == 0 || table->grams[table->length - 1] != gram) {
            ngc_status status = reserve_gram(&counter->allocator, table);
            if (status != NGC_OK) {
                return status;
            }
            table->grams[table->length++] = gram;
        }
        slot->spread = (uint64_t)(table->length - 1) << 32;
    }
    return NGC_OK;
}

static void end_numbering(ngc_counter *counter)
{
    name_grams(counter, &counter->grams);
    free_grams(&counter->allocator, &counter->grams);
    next_phase(counter);
}

/* The block is the pairs' from now on. */
static void keep_pairs(ngc_counter *counter)
{
    ngc_counts *counts = &counter->counts;
    size_t bytes = counter->length * sizeof *counts->pairs;
    counts->starts[counts->n_grams] = counter->length;
    counts->n_pairs = counter->length;
    counts->pairs = ngc_shrink(&counter->allocator, (void *)counter->slots, counter->slots_bytes,
                               bytes, NGC_KIND_OTHER);
    ngc_count_freed(&counter->allocator, 1, bytes, NGC_KIND_OTHER);
    ngc_count_allocated(&counter->allocator, 1, bytes, NGC_KIND_FOLLOWERS);
    counter->slots = NULL;
    counter->slots_bytes = 0;
    next_phase(counter);
}

/* Turns the slots, which stand by 2-gram, into pairs within their own block, from the front: a
 * pair takes half of what its slot took. */
static ngc_status pairs_slice(ngc_counter *counter, size_t n)
{
    ngc_counts *counts = &counter->counts;
    if (counts->starts == NULL) {
        counts->starts = ngc_alloc(&counter->allocator,
                                   (counts->n_grams + 1) * sizeof *counts->starts, NGC_KIND_INDEX);
        if (counts->starts == NULL) {
            return NGC_NO_MEMORY;
        }
    }
    uint8_t *block = (uint8_t *)counter->slots;
    size_t end = slice_end(counter, n, counter->length);
    for (; counter->at < end; counter->at++) {
        slot slot;
        memcpy(&slot, block + counter->at * sizeof slot, sizeof slot);
        ngc_pair pair = {counter->ids.tokens[slot.first], (int32_t)slot.count};
        memcpy(block + counter->at * sizeof pair, &pair, sizeof pair);
        if (slot.spread >> 32 == counter->grams.length) { /* how many have begun */
            counts->starts[counter->grams.length++] = counter->at;
        }
    }
    if (end == counter->length) {
        counter->grams.length = 0;
        keep_pairs(counter);
    }
    return NGC_OK;
}

ngc_status ngc_counter_finish_slice(ngc_counter *counter, size_t n_pairs, int32_t *done)
{
    size_t n = n_pairs == 0 ? 1 : n_pairs;
    ngc_status status = counter->outcome;
    switch (status == NGC_OK ? counter->phase : GROUPED) {
    case COUNTING: /* where moving has begun, it comes to its end, and cannot fail */
        if (counter->growth.phase == MOVING_UP || counter->growth.phase == MOVING_DOWN) {
            status = grow_slice(counter, n);
        } else {
            next_phase(counter);
        }
        break;
    case COMPACT:
        compact_slice(counter, n);
        break;
    case BY_FIRST:
        sort_slice(counter, n, counter->n_tokens, true);
        break;
    case NUMBER:
        status = counter->in_any_order ? number_neighbours(counter, n) : number_slice(counter, n);
        if (status == NGC_OK && counter->at == counter->length) {
            end_numbering(counter);
        }
        break;
    case BY_GRAM:
        sort_slice(counter, n,
                   counter->in_any_order ? UINT64_MAX : (uint64_t)counter->counts.n_grams << 32,
                   false);
        break;
    case PAIRS:
        status = pairs_slice(counter, n);
        break;
    case GROUPED:
        break;
    }
    if (status != NGC_OK && counter->outcome == NGC_OK) {
        counter->outcome = status;
        free_grams(&counter->allocator, &counter->grams);
        free_slots(counter);
        free_counts(counter);
    }
    *done = counter->phase == GROUPED;
    return status;
}

ngc_status ngc_counter_finish(ngc_counter *counter)
{
    ngc_status status = NGC_OK;
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_counter_finish_slice(counter, SIZE_MAX, &done);
    }
    return status;
}

double ngc_counter_fraction(const ngc_counter *counter)
{
    static const double shares[2][GROUPED + 1] = {
        {0, 0.05, 0.3, 0.25, 0.37, 0.03, 0}, {0, 0.13, 0, 0.08, 0.71, 0.08, 0}}; /* measured */
    const double *share = shares[counter->in_any_order];
    bool sorts = counter->phase == BY_FIRST || counter->phase == BY_GRAM;
    size_t all = counter->phase == COMPACT ? counter->slots_bytes / sizeof(slot)
                 : sorts                   ? 257
                                           : counter->length;
    double fraction = all == 0 ? 0 : share[counter->phase] * (double)counter->at / (double)all;
    ngc_counter passed = {.in_any_order = counter->in_any_order};
    for (; passed.phase != counter->phase; passed.phase = phase_after(&passed)) {
        fraction += share[passed.phase];
    }
    return fraction;
}

ngc_allocator *ngc_counter_allocator(ngc_counter *counter)
{
    return &counter->allocator;
}

ngc_save_order *ngc_counter_order(ngc_counter *counter)
{
    return &counter->order;
}

/* Nothing, until all is grouped. */
const ngc_counts *ngc_counter_counts(const ngc_counter *counter)
{
    static const ngc_counts nothing;
    return counter->phase == GROUPED ? &counter->counts : &nothing;
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
    const ngc_counts *counts = ngc_counter_counts(counter);
    if (cache->operations->insert == NULL || cache->n_min > 2 || cache->n_max < 2 ||
        counter->in_any_order) {
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
    const ngc_counts *counts = ngc_counter_counts(counter);
    facts->n_grams = (int64_t)counts->n_grams;
    facts->n_grams_by_n[1] = facts->n_grams;
    facts->n_followers = (int64_t)counts->n_pairs;
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

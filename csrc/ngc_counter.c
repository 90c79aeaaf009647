/* ngc_counter.c - counts 3-grams in one flat table, then groups them into 2-grams with followers.
 *
 *     slots   | a b c packed in 63 bits and spread, count, place of first occurrence | ...
 *
 * A map of maps takes a node, buckets and headers for each 2-gram: 10 GB for 541 MB of text. Here a
 * pair takes a slot of 16 bytes in a table that is at least 64 % full: slots stand in the order of
 * their spread keys, so that the table can be stretched by a quarter within its own block. Token
 * ids are packed as 21-bit numbers, given out in the order of first appearance, so any ids will do.
 * Each token costs one look-up, and its cache miss is asked for some tokens ahead. Grouping
 * (ngc_counter_group.c) turns the slots into pairs where they are.
 */
#include "ngc_counter_parts.h"

#include "ngc_bytes.h"

/* ---- numbers for tokens ---- */

static size_t id_home(const counter_ids *ids, int32_t token)
{
    return (size_t)((uint32_t)token * UINT32_C(0x9E3779B1)) & (ids->n_slots - 1);
}

static ngc_status grow_ids(ngc_allocator *allocator, counter_ids *ids)
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
static ngc_status number_of(ngc_allocator *allocator, counter_ids *ids, int32_t token,
                            uint32_t *number)
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

static size_t home_in(uint64_t spread, size_t n_homes)
{
    return (size_t)ngc_platform_multiply_high(spread, n_homes);
}

/* ---- growing, in slices: at a quarter more homes; where no order is wanted, up to so many ----
 *
 *     fitting        whether all, put into so many homes, leave a slot free at the end
 *     moving up      to the end of the block, which was stretched
 *     moving down    each to its place, from the front: no place is behind where its slot stands by
 *                    then, since all that follow fit behind it
 */

static void begin_growing(ngc_counter *counter)
{
    size_t most = counter->most_homes;
    if (most > 0 && counter->n_homes >= most) {
        ngc_counter_begin_spilling(counter);
        return;
    }
    size_t first = most > 0 && most < FIRST_SLOTS ? most : FIRST_SLOTS;
    size_t n_homes = counter->n_homes == 0 ? first : counter->n_homes / 4 * 5;
    counter->growth = (counter_growth){.phase = FITTING, .n_homes = n_homes};
}

static ngc_status stretch_block(ngc_counter *counter)
{
    counter_growth *growth = &counter->growth;
    size_t n_old = counter->slots_bytes / sizeof(counter_slot);
    size_t bytes = (growth->n_homes + SLACK) * sizeof(counter_slot);
    counter_slot *slots = ngc_stretch(&counter->allocator, counter->slots, counter->slots_bytes,
                                      bytes,
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
    counter_growth *growth = &counter->growth;
    size_t n_old = counter->slots_bytes / sizeof(counter_slot);
    for (; n_slots > 0 && growth->at < n_old; n_slots--, growth->at++) {
        if (counter->slots[growth->at].key != 0) {
            size_t home = home_in(counter->slots[growth->at].key, growth->n_homes);
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
    counter_growth *growth = &counter->growth;
    for (; n_slots > 0 && growth->at > 0; n_slots--) {
        counter_slot moving = counter->slots[--growth->at];
        if (moving.key != 0) {
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
    counter_growth *growth = &counter->growth;
    counter_slot *slots = counter->slots;
    size_t n_all = growth->n_homes + SLACK, next = growth->next;
    for (; n_slots > 0 && growth->at < n_all; n_slots--, growth->at++) {
        counter_slot moving = slots[growth->at];
        size_t home = home_in(moving.key, growth->n_homes);
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
ngc_status ngc_counter_grow_slice(ngc_counter *counter, size_t n_slots)
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
    counter_slot *at = &counter->slots[home_in(wanted, counter->n_homes)];
    while (at->key != 0 && at->key < wanted) {
        at++;
    }
    if (at->key != wanted) {
        counter_slot *end = at, *last = &counter->slots[counter->n_homes + SLACK - 1];
        while (end->key != 0) {
            end++;
        }
        if (end == last) {
            return false; /* it stays empty: runs are known to end there */
        }
        memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
        *at = (counter_slot){wanted, (uint32_t)at_token, 0};
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
        counter->last_two = counter_unspread(keys[i]);
    }
}

/* ---- the public part ---- */

ngc_status ngc_counter_new(ngc_counter **out)
{
    *out = calloc(1, sizeof **out);
    return *out == NULL ? NGC_NO_MEMORY : NGC_OK;
}

void ngc_counter_free_counts(ngc_counter *counter)
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

void ngc_counter_free_grams(ngc_allocator *allocator, counter_grams *table)
{
    ngc_free(allocator, table->slots, table->n_slots * sizeof *table->slots, NGC_KIND_OTHER);
    ngc_free(allocator, table->grams, table->capacity * sizeof *table->grams, NGC_KIND_NGRAMS);
    memset(table, 0, sizeof *table);
}

void ngc_counter_free_slots(ngc_counter *counter)
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
    ngc_counter_free_counts(counter);
    ngc_counter_free_slots(counter);
    ngc_counter_free_grams(&counter->allocator, &counter->grams);
    ngc_runs_free(&counter->runs);
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
        keys[i] = counter_spread(last_two);
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
        return ngc_counter_grow_slice(counter, n_slots);
    }
    if (counter->spilling != SPILLED) {
        return ngc_counter_spill_slice(counter, n_tokens);
    }
    uint64_t before = counter->n_tokens;
    while (status == NGC_OK && *n_done < n_tokens && counter->growth.phase == GROWN &&
           counter->spilling == SPILLED) {
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
    if (counter->phase != COUNTING || counter->n_tokens > 0 || counter->in_any_order) {
        return NGC_BAD_ARGUMENT;
    }
    counter->in_any_order = true;
    counter->most_homes = MOST_HOMES;
    ngc_runs_begin(&counter->runs, &counter->allocator, 0);
    return NGC_OK;
}

void ngc_counter_bound(ngc_counter *counter, size_t n_homes)
{
    counter->most_homes = n_homes;
}

bool ngc_counter_has_order(const ngc_counter *counter)
{
    return !counter->in_any_order;
}

int64_t ngc_counter_tokens(const ngc_counter *counter)
{
    return (int64_t)counter->n_tokens;
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

const ngc_runs *ngc_counter_runs(const ngc_counter *counter)
{
    return counter->phase == GROUPED && counter->in_any_order ? &counter->runs : NULL;
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

/* Puts one 2-gram in, as a file would list it. */
static ngc_status fill_one(ngc_counter *counter, ngc_cache *cache, size_t gram)
{
    const ngc_counts *counts = ngc_counter_counts(counter);
    size_t n_pairs = counts->starts[gram + 1] - counts->starts[gram];
    ngc_status status = reserve_record(counter, n_pairs * NGC_PAIR_BYTES);
    if (status != NGC_OK) {
        return status;
    }
    ngc_put_int32s(counter->record, &counts->pairs[counts->starts[gram]].token, 2 * n_pairs);
    ngc_key key = ngc_key_of(counts->keys[gram], 2);
    return cache->operations->insert(cache, &key, counter->record, n_pairs);
}

ngc_status ngc_counter_fill(ngc_counter *counter, ngc_cache *cache, int64_t first_gram,
                            int64_t n_grams, int64_t *n_done)
{
    *n_done = 0;
    if (cache->operations->insert == NULL || cache->n_min > 2 || cache->n_max < 2 ||
        counter->in_any_order) {
        return NGC_UNSUPPORTED;
    }
    int64_t n_all = (int64_t)ngc_counter_counts(counter)->n_grams;
    if (first_gram < 0 || first_gram > n_all || n_grams < 0 || n_grams > n_all - first_gram) {
        return NGC_BAD_ARGUMENT;
    }
    cache->changes++;
    cache->in_slices = true;
    ngc_status status = NGC_OK;
    while (status == NGC_OK && *n_done < n_grams) {
        status = fill_one(counter, cache, (size_t)(first_gram + *n_done));
        *n_done += status == NGC_OK;
    }
    ngc_end_slice(cache, status);
    return status;
}

ngc_status ngc_counter_facts(const ngc_counter *counter, ngc_cache_facts *facts)
{
    memset(facts, 0, sizeof *facts);
    const ngc_counts *counts = ngc_counter_counts(counter);
    const ngc_runs *runs = ngc_counter_runs(counter);
    facts->n_grams = (int64_t)(runs == NULL ? counts->n_grams : ngc_runs_grams(runs));
    facts->n_grams_by_n[1] = facts->n_grams;
    facts->n_followers = (int64_t)(runs == NULL ? counts->n_pairs : ngc_runs_entries(runs));
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

/* ngc_counter_group.c - groups what a counter counted into 2-grams with their followers, in slices.
 *
 *     compact     the used slots, first in their block
 *     by first    sorted by where a pair was first seen
 *     number      2-grams by first occurrence; a slot then holds its 2-gram's number
 *     by gram     sorted by that, and by first occurrence within
 *     pairs       made of the slots, in their block
 *
 * Where no order is wanted, runs take their place (ngc_counter_spill.c).
 */
#include "ngc_counter_parts.h"

/* ---- 2-grams and their numbers ---- */

static size_t gram_home(const counter_grams *table, uint64_t gram)
{
    return (size_t)(counter_spread(gram) & (table->n_slots - 1));
}

/* Room for another 2-gram's name. */
static ngc_status reserve_gram(ngc_allocator *allocator, counter_grams *table)
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
static ngc_status reserve_gram_slot(ngc_allocator *allocator, counter_grams *table)
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
static size_t place_grams(counter_grams *table, size_t n)
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
static uint32_t gram_number(counter_grams *table, uint64_t gram)
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
static void name_grams(ngc_counter *counter, counter_grams *table)
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

/* ---- the phases ---- */

static void next_phase(ngc_counter *counter)
{
    counter->phase = counter->phase == PAIRS ? GROUPED : counter->phase + 1;
    counter->at = 0;
}

static size_t slice_end(const ngc_counter *counter, size_t n, size_t end)
{
    return end - counter->at < n ? end : counter->at + n;
}

/* `at` is how many slots were looked at, `length` how many of them are used. */
static void compact_slice(ngc_counter *counter, size_t n)
{
    size_t n_all = counter->slots_bytes / sizeof(counter_slot);
    size_t end = slice_end(counter, n, n_all);
    if (counter->at == 0) {
        counter->length = 0;
    }
    for (; counter->at < end; counter->at++) {
        if (counter->slots[counter->at].key != 0) {
            counter->slots[counter->length++] = counter->slots[counter->at];
        }
    }
    if (end == n_all) {
        size_t bytes = counter->length * sizeof(counter_slot);
        counter->slots = ngc_shrink(&counter->allocator, counter->slots, counter->slots_bytes,
                                    bytes, NGC_KIND_OTHER);
        counter->slots_bytes = bytes;
        next_phase(counter);
    }
}

/* `at` is 0, then one more than the bins that are sorted. */
static void sort_slice(ngc_counter *counter, size_t n, radix_order order)
{
    radix_digit first = ngc_radix_first(order);
    if (counter->at == 0) {
        counter->at =
            ngc_radix_bin_slice(&counter->bins, counter->slots, counter->length, n, first);
        return;
    }
    for (size_t sorted = 0; sorted < n && counter->at <= 256; counter->at++) {
        size_t from = counter->at == 1 ? 0 : counter->bins.ends[counter->at - 2];
        size_t in_bin = counter->bins.ends[counter->at - 1] - from;
        if (in_bin > 0) {
            ngc_radix_sort_below(counter->slots + from, in_bin, order, first);
        }
        sorted += in_bin;
    }
    if (counter->at > 256) {
        counter->bins = (radix_binning){0};
        next_phase(counter);
    }
}

/* Numbers the 2-grams of the slots, which stand by first occurrence. Then a slot holds the third
 * token's number, and is sorted by its 2-gram's number, then as it stands now. */
static ngc_status number_slice(ngc_counter *counter, size_t n)
{
    counter_grams *table = &counter->grams;
    for (; (n = place_grams(table, n)) > 0 && counter->at < counter->length; n--, counter->at++) {
        size_t i = counter->at;
        if (i % AHEAD == 0 && table->n_slots > 0) {
            for (size_t k = i + AHEAD; k < i + 2 * AHEAD && k < counter->length; k++) {
                uint64_t gram = counter_unspread(counter->slots[k].key) >> ID_BITS;
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
        uint64_t key = counter_unspread(counter->slots[i].key);
        uint64_t number = gram_number(table, key >> ID_BITS);
        counter->slots[i].minor = (uint32_t)(key & MOST_IDS);
        counter->slots[i].key = number << 32 | i;
    }
    return NGC_OK;
}

static void end_numbering(ngc_counter *counter)
{
    name_grams(counter, &counter->grams);
    ngc_counter_free_grams(&counter->allocator, &counter->grams);
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
        counter_slot slot;
        memcpy(&slot, block + counter->at * sizeof slot, sizeof slot);
        ngc_pair pair = {counter->ids.tokens[slot.minor], (int32_t)slot.count};
        memcpy(block + counter->at * sizeof pair, &pair, sizeof pair);
        if (slot.key >> 32 == counter->grams.length) { /* how many have begun */
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
            status = ngc_counter_grow_slice(counter, n);
        } else if (counter->in_any_order) {
            counter->phase = SPILL;
        } else {
            next_phase(counter);
        }
        break;
    case COMPACT:
        compact_slice(counter, n);
        break;
    case BY_FIRST:
        sort_slice(counter, n, (radix_order){0, (uint32_t)counter->n_tokens});
        break;
    case NUMBER:
        status = number_slice(counter, n);
        if (status == NGC_OK && counter->at == counter->length) {
            end_numbering(counter);
        }
        break;
    case BY_GRAM:
        sort_slice(counter, n, (radix_order){(uint64_t)counter->counts.n_grams << 32, 0});
        break;
    case SPILL:
    case MERGE:
        status = ngc_counter_finish_runs(counter, n);
        break;
    case PAIRS:
        status = pairs_slice(counter, n);
        break;
    case GROUPED:
        break;
    }
    if (status != NGC_OK && counter->outcome == NGC_OK) {
        counter->outcome = status;
        ngc_counter_free_grams(&counter->allocator, &counter->grams);
        ngc_counter_free_slots(counter);
        ngc_counter_free_counts(counter);
        ngc_runs_free(&counter->runs);
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
    static const double share[GROUPED] = {0, 0.05, 0.3, 0.25, 0.37, 0.03}; /* measured */
    if (counter->in_any_order) {
        return ngc_counter_runs_fraction(counter);
    }
    bool sorts = counter->phase == BY_FIRST || counter->phase == BY_GRAM;
    size_t all = counter->phase == COMPACT ? counter->slots_bytes / sizeof(counter_slot)
                 : sorts                   ? 257
                                           : counter->length;
    double now = counter->phase == GROUPED || all == 0
                     ? 0
                     : share[counter->phase] * (double)counter->at / (double)all;
    double before = 0;
    for (int phase = COUNTING; phase < (int)counter->phase; phase++) {
        before += phase < GROUPED ? share[phase] : 0;
    }
    return before + now;
}

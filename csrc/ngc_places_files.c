/* ngc_places_files.c - loading, walking, saving, checking a cache of places; see ngc_places.h. */
#include "ngc_bytes.h"
#include "ngc_places_room.h"

/* ---- from a file ---- */

/* Fills a block with the pairs of a file, whatever their order. */
static ngc_status take_pairs(places_block *block, const uint8_t *pairs, size_t n_pairs)
{
    ngc_status status = ngc_pairs_take(block->pairs, pairs, n_pairs);
    block->length = (uint32_t)n_pairs;
    for (size_t i = 0; i < n_pairs; i++) {
        block->sum += block->pairs[i].count;
        if (block->pairs[i].count > block->top.count) { /* the first of equals */
            block->top = block->pairs[i];
        }
    }
    return status;
}

/* The block for the pairs of a file, as a slot's value; a single follower's count is that. */
static ngc_status value_of(places_cache *self, const uint8_t *pairs, size_t n_pairs,
                           uint32_t *value)
{
    if (n_pairs == 1) {
        *value = (uint32_t)ngc_get_int32(pairs + 4);
        return NGC_OK;
    }
    if (n_pairs > PLACES_POOLED / 2) {
        return NGC_NO_MEMORY;
    }
    uint32_t at;
    ngc_status status =
        ngc_places_new_block(self, UINT32_C(1) << ngc_platform_bit_length(n_pairs - 1), &at);
    if (status == NGC_OK) {
        status = take_pairs((places_block *)(void *)(self->pool + at), pairs, n_pairs);
        if (status != NGC_OK) {
            ngc_places_free_block(self, at);
        }
        *value = PLACES_POOLED | at;
    }
    return status;
}

ngc_status ngc_places_insert(ngc_cache *cache, const ngc_key *key, const uint8_t *pairs,
                         size_t n_pairs)
{
    places_cache *self = (places_cache *)cache;
    int32_t n = ngc_key_length(key);
    const int32_t *end = key->tokens + n;
    uint64_t hash = ngc_hash_run(end, (size_t)n, cache->toggles.hash);
    if (places_find(self, end, n, hash, NULL) != NULL) {
        return NGC_DUPLICATE;
    }
    ngc_status status = ngc_places_reserve_text(self, (size_t)n + 1);
    if (status == NGC_OK) {
        status = places_reserve_slots(self, n, 1);
    }
    uint32_t value;
    if (status == NGC_OK) {
        status = value_of(self, pairs, n_pairs, &value);
    }
    if (status != NGC_OK) {
        return status;
    }
    memcpy(self->text + self->length_tokens, key->tokens, (size_t)n * sizeof *self->text);
    self->length_tokens += (size_t)n;
    self->text[self->length_tokens] = ngc_get_int32(pairs);
    places_slot *slot =
        places_put(&self->tables[n - 1], hash, (places_slot){(uint32_t)self->length_tokens, value});
    summed_view view = places_view(self, slot, NULL);
    places_set_outlook(self, n, slot, view.sum, view.top.count);
    self->length_tokens++;
    self->n_followers += (int64_t)n_pairs;
    return NGC_OK;
}

/* ---- walking ---- */

/* N-grams are numbered by where they stood first: 4 x place + n - 1. A cache is walked and saved in
 * this order, which no table's size changes. */
enum { SIZES = NGC_N_MAX };

static const places_slot *slot_at(const places_cache *self, size_t number, int32_t *n)
{
    size_t place = number / SIZES;
    *n = (int32_t)(number % SIZES) + 1;
    if (place < (size_t)*n) {
        return NULL;
    }
    const int32_t *end = self->text + place;
    uint64_t hash = ngc_hash_run(end, (size_t)*n, self->head.toggles.hash);
    const places_slot *slot = places_find(self, end, *n, hash, NULL);
    return slot != NULL && places_place(*slot) == place ? slot : NULL;
}

/* The number of the first n-gram from one number on and before another, and its slot; NULL if there
 * is none. */
static size_t next_before(const places_cache *self, size_t number, size_t end,
                          const places_slot **slot, int32_t *n)
{
    for (*slot = NULL; number < end; number++) {
        *slot = slot_at(self, number, n);
        if (*slot != NULL) {
            break;
        }
    }
    return number;
}

static size_t next_used(const places_cache *self, size_t number, const places_slot **slot,
                        int32_t *n)
{
    return next_before(self, number, self->length_tokens * SIZES, slot, n);
}

/* Where a slice ends that goes over some n numbers. */
static size_t slice_end(const places_cache *self, size_t number, size_t n)
{
    size_t end = self->length_tokens * SIZES;
    return end - number < n ? end : number + n;
}

/* A walk that has passed nothing has not begun: what is counted before it goes on it will see. */
static void suspend(ngc_cursor *cursor, size_t number)
{
    cursor->at = cursor->n_done == 0 ? NULL : (const void *)(uintptr_t)number;
}

void ngc_places_walk(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                     size_t capacity, size_t *n_written)
{
    const places_cache *self = (const places_cache *)cache;
    size_t number = (size_t)(uintptr_t)cursor->at, i = 0;
    for (; i < capacity; i++, number++) {
        const places_slot *slot;
        number = next_used(self, number, &slot, &facts[i].n);
        if (slot == NULL) {
            break;
        }
        summed_view view = places_view(self, slot, NULL);
        ngc_key key = ngc_key_of(self->text + places_place(*slot) - facts[i].n, facts[i].n);
        memcpy(facts[i].tokens, key.tokens, sizeof facts[i].tokens);
        facts[i].n_followers = (int32_t)view.length;
        facts[i].sum = view.sum;
    }
    cursor->n_done += (int64_t)i;
    suspend(cursor, number);
    *n_written = i;
}

/* ---- llama.cpp's file ---- */

static size_t record_bytes(const places_cache *self, const places_slot *slot)
{
    return 20 + NGC_PAIR_BYTES * places_view(self, slot, NULL).length;
}

static uint8_t *put_record(uint8_t *out, const places_cache *self, const places_slot *slot,
                           int32_t n)
{
    summed_view view = places_view(self, slot, NULL);
    ngc_key key = ngc_key_of(self->text + places_place(*slot) - n, n);
    int32_t n_followers = (int32_t)view.length;
    out = ngc_put_int32s(out, key.tokens, NGC_N_MAX);
    out = ngc_put_int32s(out, &n_followers, 1);
    for (size_t i = 0; i < view.length; i++) {
        ngc_pair pair = summed_view_at(view, i);
        out = ngc_put_int32s(out, &pair.token, 1);
        out = ngc_put_int32s(out, &pair.count, 1);
    }
    return out;
}

ngc_status ngc_places_save(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                           size_t capacity_bytes, size_t *n_written)
{
    const places_cache *self = (const places_cache *)cache;
    size_t number = (size_t)(uintptr_t)cursor->at;
    uint8_t *out = buffer;
    const places_slot *slot;
    int32_t n = 0;
    for (;; number++) {
        number = next_used(self, number, &slot, &n);
        if (slot == NULL ||
            record_bytes(self, slot) > capacity_bytes - (size_t)(out - buffer)) {
            break;
        }
        out = put_record(out, self, slot, n);
        cursor->n_done++;
    }
    if (slot != NULL && out == buffer) {
        return NGC_SMALL_BUFFER;
    }
    suspend(cursor, number);
    *n_written = (size_t)(out - buffer);
    return NGC_OK;
}

/* ---- ascending ---- */

int ngc_places_compare(const void *a, const void *b)
{
    return ngc_key_compare(&((const places_sorted *)a)->key, &((const places_sorted *)b)->key);
}

size_t ngc_places_gather(const ngc_cache *cache, ngc_cursor *cursor, void *items,
                         size_t capacity, size_t n_grams, bool *last)
{
    const places_cache *self = (const places_cache *)cache;
    places_sorted *out = items;
    size_t number = (size_t)(uintptr_t)cursor->at, n_written = 0;
    size_t end = slice_end(self, number, n_grams);
    while (number < end && n_written < capacity) {
        const places_slot *slot;
        int32_t n;
        number = next_before(self, number, end, &slot, &n);
        if (slot != NULL) {
            ngc_key key = ngc_key_of(self->text + places_place(*slot) - n, n);
            out[n_written++] = (places_sorted){number++, key};
        }
    }
    cursor->at = (const void *)(uintptr_t)number;
    *last = n_written == capacity || number == self->length_tokens * SIZES;
    return n_written;
}

ngc_status ngc_places_save_sorted(const ngc_cache *cache, const void *const *places,
                                  size_t n_places, ngc_cursor *cursor, uint8_t *buffer,
                                  size_t capacity_bytes, size_t *n_written)
{
    const places_cache *self = (const places_cache *)cache;
    uint8_t *out = buffer;
    size_t at = (size_t)cursor->n_done;
    for (; at < n_places; at++) {
        int32_t n;
        const places_slot *slot = slot_at(self, (size_t)(uintptr_t)places[at], &n);
        if (record_bytes(self, slot) > capacity_bytes - (size_t)(out - buffer)) {
            break;
        }
        out = put_record(out, self, slot, n);
    }
    if (at < n_places && out == buffer) {
        return NGC_SMALL_BUFFER;
    }
    cursor->n_done = (int64_t)at;
    *n_written = (size_t)(out - buffer);
    return NGC_OK;
}

/* ---- checking ---- */

static const char *broken_followers(const places_cache *self, const places_slot *slot)
{
    summed_view view = places_view(self, slot, NULL);
    if (view.sum <= 0) {
        return "followers have no counts";
    }
    if (places_outlook(*slot) != ngc_outlook_of(view.sum, view.top.count)) {
        return "the kept outlook is wrong";
    }
    if (!places_is_pooled(*slot)) {
        return NULL;
    }
    const places_block *block = places_block_of(self, *slot);
    if (block->length == 0 || block->length > block->capacity) {
        return "a block holds no followers, or more than it has room for";
    }
    int64_t sum = 0;
    ngc_pair top = {NGC_NO_TOKEN, 0};
    for (uint32_t i = 0; i < block->length; i++) {
        ngc_pair pair = block->pairs[i];
        if (pair.token < 0 || pair.count <= 0) {
            return "a follower has a negative token or no count";
        }
        if (i > 0 && block->pairs[i - 1].token >= pair.token) {
            return "followers do not ascend";
        }
        sum += pair.count;
        top = pair.count > top.count ? pair : top;
    }
    if (sum != block->sum || top.token != block->top.token || top.count != block->top.count) {
        return "the kept sum or the kept most frequent follower is wrong";
    }
    return NULL;
}

static const char *broken_ngram(const places_cache *self, const places_slot *slot, int32_t n)
{
    const char *reason = broken_followers(self, slot);
    if (reason != NULL) {
        return reason;
    }
    const places_table *table = &self->tables[n - 1];
    uint64_t hash =
        ngc_hash_run(self->text + places_place(*slot), (size_t)n, self->head.toggles.hash);
    if (table->filter != NULL && ngc_outlook_may_pass(places_outlook(*slot), PLACES_FILTERED) &&
        !ngc_bloom_has(table->filter[ngc_bloom_word(table->filter_words, hash)], hash)) {
        return "an n-gram that may pass is not in the filter";
    }
    return NULL;
}

const char *ngc_places_check_slice(const ngc_cache *cache, ngc_checking *checking, size_t n_grams)
{
    const places_cache *self = (const places_cache *)cache;
    size_t number = (size_t)checking->n_passed;
    size_t end = slice_end(self, number, n_grams);
    while (number < end) {
        const places_slot *slot;
        int32_t n;
        number = next_before(self, number, end, &slot, &n);
        if (slot != NULL) {
            const char *reason = broken_ngram(self, slot, n);
            if (reason != NULL) {
                return reason;
            }
            checking->n_grams_by_n[n - 1]++;
            checking->n_followers += (int64_t)places_view(self, slot, NULL).length;
            number++;
        }
    }
    checking->n_passed = (int64_t)number;
    if (number < self->length_tokens * SIZES) {
        return NULL;
    }
    checking->done = true;
    for (int i = 0; i < NGC_N_MAX; i++) {
        if (checking->n_grams_by_n[i] != (int64_t)self->tables[i].length) {
            return "an n-gram is not found where it stands, or stands twice";
        }
    }
    return checking->n_followers == self->n_followers ? NULL : "the number of followers is wrong";
}

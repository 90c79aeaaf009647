/* ngc_places.c - counting into a cache of places, and merging; see ngc_places.h.
 *
 * One token is counted when there is room for whatever it may need. More of them, or another cache,
 * are first put in with counts of 0 and then counted, which cannot fail; where memory runs out,
 * what has a count of 0 is taken out again. Either way a cache that had no room is as it was.
 */
#include "ngc_places_room.h"

enum { AHEAD = 16 }; /* n-grams whose lines are asked for at once in merging */

/* ---- one n-gram ---- */

static void put_pair(places_block *block, size_t at, ngc_pair pair)
{
    memmove(&block->pairs[at + 1], &block->pairs[at],
            (block->length - at) * sizeof *block->pairs);
    block->pairs[at] = pair;
    block->length++;
}

/* Sees that a slot holds a follower, with a count of 0 if it is new; *at is where in its block. */
NGC_INLINE ngc_status ensure(places_cache *self, places_slot *slot, int32_t token, size_t *at)
{
    *at = 0;
    if (!places_is_pooled(*slot)) {
        if (self->text[places_place(*slot)] == token) {
            return NGC_OK;
        }
        ngc_status status = ngc_places_make_block(self, slot);
        if (status != NGC_OK) {
            return status;
        }
    }
    places_block *block = places_block_of(self, *slot);
    *at = ngc_search(block->pairs, block->length, token, self->head.toggles.search, NULL);
    if (*at < block->length && block->pairs[*at].token == token) {
        return NGC_OK;
    }
    if (block->length == block->capacity) {
        ngc_status status = ngc_places_double_block(self, slot);
        if (status != NGC_OK) {
            return status;
        }
        block = places_block_of(self, *slot);
    }
    put_pair(block, *at, (ngc_pair){token, 0});
    self->n_followers++;
    return NGC_OK;
}

/* Adds to a follower's count, which stays at 2^31 - 1 when it is there. */
NGC_INLINE void add(places_cache *self, int32_t n, places_slot *slot, size_t at, int32_t added)
{
    if (!places_is_pooled(*slot)) {
        slot->value += added > INT32_MAX - (int32_t)slot->value
                           ? INT32_MAX - slot->value
                           : (uint32_t)added;
        places_set_outlook(self, n, slot, slot->value, (int32_t)slot->value);
        return;
    }
    places_block *block = places_block_of(self, *slot);
    ngc_pair *pair = &block->pairs[at];
    added = added > INT32_MAX - pair->count ? INT32_MAX - pair->count : added;
    pair->count += added;
    block->sum += added;
    if (pair->count > block->top.count ||
        (pair->count == block->top.count && pair->token <= block->top.token)) {
        block->top = *pair;
    }
    places_set_outlook(self, n, slot, block->sum, block->top.count);
}

/* Takes out what has a count of 0: followers, and then the n-gram if none is left. */
static void withdraw(places_cache *self, int32_t n, places_slot *slot)
{
    if (!places_is_pooled(*slot)) {
        if (slot->value == 0) {
            places_table *table = &self->tables[n - 1];
            size_t byte = (size_t)((uint8_t *)slot - (uint8_t *)table->lines);
            places_line *line = &table->lines[byte / PLACES_LINE_BYTES];
            line->tags[slot - line->slots] = 0;
            table->length--;
            self->n_followers--;
        }
        return;
    }
    places_block *block = places_block_of(self, *slot);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->length; i++) {
        if (block->pairs[i].count != 0) {
            block->pairs[kept++] = block->pairs[i];
        }
    }
    self->n_followers -= (int64_t)(block->length - kept) - (kept == 0);
    block->length = kept;
    if (kept == 0) {
        ngc_places_free_block(self, slot->value & ~PLACES_POOLED);
        slot->value = 0;
        withdraw(self, n, slot);
    }
}

/* ---- counting ---- */

/* Sees that an n-gram is in; the text has its tokens before `place`, and the follower there. */
NGC_INLINE ngc_status ensure_ngram(places_cache *self, int32_t n, uint64_t hash, size_t place,
                                   places_slot **slot, size_t *at)
{
    const int32_t *end = self->text + place;
    *slot = places_find(self, end, n, hash, NULL);
    *at = 0;
    if (*slot != NULL) {
        return ensure(self, *slot, *end, at);
    }
    ngc_status status = places_reserve_slots(self, n, 1);
    if (status == NGC_OK) {
        *slot = places_put(&self->tables[n - 1], hash, (places_slot){(uint32_t)place, 0});
        self->n_followers++;
    }
    return status;
}

/* The sizes of n-grams that end before the token at a place. */
NGC_INLINE int32_t longest_before(const places_cache *self, size_t before)
{
    return before < (size_t)self->head.n_max ? (int32_t)before : self->head.n_max;
}

/* Room for one token more in n-grams of all sizes up to one: counting it then cannot fail. */
NGC_INLINE ngc_status reserve_token(places_cache *self, int32_t n_last)
{
    size_t largest = self->largest_block == 0 ? 1 : self->largest_block;
    size_t most_words = PLACES_BLOCK_WORDS + 2 * largest;
    ngc_status status = ngc_places_reserve_words(self, (size_t)n_last * most_words);
    for (int32_t n = self->head.n_min; status == NGC_OK && n <= n_last; n++) {
        status = places_reserve_slots(self, n, 1);
    }
    return status;
}

/* Counts one token, the last of the cache's text, that has so many others before it. */
static ngc_status count_token(places_cache *self, size_t n_before)
{
    size_t place = self->length_tokens - 1;
    const int32_t *end = self->text + place;
    int32_t n_last = longest_before(self, n_before);
    ngc_status status = reserve_token(self, n_last);
    if (status != NGC_OK) {
        return status;
    }
    ngc_hashes hashes;
    ngc_hash_last(end, (size_t)n_last, self->head.toggles.hash, &hashes);
    for (int32_t n = self->head.n_min; n <= n_last; n++) {
        uint64_t hash = hashes.of[n - 1];
        places_slot *slot = places_find(self, end, n, hash, NULL);
        if (slot != NULL) {
            size_t at;
            ensure(self, slot, *end, &at);
            add(self, n, slot, at, 1);
        } else {
            places_put(&self->tables[n - 1], hash,
                (places_slot){(uint32_t)place | ngc_outlook_of(1, 1) << PLACES_PLACE_BITS, 1});
            self->n_followers++;
        }
    }
    return NGC_OK;
}

/* One pass over tokens that are to be counted: makes room, counts, or takes room back. */
enum { ENSURE, ADD, WITHDRAW };
static ngc_status pass_over(places_cache *self, int what, size_t first, size_t end,
                            size_t text_start)
{
    ngc_status status = NGC_OK;
    for (size_t place = first; place < end && status == NGC_OK; place++) {
        int32_t n_last = longest_before(self, place - text_start);
        ngc_hashes hashes;
        ngc_hash_last(self->text + place, (size_t)n_last, self->head.toggles.hash, &hashes);
        for (int32_t n = self->head.n_min; n <= n_last && status == NGC_OK; n++) {
            uint64_t hash = hashes.of[n - 1];
            places_slot *slot;
            size_t at;
            if (what == ENSURE) {
                status = ensure_ngram(self, n, hash, place, &slot, &at);
                continue;
            }
            slot = places_find(self, self->text + place, n, hash, NULL);
            if (what == WITHDRAW && slot != NULL) {
                withdraw(self, n, slot);
            } else if (what == ADD) {
                ensure(self, slot, self->text[place], &at); /* it is there */
                add(self, n, slot, at, 1);
            }
        }
    }
    return status;
}

/* Puts new tokens behind the cache's text, after those before them, where it does not end with
 * them already. */
static ngc_status append(places_cache *self, const int32_t *text, size_t length_tokens,
                         size_t n_new_tokens)
{
    size_t before = length_tokens - n_new_tokens;
    size_t n_kept = before < NGC_N_MAX ? before : NGC_N_MAX;
    ngc_status status = ngc_places_reserve_text(self, n_kept + n_new_tokens);
    if (status != NGC_OK) {
        return status;
    }
    const int32_t *first = text + before - n_kept;
    size_t n_same = 0;
    while (n_same < n_kept && n_same < self->length_tokens &&
           self->text[self->length_tokens - 1 - n_same] == text[before - 1 - n_same]) {
        n_same++;
    }
    if (n_same < n_kept) {
        memcpy(self->text + self->length_tokens, first, n_kept * sizeof *text);
        self->length_tokens += n_kept;
    }
    int32_t *out = self->text + self->length_tokens;
    for (size_t i = 0; i < n_new_tokens; i++) {
        out[i] = text[before + i];
    }
    self->length_tokens += n_new_tokens;
    return NGC_OK;
}

ngc_status ngc_places_update(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                         size_t n_new_tokens)
{
    places_cache *self = (places_cache *)cache;
    size_t length_before = self->length_tokens;
    size_t n_before = length_tokens - n_new_tokens;
    ngc_status status = append(self, text, length_tokens, n_new_tokens);
    if (status != NGC_OK) {
        return status;
    }
    if (n_new_tokens == 1) {
        status = count_token(self, n_before);
    } else {
        size_t end = self->length_tokens, first = end - n_new_tokens;
        size_t n_kept = n_before < NGC_N_MAX ? n_before : NGC_N_MAX;
        status = pass_over(self, ENSURE, first, end, first - n_kept);
        pass_over(self, status == NGC_OK ? ADD : WITHDRAW, first, end, first - n_kept);
    }
    if (status != NGC_OK) {
        self->length_tokens = length_before;
    }
    return status;
}

/* ---- merging ---- */

/* Sees that one n-gram of another cache is in with all its followers. */
static ngc_status ensure_all(places_cache *self, int32_t n, uint64_t hash, size_t place,
                             summed_view followers, places_slot **slot)
{
    size_t at;
    ngc_status status = ensure_ngram(self, n, hash, place, slot, &at);
    for (size_t i = 0; status == NGC_OK && i < followers.length; i++) {
        status = ensure(self, *slot, summed_view_at(followers, i).token, &at);
    }
    return status;
}

static void add_all(places_cache *self, int32_t n, places_slot *slot, summed_view followers)
{
    for (size_t i = 0; i < followers.length; i++) {
        ngc_pair pair = summed_view_at(followers, i);
        size_t at;
        ensure(self, slot, pair.token, &at); /* it is there */
        add(self, n, slot, at, pair.count);
    }
}

/* The next n-grams of one size in another cache, from a slot's number on; asks for the lines that
 * they have here. */
typedef struct batch {
    size_t n;
    const places_slot *slots[AHEAD];
    uint64_t hashes[AHEAD];
} batch;

static size_t next_batch(const places_cache *self, const places_cache *from, int32_t n,
                         size_t number, batch *batch)
{
    const places_table *theirs = &from->tables[n - 1];
    size_t end = theirs->length == 0 ? 0 : theirs->n_lines * PLACES_SLOTS;
    batch->n = 0;
    for (; batch->n < AHEAD && number < end; number++) {
        const places_line *line = &theirs->lines[number / PLACES_SLOTS];
        if (line->tags[number % PLACES_SLOTS] == 0) {
            continue;
        }
        const places_slot *slot = &line->slots[number % PLACES_SLOTS];
        uint64_t hash =
            ngc_hash_run(from->text + places_place(*slot), (size_t)n, self->head.toggles.hash);
        ngc_platform_prefetch(&self->tables[n - 1].lines[places_home(&self->tables[n - 1], hash)]);
        batch->slots[batch->n] = slot;
        batch->hashes[batch->n++] = hash;
    }
    return number;
}

/* Takes back what a merge put in, up to all of one size. */
static void withdraw_all(places_cache *self, const places_cache *from, int32_t n)
{
    if (self->tables[n - 1].length == 0) {
        return; /* there may be no table yet */
    }
    for (size_t number = 0;;) {
        batch batch;
        number = next_batch(self, from, n, number, &batch);
        for (size_t i = 0; i < batch.n; i++) {
            places_slot *slot = places_find(self, from->text + places_place(*batch.slots[i]), n,
                                            batch.hashes[i], NULL);
            if (slot != NULL) {
                withdraw(self, n, slot);
            }
        }
        if (batch.n == 0) {
            return;
        }
    }
}

/* Makes room for the n-grams of one size, noting where each stands, then counts. */
static ngc_status merge_size(places_cache *self, const places_cache *from, int32_t n,
                             size_t text_start, places_slot **found)
{
    ngc_status status = places_reserve_slots(self, n, from->tables[n - 1].length);
    if (status == NGC_OK) {
        status = ngc_places_reserve_filter(self, n, from->tables[n - 1].length);
    }
    for (size_t number = 0, at = 0; status == NGC_OK;) {
        batch batch;
        number = next_batch(self, from, n, number, &batch);
        for (size_t i = 0; status == NGC_OK && i < batch.n; i++, at++) {
            size_t place = text_start + places_place(*batch.slots[i]);
            status = ensure_all(self, n, batch.hashes[i], place,
                                places_view(from, batch.slots[i], NULL), &found[at]);
        }
        if (batch.n == 0) {
            break;
        }
    }
    return status;
}

static void add_size(places_cache *self, const places_cache *from, int32_t n,
                     places_slot *const *found)
{
    size_t at = 0;
    const places_table *theirs = &from->tables[n - 1];
    for (size_t number = 0; at < theirs->length; number++) {
        const places_line *line = &theirs->lines[number / PLACES_SLOTS];
        if (line->tags[number % PLACES_SLOTS] != 0) {
            add_all(self, n, found[at++],
                    places_view(from, &line->slots[number % PLACES_SLOTS], NULL));
        }
    }
}

static size_t n_grams_of(const places_cache *self)
{
    size_t n_grams = 0;
    for (int i = 0; i < NGC_N_MAX; i++) {
        n_grams += self->tables[i].length;
    }
    return n_grams;
}

ngc_status ngc_places_merge(ngc_cache *cache, const ngc_cache *added)
{
    places_cache *self = (places_cache *)cache;
    const places_cache *from = (const places_cache *)added;
    size_t n_grams = n_grams_of(from), text_start = self->length_tokens;
    if (n_grams == 0) {
        return NGC_OK;
    }
    ngc_status status = ngc_places_reserve_text(self, from->length_tokens);
    if (status != NGC_OK) {
        return status;
    }
    ngc_allocator *allocator = &self->head.allocator;
    places_slot **found = ngc_alloc(allocator, n_grams * sizeof *found, NGC_KIND_OTHER);
    if (found == NULL) {
        return NGC_NO_MEMORY;
    }
    memcpy(self->text + text_start, from->text, from->length_tokens * sizeof *self->text);
    self->length_tokens += from->length_tokens;
    int32_t n = 1;
    for (size_t at = 0; n <= NGC_N_MAX; at += from->tables[n - 1].length, n++) {
        if (from->tables[n - 1].length > 0) {
            status = merge_size(self, from, n, text_start, found + at);
        }
        if (status != NGC_OK) {
            break;
        }
    }
    if (status == NGC_OK) {
        size_t at = 0;
        for (n = 1; n <= NGC_N_MAX; at += from->tables[n - 1].length, n++) {
            add_size(self, from, n, found + at);
        }
    } else {
        for (; n >= 1; n--) {
            withdraw_all(self, from, n);
        }
        self->length_tokens = text_start;
    }
    ngc_free(allocator, found, n_grams * sizeof *found, NGC_KIND_OTHER);
    return status;
}

/* ngc_places.c - counting into a cache of places, and merging; see ngc_places.h.
 *
 * One token is counted when there is room for whatever it may need. More of them, or another cache,
 * are first put in with counts of 0 and then counted, which needs no more room; where memory runs out,
 * what has a count of 0 is taken out again. Either way a cache that had no room is as it was.
 */
#include "ngc_adding.h"
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

/* What the followers of an n-gram add up to. */
static int64_t sum_of(const places_cache *self, const places_slot *slot)
{
    return places_is_pooled(*slot) ? places_block_of(self, *slot)->sum : slot->value;
}

/* The count of a follower that is there, with a block or without. */
static int32_t count_at(const places_cache *self, const places_slot *slot, size_t at)
{
    return places_is_pooled(*slot) ? places_block_of(self, *slot)->pairs[at].count
                                   : (int32_t)slot->value;
}

/* Notes what full counts will not take, before anything is added. */
static ngc_status note_losses(places_cache *self, places_slot *slot, summed_view followers,
                              ngc_lost *lost)
{
    ngc_status status = NGC_OK;
    for (size_t i = 0; status == NGC_OK && i < followers.length; i++) {
        ngc_pair pair = summed_view_at(followers, i);
        size_t at;
        ensure(self, slot, pair.token, &at); /* it is there */
        int32_t room = INT32_MAX - count_at(self, slot, at);
        if (pair.count >= room) {
            status = ngc_lost_note(&self->head.allocator, lost, pair.count - room);
        }
    }
    return status;
}

static ngc_status add_all(places_cache *self, int32_t n, places_slot *slot, summed_view followers,
                          ngc_lost *lost)
{
    if (followers.sum >= INT32_MAX - sum_of(self, slot)) {
        ngc_status status = note_losses(self, slot, followers, lost);
        if (status != NGC_OK) {
            return status;
        }
    }
    for (size_t i = 0; i < followers.length; i++) {
        ngc_pair pair = summed_view_at(followers, i);
        size_t at;
        ensure(self, slot, pair.token, &at); /* it is there */
        add(self, n, slot, at, pair.count);
    }
    return NGC_OK;
}

/* Takes back what was added, in the same order; what had no count before has one of 0 then. */
static void subtract_all(places_cache *self, int32_t n, places_slot *slot, summed_view followers,
                         ngc_lost *lost)
{
    for (size_t i = 0; i < followers.length; i++) {
        ngc_pair pair = summed_view_at(followers, i);
        size_t at;
        ensure(self, slot, pair.token, &at); /* it is there */
        if (count_at(self, slot, at) == INT32_MAX) {
            pair.count -= lost->amounts[lost->first++];
        }
        if (places_is_pooled(*slot)) {
            places_block_of(self, *slot)->pairs[at].count -= pair.count;
            places_block_of(self, *slot)->sum -= pair.count;
        } else {
            slot->value -= (uint32_t)pair.count;
        }
    }
    int32_t top_count = (int32_t)slot->value;
    if (places_is_pooled(*slot)) {
        places_block *block = places_block_of(self, *slot);
        block->top = block->pairs[0];
        for (uint32_t i = 1; i < block->length; i++) { /* the first of equals */
            block->top = block->pairs[i].count > block->top.count ? block->pairs[i] : block->top;
        }
        top_count = block->top.count;
    }
    if (sum_of(self, slot) > 0) {
        places_set_outlook(self, n, slot, sum_of(self, slot), top_count);
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

/* The phases of a merge. Adding needs no room any more, but for notes of full counts. */
enum { BEGIN, RESERVE, ENSURE_ALL, ADD_ALL, SUBTRACT_ALL, WITHDRAW_ALL };

static void enter(ngc_adding *adding, int32_t phase, int32_t n)
{
    adding->phase = phase;
    adding->n = n;
    adding->place = 0;
}

static size_t n_grams_of(const places_cache *self)
{
    size_t n_grams = 0;
    for (int i = 0; i < NGC_N_MAX; i++) {
        n_grams += self->tables[i].length;
    }
    return n_grams;
}

static ngc_status begin_merge(ngc_adding *adding, places_cache *self, const places_cache *from)
{
    size_t n_grams = n_grams_of(from);
    adding->text_start = self->length_tokens;
    if (n_grams == 0) {
        adding->done = true;
        return NGC_OK;
    }
    ngc_status status = ngc_places_reserve_text(self, from->length_tokens);
    if (status != NGC_OK) {
        return status;
    }
    adding->found =
        ngc_alloc(&self->head.allocator, n_grams * sizeof *adding->found, NGC_KIND_OTHER);
    if (adding->found == NULL) {
        return NGC_NO_MEMORY;
    }
    adding->n_found = n_grams;
    memcpy(self->text + adding->text_start, from->text, from->length_tokens * sizeof *self->text);
    self->length_tokens += from->length_tokens;
    enter(adding, RESERVE, 1);
    return NGC_OK;
}

/* Room for all n-grams of one size: none of them moves afterwards. */
static ngc_status reserve_size(ngc_adding *adding, places_cache *self, const places_cache *from)
{
    int32_t n = adding->n;
    size_t n_more = from->tables[n - 1].length;
    ngc_status status = n_more == 0 ? NGC_OK : places_reserve_slots(self, n, n_more);
    if (status == NGC_OK && n_more > 0) {
        status = ngc_places_reserve_filter(self, n, n_more);
    }
    if (status == NGC_OK) {
        enter(adding, ENSURE_ALL, n);
    }
    return status;
}

/* Puts n-grams of one size in with counts of 0, noting where each stands. */
static ngc_status ensure_slice(ngc_adding *adding, places_cache *self, const places_cache *from,
                               size_t n_pairs)
{
    int32_t n = adding->n;
    for (size_t n_done = 0; n_done < n_pairs;) {
        batch batch;
        size_t next = next_batch(self, from, n, adding->place, &batch);
        for (size_t i = 0; i < batch.n; i++) {
            summed_view followers = places_view(from, batch.slots[i], NULL);
            size_t place = adding->text_start + places_place(*batch.slots[i]);
            ngc_status status = ensure_all(self, n, batch.hashes[i], place, followers,
                                           &adding->found[adding->index++]);
            if (status != NGC_OK) {
                return status;
            }
            adding->added_to.n_done++;
            n_done += followers.length;
        }
        n_done += next - adding->place;
        adding->place = next;
        if (batch.n == 0) {
            adding->index = n < NGC_N_MAX ? adding->index : 0;
            enter(adding, n < NGC_N_MAX ? RESERVE : ADD_ALL, n < NGC_N_MAX ? n + 1 : 1);
            break;
        }
    }
    return NGC_OK;
}

/* Goes over what was found from the place on where it is, and adds or subtracts up to `end`. */
static ngc_status pass_over_found(ngc_adding *adding, places_cache *self,
                                  const places_cache *from, size_t n_pairs, size_t end)
{
    for (size_t n_done = 0; adding->index < end && n_done < n_pairs; n_done++) {
        const places_table *theirs = &from->tables[adding->n - 1];
        if (theirs->length == 0 || adding->place == theirs->n_lines * PLACES_SLOTS) {
            enter(adding, adding->phase, adding->n + 1);
            continue;
        }
        const places_line *line = &theirs->lines[adding->place / PLACES_SLOTS];
        size_t i = adding->place % PLACES_SLOTS;
        if (line->tags[i] != 0) {
            summed_view followers = places_view(from, &line->slots[i], NULL);
            places_slot *slot = adding->found[adding->index];
            if (adding->phase == SUBTRACT_ALL) {
                subtract_all(self, adding->n, slot, followers, &adding->lost);
            } else {
                ngc_status status = add_all(self, adding->n, slot, followers, &adding->lost);
                if (status != NGC_OK) {
                    return status;
                }
            }
            n_done += followers.length;
            adding->index++;
        }
        adding->place++;
    }
    return NGC_OK;
}

ngc_status ngc_places_merge_slice(ngc_adding *adding, size_t n_pairs)
{
    places_cache *self = (places_cache *)adding->cache;
    const places_cache *from = (const places_cache *)adding->added;
    ngc_status status = NGC_OK;
    switch (adding->phase) {
    case BEGIN:
        return begin_merge(adding, self, from);
    case RESERVE:
        return reserve_size(adding, self, from);
    case ENSURE_ALL:
        return ensure_slice(adding, self, from, n_pairs);
    default:
        status = pass_over_found(adding, self, from, n_pairs, adding->n_found);
        adding->n_added = adding->index;
        adding->done = adding->index == adding->n_found;
        return status;
    }
}

/* Takes out what has a count of 0, of one size, then of the next smaller one. */
static void withdraw_slice(ngc_adding *adding, places_cache *self, const places_cache *from,
                           size_t n_pairs)
{
    int32_t n = adding->n;
    for (size_t n_done = 0; n_done < n_pairs;) {
        batch batch = {0};
        size_t next = adding->place;
        if (self->tables[n - 1].length > 0) { /* there may be no table yet */
            next = next_batch(self, from, n, adding->place, &batch);
        }
        for (size_t i = 0; i < batch.n; i++) {
            places_slot *slot = places_find(self, from->text + places_place(*batch.slots[i]), n,
                                            batch.hashes[i], NULL);
            if (slot != NULL) {
                withdraw(self, n, slot);
            }
        }
        n_done += next - adding->place + 1;
        adding->place = next;
        if (batch.n == 0) {
            enter(adding, WITHDRAW_ALL, n - 1);
            break;
        }
    }
}

void ngc_places_unmerge_slice(ngc_adding *adding, size_t n_pairs)
{
    places_cache *self = (places_cache *)adding->cache;
    const places_cache *from = (const places_cache *)adding->added;
    switch (adding->phase) {
    case BEGIN:
        adding->done = true;
        return;
    case ADD_ALL:
        enter(adding, SUBTRACT_ALL, 1);
        adding->index = 0;
        break;
    case SUBTRACT_ALL:
        pass_over_found(adding, self, from, n_pairs, adding->n_added);
        if (adding->index == adding->n_added) {
            enter(adding, WITHDRAW_ALL, NGC_N_MAX);
        }
        break;
    case WITHDRAW_ALL:
        withdraw_slice(adding, self, from, n_pairs);
        break;
    default:
        enter(adding, WITHDRAW_ALL, adding->n);
        break;
    }
    if (adding->phase == WITHDRAW_ALL && adding->n == 0) {
        self->length_tokens = adding->text_start;
        adding->done = true;
    }
}

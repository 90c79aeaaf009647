/* ngc_places.c - counting into a cache of places, and merging; see ngc_places.h.
 *
 * Counting and merging first make room for all that is new, with counts of 0, and then count,
 * which cannot fail. Where memory runs out, what has a count of 0 is taken out again, and the cache
 * is as it was.
 */
#include "ngc_places.h"

enum {
    FIRST_TOKENS = 64,
    FIRST_WORDS = 64,
    BLOCK_WORDS = sizeof(places_block) / sizeof(uint64_t), /* before its pairs */
    AHEAD = 16 /* n-grams whose lines are asked for at once in merging */
};

_Static_assert(sizeof(ngc_pair) == sizeof(uint64_t), "a pair is a word of the pool");

/* ---- room ---- */

static size_t more_by_a_quarter(size_t capacity, size_t first, size_t needed)
{
    size_t more = capacity + capacity / 4;
    more = more < first ? first : more;
    return more < needed ? needed : more;
}

static size_t more_by_a_half(size_t n, size_t needed)
{
    size_t more = n + n / 2;
    return more < needed ? needed : more;
}

static ngc_status reserve_text(places_cache *self, size_t n_tokens)
{
    size_t needed = self->length_tokens + n_tokens;
    if (needed <= self->capacity_tokens) {
        return NGC_OK;
    }
    if (needed > UINT32_C(1) << PLACES_PLACE_BITS) {
        return NGC_NO_MEMORY;
    }
    size_t capacity = more_by_a_quarter(self->capacity_tokens, FIRST_TOKENS, needed);
    int32_t *text =
        ngc_stretch(&self->head.allocator, self->text, self->capacity_tokens * sizeof *text,
                    capacity * sizeof *text, NGC_KIND_NGRAMS);
    if (text == NULL) {
        return NGC_NO_MEMORY;
    }
    self->text = text;
    self->capacity_tokens = capacity;
    return NGC_OK;
}

static size_t memory_bytes(size_t n_lines)
{
    return n_lines == 0 ? 0 : n_lines * PLACES_LINE_BYTES + PLACES_LINE_BYTES - 1;
}

static ngc_status new_table(ngc_allocator *allocator, size_t n_lines, places_table *table)
{
    table->memory = ngc_alloc(allocator, memory_bytes(n_lines), NGC_KIND_INDEX);
    if (table->memory == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_platform_prefer_big_pages(table->memory, memory_bytes(n_lines));
    uintptr_t start = (uintptr_t)table->memory;
    table->lines = (void *)((uint8_t *)table->memory +
                            (PLACES_LINE_BYTES - start % PLACES_LINE_BYTES) % PLACES_LINE_BYTES);
    memset(table->lines, 0, n_lines * PLACES_LINE_BYTES);
    table->n_lines = n_lines;
    return NGC_OK;
}

static void free_table(ngc_allocator *allocator, places_table *table)
{
    ngc_free(allocator, table->memory, memory_bytes(table->n_lines), NGC_KIND_INDEX);
    ngc_free(allocator, table->filter, table->filter_words * sizeof *table->filter,
             NGC_KIND_INDEX);
    memset(table, 0, sizeof *table);
}

/* Puts an n-gram that is absent into the first free slot from its home on; there is one. */
NGC_INLINE places_slot *put(places_table *table, uint64_t hash, places_slot slot)
{
    size_t home = places_home(table, hash);
    size_t at = home, far = 0;
    while (places_match(&table->lines[at], 0) == 0) {
        at = at + 1 == table->n_lines ? 0 : at + 1;
        far++;
    }
    places_line *line = &table->lines[at];
    uint32_t i = ngc_platform_lowest_bit(places_match(line, 0));
    line->tags[i] = places_tag(hash);
    line->slots[i] = slot;
    uint8_t reach = far < PLACES_ANYWHERE ? (uint8_t)far : (uint8_t)PLACES_ANYWHERE;
    if (table->lines[home].reach < reach) {
        table->lines[home].reach = reach;
    }
    table->length++;
    return &line->slots[i];
}

static NGC_NOINLINE ngc_status grow_table(places_cache *self, int32_t n, size_t n_more)
{
    places_table *table = &self->tables[n - 1];
    size_t needed = (table->length + n_more) / (PLACES_SLOTS * 4) * 5 + 5;
    size_t n_lines = table->n_lines + table->n_lines / 2 + 1;
    n_lines = n_more > 1 && n_lines < needed ? needed : n_lines;
    places_table bigger = {0};
    ngc_status status = new_table(&self->head.allocator, n_lines, &bigger);
    if (status != NGC_OK) {
        return status;
    }
    int32_t kind = self->head.toggles.hash;
    for (size_t at = 0; at < table->n_lines; at++) {
        const places_line *line = &table->lines[at];
        for (int i = 0; i < PLACES_SLOTS; i++) {
            if (line->tags[i] != 0) {
                const int32_t *end = self->text + places_place(line->slots[i]);
                put(&bigger, ngc_hash_run(end, (size_t)n, kind), line->slots[i]);
            }
        }
    }
    ngc_free(&self->head.allocator, table->memory, memory_bytes(table->n_lines), NGC_KIND_INDEX);
    table->memory = bigger.memory;
    table->lines = bigger.lines;
    table->n_lines = n_lines;
    return NGC_OK;
}

/* Room for so many n-grams more: four of five slots at most are used. */
NGC_INLINE ngc_status reserve_slots(places_cache *self, int32_t n, size_t n_more)
{
    const places_table *table = &self->tables[n - 1];
    bool has_room = (table->length + n_more) * 5 <= table->n_lines * PLACES_SLOTS * 4;
    return has_room ? NGC_OK : grow_table(self, n, n_more);
}

/* ---- the filter ---- */

static void put_filtered(places_table *table, uint64_t hash)
{
    table->filter[ngc_bloom_word(table->filter_words, hash)] |= ngc_bloom_bits(hash);
    table->n_filtered++;
}

/* Room in the filter for so many n-grams more; a larger one is filled anew. */
static ngc_status reserve_filter(places_cache *self, int32_t n, size_t n_more)
{
    places_table *table = &self->tables[n - 1];
    size_t needed = (table->n_filtered + n_more) / NGC_BLOOM_KEYS_A_WORD + 1;
    if (needed <= table->filter_words) {
        return NGC_OK;
    }
    size_t n_words = more_by_a_half(table->filter_words, needed);
    ngc_allocator *allocator = &self->head.allocator;
    uint64_t *filter = ngc_alloc(allocator, n_words * sizeof *filter, NGC_KIND_INDEX);
    if (filter == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_free(allocator, table->filter, table->filter_words * sizeof *filter, NGC_KIND_INDEX);
    memset(filter, 0, n_words * sizeof *filter);
    table->filter = filter;
    table->filter_words = n_words;
    table->n_filtered = 0;
    for (size_t at = 0; at < table->n_lines; at++) {
        const places_line *line = &table->lines[at];
        for (int i = 0; i < PLACES_SLOTS; i++) {
            if (line->tags[i] != 0 &&
                ngc_outlook_may_pass(places_outlook(line->slots[i]), PLACES_FILTERED)) {
                const int32_t *end = self->text + places_place(line->slots[i]);
                put_filtered(table, ngc_hash_run(end, (size_t)n, self->head.toggles.hash));
            }
        }
    }
    return NGC_OK;
}

/* ---- blocks of followers ---- */

static uint32_t class_of(uint32_t capacity)
{
    return ngc_platform_bit_length(capacity) - 1;
}

/* Room for so many words more; the pool may move. */
static ngc_status reserve_words(places_cache *self, size_t n_more)
{
    size_t needed = self->length_words + n_more;
    if (needed <= self->capacity_words) {
        return NGC_OK;
    }
    if (needed >= PLACES_POOLED) {
        return NGC_NO_MEMORY;
    }
    size_t words = more_by_a_quarter(self->capacity_words, FIRST_WORDS, needed);
    uint64_t *pool =
        ngc_stretch(&self->head.allocator, self->pool, self->capacity_words * sizeof *pool,
                    words * sizeof *pool, NGC_KIND_FOLLOWERS);
    if (pool == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_platform_prefer_big_pages(pool, words * sizeof *pool);
    self->pool = pool;
    self->capacity_words = words;
    return NGC_OK;
}

/* A block of a capacity; the pool may move. */
static ngc_status new_block(places_cache *self, uint32_t capacity, uint32_t *out)
{
    uint32_t *free_block = &self->free_blocks[class_of(capacity)];
    if (*free_block != PLACES_NONE) {
        *out = *free_block;
        memcpy(free_block, self->pool + *out, sizeof *free_block);
    } else {
        ngc_status status = reserve_words(self, BLOCK_WORDS + capacity);
        if (status != NGC_OK) {
            return status;
        }
        *out = (uint32_t)self->length_words;
        self->length_words += BLOCK_WORDS + capacity;
    }
    self->largest_block = capacity > self->largest_block ? capacity : self->largest_block;
    places_block *block = (places_block *)(void *)(self->pool + *out);
    *block = (places_block){.top = {NGC_NO_TOKEN, 0}, .capacity = capacity};
    return NGC_OK;
}

static void free_block(places_cache *self, uint32_t at)
{
    uint32_t capacity = ((const places_block *)(void *)(self->pool + at))->capacity;
    uint32_t *first = &self->free_blocks[class_of(capacity)];
    memcpy(self->pool + at, first, sizeof *first);
    *first = at;
}

static void put_pair(places_block *block, size_t at, ngc_pair pair)
{
    memmove(&block->pairs[at + 1], &block->pairs[at],
            (block->length - at) * sizeof *block->pairs);
    block->pairs[at] = pair;
    block->length++;
}

/* Gives a slot with one follower a block for it and one more. */
static ngc_status make_block(places_cache *self, places_slot *slot)
{
    uint32_t at;
    ngc_status status = new_block(self, 2, &at);
    if (status == NGC_OK) {
        places_block *block = (places_block *)(void *)(self->pool + at);
        block->top = (ngc_pair){self->text[places_place(*slot)], (int32_t)slot->value};
        block->sum = block->top.count;
        block->pairs[0] = block->top;
        block->length = 1;
        slot->value = PLACES_POOLED | at;
    }
    return status;
}

static ngc_status double_block(places_cache *self, places_slot *slot)
{
    uint32_t old = slot->value & ~PLACES_POOLED, at;
    uint32_t capacity = places_block_of(self, *slot)->capacity;
    ngc_status status = new_block(self, 2 * capacity, &at);
    if (status == NGC_OK) {
        memcpy(self->pool + at, self->pool + old, (BLOCK_WORDS + capacity) * sizeof *self->pool);
        slot->value = PLACES_POOLED | at;
        places_block_of(self, *slot)->capacity = 2 * capacity;
        free_block(self, old);
    }
    return status;
}

/* Sees that a slot holds a follower, with a count of 0 if it is new; *at is where in its block. */
NGC_INLINE ngc_status ensure(places_cache *self, places_slot *slot, int32_t token, size_t *at)
{
    *at = 0;
    if (!places_is_pooled(*slot)) {
        if (self->text[places_place(*slot)] == token) {
            return NGC_OK;
        }
        ngc_status status = make_block(self, slot);
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
        ngc_status status = double_block(self, slot);
        if (status != NGC_OK) {
            return status;
        }
        block = places_block_of(self, *slot);
    }
    put_pair(block, *at, (ngc_pair){token, 0});
    self->n_followers++;
    return NGC_OK;
}

/* Keeps what an n-gram's followers can pass at most, in its slot and in the filter. */
NGC_INLINE void set_outlook(places_cache *self, int32_t n, places_slot *slot, int64_t sum,
                            int32_t top_count)
{
    uint32_t before = places_outlook(*slot), now = ngc_outlook_of(sum, top_count);
    slot->where = places_place(*slot) | now << PLACES_PLACE_BITS;
    places_table *table = &self->tables[n - 1];
    if (table->filter != NULL && ngc_outlook_may_pass(now, PLACES_FILTERED) &&
        !ngc_outlook_may_pass(before, PLACES_FILTERED)) {
        put_filtered(table, ngc_hash_run(self->text + places_place(*slot), (size_t)n,
                                         self->head.toggles.hash));
    }
}

/* Adds to a follower's count, which stays at 2^31 - 1 when it is there. */
NGC_INLINE void add(places_cache *self, int32_t n, places_slot *slot, size_t at, int32_t added)
{
    if (!places_is_pooled(*slot)) {
        slot->value += added > INT32_MAX - (int32_t)slot->value
                           ? INT32_MAX - slot->value
                           : (uint32_t)added;
        set_outlook(self, n, slot, slot->value, (int32_t)slot->value);
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
    set_outlook(self, n, slot, block->sum, block->top.count);
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
        free_block(self, slot->value & ~PLACES_POOLED);
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
    ngc_status status = reserve_slots(self, n, 1);
    if (status == NGC_OK) {
        *slot = put(&self->tables[n - 1], hash, (places_slot){(uint32_t)place, 0});
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
    size_t most_words = BLOCK_WORDS + 2 * (self->largest_block == 0 ? 1 : (size_t)self->largest_block);
    ngc_status status = reserve_words(self, (size_t)n_last * most_words);
    for (int32_t n = self->head.n_min; status == NGC_OK && n <= n_last; n++) {
        status = reserve_slots(self, n, 1);
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
            put(&self->tables[n - 1], hash,
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
    ngc_status status = reserve_text(self, n_kept + n_new_tokens);
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
    ngc_status status = reserve_slots(self, n, from->tables[n - 1].length);
    if (status == NGC_OK) {
        status = reserve_filter(self, n, from->tables[n - 1].length);
    }
    for (size_t number = 0, at = 0; status == NGC_OK;) {
        batch batch;
        number = next_batch(self, from, n, number, &batch);
        for (size_t i = 0; status == NGC_OK && i < batch.n; i++, at++) {
            status = ensure_all(self, n, batch.hashes[i], text_start + places_place(*batch.slots[i]),
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
    ngc_status status = reserve_text(self, from->length_tokens);
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
        new_block(self, UINT32_C(1) << ngc_platform_bit_length(n_pairs - 1), &at);
    if (status == NGC_OK) {
        status = take_pairs((places_block *)(void *)(self->pool + at), pairs, n_pairs);
        if (status != NGC_OK) {
            free_block(self, at);
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
    ngc_status status = reserve_text(self, (size_t)n + 1);
    if (status == NGC_OK) {
        status = reserve_slots(self, n, 1);
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
        put(&self->tables[n - 1], hash, (places_slot){(uint32_t)self->length_tokens, value});
    summed_view view = places_view(self, slot, NULL);
    set_outlook(self, n, slot, view.sum, view.top.count);
    self->length_tokens++;
    self->n_followers += (int64_t)n_pairs;
    return NGC_OK;
}

/* ---- whole caches ---- */

static void forget_blocks(places_cache *self)
{
    self->length_words = 0;
    self->largest_block = 0;
    for (int i = 0; i < PLACES_CLASSES; i++) {
        self->free_blocks[i] = PLACES_NONE;
    }
}

void ngc_places_clear(ngc_cache *cache)
{
    places_cache *self = (places_cache *)cache;
    for (int i = 0; i < NGC_N_MAX; i++) {
        places_table *table = &self->tables[i];
        if (table->n_lines > 0) {
            memset(table->lines, 0, table->n_lines * PLACES_LINE_BYTES);
        }
        if (table->filter != NULL) {
            memset(table->filter, 0, table->filter_words * sizeof *table->filter);
        }
        table->n_filtered = 0;
        table->length = 0;
    }
    self->length_tokens = 0;
    self->n_followers = 0;
    forget_blocks(self);
}

void ngc_places_destroy(ngc_cache *cache)
{
    places_cache *self = (places_cache *)cache;
    ngc_allocator *allocator = &cache->allocator;
    for (int i = 0; i < NGC_N_MAX; i++) {
        free_table(allocator, &self->tables[i]);
    }
    ngc_free(allocator, self->text, self->capacity_tokens * sizeof *self->text, NGC_KIND_NGRAMS);
    ngc_free(allocator, self->pool, self->capacity_words * sizeof *self->pool,
             NGC_KIND_FOLLOWERS);
    free(self);
}

void ngc_places_facts(const ngc_cache *cache, ngc_cache_facts *facts)
{
    const places_cache *self = (const places_cache *)cache;
    for (int i = 0; i < NGC_N_MAX; i++) {
        facts->n_grams_by_n[i] = (int64_t)self->tables[i].length;
        facts->n_grams += (int64_t)self->tables[i].length;
        facts->n_buckets += (int64_t)(self->tables[i].n_lines * PLACES_SLOTS);
    }
    facts->n_followers = self->n_followers;
}

ngc_status ngc_places_new(const ngc_toggles *toggles, int32_t n_min, int32_t n_max,
                          ngc_cache **out)
{
    places_cache *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->head.operations = &ngc_places_operations;
    self->head.toggles = *toggles;
    self->head.n_min = n_min;
    self->head.n_max = n_max;
    forget_blocks(self);
    *out = &self->head;
    return NGC_OK;
}

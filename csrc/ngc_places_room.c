/* ngc_places_room.c - the memory of a cache of places: its text, its tables, their filters, and the
 * pool of blocks; see ngc_places_room.h. Where memory runs out, all is as it was.
 */
#include "ngc_places_room.h"

enum { FIRST_TOKENS = 64, FIRST_WORDS = 64 };

_Static_assert(sizeof(ngc_pair) == sizeof(uint64_t), "a pair is a word of the pool");

/* ---- text and tables ---- */

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

ngc_status ngc_places_reserve_text(places_cache *self, size_t n_tokens)
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

ngc_status ngc_places_grow_table(places_cache *self, int32_t n, size_t n_more)
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
                places_put(&bigger, ngc_hash_run(end, (size_t)n, kind), line->slots[i]);
            }
        }
    }
    ngc_free(&self->head.allocator, table->memory, memory_bytes(table->n_lines), NGC_KIND_INDEX);
    table->memory = bigger.memory;
    table->lines = bigger.lines;
    table->n_lines = n_lines;
    return NGC_OK;
}

/* ---- the filter ---- */

/* Room in the filter for so many n-grams more; a larger one is filled anew. */
ngc_status ngc_places_reserve_filter(places_cache *self, int32_t n, size_t n_more)
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
                places_put_filtered(table, ngc_hash_run(end, (size_t)n, self->head.toggles.hash));
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
ngc_status ngc_places_reserve_words(places_cache *self, size_t n_more)
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
ngc_status ngc_places_new_block(places_cache *self, uint32_t capacity, uint32_t *out)
{
    uint32_t *free_block = &self->free_blocks[class_of(capacity)];
    if (*free_block != PLACES_NONE) {
        *out = *free_block;
        memcpy(free_block, self->pool + *out, sizeof *free_block);
    } else {
        ngc_status status = ngc_places_reserve_words(self, PLACES_BLOCK_WORDS + capacity);
        if (status != NGC_OK) {
            return status;
        }
        *out = (uint32_t)self->length_words;
        self->length_words += PLACES_BLOCK_WORDS + capacity;
    }
    self->largest_block = capacity > self->largest_block ? capacity : self->largest_block;
    places_block *block = (places_block *)(void *)(self->pool + *out);
    *block = (places_block){.top = {NGC_NO_TOKEN, 0}, .capacity = capacity};
    self->n_blocks++;
    return NGC_OK;
}

void ngc_places_free_block(places_cache *self, uint32_t at)
{
    uint32_t capacity = ((const places_block *)(void *)(self->pool + at))->capacity;
    uint32_t *first = &self->free_blocks[class_of(capacity)];
    memcpy(self->pool + at, first, sizeof *first);
    *first = at;
    self->n_blocks--;
}

/* Gives a slot with one follower a block for it and one more. */
ngc_status ngc_places_make_block(places_cache *self, places_slot *slot)
{
    uint32_t at;
    ngc_status status = ngc_places_new_block(self, 2, &at);
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

ngc_status ngc_places_double_block(places_cache *self, places_slot *slot)
{
    uint32_t old = slot->value & ~PLACES_POOLED, at;
    uint32_t capacity = places_block_of(self, *slot)->capacity;
    ngc_status status = ngc_places_new_block(self, 2 * capacity, &at);
    if (status == NGC_OK) {
        memcpy(self->pool + at, self->pool + old,
               (PLACES_BLOCK_WORDS + capacity) * sizeof *self->pool);
        slot->value = PLACES_POOLED | at;
        places_block_of(self, *slot)->capacity = 2 * capacity;
        ngc_places_free_block(self, old);
    }
    return status;
}

/* ---- whole caches ---- */

static void forget_blocks(places_cache *self)
{
    self->length_words = 0;
    self->largest_block = 0;
    self->n_blocks = 0;
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

/* Spare tokens, slots with their tags, and words of the pool. An n-gram with one follower has it in
 * its slot; all others have a block. */
int64_t ngc_places_slack_bytes(const ngc_cache *cache)
{
    const places_cache *self = (const places_cache *)cache;
    ngc_cache_facts facts = {0};
    ngc_places_facts(cache, &facts);
    int64_t n_blocks = (int64_t)self->n_blocks;
    int64_t in_blocks = self->n_followers - (facts.n_grams - n_blocks);
    int64_t spare_words = (int64_t)self->capacity_words - n_blocks * PLACES_BLOCK_WORDS - in_blocks;
    int64_t spare_tokens = (int64_t)(self->capacity_tokens - self->length_tokens);
    int64_t slot_bytes = sizeof(places_slot) + 1;
    return spare_tokens * (int64_t)sizeof *self->text +
           (facts.n_buckets - facts.n_grams) * slot_bytes +
           spare_words * (int64_t)sizeof *self->pool;
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

/* ngc_constmap_build.c - making a constmap of another static cache or of finished counts, in slices.
 *
 *     gather    the followers, row by row, and for each 2-gram its hash and where its row lies
 *     map       the fuse map of those (ngc_fuse.h)
 *     sum       the map's checksum
 *     check     as if it had come from a file; so nothing is found in one that is half done
 */
#include "ngc_constmap_cache.h"
#include "ngc_counter.h"

typedef enum phase { GATHER, MAP, SUM, CHECK, DONE } phase;

struct ngc_constmap_builder {
    constmap_cache *map; /* NULL: it was taken */
    const ngc_cache *source; /* NULL: from counts */
    const ngc_counts *counts;
    phase phase;
    size_t n_grams; /* as the source said at first */
    size_t at;      /* of them, gathered */
    uint64_t position; /* of the next follower */
    uint64_t *hashes;
    uint64_t *values;
    ngc_cursor cursor;
    int32_t *scratch; /* tokens, then counts */
    size_t scratch_length;
    ngc_fuse_builder fuse;
};

static ngc_allocator *allocator_of(ngc_constmap_builder *self)
{
    return &self->map->head.allocator;
}

static size_t keys_bytes(const ngc_constmap_builder *self)
{
    return sizeof(uint64_t) * (self->n_grams + 1);
}

static ngc_pair *pairs_of(const ngc_constmap_builder *self)
{
    return (ngc_pair *)(void *)(self->map->bytes + CONSTMAP_HEAD_BYTES);
}

/* ---- gather ---- */

/* Finished counts are as they were said to be. */
static ngc_status changed(const ngc_constmap_builder *self)
{
    return self->source == NULL ? NGC_CHANGED : ngc_changed(self->source);
}

/* A row of so many followers comes next; refused if there are more than was said at first. */
static ngc_status begin_row(ngc_constmap_builder *self, const int32_t *ngram, size_t length)
{
    if (length >> CONSTMAP_LENGTH_BITS != 0) {
        return NGC_BAD_ARGUMENT;
    }
    if (self->at >= self->n_grams || length > self->map->n_pairs - self->position) {
        return changed(self);
    }
    self->hashes[self->at] = ngc_constmap_key_hash(ngram[0], ngram[1]);
    self->values[self->at] = self->position << CONSTMAP_LENGTH_BITS | length;
    return NGC_OK;
}

static void end_row(ngc_constmap_builder *self, size_t length)
{
    if (length > 1) {
        qsort(pairs_of(self) + self->position, length, sizeof(ngc_pair), ngc_pair_compare);
    }
    self->position += length;
    self->at++;
}

static ngc_status reserve_scratch(ngc_constmap_builder *self, size_t length)
{
    if (length <= self->scratch_length) {
        return NGC_OK;
    }
    ngc_free(allocator_of(self), self->scratch, 8 * self->scratch_length, NGC_KIND_OTHER);
    self->scratch_length = 2 * length;
    self->scratch = ngc_alloc(allocator_of(self), 8 * self->scratch_length, NGC_KIND_OTHER);
    if (self->scratch == NULL) {
        self->scratch_length = 0;
        return NGC_NO_MEMORY;
    }
    return NGC_OK;
}

static ngc_status gather_row(ngc_constmap_builder *self, const ngc_ngram_facts *gram)
{
    size_t length = (size_t)gram->n_followers, found;
    ngc_status status = begin_row(self, gram->tokens, length);
    if (status == NGC_OK) {
        status = reserve_scratch(self, length);
    }
    if (status != NGC_OK) {
        return status;
    }
    ngc_key key = ngc_key_of(gram->tokens, 2);
    int32_t *tokens = self->scratch, *counts = self->scratch + length;
    self->source->operations->followers(self->source, &key, tokens, counts, length, &found);
    if (found != length) {
        return changed(self);
    }
    for (size_t i = 0; i < length; i++) {
        pairs_of(self)[self->position + i] = (ngc_pair){tokens[i], counts[i]};
    }
    end_row(self, length);
    return NGC_OK;
}

static ngc_status gather_from_cache(ngc_constmap_builder *self, size_t n_grams, bool *last)
{
    enum { CHUNK = 256 };
    ngc_ngram_facts chunk[CHUNK];
    ngc_status status = NGC_OK;
    for (size_t done = 0; status == NGC_OK && !*last && done < n_grams;) {
        size_t n;
        status = ngc_cache_walk(self->source, &self->cursor, chunk, CHUNK, &n);
        for (size_t i = 0; status == NGC_OK && i < n; i++) {
            status = gather_row(self, &chunk[i]);
        }
        done += n;
        *last = n == 0;
    }
    return status;
}

static ngc_status gather_from_counts(ngc_constmap_builder *self, size_t n_grams, bool *last)
{
    const ngc_counts *counts = self->counts;
    ngc_status status = NGC_OK;
    for (size_t done = 0; status == NGC_OK && done < n_grams && self->at < counts->n_grams;) {
        size_t start = counts->starts[self->at];
        size_t length = counts->starts[self->at + 1] - start;
        status = begin_row(self, counts->keys[self->at], length);
        if (status == NGC_OK) {
            memcpy(pairs_of(self) + self->position, counts->pairs + start,
                   length * sizeof *counts->pairs);
            end_row(self, length);
        }
        done++;
    }
    *last = self->at == counts->n_grams;
    return status;
}

static void begin_map(ngc_constmap_builder *self)
{
    constmap_cache *map = self->map;
    uint64_t *data = (uint64_t *)(void *)(constmap_map_of(map) + NGC_FUSE_HEAD_BYTES);
    ngc_fuse_begin(&self->fuse, &map->head.allocator, &map->fuse, self->hashes, self->values, data,
                   data + map->fuse.data_len);
    self->phase = MAP;
}

static ngc_status gather_slice(ngc_constmap_builder *self, size_t n_grams)
{
    bool last = false;
    ngc_status status = self->counts != NULL ? gather_from_counts(self, n_grams, &last)
                                             : gather_from_cache(self, n_grams, &last);
    if (status == NGC_OK && last) {
        /* Fewer than was said: the source is damaged. */
        status = self->at == self->n_grams && self->position == self->map->n_pairs ? NGC_OK
                                                                                   : changed(self);
        begin_map(self);
    }
    return status;
}

/* ---- map, sum, check ---- */

static void write_heads(constmap_cache *map)
{
    const ngc_fuse *fuse = &map->fuse;
    uint8_t *at = constmap_map_of(map);
    ngc_put_uint64(map->bytes, CONSTMAP_MAGIC);
    ngc_put_uint64(map->bytes + 8, map->n_pairs);
    ngc_put_uint64(map->bytes + 16, map->n_bytes - (uint64_t)(at - map->bytes));
    memcpy(at, constmap_map_magic, sizeof constmap_map_magic);
    ngc_put_uint64(at + 8, fuse->seed);
    int32_t numbers[4] = {(int32_t)fuse->segment_length, (int32_t)fuse->segment_count,
                          (int32_t)fuse->data_len, (int32_t)fuse->n_keys};
    ngc_put_int32s(at + 16, numbers, 4);
}

static void free_scratch(ngc_constmap_builder *self)
{
    ngc_free(allocator_of(self), self->hashes, keys_bytes(self), NGC_KIND_OTHER);
    ngc_free(allocator_of(self), self->values, keys_bytes(self), NGC_KIND_OTHER);
    ngc_free(allocator_of(self), self->scratch, 8 * self->scratch_length, NGC_KIND_OTHER);
    ngc_fuse_end(&self->fuse);
    self->hashes = NULL;
    self->values = NULL;
    self->scratch = NULL;
    self->scratch_length = 0;
}

static ngc_status map_slice(ngc_constmap_builder *self, size_t n_grams)
{
    bool last;
    ngc_status status = ngc_fuse_step(&self->fuse, n_grams, &last);
    if (status == NGC_OK && last) {
        free_scratch(self);
        write_heads(self->map);
        self->phase = SUM;
    }
    return status;
}

static void sum_slice(ngc_constmap_builder *self)
{
    uint64_t written_at;
    if (ngc_constmap_sum_slice(self->map, &written_at)) {
        uint64_t sum = self->map->fuse.n_keys == 0 ? 0 : self->map->sum;
        ngc_put_uint64(self->map->bytes + written_at, sum);
        self->phase = CHECK;
    }
}

/* The sum is not made a second time: it was made just now, of these bytes. */
static ngc_status check_slice(ngc_constmap_builder *self)
{
    int32_t done;
    ngc_status status = ngc_constmap_check(&self->map->head, &done);
    if (done) {
        self->phase = DONE;
    }
    return status;
}

/* ---- the builder ---- */

static ngc_status reserve(ngc_constmap_builder *self, const ngc_toggles *toggles, size_t n_pairs)
{
    ngc_fuse fuse;
    ngc_status status = ngc_fuse_shape(self->n_grams, &fuse);
    if (status != NGC_OK) {
        return status;
    }
    size_t n_bytes = CONSTMAP_HEAD_BYTES + n_pairs * NGC_PAIR_BYTES + NGC_FUSE_HEAD_BYTES +
                     NGC_FUSE_TAIL_BYTES + (size_t)16 * fuse.data_len;
    status = ngc_constmap_reserve(toggles, n_bytes, &self->map);
    if (status != NGC_OK) {
        return status;
    }
    self->map->n_pairs = n_pairs;
    self->map->fuse = fuse;
    self->hashes = ngc_alloc(allocator_of(self), keys_bytes(self), NGC_KIND_OTHER);
    self->values = ngc_alloc(allocator_of(self), keys_bytes(self), NGC_KIND_OTHER);
    return self->hashes == NULL || self->values == NULL ? NGC_NO_MEMORY : NGC_OK;
}

static ngc_status begin(const ngc_toggles *toggles, const ngc_cache *source,
                        const ngc_counts *counts, size_t n_grams, size_t n_pairs,
                        ngc_constmap_builder **out)
{
    ngc_constmap_builder *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->source = source;
    self->counts = counts;
    self->n_grams = n_grams;
    ngc_status status = reserve(self, toggles, n_pairs);
    if (status != NGC_OK) {
        ngc_constmap_builder_free(self);
        return status;
    }
    *out = self;
    return NGC_OK;
}

ngc_status ngc_constmap_begin(const ngc_toggles *toggles, const ngc_cache *source,
                              ngc_constmap_builder **out)
{
    *out = NULL;
    if (source->operations->walk == NULL || source->n_min != 2 || source->n_max != 2) {
        return NGC_UNSUPPORTED;
    }
    ngc_cache_facts facts = {0};
    source->operations->facts(source, &facts);
    return begin(toggles, source, NULL, (size_t)facts.n_grams, (size_t)facts.n_followers, out);
}

ngc_status ngc_constmap_begin_counts(const ngc_toggles *toggles, const ngc_counter *counter,
                                     ngc_constmap_builder **out)
{
    *out = NULL;
    if (!ngc_counter_has_order(counter)) {
        return NGC_UNSUPPORTED;
    }
    const ngc_counts *counts = ngc_counter_counts(counter);
    return begin(toggles, NULL, counts, counts->n_grams, counts->n_pairs, out);
}

ngc_status ngc_constmap_step(ngc_constmap_builder *self, size_t n_grams, int32_t *done)
{
    ngc_status status = NGC_OK;
    n_grams = n_grams == 0 ? 1 : n_grams;
    switch (self->phase) {
    case GATHER:
        status = gather_slice(self, n_grams);
        break;
    case MAP:
        status = map_slice(self, n_grams);
        break;
    case SUM:
        sum_slice(self);
        break;
    case CHECK:
        status = check_slice(self);
        break;
    case DONE:
        break;
    }
    *done = status == NGC_OK && self->phase == DONE;
    return status;
}

double ngc_constmap_fraction(const ngc_constmap_builder *self)
{
    switch (self->phase) {
    case GATHER:
        return self->n_grams == 0 ? 0 : 0.3 * (double)self->at / (double)self->n_grams;
    case MAP:
        return 0.3 + 0.6 * ngc_fuse_fraction(&self->fuse);
    default: /* measured: these are soon over */
        return self->phase == DONE ? 1 : 0.9;
    }
}

ngc_status ngc_constmap_take(ngc_constmap_builder *self, ngc_cache **out)
{
    *out = NULL;
    if (self->phase != DONE || self->map == NULL) {
        return NGC_BAD_ARGUMENT;
    }
    *out = &self->map->head;
    self->map = NULL;
    return NGC_OK;
}

void ngc_constmap_builder_free(ngc_constmap_builder *self)
{
    if (self == NULL) {
        return;
    }
    if (self->map != NULL) {
        free_scratch(self);
        ngc_cache_free(&self->map->head);
    }
    free(self);
}

void ngc_constmap_builder_fail_allocation(ngc_constmap_builder *self, int64_t nth)
{
    if (self->map != NULL) {
        allocator_of(self)->fail_in = nth;
    }
}

/* ---- in one go ---- */

static ngc_status finish(ngc_status status, ngc_constmap_builder *builder, ngc_cache **out)
{
    *out = NULL;
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_constmap_step(builder, SIZE_MAX, &done);
    }
    if (status == NGC_OK) {
        status = ngc_constmap_take(builder, out);
    }
    ngc_constmap_builder_free(builder);
    return status;
}

ngc_status ngc_constmap_build(const ngc_toggles *toggles, const ngc_cache *source,
                              ngc_cache **out)
{
    ngc_constmap_builder *builder;
    ngc_status status = ngc_constmap_begin(toggles, source, &builder);
    return finish(status, builder, out);
}

ngc_status ngc_constmap_count(const ngc_toggles *toggles, const ngc_counter *counter,
                              ngc_cache **out)
{
    ngc_constmap_builder *builder;
    ngc_status status = ngc_constmap_begin_counts(toggles, counter, &builder);
    return finish(status, builder, out);
}

/* ngc_constmap.c - see ngc_constmap.h.
 *
 * Nothing in a file is trusted. Sizes, geometry and checksum are checked before the first
 * look-up; one pass over the followers notes where tokens do not ascend, so that a look-up sees
 * by a few bits whether the place it was sent to can be one 2-gram's.
 */
#include "ngc_constmap.h"

#include "ngc_bytes.h"
#include "ngc_counter.h"
#include "ngc_fuse.h"
#include "ngc_inside.h"

enum { HEAD_BYTES = 24, LENGTH_BITS = 24, SLICE_BYTES = 1 << 22 };

#define FILE_MAGIC UINT64_C(0x70616d63676e6767) /* "ggngcmap" */

static const char map_magic[8] = {'V', 'C', 'M', 'P', '0', '0', '0', '2'};

typedef struct constmap_cache {
    ngc_cache head;
    uint8_t *bytes; /* the whole file */
    size_t n_bytes;
    const ngc_pair *pairs;
    uint64_t n_pairs;
    ngc_fuse fuse;
    const uint64_t *data; /* NULL until checked: nothing is found */
    const uint64_t *checks;
    uint64_t *breaks; /* bit i: pair i + 1 does not have a greater token than pair i */
    /* How far checking has come, and what it found. */
    ngc_status status;
    size_t summed_bytes;
    uint64_t sum;
    uint64_t scanned_pairs;
} constmap_cache;

static const ngc_cache_operations operations;

bool ngc_is_constmap(const ngc_cache *cache)
{
    return cache->operations == &operations;
}

static size_t breaks_bytes(const constmap_cache *self)
{
    return (size_t)(self->n_pairs / 64 + 1) * sizeof *self->breaks;
}

/* XXH3-64 of the 8 bytes of two tokens, seed 0 (Yann Collet, xxHash: its path for 4 to 8 bytes). */
static uint64_t key_hash(int32_t a, int32_t b)
{
    uint64_t k = ((uint64_t)(uint32_t)b | (uint64_t)(uint32_t)a << 32);
    k ^= UINT64_C(0xc73ab174c5ecd5a2);
    k ^= (k << 49 | k >> 15) ^ (k << 24 | k >> 40);
    k *= UINT64_C(0x9FB21C651E98DF25);
    k ^= (k >> 35) + 8;
    k *= UINT64_C(0x9FB21C651E98DF25);
    return k ^ (k >> 28);
}

uint64_t ngc_constmap_key_hash(int32_t first, int32_t second)
{
    return key_hash(first, second);
}

/* ---- looking up ---- */

/* Whether tokens ascend from pair `first` on, `length` pairs. */
NGC_INLINE bool ascends(const constmap_cache *self, uint64_t first, uint64_t length,
                        ngc_recorder *recorder)
{
    uint64_t last = first + length - 1; /* the bit of the last pair does not count */
    for (uint64_t word = first / 64; word <= last / 64; word++) {
        uint64_t bits = self->breaks[word];
        ngc_record(recorder, NGC_TOUCH_ORDER, self->breaks, &self->breaks[word], sizeof bits,
                   (int64_t)word, (int64_t)bits);
        if (word == first / 64) {
            bits &= ~UINT64_C(0) << (first % 64);
        }
        if (word == last / 64) {
            bits &= ~(~UINT64_C(0) << (last % 64));
        }
        if (bits != 0) {
            return false;
        }
    }
    return true;
}

static void record_lookup(const constmap_cache *self, const ngc_key *key, uint64_t h,
                          const ngc_fuse_cells *cells, ngc_recorder *recorder)
{
    for (int i = 0; i < 3; i++) {
        uint32_t at = cells->at[i];
        ngc_record(recorder, NGC_TOUCH_CELL, self->data, &self->data[at], sizeof *self->data, at,
                   (int64_t)self->data[at]);
        ngc_record(recorder, NGC_TOUCH_CHECK, self->checks, &self->checks[at],
                   sizeof *self->checks, at, (int64_t)self->checks[at]);
    }
    ngc_fuse_lookup *lookup = recorder->fuse;
    if (lookup == NULL) {
        return;
    }
    *lookup = (ngc_fuse_lookup){
        .key_hash = key_hash(key->tokens[0], key->tokens[1]),
        .h = h,
        .needed = ngc_fuse_check(h),
    };
    for (int i = 0; i < 3; i++) {
        lookup->cells[i] = cells->at[i];
        lookup->data[i] = self->data[cells->at[i]];
        lookup->checks[i] = self->checks[cells->at[i]];
    }
}

/* What the look-up itself made of the cells. */
static void record_verdict(uint64_t value, uint64_t check, uint64_t position, uint64_t length,
                           bool found, ngc_fuse_lookup *lookup)
{
    lookup->value = value;
    lookup->check = check ^ lookup->needed;
    lookup->position = (int64_t)position;
    lookup->length = (int64_t)length;
    lookup->verdict = check != 0 ? NGC_FUSE_ABSENT : found ? NGC_FUSE_FOUND : NGC_FUSE_NO_PLACE;
}

NGC_INLINE slice_view find(const ngc_cache *cache, const ngc_key *key, ngc_recorder *recorder)
{
    const constmap_cache *self = (const constmap_cache *)cache;
    if (self->fuse.n_keys == 0 || self->data == NULL) {
        return slice_view_none();
    }
    uint64_t h = ngc_fuse_hash(key_hash(key->tokens[0], key->tokens[1]), self->fuse.seed);
    ngc_fuse_cells cells = ngc_fuse_cells_of(&self->fuse, h);
    uint64_t value = 0;
    uint64_t check = ngc_fuse_check(h);
    for (int i = 0; i < 3; i++) {
        value ^= self->data[cells.at[i]];
        check ^= self->checks[cells.at[i]];
    }
    if (recorder != NULL) {
        record_lookup(self, key, h, &cells, recorder);
    }
    uint64_t position = value >> LENGTH_BITS;
    uint64_t length = value & ((UINT64_C(1) << LENGTH_BITS) - 1);
    bool found = check == 0 && length != 0 && length <= self->n_pairs &&
                 position <= self->n_pairs - length && ascends(self, position, length, recorder);
    if (recorder != NULL && recorder->fuse != NULL) {
        record_verdict(value, check, position, length, found, recorder->fuse);
    }
    return found ? (slice_view){self->pairs + position, (size_t)length} : slice_view_none();
}

slice_view ngc_constmap_find_plain(const ngc_cache *cache, const ngc_key *key)
{
    return find(cache, key, NULL);
}

slice_view ngc_constmap_find_recorded(const ngc_cache *cache, const ngc_key *key,
                                      ngc_recorder *recorder)
{
    return find(cache, key, recorder);
}

/* ---- opening a file ---- */

static uint8_t *map_of(const constmap_cache *self)
{
    return self->bytes + HEAD_BYTES + self->n_pairs * NGC_PAIR_BYTES;
}

/* What the head and the map's head say, held against the real size. */
static ngc_status check_geometry(constmap_cache *self)
{
    if (self->n_bytes < HEAD_BYTES + NGC_FUSE_HEAD_BYTES + NGC_FUSE_TAIL_BYTES) {
        return NGC_TRUNCATED;
    }
    uint64_t body_bytes = self->n_bytes - HEAD_BYTES;
    uint64_t n_pairs = ngc_get_uint64(self->bytes + 8);
    uint64_t map_bytes = ngc_get_uint64(self->bytes + 16);
    if (ngc_get_uint64(self->bytes) != FILE_MAGIC) {
        return NGC_BAD_RECORD;
    }
    if (n_pairs > body_bytes / NGC_PAIR_BYTES || map_bytes > body_bytes ||
        n_pairs * NGC_PAIR_BYTES > body_bytes - map_bytes) {
        return NGC_TRUNCATED;
    }
    if (n_pairs * NGC_PAIR_BYTES + map_bytes != body_bytes ||
        map_bytes < NGC_FUSE_HEAD_BYTES + NGC_FUSE_TAIL_BYTES) {
        return NGC_BAD_RECORD;
    }
    self->n_pairs = n_pairs;
    const uint8_t *map = map_of(self);
    ngc_fuse *fuse = &self->fuse;
    fuse->seed = ngc_get_uint64(map + 8);
    fuse->segment_length = (uint32_t)ngc_get_int32(map + 16);
    fuse->segment_count = (uint32_t)ngc_get_int32(map + 20);
    fuse->data_len = (uint32_t)ngc_get_int32(map + 24);
    fuse->n_keys = (uint32_t)ngc_get_int32(map + 28);
    if (memcmp(map, map_magic, sizeof map_magic) != 0 ||
        map_bytes != 40 + (uint64_t)16 * fuse->data_len) {
        return NGC_BAD_RECORD;
    }
    uint64_t cells = ((uint64_t)fuse->segment_count + 2) * fuse->segment_length;
    bool empty = fuse->n_keys == 0 && fuse->data_len == 0 && n_pairs == 0;
    bool power_of_two = fuse->segment_length != 0 && fuse->segment_length <= 1 << 18 &&
                        (fuse->segment_length & (fuse->segment_length - 1)) == 0;
    bool good = power_of_two && fuse->segment_count > 0 && cells == fuse->data_len &&
                fuse->n_keys <= fuse->data_len && fuse->n_keys <= n_pairs && fuse->n_keys > 0;
    return empty || good ? NGC_OK : NGC_BAD_RECORD;
}

/* An empty map's 40 bytes are zero after the magic, its sum too. */
static ngc_status sum_slice(constmap_cache *self)
{
    const uint8_t *map = map_of(self);
    size_t sum_at = self->n_bytes - (size_t)(map - self->bytes) - NGC_FUSE_TAIL_BYTES;
    size_t end = sum_at - self->summed_bytes < SLICE_BYTES ? sum_at
                                                           : self->summed_bytes + SLICE_BYTES;
    uint64_t sum = self->sum;
    for (size_t i = self->summed_bytes; i < end; i++) {
        sum = (sum ^ map[i]) * UINT64_C(0x100000001b3);
    }
    self->sum = sum;
    self->summed_bytes = end;
    if (end < sum_at) {
        return NGC_OK;
    }
    self->summed_bytes = SIZE_MAX;
    uint64_t written = ngc_get_uint64(map + sum_at);
    return written == sum || (self->fuse.n_keys == 0 && written == 0) ? NGC_OK : NGC_BAD_SUM;
}

/* Without conditions: nobody could predict them, and guessing wrong took most of the time. */
static ngc_status scan_slice(constmap_cache *self)
{
    uint64_t end = self->n_pairs - self->scanned_pairs < SLICE_BYTES / 8
                       ? self->n_pairs
                       : self->scanned_pairs + SLICE_BYTES / 8;
    int bad = 0;
    for (uint64_t start = self->scanned_pairs; start < end; start += 64) {
        uint64_t n = end - start < 64 ? end - start : 64;
        uint64_t n_next = self->n_pairs - 1 - start < n ? self->n_pairs - 1 - start : n;
        const ngc_pair *pair = &self->pairs[start];
        uint64_t breaks = 0;
        for (uint64_t i = 0; i < n; i++) {
            bad |= (pair[i].token < 0) | (pair[i].token == INT32_MAX) | (pair[i].count <= 0);
        }
        for (uint64_t i = 0; i < n_next; i++) {
            breaks |= (uint64_t)(pair[i + 1].token <= pair[i].token) << i;
        }
        self->breaks[start / 64] = breaks;
    }
    self->scanned_pairs = end;
    return bad ? NGC_BAD_RECORD : NGC_OK;
}

static ngc_status make_breaks(constmap_cache *self)
{
    size_t bytes = breaks_bytes(self);
    self->breaks = ngc_alloc(&self->head.allocator, bytes, NGC_KIND_INDEX);
    if (self->breaks == NULL) {
        return NGC_NO_MEMORY;
    }
    memset(self->breaks, 0, bytes);
    self->pairs = (const ngc_pair *)(const void *)(self->bytes + HEAD_BYTES);
    return NGC_OK;
}

static ngc_status check_slice(constmap_cache *self, int32_t *done)
{
    ngc_status status = NGC_OK;
    if (self->breaks == NULL) {
        status = check_geometry(self);
        if (status == NGC_OK) {
            status = make_breaks(self);
        }
        self->sum = UINT64_C(0xcbf29ce484222325);
    } else if (self->summed_bytes != SIZE_MAX) {
        status = sum_slice(self);
    } else if (self->scanned_pairs < self->n_pairs) {
        status = scan_slice(self);
    } else {
        self->data = (const uint64_t *)(const void *)(map_of(self) + NGC_FUSE_HEAD_BYTES);
        self->checks = self->data + self->fuse.data_len;
        *done = 1;
    }
    return status;
}

/* What was refused once stays refused; only for want of memory it may be tried again. */
ngc_status ngc_constmap_check(ngc_cache *cache, int32_t *done)
{
    *done = 0;
    if (!ngc_is_constmap(cache)) {
        return NGC_UNSUPPORTED;
    }
    constmap_cache *self = (constmap_cache *)cache;
    if (self->status == NGC_OK || self->status == NGC_NO_MEMORY) {
        self->status = check_slice(self, done);
    }
    return self->status;
}

/* ---- operations ---- */

static void destroy(ngc_cache *cache)
{
    constmap_cache *self = (constmap_cache *)cache;
    free(self->bytes);
    free(self->breaks);
    free(self);
}

static void followers(const ngc_cache *cache, const ngc_key *key, int32_t *tokens,
                      int32_t *counts, size_t capacity, size_t *n_followers)
{
    slice_view view = ngc_key_length(key) == 2 ? ngc_constmap_find(cache, key, NULL)
                                               : slice_view_none();
    for (size_t i = 0; i < view.length && i < capacity; i++) {
        tokens[i] = view.pairs[i].token;
        counts[i] = view.pairs[i].count;
    }
    *n_followers = view.length;
}

static void facts(const ngc_cache *cache, ngc_cache_facts *facts)
{
    const constmap_cache *self = (const constmap_cache *)cache;
    facts->n_grams = self->fuse.n_keys;
    facts->n_grams_by_n[1] = self->fuse.n_keys;
    facts->n_followers = (int64_t)self->n_pairs;
    facts->n_buckets = self->fuse.data_len;
}

static const char *broken(const ngc_cache *cache)
{
    const constmap_cache *self = (const constmap_cache *)cache;
    return self->data == NULL ? "it was not checked to the end" : NULL;
}

static void clear(ngc_cache *cache)
{
    (void)cache; /* it never changes; ngc_cache.c refuses before this */
}

static int32_t search(const ngc_cache *cache, const ngc_key *key, int32_t token, int32_t search,
                      size_t *length, ngc_recorder *recorder)
{
    slice_view view = ngc_key_length(key) == 2 ? ngc_constmap_find(cache, key, NULL)
                                               : slice_view_none();
    *length = view.length;
    return slice_view_count(view, token, search, recorder);
}

static ngc_span span_of(const constmap_cache *self, uint64_t at, uint64_t n_bytes,
                        int32_t meaning, uint64_t index)
{
    const uint8_t *bytes = self->bytes + at;
    return (ngc_span){
        .offset = (int64_t)at,
        .value = n_bytes == 4 ? ngc_get_int32(bytes) : (int64_t)ngc_get_uint64(bytes),
        .gram = -1,
        .index = (int64_t)index,
        .n_bytes = (int32_t)n_bytes,
        .meaning = meaning,
    };
}

/* The number that a byte of the file belongs to. */
static ngc_span span_at(const constmap_cache *self, uint64_t at)
{
    uint64_t map_at = (uint64_t)(map_of(self) - self->bytes);
    uint64_t data_at = map_at + NGC_FUSE_HEAD_BYTES;
    uint64_t checks_at = data_at + (uint64_t)8 * self->fuse.data_len;
    uint64_t sum_at = checks_at + (uint64_t)8 * self->fuse.data_len;
    uint64_t word = at / 8 * 8; /* every section starts at a multiple of 8 */
    if (at < HEAD_BYTES) {
        return span_of(self, word, 8, NGC_SPAN_MAGIC + (int32_t)(at / 8), 0);
    }
    if (at < map_at) {
        return span_of(self, at / 4 * 4, 4, at % 8 < 4 ? NGC_SPAN_FOLLOWER : NGC_SPAN_COUNT,
                       (at - HEAD_BYTES) / NGC_PAIR_BYTES);
    }
    if (at < map_at + 16) {
        return span_of(self, word, 8, NGC_SPAN_MAP_MAGIC + (int32_t)((at - map_at) / 8), 0);
    }
    if (at < data_at) {
        return span_of(self, at / 4 * 4, 4,
                       NGC_SPAN_SEGMENT_LENGTH + (int32_t)((at - map_at - 16) / 4), 0);
    }
    return at < checks_at ? span_of(self, word, 8, NGC_SPAN_DATA, (at - data_at) / 8)
           : at < sum_at  ? span_of(self, word, 8, NGC_SPAN_CHECK, (at - checks_at) / 8)
                          : span_of(self, word, 8, NGC_SPAN_SUM, 0);
}

ngc_status ngc_constmap_spans(const ngc_cache *cache, int64_t from, int64_t to, ngc_span *spans,
                              size_t capacity, size_t *n_spans)
{
    const constmap_cache *self = (const constmap_cache *)cache;
    *n_spans = 0;
    if (!ngc_is_constmap(cache) || self->data == NULL) {
        return NGC_UNSUPPORTED;
    }
    if (from < 0 || to < from) {
        return NGC_BAD_ARGUMENT;
    }
    uint64_t end = (uint64_t)to < self->n_bytes ? (uint64_t)to : self->n_bytes;
    for (uint64_t at = (uint64_t)from; at < end; *n_spans += 1) {
        ngc_span span = span_at(self, at);
        at = (uint64_t)span.offset + (uint64_t)span.n_bytes;
        if (*n_spans < capacity) {
            spans[*n_spans] = span;
        }
    }
    return NGC_OK;
}

static const ngc_inside_operations inside = {.search = search};

/* What needs keys or changes is absent: ngc_cache.c answers NGC_UNSUPPORTED. */
static const ngc_cache_operations operations = {
    .destroy = destroy,
    .clear = clear,
    .followers = followers,
    .facts = facts,
    .broken = broken,
    .inside = &inside,
};

static ngc_status new_constmap(const ngc_toggles *toggles, size_t n_bytes, constmap_cache **out)
{
    constmap_cache *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->head.operations = &operations;
    self->head.toggles = *toggles;
    self->head.toggles.static_cache = NGC_STATIC_CONSTMAP;
    self->head.n_min = 2;
    self->head.n_max = 2;
    self->bytes = ngc_alloc(&self->head.allocator, n_bytes, NGC_KIND_FOLLOWERS);
    self->n_bytes = n_bytes;
    if (self->bytes == NULL) {
        free(self);
        return NGC_NO_MEMORY;
    }
    *out = self;
    return NGC_OK;
}

ngc_status ngc_constmap_new(const ngc_toggles *toggles, size_t file_bytes, ngc_cache **out,
                            uint8_t **bytes)
{
    *out = NULL;
    constmap_cache *self;
    ngc_status status = new_constmap(toggles, file_bytes == 0 ? 1 : file_bytes, &self);
    if (status == NGC_OK) {
        *out = &self->head;
        *bytes = self->bytes;
    }
    return status;
}

const uint8_t *ngc_constmap_bytes_view(const ngc_cache *cache, size_t *n_bytes)
{
    *n_bytes = 0;
    if (!ngc_is_constmap(cache)) {
        return NULL;
    }
    const constmap_cache *self = (const constmap_cache *)cache;
    *n_bytes = self->n_bytes;
    return self->bytes;
}

/* ---- building from another cache ---- */

typedef struct builder {
    uint64_t *hashes;
    uint64_t *values;
    size_t n_keys;
    size_t bytes; /* of each array */
} builder;

/* Copies the followers of one 2-gram behind those already there, ascending. */
static void take_followers(const ngc_cache *source, const ngc_key *key, ngc_pair *pairs,
                           int32_t *tokens, int32_t *counts, size_t length)
{
    size_t found;
    source->operations->followers(source, key, tokens, counts, length, &found);
    for (size_t i = 0; i < length; i++) {
        pairs[i] = (ngc_pair){tokens[i], counts[i]};
    }
    qsort(pairs, length, sizeof *pairs, ngc_pair_compare);
}

static ngc_status gather(const ngc_cache *source, ngc_pair *pairs, builder *builder,
                         ngc_allocator *allocator)
{
    enum { CHUNK = 1024 };
    ngc_ngram_facts *chunk = malloc(CHUNK * sizeof *chunk);
    int32_t *scratch = NULL;
    size_t scratch_bytes = 0;
    uint64_t position = 0;
    ngc_cursor cursor = {0};
    ngc_status status = chunk == NULL ? NGC_NO_MEMORY : NGC_OK;
    while (status == NGC_OK) {
        size_t n;
        source->operations->walk(source, &cursor, chunk, CHUNK, &n);
        if (n == 0) {
            break;
        }
        for (size_t i = 0; i < n && status == NGC_OK; i++) {
            size_t length = (size_t)chunk[i].n_followers;
            if (length >> LENGTH_BITS != 0) {
                status = NGC_BAD_ARGUMENT;
                break;
            }
            if (scratch_bytes < 8 * length) {
                ngc_free(allocator, scratch, scratch_bytes, NGC_KIND_OTHER);
                scratch_bytes = 16 * length;
                scratch = ngc_alloc(allocator, scratch_bytes, NGC_KIND_OTHER);
                if (scratch == NULL) {
                    scratch_bytes = 0;
                    status = NGC_NO_MEMORY;
                    break;
                }
            }
            ngc_key key = ngc_key_of(chunk[i].tokens, 2);
            take_followers(source, &key, pairs + position, scratch, scratch + length, length);
            builder->hashes[builder->n_keys] = key_hash(key.tokens[0], key.tokens[1]);
            builder->values[builder->n_keys++] = position << LENGTH_BITS | length;
            position += length;
        }
    }
    ngc_free(allocator, scratch, scratch_bytes, NGC_KIND_OTHER);
    free(chunk);
    return status;
}

static void write_heads(constmap_cache *self, uint64_t map_bytes)
{
    ngc_put_uint64(self->bytes, FILE_MAGIC);
    ngc_put_uint64(self->bytes + 8, self->n_pairs);
    ngc_put_uint64(self->bytes + 16, map_bytes);
    uint8_t *map = map_of(self);
    memcpy(map, map_magic, sizeof map_magic);
    ngc_put_uint64(map + 8, self->fuse.seed);
    int32_t numbers[4] = {(int32_t)self->fuse.segment_length, (int32_t)self->fuse.segment_count,
                          (int32_t)self->fuse.data_len, (int32_t)self->fuse.n_keys};
    ngc_put_int32s(map + 16, numbers, 4);
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (uint64_t i = 0; i < map_bytes - NGC_FUSE_TAIL_BYTES; i++) {
        sum = (sum ^ map[i]) * UINT64_C(0x100000001b3);
    }
    ngc_put_uint64(map + map_bytes - NGC_FUSE_TAIL_BYTES, self->fuse.n_keys == 0 ? 0 : sum);
}

/* Where a constmap's content comes from: a cache or finished counts. */
typedef struct content {
    const ngc_cache *cache;
    const ngc_counts *counts;
    size_t n_grams;
    size_t n_pairs;
} content;

static ngc_status gather_counts(const ngc_counts *counts, ngc_pair *pairs, builder *builder)
{
    for (size_t gram = 0; gram < counts->n_grams; gram++) {
        size_t start = counts->starts[gram];
        size_t length = counts->starts[gram + 1] - start;
        if (length >> LENGTH_BITS != 0) {
            return NGC_BAD_ARGUMENT;
        }
        memcpy(pairs + start, counts->pairs + start, length * sizeof *pairs);
        if (length > 1) {
            qsort(pairs + start, length, sizeof *pairs, ngc_pair_compare);
        }
        builder->hashes[gram] = key_hash(counts->keys[gram][0], counts->keys[gram][1]);
        builder->values[gram] = (uint64_t)start << LENGTH_BITS | length;
    }
    builder->n_keys = counts->n_grams;
    return NGC_OK;
}

static ngc_status fill(constmap_cache *self, const content *content, builder *builder)
{
    ngc_allocator *allocator = &self->head.allocator;
    ngc_pair *pairs = (ngc_pair *)(void *)(self->bytes + HEAD_BYTES);
    ngc_status status = content->counts != NULL
                            ? gather_counts(content->counts, pairs, builder)
                            : gather(content->cache, pairs, builder, allocator);
    uint64_t *data = (uint64_t *)(void *)(map_of(self) + NGC_FUSE_HEAD_BYTES);
    if (status == NGC_OK) {
        status = ngc_fuse_build(allocator, &self->fuse, builder->hashes, builder->values, data,
                                data + self->fuse.data_len);
    }
    if (status == NGC_OK) {
        write_heads(self, (uint64_t)40 + (uint64_t)16 * self->fuse.data_len);
    }
    return status;
}

static ngc_status build(const ngc_toggles *toggles, const content *content, ngc_cache **out)
{
    ngc_fuse fuse;
    ngc_status status = ngc_fuse_shape(content->n_grams, &fuse);
    if (status != NGC_OK) {
        return status;
    }
    size_t n_bytes =
        HEAD_BYTES + content->n_pairs * NGC_PAIR_BYTES + 40 + (size_t)16 * fuse.data_len;
    constmap_cache *self;
    status = new_constmap(toggles, n_bytes, &self);
    if (status != NGC_OK) {
        return status;
    }
    self->n_pairs = content->n_pairs;
    self->fuse = fuse;
    builder builder = {NULL, NULL, 0, sizeof(uint64_t) * (content->n_grams + 1)};
    builder.hashes = ngc_alloc(&self->head.allocator, builder.bytes, NGC_KIND_OTHER);
    builder.values = ngc_alloc(&self->head.allocator, builder.bytes, NGC_KIND_OTHER);
    status = builder.hashes == NULL || builder.values == NULL ? NGC_NO_MEMORY
                                                              : fill(self, content, &builder);
    ngc_free(&self->head.allocator, builder.hashes, builder.bytes, NGC_KIND_OTHER);
    ngc_free(&self->head.allocator, builder.values, builder.bytes, NGC_KIND_OTHER);
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_constmap_check(&self->head, &done);
    }
    if (status != NGC_OK) {
        destroy(&self->head);
        return status;
    }
    *out = &self->head;
    return NGC_OK;
}

ngc_status ngc_constmap_build(const ngc_toggles *toggles, const ngc_cache *source,
                              ngc_cache **out)
{
    *out = NULL;
    if (source->operations->walk == NULL || source->n_min != 2 || source->n_max != 2) {
        return NGC_UNSUPPORTED;
    }
    ngc_cache_facts facts = {0};
    source->operations->facts(source, &facts);
    content content = {source, NULL, (size_t)facts.n_grams, (size_t)facts.n_followers};
    return build(toggles, &content, out);
}

ngc_status ngc_constmap_count(const ngc_toggles *toggles, const ngc_counter *counter,
                              ngc_cache **out)
{
    *out = NULL;
    const ngc_counts *counts = ngc_counter_counts(counter);
    content content = {NULL, counts, counts->n_grams, counts->n_pairs};
    return build(toggles, &content, out);
}

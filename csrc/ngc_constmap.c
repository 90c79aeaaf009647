/* ngc_constmap.c - see ngc_constmap.h.
 *
 * Nothing in a file is trusted. Sizes, geometry and checksum are checked before the first
 * look-up; one pass over the followers notes where tokens do not ascend, so that a look-up sees
 * by a few bits whether the place it was sent to can be one 2-gram's.
 */
#include "ngc_constmap_cache.h"
#include "ngc_inside.h"

enum { SLICE_BYTES = 1 << 22 };

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
    uint64_t position = value >> CONSTMAP_LENGTH_BITS;
    uint64_t length = value & ((UINT64_C(1) << CONSTMAP_LENGTH_BITS) - 1);
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

/* What the head and the map's head say, held against the real size. */
static ngc_status check_geometry(constmap_cache *self)
{
    if (self->n_bytes < CONSTMAP_HEAD_BYTES + NGC_FUSE_HEAD_BYTES + NGC_FUSE_TAIL_BYTES) {
        return NGC_TRUNCATED;
    }
    uint64_t body_bytes = self->n_bytes - CONSTMAP_HEAD_BYTES;
    uint64_t n_pairs = ngc_get_uint64(self->bytes + 8);
    uint64_t map_bytes = ngc_get_uint64(self->bytes + 16);
    if (ngc_get_uint64(self->bytes) != CONSTMAP_MAGIC) {
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
    const uint8_t *map = constmap_map_of(self);
    ngc_fuse *fuse = &self->fuse;
    fuse->seed = ngc_get_uint64(map + 8);
    fuse->segment_length = (uint32_t)ngc_get_int32(map + 16);
    fuse->segment_count = (uint32_t)ngc_get_int32(map + 20);
    fuse->data_len = (uint32_t)ngc_get_int32(map + 24);
    fuse->n_keys = (uint32_t)ngc_get_int32(map + 28);
    if (memcmp(map, constmap_map_magic, sizeof constmap_map_magic) != 0 ||
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

bool ngc_constmap_sum_slice(constmap_cache *self, uint64_t *written_at)
{
    const uint8_t *map = constmap_map_of(self);
    uint64_t map_at = (uint64_t)(map - self->bytes);
    size_t sum_at = self->n_bytes - (size_t)map_at - NGC_FUSE_TAIL_BYTES;
    size_t end = sum_at - self->summed_bytes < SLICE_BYTES ? sum_at
                                                           : self->summed_bytes + SLICE_BYTES;
    uint64_t sum = self->summed_bytes == 0 ? UINT64_C(0xcbf29ce484222325) : self->sum;
    for (size_t i = self->summed_bytes; i < end; i++) {
        sum = (sum ^ map[i]) * UINT64_C(0x100000001b3);
    }
    self->sum = sum;
    self->summed_bytes = end == sum_at ? SIZE_MAX : end;
    *written_at = map_at + sum_at;
    return end == sum_at;
}

/* An empty map's 40 bytes are zero after the magic, its sum too. */
static ngc_status sum_slice(constmap_cache *self)
{
    uint64_t written_at;
    if (!ngc_constmap_sum_slice(self, &written_at)) {
        return NGC_OK;
    }
    uint64_t written = ngc_get_uint64(self->bytes + written_at);
    return written == self->sum || (self->fuse.n_keys == 0 && written == 0) ? NGC_OK : NGC_BAD_SUM;
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
    self->pairs = (const ngc_pair *)(const void *)(self->bytes + CONSTMAP_HEAD_BYTES);
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
    } else if (self->summed_bytes != SIZE_MAX) {
        status = sum_slice(self);
    } else if (self->scanned_pairs < self->n_pairs) {
        status = scan_slice(self);
    } else {
        self->data = (const uint64_t *)(const void *)(constmap_map_of(self) + NGC_FUSE_HEAD_BYTES);
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

/* Cells beyond one for each key. */
static int64_t slack_bytes(const ngc_cache *cache)
{
    const constmap_cache *self = (const constmap_cache *)cache;
    int64_t cell_bytes = sizeof *self->data + sizeof *self->checks;
    return ((int64_t)self->fuse.data_len - (int64_t)self->fuse.n_keys) * cell_bytes;
}

static const char *check_all(const ngc_cache *cache, ngc_checking *checking, size_t n_grams)
{
    (void)n_grams;
    checking->done = true;
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
    uint64_t map_at = (uint64_t)(constmap_map_of(self) - self->bytes);
    uint64_t data_at = map_at + NGC_FUSE_HEAD_BYTES;
    uint64_t checks_at = data_at + (uint64_t)8 * self->fuse.data_len;
    uint64_t sum_at = checks_at + (uint64_t)8 * self->fuse.data_len;
    uint64_t word = at / 8 * 8; /* every section starts at a multiple of 8 */
    if (at < CONSTMAP_HEAD_BYTES) {
        return span_of(self, word, 8, NGC_SPAN_MAGIC + (int32_t)(at / 8), 0);
    }
    if (at < map_at) {
        return span_of(self, at / 4 * 4, 4, at % 8 < 4 ? NGC_SPAN_FOLLOWER : NGC_SPAN_COUNT,
                       (at - CONSTMAP_HEAD_BYTES) / NGC_PAIR_BYTES);
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
    .slack_bytes = slack_bytes,
    .check_slice = check_all,
    .inside = &inside,
};

ngc_status ngc_constmap_reserve(const ngc_toggles *toggles, size_t n_bytes, constmap_cache **out)
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
    ngc_status status = ngc_constmap_reserve(toggles, file_bytes == 0 ? 1 : file_bytes, &self);
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

/* ngc_fuse.c - see ngc_fuse.h. */
#include "ngc_fuse.h"

#include <string.h>

#include "ngc_splitmix.h"

/* ---- shape ---- */

/* The natural logarithm of x >= 1, to 9 digits: libm is not needed for it. */
static double natural_log(double x)
{
    double result = 0;
    for (; x >= 2; x /= 2) {
        result += 0.69314718056;
    }
    double t = (x - 1) / (x + 1);
    double power = t;
    for (int i = 1; i < 24; i += 2, power *= t * t) {
        result += 2 * power / i;
    }
    return result;
}

/* Constants of the paper's section 4, for three cells a key. */
ngc_status ngc_fuse_shape(size_t n_keys, ngc_fuse *fuse)
{
    enum { LONGEST_SEGMENT = 1 << 18 };
    memset(fuse, 0, sizeof *fuse);
    if (n_keys == 0) {
        return NGC_OK;
    }
    if (n_keys > (UINT32_MAX >> 3) * (size_t)7 / 2) {
        return NGC_BAD_ARGUMENT;
    }
    double log_n = natural_log((double)n_keys);
    uint32_t length = 4;
    if (n_keys > 1) {
        int bits = (int)(log_n / natural_log(3.33) + 2.25);
        length = bits >= 18 ? LONGEST_SEGMENT : (uint32_t)1 << bits;
    }
    double factor = n_keys > 1 ? 0.875 + 0.25 * natural_log(1e6) / log_n : 0;
    factor = factor < 1.125 ? 1.125 : factor;
    uint64_t capacity = n_keys > 1 ? (uint64_t)((double)n_keys * factor + 0.5) : 0;
    uint64_t segments = (capacity + length - 1) / length;
    fuse->segment_count = segments <= 2 ? 1 : (uint32_t)(segments - 2);
    fuse->segment_length = length;
    fuse->data_len = (fuse->segment_count + 2) * length;
    fuse->n_keys = (uint32_t)n_keys;
    return NGC_OK;
}

/* ---- peeling, in slices ---- */

/* What the keys in one cell add up to; with a count of 1 the sums are that key itself. */
typedef struct ngc_fuse_cell {
    uint64_t hashes;
    uint32_t keys;
    uint32_t count;
} cell;

typedef struct ngc_fuse_peeled {
    uint64_t hash;
    uint32_t key;
    uint32_t cell;
} peeled;

typedef ngc_fuse_builder builder;

static size_t slice_end(const builder *self, size_t n, size_t all)
{
    return all - self->at < n ? all : self->at + n;
}

static void enter(builder *self, ngc_fuse_phase phase)
{
    self->phase = phase;
    self->at = 0;
}

static void begin_attempt(builder *self)
{
    self->fuse->seed = ngc_fuse_seed(++self->n_attempts);
    self->n_alone = 0;
    self->n_peeled = 0;
    enter(self, NGC_FUSE_CLEAR);
}

static ngc_status reserve(builder *self)
{
    const ngc_fuse *fuse = self->fuse;
    if (fuse->n_keys == 0) {
        enter(self, NGC_FUSE_DONE);
        return NGC_OK;
    }
    self->cells = ngc_alloc(self->allocator, sizeof(cell) * fuse->data_len, NGC_KIND_OTHER);
    self->alone = ngc_alloc(self->allocator, sizeof(uint32_t) * fuse->data_len, NGC_KIND_OTHER);
    self->order = ngc_alloc(self->allocator, sizeof(peeled) * fuse->n_keys, NGC_KIND_OTHER);
    if (self->cells == NULL || self->alone == NULL || self->order == NULL) {
        return NGC_NO_MEMORY;
    }
    begin_attempt(self);
    return NGC_OK;
}

static void clear_slice(builder *self, size_t n_cells)
{
    size_t end = slice_end(self, n_cells, self->fuse->data_len);
    memset(self->cells + self->at, 0, sizeof *self->cells * (end - self->at));
    self->at = end;
    if (end == self->fuse->data_len) {
        enter(self, NGC_FUSE_ADD);
    }
}

static void add_slice(builder *self, size_t n_keys)
{
    const ngc_fuse *fuse = self->fuse;
    size_t end = slice_end(self, n_keys, fuse->n_keys);
    for (size_t key = self->at; key < end; key++) {
        uint64_t h = ngc_fuse_hash(self->key_hashes[key], fuse->seed);
        ngc_fuse_cells own = ngc_fuse_cells_of(fuse, h);
        for (int i = 0; i < 3; i++) {
            cell *c = &self->cells[own.at[i]];
            c->hashes ^= h;
            c->keys ^= (uint32_t)key;
            c->count++;
        }
    }
    self->at = end;
    if (end == fuse->n_keys) {
        enter(self, NGC_FUSE_LIST);
    }
}

static void list_slice(builder *self, size_t n_cells)
{
    size_t end = slice_end(self, n_cells, self->fuse->data_len);
    uint32_t n_alone = self->n_alone;
    for (size_t i = self->at; i < end; i++) {
        self->alone[n_alone] = (uint32_t)i;
        n_alone += self->cells[i].count == 1;
    }
    self->n_alone = n_alone;
    self->at = end;
    if (end == self->fuse->data_len) {
        enter(self, NGC_FUSE_PEEL);
    }
}

/* Takes the key out that is alone in the cell listed last. */
NGC_INLINE void peel_one(builder *self, ngc_fuse_recorder *recorder)
{
    uint32_t at = self->alone[--self->n_alone];
    cell *cells = self->cells;
    if (cells[at].count != 1) {
        return; /* it went out by another of its cells */
    }
    peeled taken = {cells[at].hashes, cells[at].keys, at};
    if (recorder != NULL) {
        recorder->peeled[self->n_peeled] = (ngc_peel_step){
            .key = (int32_t)taken.key, .cell = (int32_t)at, .n_waiting = (int32_t)self->n_alone};
    }
    self->order[self->n_peeled++] = taken;
    ngc_fuse_cells own = ngc_fuse_cells_of(self->fuse, taken.hash);
    for (int i = 0; i < 3; i++) {
        cell *c = &cells[own.at[i]];
        c->hashes ^= taken.hash;
        c->keys ^= taken.key;
        c->count--;
        if (c->count == 1) {
            self->alone[self->n_alone++] = own.at[i];
        }
    }
}

/* Until no key is alone. If some are left then, another seed is tried. */
NGC_INLINE ngc_status peel_slice(builder *self, size_t n_keys, ngc_fuse_recorder *recorder)
{
    for (size_t n = 0; n < n_keys && self->n_alone > 0; n++) {
        peel_one(self, recorder);
    }
    if (self->n_alone > 0) {
        return NGC_OK;
    }
    if (recorder != NULL) {
        recorder->n_attempts = self->n_attempts;
    }
    if (self->n_peeled == self->fuse->n_keys) {
        enter(self, NGC_FUSE_CLEAR_DATA);
    } else if (self->n_attempts == 1) {
        enter(self, NGC_FUSE_CLEAR_SEEN);
    } else if (self->n_attempts < NGC_FUSE_ATTEMPTS) {
        begin_attempt(self);
    } else {
        return NGC_DUPLICATE;
    }
    return NGC_OK;
}

/* ---- two equal hashes? The memory of the order serves as a set of those seen ---- */

static uint64_t *seen_of(const builder *self)
{
    return (uint64_t *)(void *)self->order;
}

static size_t n_seen_slots(const builder *self)
{
    return sizeof(peeled) / sizeof(uint64_t) * self->fuse->n_keys; /* two for each key */
}

static void clear_seen_slice(builder *self, size_t n_slots)
{
    size_t end = slice_end(self, n_slots, n_seen_slots(self));
    memset(seen_of(self) + self->at, 0, sizeof(uint64_t) * (end - self->at));
    self->at = end;
    if (end == n_seen_slots(self)) {
        enter(self, NGC_FUSE_DUPLICATES);
    }
}

/* Whether a hash is there already; it is from now on. */
static bool see(builder *self, uint64_t hash)
{
    if (hash == 0) {
        bool before = self->zero_seen;
        self->zero_seen = true;
        return before;
    }
    uint64_t *slots = seen_of(self);
    size_t n_slots = n_seen_slots(self);
    size_t at = (size_t)ngc_platform_multiply_high(ngc_fuse_hash(hash, self->fuse->seed), n_slots);
    while (slots[at] != 0) {
        if (slots[at] == hash) {
            return true;
        }
        at = at + 1 == n_slots ? 0 : at + 1;
    }
    slots[at] = hash;
    return false;
}

static ngc_status duplicates_slice(builder *self, size_t n_keys)
{
    size_t end = slice_end(self, n_keys, self->fuse->n_keys);
    for (; self->at < end; self->at++) {
        if (see(self, self->key_hashes[self->at])) {
            return NGC_DUPLICATE;
        }
    }
    if (end == self->fuse->n_keys) {
        begin_attempt(self);
    }
    return NGC_OK;
}

/* ---- assigning ---- */

static void clear_data_slice(builder *self, size_t n_cells)
{
    size_t end = slice_end(self, n_cells, self->fuse->data_len);
    memset(self->data + self->at, 0, sizeof *self->data * (end - self->at));
    memset(self->checks + self->at, 0, sizeof *self->checks * (end - self->at));
    self->at = end;
    if (end == self->fuse->data_len) {
        enter(self, NGC_FUSE_ASSIGN);
    }
}

/* Newest first, so that a key's own cell is still free when its other two are known. */
NGC_INLINE void assign_slice(builder *self, size_t n_keys, ngc_fuse_recorder *recorder)
{
    uint64_t *data = self->data, *checks = self->checks;
    size_t end = slice_end(self, n_keys, self->fuse->n_keys);
    for (; self->at < end; self->at++) {
        const peeled *taken = &self->order[self->fuse->n_keys - 1 - self->at];
        ngc_fuse_cells own = ngc_fuse_cells_of(self->fuse, taken->hash);
        uint64_t value = self->values[taken->key];
        uint64_t check = ngc_fuse_check(taken->hash);
        for (int j = 0; j < 3; j++) {
            value ^= data[own.at[j]];
            check ^= checks[own.at[j]];
        }
        data[taken->cell] = value;
        checks[taken->cell] = check;
        if (recorder != NULL) {
            recorder->assigned[recorder->n_assigned++] =
                (ngc_assign_step){(int32_t)taken->key, (int32_t)taken->cell, value, check};
        }
    }
    if (end == self->fuse->n_keys) {
        enter(self, NGC_FUSE_DONE);
    }
}

/* ---- the builder ---- */

uint64_t ngc_fuse_seed(int32_t nth)
{
    uint64_t state = 1;
    uint64_t seed = 0;
    for (int32_t i = 0; i < nth; i++) {
        seed = ngc_splitmix(&state);
    }
    return seed;
}

void ngc_fuse_begin(ngc_fuse_builder *self, ngc_allocator *allocator, ngc_fuse *fuse,
                    const uint64_t *key_hashes, const uint64_t *values, uint64_t *data,
                    uint64_t *checks)
{
    *self = (ngc_fuse_builder){
        .allocator = allocator,
        .fuse = fuse,
        .key_hashes = key_hashes,
        .values = values,
        .data = data,
        .checks = checks,
    };
}

NGC_INLINE ngc_status step(builder *self, size_t n, bool *last, ngc_fuse_recorder *recorder)
{
    ngc_status status = NGC_OK;
    switch (self->phase) {
    case NGC_FUSE_BEGIN:
        status = reserve(self);
        break;
    case NGC_FUSE_CLEAR:
        clear_slice(self, n);
        break;
    case NGC_FUSE_ADD:
        add_slice(self, n);
        break;
    case NGC_FUSE_LIST:
        list_slice(self, n);
        break;
    case NGC_FUSE_PEEL:
        status = peel_slice(self, n, recorder);
        break;
    case NGC_FUSE_CLEAR_SEEN:
        clear_seen_slice(self, n);
        break;
    case NGC_FUSE_DUPLICATES:
        status = duplicates_slice(self, n);
        break;
    case NGC_FUSE_CLEAR_DATA:
        clear_data_slice(self, n);
        break;
    case NGC_FUSE_ASSIGN:
        assign_slice(self, n, recorder);
        break;
    case NGC_FUSE_DONE:
        break;
    }
    *last = status == NGC_OK && self->phase == NGC_FUSE_DONE;
    return status;
}

ngc_status ngc_fuse_step(ngc_fuse_builder *self, size_t n_keys, bool *last)
{
    return step(self, n_keys, last, NULL);
}

/* Of the attempt in hand: most maps need one. */
double ngc_fuse_fraction(const ngc_fuse_builder *self)
{
    /* Measured; of each phase, and of all before it. */
    static const double share[NGC_FUSE_DONE + 1] = {0, 0.05, 0.35, 0.05, 0.3, 0, 0, 0.05, 0.2, 0};
    double before = 0;
    for (int i = 0; i < (int)self->phase; i++) {
        before += share[i];
    }
    uint32_t n_keys = self->fuse == NULL || self->fuse->n_keys == 0 ? 1 : self->fuse->n_keys;
    double at = self->phase == NGC_FUSE_PEEL ? self->n_peeled : (double)self->at;
    double now = at / n_keys;
    return before + share[self->phase] * (now > 1 ? 1 : now);
}

void ngc_fuse_end(ngc_fuse_builder *self)
{
    if (self->fuse == NULL) {
        return;
    }
    ngc_allocator *allocator = self->allocator;
    ngc_free(allocator, self->cells, sizeof(cell) * self->fuse->data_len, NGC_KIND_OTHER);
    ngc_free(allocator, self->alone, sizeof(uint32_t) * self->fuse->data_len, NGC_KIND_OTHER);
    ngc_free(allocator, self->order, sizeof(peeled) * self->fuse->n_keys, NGC_KIND_OTHER);
    *self = (ngc_fuse_builder){0};
}

ngc_status ngc_fuse_build_recorded(ngc_allocator *allocator, ngc_fuse *fuse,
                                   const uint64_t *key_hashes, const uint64_t *values,
                                   uint64_t *data, uint64_t *checks,
                                   ngc_fuse_recorder *recorder)
{
    ngc_fuse_builder self;
    ngc_fuse_begin(&self, allocator, fuse, key_hashes, values, data, checks);
    ngc_status status = NGC_OK;
    for (bool last = false; status == NGC_OK && !last;) {
        status = step(&self, SIZE_MAX, &last, recorder);
    }
    ngc_fuse_end(&self);
    return status;
}

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

/* ---- peeling ---- */

/* What the keys in one cell add up to; with a count of 1 the sums are that key itself. */
typedef struct cell {
    uint64_t hashes;
    uint32_t keys;
    uint32_t count;
} cell;

typedef struct peeled {
    uint64_t hash;
    uint32_t key;
    uint32_t cell;
} peeled;

static void add_keys(const ngc_fuse *fuse, const uint64_t *key_hashes, cell *cells)
{
    for (uint32_t key = 0; key < fuse->n_keys; key++) {
        uint64_t h = ngc_fuse_hash(key_hashes[key], fuse->seed);
        ngc_fuse_cells own = ngc_fuse_cells_of(fuse, h);
        for (int i = 0; i < 3; i++) {
            cell *c = &cells[own.at[i]];
            c->hashes ^= h;
            c->keys ^= key;
            c->count++;
        }
    }
}

/* Takes out keys that are alone in a cell until none is; how many were. */
NGC_INLINE uint32_t peel(const ngc_fuse *fuse, cell *cells, uint32_t *alone, peeled *order,
                         ngc_fuse_recorder *recorder)
{
    uint32_t n_alone = 0;
    uint32_t n_peeled = 0;
    for (uint32_t i = 0; i < fuse->data_len; i++) {
        alone[n_alone] = i;
        n_alone += cells[i].count == 1;
    }
    while (n_alone > 0) {
        uint32_t at = alone[--n_alone];
        if (cells[at].count != 1) {
            continue;
        }
        peeled taken = {cells[at].hashes, cells[at].keys, at};
        if (recorder != NULL) {
            recorder->peeled[n_peeled] = (ngc_peel_step){
                .key = (int32_t)taken.key, .cell = (int32_t)at, .n_waiting = (int32_t)n_alone};
            recorder->n_peeled = n_peeled + 1;
        }
        order[n_peeled++] = taken;
        ngc_fuse_cells own = ngc_fuse_cells_of(fuse, taken.hash);
        for (int i = 0; i < 3; i++) {
            cell *c = &cells[own.at[i]];
            c->hashes ^= taken.hash;
            c->keys ^= taken.key;
            c->count--;
            if (c->count == 1) {
                alone[n_alone++] = own.at[i];
            }
        }
    }
    return n_peeled;
}

/* Newest first, so that a key's own cell is still free when its other two are known. */
NGC_INLINE void assign(const ngc_fuse *fuse, const peeled *order, const uint64_t *values,
                       uint64_t *data, uint64_t *checks, ngc_fuse_recorder *recorder)
{
    memset(data, 0, sizeof *data * fuse->data_len);
    memset(checks, 0, sizeof *checks * fuse->data_len);
    for (uint32_t i = fuse->n_keys; i > 0; i--) {
        const peeled *taken = &order[i - 1];
        ngc_fuse_cells own = ngc_fuse_cells_of(fuse, taken->hash);
        uint64_t value = values[taken->key];
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
}

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Two equal hashes share all cells under every seed; `scratch` has room for all. */
static int has_duplicates(const uint64_t *key_hashes, size_t n, uint64_t *scratch)
{
    memcpy(scratch, key_hashes, n * sizeof *scratch);
    qsort(scratch, n, sizeof *scratch, compare_hashes);
    for (size_t i = 1; i < n; i++) {
        if (scratch[i - 1] == scratch[i]) {
            return 1;
        }
    }
    return 0;
}

uint64_t ngc_fuse_seed(int32_t nth)
{
    uint64_t state = 1;
    uint64_t seed = 0;
    for (int32_t i = 0; i < nth; i++) {
        seed = ngc_splitmix(&state);
    }
    return seed;
}

NGC_INLINE ngc_status attempt(ngc_fuse *fuse, const uint64_t *key_hashes, const uint64_t *values,
                              uint64_t *data, uint64_t *checks, cell *cells, uint32_t *alone,
                              peeled *order, ngc_fuse_recorder *recorder)
{
    for (int32_t i = 0; i < NGC_FUSE_ATTEMPTS; i++) {
        fuse->seed = ngc_fuse_seed(i + 1);
        memset(cells, 0, sizeof *cells * fuse->data_len);
        add_keys(fuse, key_hashes, cells);
        if (recorder != NULL) {
            recorder->n_attempts = i + 1;
        }
        if (peel(fuse, cells, alone, order, recorder) == fuse->n_keys) {
            assign(fuse, order, values, data, checks, recorder);
            return NGC_OK;
        }
        if (i == 0 && has_duplicates(key_hashes, fuse->n_keys, (uint64_t *)(void *)order)) {
            return NGC_DUPLICATE;
        }
    }
    return NGC_DUPLICATE;
}

NGC_INLINE ngc_status build(ngc_allocator *allocator, ngc_fuse *fuse, const uint64_t *key_hashes,
                            const uint64_t *values, uint64_t *data, uint64_t *checks,
                            ngc_fuse_recorder *recorder)
{
    if (fuse->n_keys == 0) {
        return NGC_OK;
    }
    size_t cells_bytes = sizeof(cell) * fuse->data_len;
    size_t alone_bytes = sizeof(uint32_t) * fuse->data_len;
    size_t order_bytes = sizeof(peeled) * fuse->n_keys;
    cell *cells = ngc_alloc(allocator, cells_bytes, NGC_KIND_OTHER);
    uint32_t *alone = ngc_alloc(allocator, alone_bytes, NGC_KIND_OTHER);
    peeled *order = ngc_alloc(allocator, order_bytes, NGC_KIND_OTHER);
    ngc_status status = NGC_NO_MEMORY;
    if (cells != NULL && alone != NULL && order != NULL) {
        status = attempt(fuse, key_hashes, values, data, checks, cells, alone, order, recorder);
    }
    ngc_free(allocator, cells, cells_bytes, NGC_KIND_OTHER);
    ngc_free(allocator, alone, alone_bytes, NGC_KIND_OTHER);
    ngc_free(allocator, order, order_bytes, NGC_KIND_OTHER);
    return status;
}

ngc_status ngc_fuse_build(ngc_allocator *allocator, ngc_fuse *fuse, const uint64_t *key_hashes,
                          const uint64_t *values, uint64_t *data, uint64_t *checks)
{
    return build(allocator, fuse, key_hashes, values, data, checks, NULL);
}

ngc_status ngc_fuse_build_recorded(ngc_allocator *allocator, ngc_fuse *fuse,
                                   const uint64_t *key_hashes, const uint64_t *values,
                                   uint64_t *data, uint64_t *checks,
                                   ngc_fuse_recorder *recorder)
{
    return build(allocator, fuse, key_hashes, values, data, checks, recorder);
}

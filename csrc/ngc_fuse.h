/* ngc_fuse.h - a verified binary fuse map: a fixed set of 64-bit key hashes, each with a value.
 *
 * A key owns one cell in each of three neighbouring segments; its value is the xor of the three.
 * So is its check, by which a key that was never put in is found out (but for 1 in 2^64).
 *
 *     data    |  segment 0  |  segment 1  |  segment 2  |  segment 3  | ...
 *                    ^ h0          ^ h1          ^ h2          value = data[h0]^data[h1]^data[h2]
 *     checks  the same cells, xored to h ^ (h >> 32)
 *
 * Building finds an order of peeling: a key that is alone in one of its cells is taken out, until
 * none is left; cells are filled in the reverse order. If some stay, another seed is tried.
 * Source: Graf and Lemire, "Binary Fuse Filters: Fast and Smaller Than Xor Filters" (2022); the
 * bytes are those of the fastconstmap package's VCMP0002.
 */
#ifndef NGC_FUSE_H
#define NGC_FUSE_H

#include <stdbool.h>

#include "ngc_alloc.h"

enum {
    NGC_FUSE_HEAD_BYTES = 32, /* magic, seed, segment_length, segment_count, data_len, n_keys */
    NGC_FUSE_TAIL_BYTES = 8,  /* FNV-1a-64 of all before it */
    NGC_FUSE_ATTEMPTS = 100
};

typedef struct ngc_fuse {
    uint64_t seed;
    uint32_t segment_length;
    uint32_t segment_count;
    uint32_t data_len;
    uint32_t n_keys;
} ngc_fuse;

typedef struct ngc_fuse_cells {
    uint32_t at[3];
} ngc_fuse_cells;

/* Spreads a key's hash with a seed. */
NGC_INLINE uint64_t ngc_fuse_hash(uint64_t key_hash, uint64_t seed)
{
    uint64_t h = key_hash + seed;
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}

NGC_INLINE uint64_t ngc_fuse_check(uint64_t h)
{
    return h ^ (h >> 32);
}

/* With segment_length a power of two and data_len = (segment_count + 2) * segment_length, every
 * cell is below data_len whatever h is. */
NGC_INLINE ngc_fuse_cells ngc_fuse_cells_of(const ngc_fuse *fuse, uint64_t h)
{
    uint32_t mask = fuse->segment_length - 1;
    uint64_t span = (uint64_t)fuse->segment_count * fuse->segment_length;
    uint32_t first = (uint32_t)ngc_platform_multiply_high(h, span);
    ngc_fuse_cells cells = {{
        first,
        (first + fuse->segment_length) ^ ((uint32_t)(h >> 18) & mask),
        (first + 2 * fuse->segment_length) ^ ((uint32_t)h & mask),
    }};
    return cells;
}

/* The shape of a map of n_keys. NGC_BAD_ARGUMENT if that is too many. */
ngc_status ngc_fuse_shape(size_t n_keys, ngc_fuse *fuse);

/* The seed of the nth attempt, from 1 on. */
uint64_t ngc_fuse_seed(int32_t nth);

/* What a recorded build writes down: the steps of the attempt that came to its end. */
typedef struct ngc_fuse_recorder {
    ngc_peel_step *peeled; /* n_keys */
    ngc_assign_step *assigned;
    int32_t n_attempts;
    uint32_t n_assigned;
} ngc_fuse_recorder;

/* Fills data and checks for distinct key hashes, in slices, and sets the seed; what it is given is
 * borrowed until the end. Cost: linear in time, some 48 bytes a key in memory while it runs. */
typedef enum ngc_fuse_phase {
    NGC_FUSE_BEGIN,
    NGC_FUSE_CLEAR, /* cells, for a new seed */
    NGC_FUSE_ADD,   /* keys into them */
    NGC_FUSE_LIST,  /* cells with one key */
    NGC_FUSE_PEEL,
    NGC_FUSE_CLEAR_SEEN,  /* where the first seed failed: */
    NGC_FUSE_DUPLICATES,  /* two equal hashes share all cells under every seed */
    NGC_FUSE_CLEAR_DATA,
    NGC_FUSE_ASSIGN,
    NGC_FUSE_DONE
} ngc_fuse_phase;

typedef struct ngc_fuse_builder {
    ngc_allocator *allocator;
    ngc_fuse *fuse;
    const uint64_t *key_hashes;
    const uint64_t *values;
    uint64_t *data;
    uint64_t *checks;
    ngc_fuse_phase phase;
    int32_t n_attempts;
    size_t at;        /* how far the phase has come */
    uint32_t n_alone; /* waiting */
    uint32_t n_peeled;
    bool zero_seen; /* a hash of 0 */
    struct ngc_fuse_cell *cells;
    uint32_t *alone;
    struct ngc_fuse_peeled *order;
} ngc_fuse_builder;

/* The fuse has its shape; nothing is allocated yet. */
void ngc_fuse_begin(ngc_fuse_builder *builder, ngc_allocator *allocator, ngc_fuse *fuse,
                    const uint64_t *key_hashes, const uint64_t *values, uint64_t *data,
                    uint64_t *checks);

/* One slice of n_keys keys or cells; *last after the last. NGC_DUPLICATE if two hashes are equal. */
ngc_status ngc_fuse_step(ngc_fuse_builder *builder, size_t n_keys, bool *last);

double ngc_fuse_fraction(const ngc_fuse_builder *builder);

/* Gives its memory back, also where it has not come to its end, or never began. */
void ngc_fuse_end(ngc_fuse_builder *builder);

/* All of it in one go, and written down. */
ngc_status ngc_fuse_build_recorded(ngc_allocator *allocator, ngc_fuse *fuse,
                                   const uint64_t *key_hashes, const uint64_t *values,
                                   uint64_t *data, uint64_t *checks,
                                   ngc_fuse_recorder *recorder);

#endif

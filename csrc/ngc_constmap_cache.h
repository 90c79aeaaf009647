/* ngc_constmap_cache.h - the constmap as an object; shared by its files. */
#ifndef NGC_CONSTMAP_CACHE_H
#define NGC_CONSTMAP_CACHE_H

#include "ngc_bytes.h"
#include "ngc_constmap.h"
#include "ngc_fuse.h"

enum { CONSTMAP_HEAD_BYTES = 24, CONSTMAP_LENGTH_BITS = 24 };

#define CONSTMAP_MAGIC UINT64_C(0x70616d63676e6767) /* "ggngcmap" */

static const char constmap_map_magic[8] = {'V', 'C', 'M', 'P', '0', '0', '0', '2'};

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
    size_t summed_bytes; /* of the map; SIZE_MAX: all */
    uint64_t sum;
    uint64_t scanned_pairs;
} constmap_cache;

static inline uint8_t *constmap_map_of(const constmap_cache *self)
{
    return self->bytes + CONSTMAP_HEAD_BYTES + self->n_pairs * NGC_PAIR_BYTES;
}

/* One with room for a file of so many bytes, unchecked. */
ngc_status ngc_constmap_reserve(const ngc_toggles *toggles, size_t n_bytes, constmap_cache **out);

/* Adds a slice of the map to self->sum; true after the last, and where in the file the sum stands. */
bool ngc_constmap_sum_slice(constmap_cache *self, uint64_t *written_at);

#endif

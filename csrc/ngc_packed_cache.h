/* ngc_packed_cache.h - the packed static cache as an object; shared by its files. */
#ifndef NGC_PACKED_CACHE_H
#define NGC_PACKED_CACHE_H

#include "ngc_bloom.h"
#include "ngc_packed_format.h"

typedef struct packed_cache {
    ngc_cache head;
    packed_head file;
    const uint8_t *bytes; /* the whole file, borrowed, or within `block` */
    uint8_t *block;       /* NULL: the bytes are borrowed */
    size_t block_bytes;
    const uint8_t *lines;
    uint64_t n_lines;
    const uint8_t *filter;
    uint64_t filter_words;
    const uint8_t *followers;
    uint64_t followers_bytes; /* up to the pad */
    uint64_t tag_mask;
    uint32_t n_records; /* in a line; a division each time would be felt */
    /* How far checking has come. */
    ngc_fault fault;
    ngc_status status;
    uint32_t section;
    uint64_t done_bytes;
    packed_sum sum;
    uint64_t n_lines_checked;
    uint64_t n_grams_seen;
    uint64_t n_followers_seen;
    uint64_t n_counted_seen;
    uint32_t most_count_seen;
} packed_cache;

/* The word of the filter that a hash belongs to, as it lies in the file. */
NGC_INLINE const uint8_t *packed_filter_word(const uint8_t *filter, uint64_t n_words,
                                             uint64_t hash)
{
    return filter + 8 * ngc_bloom_word((size_t)n_words, hash);
}

/* A cache over a file's bytes; `block`, if any, is freed with it. On failure the block stays the
 * caller's. */
ngc_status ngc_packed_wrap(const ngc_toggles *toggles, const uint8_t *bytes, size_t n_bytes,
                           uint8_t *block, size_t block_bytes, ngc_cache **out,
                           ngc_fault *fault);

/* ---- views of the inside (ngc_packed_inside.c) ---- */

void ngc_packed_around(const ngc_cache *cache, const ngc_key *key, size_t n_before, size_t n_after,
                       ngc_around *around, ngc_place *places, size_t capacity,
                       ngc_recorder *recorder);
void ngc_packed_measure_slice(ngc_measuring *measuring, size_t n_slots, bool *last);

#endif

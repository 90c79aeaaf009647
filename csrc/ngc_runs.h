/* ngc_runs.h - how often tokens follow 2-grams, as sorted runs in few bytes, in the order in which a
 * packed static cache holds them: an external sort whose runs stay in memory.
 *
 *     parts   256, by the highest bits of the 2-gram's mixed key (ngc_packed_format.h)
 *     part    | run | run | ...    in chunks of 4 KB; one run once it is merged
 *     run     entries ascending by mixed key, then by spread token; no two of them are the same
 *     entry   head:8 | step to its key | token, or the step to it | count
 *
 * The head says how many bytes each of the three takes: some 4 in all for the usual follower, where
 * an array takes 8 and a hash table 20. Entries come in as an array of records of 16 bytes, as many
 * as their owner has room for, and are sorted there. A merge takes one part at a time, so that it
 * needs little room beside them.
 *
 * What comes in may be any tokens; when one needs more bits than those before, all is keyed anew.
 *
 * Source: Knuth, "The Art of Computer Programming", volume 3, section 5.4, for sorting by runs.
 */
#ifndef NGC_RUNS_H
#define NGC_RUNS_H

#include "ngc_bytes.h"
#include "ngc_radix.h"

enum {
    RUNS_PARTS = 256,
    RUNS_CHUNK_BYTES = 4064, /* with what stands before it, and malloc's: a page */
    RUNS_PAD_BYTES = 8,      /* of them: eight bytes are read and written at once */
    RUNS_MOST_BYTES = 17     /* of an entry */
};

typedef struct runs_chunk {
    struct runs_chunk *next;
    uint32_t used;
    uint8_t bytes[RUNS_CHUNK_BYTES];
} runs_chunk;

/* What the next entry is a step from. */
typedef struct runs_point {
    uint64_t key;
    uint32_t minor;
} runs_point;

typedef struct runs_part {
    runs_chunk *first;
    runs_chunk *last;
    runs_point point;
    size_t n_entries;
    size_t n_grams;  /* if it is merged */
    uint32_t n_runs; /* at most 1: it is merged */
} runs_part;

typedef enum runs_phase {
    RUNS_IDLE,
    RUNS_REKEY,
    RUNS_MIX,
    RUNS_BIN,
    RUNS_APPEND,
    RUNS_MERGE
} runs_phase;

typedef struct ngc_runs {
    ngc_allocator *allocator;
    int32_t greatest; /* token; -1: there is none */
    uint32_t token_bits; /* enough for it; 0: no entry came yet */
    runs_part parts[RUNS_PARTS];
    size_t n_chunks;
    size_t merged_chunks; /* when all was merged last */
    runs_phase phase;
    size_t at;
    radix_record *records; /* that come in */
    size_t n_records;
    radix_binning bins;
    runs_part *renewed; /* parts by keys of more bits */
    radix_record *scratch;
    size_t scratch_length;
} ngc_runs;

typedef struct runs_cursor {
    const ngc_runs *runs;
    uint32_t part;
    const runs_chunk *chunk;
    uint32_t at;
    runs_point point;
} runs_cursor;

/* Begins empty; tokens that are known to need `token_bits` bits at most are not keyed anew. */
void ngc_runs_begin(ngc_runs *runs, ngc_allocator *allocator, uint32_t token_bits);
void ngc_runs_free(ngc_runs *runs);

/* Takes in records of one 2-gram, token and count each: key is the 2-gram's tokens, 32 bits each,
 * minor is the token. They belong to the runs until nothing is left to do, in slices; a slice that
 * fails leaves all as it was and can be tried again. No token is above `greatest`. */
void ngc_runs_take(ngc_runs *runs, radix_record *records, size_t n_records, int32_t greatest);

/* Merges all parts, in slices, too. */
void ngc_runs_merge(ngc_runs *runs);

/* Goes on by some n_records; whether something is left to do. */
ngc_status ngc_runs_slice(ngc_runs *runs, size_t n_records);
bool ngc_runs_busy(const ngc_runs *runs);
double ngc_runs_fraction(const ngc_runs *runs); /* of what was begun that is done */

/* Of runs that are merged: what a packed cache is laid out by. */
size_t ngc_runs_grams(const ngc_runs *runs);
size_t ngc_runs_entries(const ngc_runs *runs);

/* An entry as it came in; the 2-gram of its key alone. */
radix_record ngc_runs_unmixed(const radix_record *entry, uint32_t token_bits);
void ngc_runs_gram(uint64_t key, uint32_t token_bits, int32_t gram[2]);

/* ---- reading ---- */

NGC_INLINE uint64_t runs_low_bytes(const uint8_t *bytes, uint32_t n)
{
    return n == 0 ? 0 : ngc_get_uint64(bytes) & (UINT64_MAX >> (64 - 8 * n));
}

NGC_INLINE runs_cursor runs_first(const ngc_runs *runs)
{
    return (runs_cursor){.runs = runs, .chunk = runs->parts[0].first};
}

/* The next entry: its mixed key, its spread token and its count; false if there is none. */
NGC_INLINE bool runs_next(runs_cursor *cursor, radix_record *entry)
{
    while (cursor->chunk == NULL || cursor->at == cursor->chunk->used) {
        if (cursor->chunk != NULL) {
            cursor->chunk = cursor->chunk->next;
        } else if (++cursor->part < RUNS_PARTS) {
            cursor->chunk = cursor->runs->parts[cursor->part].first;
            cursor->point = (runs_point){0, 0};
        } else {
            cursor->part = RUNS_PARTS;
            return false;
        }
        cursor->at = 0;
    }
    const uint8_t *bytes = cursor->chunk->bytes + cursor->at, *begin = bytes;
    uint32_t head = *bytes++;
    uint32_t key_bytes = head & 7, minor_bytes = (head >> 3 & 3) + 1, count = (head >> 5) + 1;
    if (key_bytes == 7) {
        cursor->point.key = ngc_get_uint64(bytes);
        key_bytes = 8;
    } else {
        cursor->point.key += runs_low_bytes(bytes, key_bytes);
    }
    bytes += key_bytes;
    uint32_t minor = (uint32_t)runs_low_bytes(bytes, minor_bytes);
    cursor->point.minor = key_bytes == 0 ? cursor->point.minor + minor : minor;
    bytes += minor_bytes;
    if (count > 6) {
        uint32_t count_bytes = count == 7 ? 1 : 4;
        count = (uint32_t)runs_low_bytes(bytes, count_bytes);
        bytes += count_bytes;
    }
    cursor->at += (uint32_t)(bytes - begin);
    *entry = (radix_record){cursor->point.key, cursor->point.minor, count};
    return true;
}

/* Whether the next entry is of the same 2-gram as the last, in runs that are merged. */
NGC_INLINE bool runs_same_gram(const runs_cursor *cursor)
{
    const runs_chunk *chunk = cursor->chunk;
    uint32_t at = cursor->at;
    if (chunk != NULL && at == chunk->used) {
        chunk = chunk->next;
        at = 0;
    }
    return chunk != NULL && (chunk->bytes[at] & 7) == 0;
}

#endif

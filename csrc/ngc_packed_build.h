/* ngc_packed_build.h - a packed static cache in the making, as an object; shared by what takes the
 * counts in (ngc_packed_gather.c), what chooses widths (ngc_packed_widths.c) and what lays the file
 * out (ngc_packed_build.c).
 */
#ifndef NGC_PACKED_BUILD_H
#define NGC_PACKED_BUILD_H

#include "ngc_counter.h"
#include "ngc_packed_cache.h"
#include "ngc_runs.h"

enum {
    WIDTHS_LENGTHS = 33,
    WIDTHS_TOPS = 32,
    WIDTHS_SUMS = 49
};

typedef enum build_phase { GATHER, MERGE, PLAN, MEASURE, CLEAR, WRITE, SEAL, DONE } build_phase;

/* Where what is counted comes from: one of the three; and what comes into the runs next. */
typedef struct build_gathering {
    const ngc_cache *caches[2]; /* the second may be NULL */
    const ngc_counts *counts;
    const ngc_runs *runs; /* keyed by fewer bits than the file's */
    size_t n_caches_done;
    ngc_cursor cursor; /* of a cache */
    ngc_ngram_facts *grams; /* its next ones */
    size_t n_grams;
    size_t next_gram; /* of those, or of the counts */
    runs_cursor entries;
    int32_t *scratch; /* tokens, then counts, of one row */
    size_t scratch_length;
    radix_record *records;
    size_t n_records;
    size_t capacity;
    int32_t greatest;
    size_t n_done; /* rows, or entries of runs */
    size_t n_all;
} build_gathering;

typedef struct row_facts {
    uint64_t length;
    uint64_t sum;
    int32_t top_token; /* the smallest of those with the highest count */
    int32_t top_count;
} row_facts;

/* What all rows together need. */
typedef struct build_widths {
    uint64_t n_followers;
    uint64_t n_counted;
    uint64_t blocks_bytes;
    uint64_t n_filtered;
    uint32_t most_count;
    uint32_t *n_by_bits; /* rows by the bits of their length, top count and sum */
} build_widths;

struct ngc_packed_builder {
    ngc_allocator allocator; /* here to make allocations fail; nobody asks for its counts */
    ngc_toggles toggles;
    char *texts;
    size_t texts_bytes;
    build_phase first_phase;
    build_phase phase;
    build_gathering gathering;
    ngc_runs own;         /* what was gathered */
    const ngc_runs *runs; /* what is laid out: own, or a counter's */
    packed_head head;
    int32_t tries;
    runs_cursor rows;
    size_t n_rows; /* of them that were read */
    build_widths widths;
    uint64_t position; /* of the next record, in records */
    uint64_t most_displacement;
    uint64_t blocks_bytes;
    uint64_t n_big;
    size_t at;         /* bytes of the file that are cleared, or of a section that are summed */
    uint32_t n_summed; /* sections whose sum is known */
    packed_sum sum;    /* of the next one */
    uint8_t *block;
    size_t block_bytes;
    uint8_t *bytes; /* the file, within the block, at a cache line */
    ngc_cache *result;
};

/* Takes some n_rows in, or moves what was taken on; *done is true after the last. */
ngc_status ngc_packed_gather_slice(ngc_packed_builder *self, size_t n_rows, bool *done);
double ngc_packed_gathered_fraction(const build_gathering *gathering);
void ngc_packed_end_gathering(ngc_packed_builder *self);

/* Bytes of the followers of one row. */
uint64_t ngc_packed_entries_bytes(const packed_layout *layout, const row_facts *facts);

/* Room for what all rows need, or the same zeroed again. */
ngc_status ngc_packed_begin_widths(ngc_packed_builder *self);
void ngc_packed_note_row(ngc_packed_builder *self, const row_facts *facts);

/* Chooses the widths, so that few rows are big: n_big is how many are. */
ngc_status ngc_packed_choose_widths(ngc_packed_builder *self);

#endif

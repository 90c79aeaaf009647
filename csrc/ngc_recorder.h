/* ngc_recorder.h - what a recorded draft call, look-up or search writes down while it runs.
 *
 * Every look-up and search takes a recorder. Where nothing is recorded it is the constant NULL, and
 * all of this vanishes when the compiler inlines it: what is timed holds no trace of recording.
 *
 * Cache lines are numbered by their first touch in a call. Their table grows as needed; where
 * memory runs out, `failed` is set and the call that is recorded fails with NGC_NO_MEMORY.
 */
#ifndef NGC_RECORDER_H
#define NGC_RECORDER_H

#include <stdbool.h>

#include "ngc.h"
#include "ngc_alloc.h"
#include "ngc_platform.h"

/* A line of 64 bytes that was touched; one of an older stamp is an empty place in the table. */
typedef struct ngc_line {
    uint64_t line;
    uint32_t stamp;
    int32_t number;
} ngc_line;

typedef struct ngc_recorder {
    ngc_probe *probe; /* never NULL */
    ngc_step *step;   /* NULL: not wanted, as with all below */
    ngc_fuse_lookup *fuse;
    ngc_touch *touches; /* the first `capacity` of n_touches */
    size_t capacity;
    size_t n_touches;
    /* Where the rule is. */
    int32_t from;
    int32_t n;
    int32_t n_drafted;
    /* The lines of this call, an open-addressing table. */
    ngc_allocator *allocator;
    ngc_line *lines;
    size_t n_slots; /* 0 or a power of two */
    int32_t n_lines;
    uint32_t stamp;
    bool failed;
    bool only_rows; /* what is touched is not written down */
} ngc_recorder;

/* A recorder of a probe alone; it takes its memory from the allocator when it first needs some. */
void ngc_recorder_init(ngc_recorder *recorder, ngc_allocator *allocator, ngc_probe *probe);
void ngc_recorder_destroy(ngc_recorder *recorder);

/* Starts the record of a call anew: an empty probe, no touches, no lines. */
void ngc_recorder_begin(ngc_recorder *recorder);

/* Writes down that some bytes are touched: which, in which array they lie (NULL: none), and their
 * index and value as ngc_touch has them. */
void ngc_recorder_touch(ngc_recorder *recorder, int32_t what, const void *array, const void *item,
                        size_t n_bytes, int64_t index, int64_t value);

/* The same for pairs that a search compares with a token. */
void ngc_recorder_search(ngc_recorder *recorder, const void *pairs, size_t index, size_t n_pairs,
                         int32_t token);

/* The same for one token of whatever form. */
void ngc_recorder_compare(ngc_recorder *recorder, const void *array, const void *item,
                          size_t n_bytes, size_t index, int32_t value, bool is_below);

NGC_INLINE void ngc_record(ngc_recorder *recorder, int32_t what, const void *array,
                           const void *item, size_t n_bytes, int64_t index, int64_t value)
{
    if (recorder != NULL) {
        ngc_recorder_touch(recorder, what, array, item, n_bytes, index, value);
    }
}

NGC_INLINE void ngc_record_search(ngc_recorder *recorder, const void *pairs, size_t index,
                                  size_t n_pairs, int32_t token)
{
    if (recorder != NULL) {
        ngc_recorder_search(recorder, pairs, index, n_pairs, token);
    }
}

/* Which cache's n-gram of which size is looked up from now on. */
NGC_INLINE void ngc_record_place(ngc_recorder *recorder, int32_t from, int32_t n)
{
    if (recorder != NULL) {
        recorder->from = from;
        recorder->n = n;
    }
}

/* A follower seen while a row is scored: shown if it is among the best NGC_SHOWN. */
void ngc_row_show(ngc_row *row, int32_t token, int32_t count, int64_t weight, int64_t score,
                  int by_token);

#endif

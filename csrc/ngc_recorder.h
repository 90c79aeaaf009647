/* ngc_recorder.h - what a recorded draft step writes down while it runs.
 *
 * Every look-up and search takes a recorder. Where nothing is recorded it is the constant NULL, and
 * all of this vanishes when the compiler inlines it: what is timed holds no trace of recording.
 */
#ifndef NGC_RECORDER_H
#define NGC_RECORDER_H

#include <stddef.h>
#include <stdint.h>

#include "ngc.h"
#include "ngc_platform.h"

typedef struct ngc_recorder {
    ngc_step *step; /* NULL: counters alone */
    ngc_probe *probe;
    uint64_t *lines; /* cache lines touched, an open-addressing set; NULL: not wanted */
    size_t n_slots;  /* of the set, a power of two */
} ngc_recorder;

/* Enters the cache lines of some bytes into the set; a full set drops them. */
void ngc_recorder_touch(ngc_recorder *recorder, const void *bytes, size_t n_bytes);

/* A slot or node that a look-up visits. */
NGC_INLINE void ngc_record_node(ngc_recorder *recorder, const void *node, size_t n_bytes)
{
    if (recorder != NULL) {
        recorder->probe->visited_nodes++;
        ngc_recorder_touch(recorder, node, n_bytes);
    }
}

/* A bucket or key that is read on the way. */
NGC_INLINE void ngc_record_key(ngc_recorder *recorder, const void *key, size_t n_bytes)
{
    if (recorder != NULL) {
        ngc_recorder_touch(recorder, key, n_bytes);
    }
}

/* A pair that a search compares. */
NGC_INLINE void ngc_record_search(ngc_recorder *recorder, const void *pair)
{
    if (recorder != NULL) {
        recorder->probe->search_steps++;
        ngc_recorder_touch(recorder, pair, 8);
    }
}

/* Followers that are read one after another. */
NGC_INLINE void ngc_record_scanned(ngc_recorder *recorder, const void *follower, size_t n_bytes)
{
    if (recorder != NULL) {
        recorder->probe->scanned++;
        ngc_recorder_touch(recorder, follower, n_bytes);
    }
}

/* A follower seen while a row is scored: shown if it is among the best NGC_SHOWN. */
void ngc_row_show(ngc_row *row, int32_t token, int32_t count, int64_t weight, int64_t score,
                  int by_token);

#endif

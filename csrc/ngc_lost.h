/* ngc_lost.h - what full counts did not take, so that adding can be taken back exactly.
 *
 * A count stops at 2^31 - 1. From there one cannot tell how much was added; so each addition that
 * ends there notes what was lost, in the order of adding. Nothing is allocated before that.
 */
#ifndef NGC_LOST_H
#define NGC_LOST_H

#include "ngc_alloc.h"

typedef struct ngc_lost {
    int32_t *amounts;
    size_t length;
    size_t capacity;
    size_t first; /* not taken back yet, when that goes oldest first */
} ngc_lost;

NGC_INLINE ngc_status ngc_lost_note(ngc_allocator *allocator, ngc_lost *lost, int32_t amount)
{
    if (lost->length == lost->capacity) {
        size_t capacity = lost->capacity == 0 ? 16 : 2 * lost->capacity;
        int32_t *amounts = ngc_grow(allocator, lost->amounts,
                                    lost->capacity * sizeof *lost->amounts,
                                    capacity * sizeof *lost->amounts, NGC_KIND_OTHER);
        if (amounts == NULL) {
            return NGC_NO_MEMORY;
        }
        lost->amounts = amounts;
        lost->capacity = capacity;
    }
    lost->amounts[lost->length++] = amount;
    return NGC_OK;
}

NGC_INLINE void ngc_lost_free(ngc_allocator *allocator, ngc_lost *lost)
{
    ngc_free(allocator, lost->amounts, lost->capacity * sizeof *lost->amounts, NGC_KIND_OTHER);
}

/* Adds to a count, or says why not and leaves it. */
NGC_INLINE ngc_status ngc_count_up(ngc_allocator *allocator, int32_t *count, int32_t added,
                                   ngc_lost *lost)
{
    int32_t room = INT32_MAX - *count;
    if (added < room) {
        *count += added;
        return NGC_OK;
    }
    ngc_status status = ngc_lost_note(allocator, lost, added - room);
    if (status == NGC_OK) {
        *count = INT32_MAX;
    }
    return status;
}

#endif

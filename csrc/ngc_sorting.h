/* ngc_sorting.h - a merge sort in slices, of items of any size.
 *
 *     runs      of RUN items each, sorted by the library's sort
 *     passes    each merges neighbouring runs into runs twice as long, from one array into another
 */
#ifndef NGC_SORTING_H
#define NGC_SORTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ngc.h"

typedef int ngc_compare(const void *a, const void *b);

typedef struct ngc_sorting {
    uint8_t *items; /* to be sorted; the sorted ones, when it is done */
    uint8_t *other;
    size_t n;
    size_t item_bytes;
    ngc_compare *compare;
    size_t width; /* of a sorted run; 0: runs are being made */
    size_t at;    /* items that the pass has put out */
    size_t left;  /* the next item of each of the two runs being merged */
    size_t right;
} ngc_sorting;

/* Room for n items, which the caller fills in. */
ngc_status ngc_sorting_begin(ngc_sorting *sorting, size_t n, size_t item_bytes,
                             ngc_compare *compare);
void ngc_sorting_end(ngc_sorting *sorting);

/* The same room for n items, of as many as it was made for, once more. */
void ngc_sorting_again(ngc_sorting *sorting, size_t n);

/* One slice of some n_items; true when all are sorted. */
bool ngc_sorting_step(ngc_sorting *sorting, size_t n_items);

#endif

/* ngc_sorter.c - a cache as llama.cpp's file with n-grams ascending, sorted in slices.
 *
 * What is sorted is of the cache's kind: places of entries in memory, or keys with their numbers.
 * When all is sorted, only the places are kept, from the front of the same block.
 */
#include <string.h>

#include "ngc_internal.h"
#include "ngc_sorting.h"

typedef enum phase { GATHER, SORT, PLACES, DONE } phase;

struct ngc_sorter {
    const ngc_cache *cache;
    ngc_sorting sorting;
    ngc_cursor cursor; /* of gathering, then of saving */
    phase phase;
    size_t at;
};

ngc_status ngc_sorter_begin(const ngc_cache *cache, ngc_sorter **out)
{
    *out = NULL;
    if (cache->operations->sorted_item_bytes == 0) {
        return NGC_UNSUPPORTED;
    }
    ngc_sorter *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_cache_facts facts;
    ngc_cache_facts_of(cache, &facts);
    self->cache = cache;
    self->cursor.changes = cache->changes;
    ngc_status status =
        ngc_sorting_begin(&self->sorting, (size_t)facts.n_grams,
                          cache->operations->sorted_item_bytes, cache->operations->compare_items);
    if (status != NGC_OK) {
        free(self);
        return status;
    }
    *out = self;
    return NGC_OK;
}

void ngc_sorter_free(ngc_sorter *self)
{
    if (self != NULL) {
        ngc_sorting_end(&self->sorting);
        free(self);
    }
}

static void gather(ngc_sorter *self, size_t n_grams)
{
    bool last;
    self->at += self->cache->operations->gather_items(
        self->cache, &self->cursor, self->sorting.items + self->at * self->sorting.item_bytes,
        self->sorting.n - self->at, n_grams, &last);
    self->phase = last ? SORT : GATHER;
}

/* A place begins each item. */
static void keep_places(ngc_sorter *self, size_t n_items)
{
    uint8_t *block = self->sorting.items;
    for (; n_items > 0 && self->at < self->sorting.n; n_items--, self->at++) {
        memmove(block + self->at * sizeof(void *), block + self->at * self->sorting.item_bytes,
                sizeof(void *));
    }
    if (self->at == self->sorting.n) {
        self->cursor.n_done = 0;
        self->phase = DONE;
    }
}

ngc_status ngc_sorter_step(ngc_sorter *self, size_t n_grams, int32_t *done)
{
    *done = 0;
    if (self->cursor.changes != self->cache->changes) {
        return NGC_CHANGED;
    }
    n_grams = n_grams == 0 ? 1 : n_grams;
    switch (self->phase) {
    case GATHER:
        gather(self, n_grams);
        break;
    case SORT:
        if (ngc_sorting_step(&self->sorting, n_grams)) {
            free(self->sorting.other);
            self->sorting.other = NULL;
            self->at = 0;
            self->phase = PLACES;
        }
        break;
    case PLACES:
        keep_places(self, n_grams);
        break;
    case DONE:
        break;
    }
    *done = self->phase == DONE;
    return NGC_OK;
}

ngc_status ngc_sorter_save(ngc_sorter *self, uint8_t *buffer, size_t capacity_bytes,
                           size_t *n_written)
{
    *n_written = 0;
    if (self->phase != DONE) {
        return NGC_BAD_ARGUMENT;
    }
    if (self->cursor.changes != self->cache->changes) {
        return NGC_CHANGED;
    }
    return self->cache->operations->save_sorted(
        self->cache, (const void *const *)(const void *)self->sorting.items, self->sorting.n,
        &self->cursor, buffer, capacity_bytes, n_written);
}

/* ngc_measuring.c - how well the tables of a cache spread, in slices: a walk over each, and a sort of
 * its n-grams' full hashes, by which equal ones come to stand next to each other.
 */
#include "ngc_inside.h"

static int compare_hashes(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* Of sorted hashes: how many stand next to an equal one, and the longest run of one. */
static void count_sharing(const uint64_t *hashes, size_t n, ngc_table_facts *facts)
{
    for (size_t start = 0, end; start < n; start = end) {
        for (end = start + 1; end < n && hashes[end] == hashes[start];) {
            end++;
        }
        int64_t run = (int64_t)(end - start);
        facts->n_sharing += run > 1 ? run : 0;
        if (run > facts->most_sharing) {
            facts->most_sharing = run;
            facts->shared_hash = hashes[start];
        }
    }
}

ngc_status ngc_measuring_begin(const ngc_cache *cache, ngc_measuring **out)
{
    *out = NULL;
    if (cache->operations->inside == NULL || cache->operations->inside->measure_slice == NULL) {
        return NGC_UNSUPPORTED;
    }
    ngc_measuring *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_cache_facts facts;
    ngc_cache_facts_of(cache, &facts);
    self->cache = cache;
    self->changes = cache->changes;
    ngc_status status = ngc_sorting_begin(&self->sorting, (size_t)facts.n_grams, sizeof(uint64_t),
                                          compare_hashes);
    if (status != NGC_OK) {
        free(self);
        return status;
    }
    *out = self;
    return NGC_OK;
}

void ngc_measuring_free(ngc_measuring *self)
{
    if (self != NULL) {
        ngc_sorting_end(&self->sorting);
        free(self);
    }
}

static void next_table(ngc_measuring *self)
{
    self->table++;
    self->done = self->table >= self->cache->operations->inside->n_tables;
    self->measured = false;
    self->n_hashes = 0;
    self->at = NULL;
    self->place = self->bucket = self->in_chain = self->n_used = 0;
}

ngc_status ngc_measuring_step(ngc_measuring *self, size_t n_grams, ngc_table_facts *facts,
                              int32_t *done)
{
    *done = 0;
    if (self->changes != self->cache->changes) {
        return NGC_CHANGED;
    }
    n_grams = n_grams == 0 ? 1 : n_grams;
    if (self->done) {
        /* nothing is left to do */
    } else if (!self->measured) {
        self->cache->operations->inside->measure_slice(self, n_grams, &self->measured);
        ngc_sorting_again(&self->sorting, self->n_hashes);
    } else if (ngc_sorting_step(&self->sorting, n_grams)) {
        count_sharing((const uint64_t *)(const void *)self->sorting.items, self->n_hashes,
                      &self->facts);
        next_table(self);
    }
    *facts = self->facts;
    *done = self->done;
    return NGC_OK;
}

ngc_status ngc_cache_table_facts(const ngc_cache *cache, ngc_table_facts *facts)
{
    ngc_measuring *measuring;
    memset(facts, 0, sizeof *facts);
    ngc_status status = ngc_measuring_begin(cache, &measuring);
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_measuring_step(measuring, SIZE_MAX, facts, &done);
    }
    ngc_measuring_free(measuring);
    return status;
}

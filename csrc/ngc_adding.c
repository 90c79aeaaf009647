/* ngc_adding.c - the public face of adding in slices; see ngc_adding.h. */
#include "ngc_adding.h"

static ngc_status begin(const ngc_adding *wanted, ngc_adding **out)
{
    ngc_adding *adding = malloc(sizeof *adding);
    if (adding == NULL) {
        return NGC_NO_MEMORY;
    }
    *adding = *wanted;
    adding->cache->changes++;
    *out = adding;
    return NGC_OK;
}

ngc_status ngc_adding_init_merge(ngc_adding *adding, ngc_cache *cache, const ngc_cache *added)
{
    ngc_status status = ngc_check_merge(cache, added);
    *adding = (ngc_adding){.cache = cache, .added = added, .added_changes = added->changes};
    return status;
}

ngc_status ngc_adding_begin_merge(ngc_cache *cache, const ngc_cache *added, ngc_adding **out)
{
    *out = NULL;
    ngc_adding wanted;
    ngc_status status = ngc_adding_init_merge(&wanted, cache, added);
    return status == NGC_OK ? begin(&wanted, out) : status;
}

ngc_status ngc_adding_begin_update(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                                   size_t n_new_tokens, ngc_adding **out)
{
    *out = NULL;
    ngc_status status = ngc_check_update(cache, text, length_tokens, n_new_tokens);
    if (status == NGC_OK && cache->operations->count_slice == NULL) {
        status = NGC_UNSUPPORTED;
    }
    if (status != NGC_OK) {
        return status;
    }
    size_t before = length_tokens - n_new_tokens, n = (size_t)cache->n_min;
    ngc_adding wanted = {
        .cache = cache,
        .text = text,
        .length_tokens = length_tokens,
        .n_new_tokens = n_new_tokens,
        .n = cache->n_min,
        .place = before < n ? n : before,
    };
    return begin(&wanted, out);
}

void ngc_adding_turn_back(ngc_adding *adding)
{
    if (!adding->takes_back) {
        adding->takes_back = true;
        adding->done = false;
        adding->lost.first = 0;
    }
}

ngc_status ngc_adding_step(ngc_adding *adding, size_t n_pairs, int32_t *done)
{
    const ngc_cache_operations *operations = adding->cache->operations;
    bool merges = adding->added != NULL;
    ngc_status status = NGC_OK;
    n_pairs = n_pairs == 0 ? 1 : n_pairs;
    adding->cache->changes++;
    adding->cache->in_slices = n_pairs < SIZE_MAX;
    if (adding->done) {
        /* nothing is left to do */
    } else if (adding->takes_back && !ngc_grow_on(adding->cache, n_pairs)) {
        /* its table is whole first */
    } else if (adding->takes_back) {
        (merges ? operations->unmerge_slice : operations->uncount_slice)(adding, n_pairs);
    } else if (merges && adding->added->changes != adding->added_changes) {
        status = NGC_CHANGED;
    } else {
        status = (merges ? operations->merge_slice : operations->count_slice)(adding, n_pairs);
        if (status != NGC_OK) {
            ngc_adding_turn_back(adding);
        }
    }
    adding->cache->in_slices = false;
    *done = adding->done;
    return status;
}

double ngc_adding_fraction(const ngc_adding *adding)
{
    const ngc_cache *cache = adding->cache;
    double done, all;
    if (adding->added != NULL) {
        ngc_cache_facts facts;
        ngc_cache_facts_of(adding->added, &facts);
        int32_t n_passes = adding->found != NULL ? 2 : 1;
        done = (double)(adding->added_to.n_done + (int64_t)adding->n_added);
        all = (double)(n_passes * facts.n_grams);
    } else {
        size_t first = adding->length_tokens - adding->n_new_tokens;
        size_t of_size = adding->place < first ? 0 : adding->place - first;
        all = (double)(cache->n_max - cache->n_min + 1) * (double)adding->n_new_tokens;
        done = (double)(adding->n - cache->n_min) * (double)adding->n_new_tokens + (double)of_size;
    }
    return adding->done || all <= 0 || done > all ? 1 : done / all;
}

void ngc_adding_destroy(ngc_adding *adding)
{
    ngc_allocator *allocator = &adding->cache->allocator;
    ngc_lost_free(allocator, &adding->lost);
    ngc_free(allocator, adding->found, adding->n_found * sizeof *adding->found, NGC_KIND_OTHER);
}

void ngc_adding_free(ngc_adding *adding)
{
    if (adding != NULL) {
        ngc_adding_destroy(adding);
        free(adding);
    }
}

ngc_status ngc_adding_finish(ngc_adding *adding)
{
    ngc_status outcome = NGC_OK;
    for (int32_t done = 0; !done;) {
        ngc_status status = ngc_adding_step(adding, SIZE_MAX, &done);
        outcome = status == NGC_OK ? outcome : status;
    }
    ngc_adding_destroy(adding);
    return outcome;
}

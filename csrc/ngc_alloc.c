/* ngc_alloc.c - see ngc_alloc.h. */
#include "ngc_alloc.h"

#include <string.h>

void *ngc_grow(ngc_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes, int kind)
{
    void *bigger = ngc_alloc(allocator, new_bytes, kind);
    if (bigger == NULL) {
        return NULL;
    }
    if (block != NULL) {
        memcpy(bigger, block, old_bytes);
        ngc_free(allocator, block, old_bytes, kind);
    }
    return bigger;
}

void *ngc_stretch(ngc_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes,
                  int kind)
{
    if (block == NULL) {
        return ngc_alloc(allocator, new_bytes, kind);
    }
    if (allocator->fail_in > 0 && --allocator->fail_in == 0) {
        return NULL;
    }
    void *bigger = realloc(block, new_bytes);
    if (bigger != NULL) {
        ngc_count_freed(allocator, 1, old_bytes, kind);
        ngc_count_allocated(allocator, 1, new_bytes, kind);
    }
    return bigger;
}

void *ngc_shrink(ngc_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes,
                 int kind)
{
    if (new_bytes == 0) {
        ngc_free(allocator, block, old_bytes, kind);
        return NULL;
    }
    void *smaller = realloc(block, new_bytes);
    smaller = smaller == NULL ? block : smaller; /* shrinking does not fail; if it did, no harm */
    ngc_count_freed(allocator, 1, old_bytes, kind);
    ngc_count_allocated(allocator, 1, new_bytes, kind);
    return smaller;
}

void ngc_memory_of(const ngc_allocator *allocator, ngc_memory *memory)
{
    memory->live_bytes = ngc_live_bytes(allocator);
    memory->peak_bytes = allocator->peak_bytes;
    memory->ngrams_bytes = allocator->kind_bytes[NGC_KIND_NGRAMS];
    memory->index_bytes = allocator->kind_bytes[NGC_KIND_INDEX];
    memory->followers_bytes = allocator->kind_bytes[NGC_KIND_FOLLOWERS];
    memory->follower_index_bytes = allocator->kind_bytes[NGC_KIND_FOLLOWER_INDEX];
    memory->other_bytes = allocator->kind_bytes[NGC_KIND_OTHER];
    memory->slack_bytes = 0; /* its owner knows */
    memory->overhead_bytes = allocator->overhead_bytes;
    memory->total_bytes = allocator->allocated_bytes;
    memory->allocations = allocator->allocations;
    memory->live_allocations = allocator->allocations - allocator->frees;
}

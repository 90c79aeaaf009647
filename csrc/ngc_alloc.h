/* ngc_alloc.h - an allocator that counts, and that can be told to fail.
 *
 * Each cache and each drafter has its own, so that memory is known by structure. A block carries
 * no header of ours: free is told the size. So malloc sees exactly the requests that C++'s
 * containers would make, which the comparison with llama.cpp depends on.
 */
#ifndef NGC_ALLOC_H
#define NGC_ALLOC_H

#include <stdlib.h>

#include "ngc.h"
#include "ngc_platform.h"

/* What a block holds. */
enum {
    NGC_KIND_NGRAMS,
    NGC_KIND_INDEX,
    NGC_KIND_FOLLOWERS,
    NGC_KIND_FOLLOWER_INDEX,
    NGC_KIND_OTHER,
    NGC_KINDS
};

typedef struct ngc_allocator {
    int64_t allocated_bytes; /* ever */
    int64_t freed_bytes;
    int64_t peak_bytes;
    int64_t allocations;
    int64_t frees;
    int64_t overhead_bytes;
    int64_t kind_bytes[NGC_KINDS];
    int64_t fail_in; /* the fail_in-th allocation from now on fails; 0: none */
} ngc_allocator;

/* What glibc on a 64-bit machine adds to a request: 8 bytes of header, chunks of 16 bytes, 32 at
 * least. A model: other allocators differ. */
NGC_INLINE int64_t ngc_malloc_overhead_bytes(size_t bytes)
{
    size_t chunk = (bytes + 8 + 15) & ~(size_t)15;
    return (int64_t)((chunk < 32 ? 32 : chunk) - bytes);
}

NGC_INLINE int64_t ngc_live_bytes(const ngc_allocator *allocator)
{
    return allocator->allocated_bytes - allocator->freed_bytes;
}

/* The book-keeping of n blocks of the same size, apart from malloc and free: a loop that copies
 * a whole map does it once, since doing it for each node would be felt (10 % of upstream). */
NGC_INLINE void ngc_count_allocated(ngc_allocator *allocator, size_t n, size_t bytes, int kind)
{
    allocator->allocated_bytes += (int64_t)(n * bytes);
    allocator->allocations += (int64_t)n;
    allocator->overhead_bytes += (int64_t)n * ngc_malloc_overhead_bytes(bytes);
    allocator->kind_bytes[kind] += (int64_t)(n * bytes);
    if (ngc_live_bytes(allocator) > allocator->peak_bytes) {
        allocator->peak_bytes = ngc_live_bytes(allocator);
    }
}

NGC_INLINE void ngc_count_freed(ngc_allocator *allocator, size_t n, size_t bytes, int kind)
{
    allocator->freed_bytes += (int64_t)(n * bytes);
    allocator->frees += (int64_t)n;
    allocator->overhead_bytes -= (int64_t)n * ngc_malloc_overhead_bytes(bytes);
    allocator->kind_bytes[kind] -= (int64_t)(n * bytes);
}

/* A block that the caller counts itself. */
NGC_INLINE void *ngc_alloc_uncounted(ngc_allocator *allocator, size_t bytes)
{
    if (allocator->fail_in > 0 && --allocator->fail_in == 0) {
        return NULL;
    }
    return malloc(bytes);
}

NGC_INLINE void *ngc_alloc(ngc_allocator *allocator, size_t bytes, int kind)
{
    void *block = ngc_alloc_uncounted(allocator, bytes);
    if (block != NULL) {
        ngc_count_allocated(allocator, 1, bytes, kind);
    }
    return block;
}

NGC_INLINE void ngc_free(ngc_allocator *allocator, void *block, size_t bytes, int kind)
{
    if (block != NULL) {
        ngc_count_freed(allocator, 1, bytes, kind);
        free(block);
    }
}

/* A bigger block with the old one's content; NULL leaves the old one as it was. */
void *ngc_grow(ngc_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes,
               int kind);

/* The same for a block that may be stretched where it lies: a big one does not take its memory
 * twice while it grows, where the system can move its pages. */
void *ngc_stretch(ngc_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes,
                  int kind);

/* The first new_bytes of a block, the rest given back; 0 frees it. */
void *ngc_shrink(ngc_allocator *allocator, void *block, size_t old_bytes, size_t new_bytes,
                 int kind);

void ngc_memory_of(const ngc_allocator *allocator, ngc_memory *memory);

#endif

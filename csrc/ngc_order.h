/* ngc_order.h - the list order of a libstdc++ hash map, from the order in which its keys came.
 *
 * A file of llama.cpp lists n-grams and followers as a hash map holds them. That order depends
 * on nothing but the order of first occurrences, so it can be worked out in arrays, without the
 * map; ngc_followers_chained.h tells how a key is inserted.
 */
#ifndef NGC_ORDER_H
#define NGC_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NGC_ORDER_END UINT32_MAX

/* How many buckets a map of n keys has, inserted one at a time. */
size_t ngc_order_buckets(size_t n);

/* The list of n < 2^32 - 2 keys with the given hashes, inserted in that order: it starts at the
 * index returned and goes on by next[], to NGC_ORDER_END. `buckets` is scratch, with room for
 * ngc_order_buckets(n). */
uint32_t ngc_order_list(const uint64_t *hashes, size_t n, uint32_t *buckets, uint32_t *next);

/* The same in slices: it starts zeroed but for what it is given. */
typedef struct ngc_ordering {
    const uint64_t *hashes;
    size_t n;
    uint32_t *buckets;
    uint32_t *next;
    size_t n_buckets; /* 0: nothing is inserted yet */
    size_t n_cleared; /* of them, while the list is inserted anew */
    size_t n_inserted;
    uint32_t head;
    uint32_t old; /* the rest of the list that is inserted anew; NGC_ORDER_END: none is */
} ngc_ordering;

/* One slice of some n_keys; true after the last, and `head` begins the list then. */
bool ngc_ordering_step(ngc_ordering *ordering, size_t n_keys);

#endif

/* ngc_order.c - see ngc_order.h. */
#include "ngc_order.h"

#include "ngc_buckets.h"

/* A bucket holds which node stands before its first one. */
#define NO_NODE UINT32_MAX
#define THE_HEAD (UINT32_MAX - 1)

static void insert(ngc_ordering *list, uint32_t node)
{
    size_t bucket = (size_t)(list->hashes[node] % list->n_buckets);
    uint32_t before = list->buckets[bucket];
    if (before != NO_NODE) {
        uint32_t *link = before == THE_HEAD ? &list->head : &list->next[before];
        list->next[node] = *link;
        *link = node;
        return;
    }
    uint32_t second = list->head;
    list->next[node] = second;
    list->head = node;
    if (second != NGC_ORDER_END) {
        list->buckets[list->hashes[second] % list->n_buckets] = node;
    }
    list->buckets[bucket] = THE_HEAD;
}

/* More buckets: what is in the list is inserted anew, front to back. */
static void begin_growing(ngc_ordering *list)
{
    list->old = list->n_buckets == 0 ? NGC_ORDER_END : list->head;
    list->n_buckets = ngc_next_buckets(list->n_buckets == 0 ? 1 : list->n_buckets);
    list->n_cleared = 0;
    list->head = NGC_ORDER_END;
}

/* Goes on with that; how many of n_keys it did not need. */
static size_t go_on_growing(ngc_ordering *list, size_t n_keys)
{
    for (; n_keys > 0 && list->n_cleared < list->n_buckets; n_keys--) {
        list->buckets[list->n_cleared++] = NO_NODE;
    }
    for (; n_keys > 0 && list->old != NGC_ORDER_END; n_keys--) {
        uint32_t next = list->next[list->old];
        insert(list, list->old);
        list->old = next;
    }
    return n_keys;
}

bool ngc_ordering_step(ngc_ordering *list, size_t n_keys)
{
    if (list->n_buckets == 0) {
        begin_growing(list);
    }
    while ((n_keys = go_on_growing(list, n_keys)) > 0 && list->n_inserted < list->n) {
        if (list->n_inserted + 1 > list->n_buckets) {
            begin_growing(list);
            continue;
        }
        insert(list, (uint32_t)list->n_inserted++);
        n_keys--;
    }
    return list->n_inserted == list->n && n_keys > 0;
}

size_t ngc_order_buckets(size_t n)
{
    size_t n_buckets = ngc_next_buckets(1);
    while (n_buckets < n) {
        n_buckets = ngc_next_buckets(n_buckets);
    }
    return n_buckets;
}

uint32_t ngc_order_list(const uint64_t *hashes, size_t n, uint32_t *buckets, uint32_t *next)
{
    ngc_ordering list = {.hashes = hashes, .n = n, .buckets = buckets, .next = next};
    ngc_ordering_step(&list, SIZE_MAX);
    return list.head;
}

/* ngc_order.c - see ngc_order.h. */
#include "ngc_order.h"

#include "ngc_buckets.h"

/* A bucket holds which node stands before its first one. */
#define NO_NODE UINT32_MAX
#define THE_HEAD (UINT32_MAX - 1)

typedef struct list {
    const uint64_t *hashes;
    uint32_t *buckets;
    uint32_t *next;
    size_t n_buckets;
    uint32_t head;
} list;

static void insert(list *list, uint32_t node)
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

/* Inserts the old list anew, front to back. */
static void grow(list *list)
{
    uint32_t node = list->head;
    list->n_buckets = ngc_next_buckets(list->n_buckets);
    for (size_t i = 0; i < list->n_buckets; i++) {
        list->buckets[i] = NO_NODE;
    }
    list->head = NGC_ORDER_END;
    while (node != NGC_ORDER_END) {
        uint32_t next = list->next[node];
        insert(list, node);
        node = next;
    }
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
    list list = {hashes, buckets, next, 1, NGC_ORDER_END};
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || i + 1 > list.n_buckets) {
            grow(&list);
        }
        insert(&list, (uint32_t)i);
    }
    return list.head;
}

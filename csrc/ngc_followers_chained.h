/* ngc_followers_chained.h - followers of one n-gram in a hash map that costs and orders as GNU
 * libstdc++'s unordered_map<int32_t, int32_t> does.
 *
 *     buckets   [0]   [1]   [2]  ...        each holds the link that points to its first node,
 *                |           |              or NULL if the bucket is empty
 *                v           v
 *     head --> node --> node --> node --> NULL      one list through all nodes
 *              token    token    token
 *              count    count    count              16 bytes each, one malloc each
 *
 * Invariants: the nodes of one bucket stand next to each other; a bucket's link is `head` or
 * the `next` of the node before its first one; a map that never held anything has one bucket,
 * inside the struct. The struct has the size of libstdc++'s (56 bytes), and so have its requests.
 *
 * The order of the list decides between equal scores, so it is kept exactly: a new node goes to
 * the start of its bucket, or to the very front of the list if the bucket was empty; growing
 * walks the old list front to back and inserts each node anew.
 * Source: GCC 12, libstdc++ bits/hashtable.h, as behaviour; the numbers of buckets are those
 * that inserting one at a time gives.
 */
#ifndef NGC_FOLLOWERS_CHAINED_H
#define NGC_FOLLOWERS_CHAINED_H

#include "ngc_buckets.h"
#include "ngc_bytes.h"
#include "ngc_internal.h"

typedef struct chained_follower {
    struct chained_follower *next;
    int32_t token;
    int32_t count;
} chained_follower;

typedef struct chained_followers {
    chained_follower ***buckets;
    size_t n_buckets;
    chained_follower *head;
    size_t length;
    size_t grow_past; /* the next insertion beyond this many grows the table */
    size_t unused;    /* libstdc++ keeps its maximum load here */
    chained_follower **single_bucket;
} chained_followers;

/* A walk over all followers: for (c = first(f); more(f, c); c = next(c)) c->token, c->count. */
typedef const chained_follower *chained_followers_cursor;

NGC_INLINE chained_followers_cursor chained_followers_first(const chained_followers *f)
{
    return f->head;
}

NGC_INLINE bool chained_followers_more(const chained_followers *f, chained_followers_cursor c)
{
    (void)f;
    return c != NULL;
}

NGC_INLINE chained_followers_cursor chained_followers_next(chained_followers_cursor c)
{
    return c->next;
}

NGC_INLINE size_t chained_followers_bucket(int32_t token, size_t n_buckets)
{
    return (size_t)((uint64_t)(int64_t)token % n_buckets);
}

NGC_INLINE void chained_followers_init(chained_followers *f)
{
    f->buckets = &f->single_bucket;
    f->n_buckets = 1;
    f->head = NULL;
    f->length = 0;
    f->grow_past = 0;
    f->unused = 0;
    f->single_bucket = NULL;
}

NGC_INLINE void chained_followers_destroy(ngc_allocator *allocator, chained_followers *f)
{
    ngc_count_freed(allocator, f->length, sizeof *f->head, NGC_KIND_FOLLOWERS);
    for (chained_follower *node = f->head; node != NULL;) {
        chained_follower *next = node->next;
        free(node);
        node = next;
    }
    if (f->buckets != &f->single_bucket) {
        ngc_free(allocator, f->buckets, f->n_buckets * sizeof *f->buckets,
                 NGC_KIND_FOLLOWER_INDEX);
    }
}

static inline int64_t chained_followers_slack_bytes(const ngc_allocator *allocator,
                                                    int64_t n_followers)
{
    int64_t filled_bytes = n_followers * (int64_t)sizeof(chained_follower **);
    return allocator->kind_bytes[NGC_KIND_FOLLOWER_INDEX] - filled_bytes;
}

/* The count of a token, or NULL. */
NGC_INLINE int32_t *chained_followers_seek(const chained_followers *f, int32_t token,
                                           ngc_recorder *recorder)
{
    if (f->length == 0) {
        return NULL;
    }
    size_t bucket = chained_followers_bucket(token, f->n_buckets);
    chained_follower **link = f->buckets[bucket];
    ngc_record(recorder, NGC_TOUCH_MAP_BUCKET, f->buckets, &f->buckets[bucket], sizeof link,
               (int64_t)bucket, link != NULL);
    if (link == NULL) {
        return NULL;
    }
    for (chained_follower *node = *link;; node = node->next) {
        ngc_record(recorder, NGC_TOUCH_MAP_NODE, NULL, node, sizeof *node, -1, node->token);
        if (node->token == token) {
            return &node->count;
        }
        if (node->next == NULL ||
            chained_followers_bucket(node->next->token, f->n_buckets) != bucket) {
            return NULL;
        }
    }
}

NGC_INLINE int32_t *chained_followers_find(const chained_followers *f, int32_t token,
                                           int32_t search)
{
    (void)search;
    return chained_followers_seek(f, token, NULL);
}

/* A copy with the same order and the same buckets; on failure dst holds nothing. */
NGC_INLINE ngc_status chained_followers_copy(ngc_allocator *allocator, chained_followers *dst,
                                             const chained_followers *src)
{
    chained_followers_init(dst);
    if (src->n_buckets != 1) {
        size_t bytes = src->n_buckets * sizeof *dst->buckets;
        chained_follower ***buckets = ngc_alloc(allocator, bytes, NGC_KIND_FOLLOWER_INDEX);
        if (buckets == NULL) {
            return NGC_NO_MEMORY;
        }
        memset(buckets, 0, bytes);
        dst->buckets = buckets;
        dst->n_buckets = src->n_buckets;
    }
    dst->grow_past = src->grow_past;
    chained_follower **link = &dst->head;
    size_t length = 0;
    for (const chained_follower *from = src->head; from != NULL; from = from->next, length++) {
        chained_follower *node = ngc_alloc_uncounted(allocator, sizeof *node);
        if (node == NULL) {
            break;
        }
        node->next = NULL;
        node->token = from->token;
        node->count = from->count;
        *link = node;
        size_t bucket = chained_followers_bucket(node->token, dst->n_buckets);
        if (dst->buckets[bucket] == NULL) {
            dst->buckets[bucket] = link;
        }
        link = &node->next;
    }
    dst->length = length;
    ngc_count_allocated(allocator, length, sizeof *dst->head, NGC_KIND_FOLLOWERS);
    if (length < src->length) {
        chained_followers_destroy(allocator, dst);
        chained_followers_init(dst);
        return NGC_NO_MEMORY;
    }
    return NGC_OK;
}

/* Puts a node where libstdc++ puts it. */
NGC_INLINE void chained_followers_link(chained_followers *f, chained_follower *node)
{
    size_t bucket = chained_followers_bucket(node->token, f->n_buckets);
    if (f->buckets[bucket] != NULL) {
        node->next = *f->buckets[bucket];
        *f->buckets[bucket] = node;
        return;
    }
    node->next = f->head;
    f->head = node;
    if (node->next != NULL) {
        f->buckets[chained_followers_bucket(node->next->token, f->n_buckets)] = &node->next;
    }
    f->buckets[bucket] = &f->head;
}

static NGC_NOINLINE ngc_status chained_followers_grow(ngc_allocator *allocator,
                                                      chained_followers *f)
{
    size_t n_buckets = ngc_next_buckets(f->n_buckets);
    size_t bytes = n_buckets * sizeof *f->buckets;
    chained_follower ***buckets = ngc_alloc(allocator, bytes, NGC_KIND_FOLLOWER_INDEX);
    if (buckets == NULL) {
        return NGC_NO_MEMORY;
    }
    memset(buckets, 0, bytes);
    if (f->buckets != &f->single_bucket) {
        ngc_free(allocator, f->buckets, f->n_buckets * sizeof *f->buckets,
                 NGC_KIND_FOLLOWER_INDEX);
    }
    chained_follower *node = f->head;
    f->buckets = buckets;
    f->n_buckets = n_buckets;
    f->grow_past = n_buckets;
    f->head = NULL;
    while (node != NULL) {
        chained_follower *next = node->next;
        chained_followers_link(f, node);
        node = next;
    }
    return NGC_OK;
}

/* Adds a token that is absent. */
NGC_INLINE ngc_status chained_followers_add(ngc_allocator *allocator, chained_followers *f,
                                            int32_t token, int32_t count)
{
    chained_follower *node = ngc_alloc(allocator, sizeof *node, NGC_KIND_FOLLOWERS);
    if (node == NULL) {
        return NGC_NO_MEMORY;
    }
    node->token = token;
    node->count = count;
    if (f->length + 1 > f->grow_past && chained_followers_grow(allocator, f) != NGC_OK) {
        ngc_free(allocator, node, sizeof *node, NGC_KIND_FOLLOWERS);
        return NGC_NO_MEMORY;
    }
    chained_followers_link(f, node);
    f->length++;
    return NGC_OK;
}

/* Fills an empty map from the pairs of a file, in their order. */
static inline ngc_status chained_followers_take(ngc_allocator *allocator, chained_followers *f,
                                                const uint8_t *pairs, size_t n_pairs)
{
    ngc_status status = NGC_OK;
    for (size_t i = 0; i < n_pairs && status == NGC_OK; i++) {
        int32_t token = ngc_get_int32(pairs + NGC_PAIR_BYTES * i);
        int32_t count = ngc_get_int32(pairs + NGC_PAIR_BYTES * i + 4);
        status = chained_followers_find(f, token, 0) != NULL
                     ? NGC_DUPLICATE
                     : chained_followers_add(allocator, f, token, count);
    }
    return status;
}

/* Takes a token out that is there, leaving the others in their order. */
static inline void chained_followers_remove(ngc_allocator *allocator, chained_followers *f,
                                            int32_t token)
{
    size_t bucket = chained_followers_bucket(token, f->n_buckets);
    chained_follower **first = f->buckets[bucket];
    chained_follower **link = first;
    while ((*link)->token != token) {
        link = &(*link)->next;
    }
    chained_follower *node = *link;
    chained_follower *next = node->next;
    *link = next;
    size_t next_bucket =
        next == NULL ? bucket : chained_followers_bucket(next->token, f->n_buckets);
    if (next_bucket != bucket) {
        f->buckets[next_bucket] = link;
    }
    if (link == first && (next == NULL || next_bucket != bucket)) {
        f->buckets[bucket] = NULL;
    }
    f->length--;
    ngc_free(allocator, node, sizeof *node, NGC_KIND_FOLLOWERS);
}

/* The struct stands elsewhere now: what pointed into it is mended. */
NGC_INLINE void chained_followers_moved(chained_followers *f)
{
    if (f->n_buckets == 1) {
        f->buckets = &f->single_bucket;
    }
    if (f->head != NULL) {
        f->buckets[chained_followers_bucket(f->head->token, f->n_buckets)] = &f->head;
    }
}

/* NULL if every invariant holds, else what is broken. */
static inline const char *chained_followers_broken(const chained_followers *f)
{
    size_t length = 0;
    size_t bucket = 0;
    for (chained_follower *const *link = &f->head; *link != NULL; link = &(*link)->next) {
        const chained_follower *node = *link;
        if (node->token < 0 || node->count <= 0) {
            return "a follower has a negative token or no count";
        }
        size_t here = chained_followers_bucket(node->token, f->n_buckets);
        if ((length == 0 || here != bucket) && (const void *)f->buckets[here] != link) {
            return "a bucket does not start where its first follower stands";
        }
        if (chained_followers_find(f, node->token, 0) != &node->count) {
            return "a follower is not found where it stands, or stands twice";
        }
        bucket = here;
        length++;
    }
    return length == f->length ? NULL : "the number of followers is wrong";
}

/* ---- as a view of followers: what the draft rule reads (ngc_scan.h) ---- */

typedef const chained_followers *chained_view;
typedef const chained_follower *chained_view_cursor;

NGC_INLINE chained_view chained_view_none(void)
{
    return NULL;
}

NGC_INLINE bool chained_view_is_none(chained_view view)
{
    return view == NULL;
}

NGC_INLINE size_t chained_view_length(chained_view view)
{
    return view->length;
}

NGC_INLINE chained_view_cursor chained_view_first(chained_view view)
{
    return view->head;
}

NGC_INLINE bool chained_view_more(chained_view view, chained_view_cursor c)
{
    (void)view;
    return c != NULL;
}

NGC_INLINE chained_view_cursor chained_view_next(chained_view_cursor c)
{
    return c->next;
}

/* Writes down that a follower is touched; nodes stand in no array. */
NGC_INLINE void chained_view_record(ngc_recorder *recorder, int32_t what, chained_view view,
                                    chained_view_cursor c)
{
    (void)view;
    ngc_record(recorder, what, NULL, c, sizeof *c, -1, c->token);
}

/* Writes down what making a copy touches. */
static inline void chained_view_record_copy(chained_view from, chained_view copy,
                                            ngc_recorder *recorder)
{
    ngc_record(recorder, NGC_TOUCH_COPY_INDEX, copy->buckets, copy->buckets,
               copy->n_buckets * sizeof *copy->buckets, 0, (int64_t)copy->n_buckets);
    const chained_follower *to = copy->head;
    for (const chained_follower *c = from->head; c != NULL; c = c->next, to = to->next) {
        ngc_record(recorder, NGC_TOUCH_COPIED, NULL, c, sizeof *c, -1, c->token);
        ngc_record(recorder, NGC_TOUCH_COPY, NULL, to, sizeof *to, -1, to->token);
    }
}

NGC_INLINE ngc_pair chained_view_at(chained_view view, chained_view_cursor c)
{
    (void)view;
    return (ngc_pair){c->token, c->count};
}

/* Whether `search` means anything for this kind of view. */
NGC_INLINE bool chained_view_searched(void)
{
    return false;
}

/* Whether the highest count is known without a scan. */
NGC_INLINE bool chained_view_knows_top(void)
{
    return false;
}

/* The count of a token, 0 if it is absent. */
NGC_INLINE int32_t chained_view_count(chained_view view, int32_t token, int32_t search,
                                      ngc_recorder *recorder)
{
    (void)search;
    const int32_t *count = chained_followers_seek(view, token, recorder);
    return count == NULL ? 0 : *count;
}

NGC_INLINE chained_view chained_followers_view(const chained_followers *f)
{
    return f;
}

/* A copy node by node: the toggle copy_followers. */
typedef chained_followers chained_holder;

/* Nothing to do: copying fills all of it. */
NGC_INLINE void chained_holder_init(chained_holder *holder)
{
    (void)holder;
}

NGC_INLINE ngc_status chained_holder_copy(ngc_allocator *allocator, chained_holder *holder,
                                          chained_view view)
{
    return chained_followers_copy(allocator, holder, view);
}

NGC_INLINE chained_view chained_holder_view(const chained_holder *holder)
{
    return holder;
}

NGC_INLINE void chained_holder_destroy(ngc_allocator *allocator, chained_holder *holder)
{
    chained_followers_destroy(allocator, holder);
}

#endif

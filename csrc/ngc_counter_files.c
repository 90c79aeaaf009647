/* ngc_counter_files.c - finished counts as llama.cpp's file: the bytes that a map of maps would
 * give, without the map.
 */
#include "ngc_bytes.h"
#include "ngc_counter.h"

static size_t longest_list(const ngc_counts *counts)
{
    size_t longest = 1;
    for (size_t i = 0; i < counts->n_grams; i++) {
        size_t length = counts->starts[i + 1] - counts->starts[i];
        longest = length > longest ? length : longest;
    }
    return longest;
}

static void free_scratch(ngc_allocator *allocator, ngc_save_order *order)
{
    size_t longest = order->longest;
    ngc_free(allocator, order->hashes, longest * sizeof *order->hashes, NGC_KIND_OTHER);
    ngc_free(allocator, order->buckets, ngc_order_buckets(longest) * sizeof *order->buckets,
             NGC_KIND_OTHER);
    ngc_free(allocator, order->links, longest * sizeof *order->links, NGC_KIND_OTHER);
    order->hashes = NULL;
    order->buckets = NULL;
    order->links = NULL;
}

/* Scratch for lists of up to `longest` keys. */
static ngc_status make_scratch(ngc_allocator *allocator, ngc_save_order *order, size_t longest)
{
    order->longest = longest;
    order->hashes = ngc_alloc(allocator, longest * sizeof *order->hashes, NGC_KIND_OTHER);
    order->buckets = ngc_alloc(allocator, ngc_order_buckets(longest) * sizeof *order->buckets,
                               NGC_KIND_OTHER);
    order->links = ngc_alloc(allocator, longest * sizeof *order->links, NGC_KIND_OTHER);
    if (order->hashes != NULL && order->buckets != NULL && order->links != NULL) {
        return NGC_OK;
    }
    free_scratch(allocator, order);
    return NGC_NO_MEMORY;
}

void ngc_save_order_free(ngc_allocator *allocator, ngc_save_order *order, size_t n_grams)
{
    ngc_free(allocator, order->next, n_grams * sizeof *order->next, NGC_KIND_OTHER);
    free_scratch(allocator, order);
    order->next = NULL;
}

static size_t hash_slice(const ngc_counts *counts, ngc_save_order *order, size_t n_grams)
{
    for (; n_grams > 0 && order->n_hashed < counts->n_grams; n_grams--, order->n_hashed++) {
        ngc_key key = ngc_key_of(counts->keys[order->n_hashed], 2);
        order->hashes[order->n_hashed] = ngc_hash_xor(&key);
    }
    return n_grams;
}

/* The list stays; scratch for the lists of followers takes the place of what it needed. */
static ngc_status keep_list(ngc_allocator *allocator, const ngc_counts *counts,
                            ngc_save_order *order)
{
    uint32_t *next = order->links;
    order->links = NULL;
    free_scratch(allocator, order);
    order->n_hashed = 0;
    ngc_status status = make_scratch(allocator, order, longest_list(counts));
    if (status != NGC_OK) {
        ngc_free(allocator, next, counts->n_grams * sizeof *next, NGC_KIND_OTHER);
        return status;
    }
    order->next = next;
    order->head = order->ordering.head;
    return NGC_OK;
}

ngc_status ngc_counter_begin_save_slice(ngc_counter *counter, size_t n_grams, int32_t *done)
{
    const ngc_counts *counts = ngc_counter_counts(counter);
    ngc_save_order *order = ngc_counter_order(counter);
    ngc_allocator *allocator = ngc_counter_allocator(counter);
    *done = 0;
    if (!ngc_counter_has_order(counter)) {
        return NGC_UNSUPPORTED;
    }
    *done = order->next != NULL || counts->n_grams == 0;
    if (*done) {
        return NGC_OK;
    }
    if (order->hashes == NULL) {
        ngc_status status = make_scratch(allocator, order, counts->n_grams);
        if (status != NGC_OK) {
            return status;
        }
        order->n_hashed = 0;
        order->ordering = (ngc_ordering){.hashes = order->hashes, .n = counts->n_grams,
                                         .buckets = order->buckets, .next = order->links};
    }
    n_grams = hash_slice(counts, order, n_grams == 0 ? 1 : n_grams);
    if (n_grams > 0 && ngc_ordering_step(&order->ordering, n_grams)) {
        ngc_status status = keep_list(allocator, counts, order);
        *done = status == NGC_OK;
        return status;
    }
    return NGC_OK;
}

ngc_status ngc_counter_begin_save(ngc_counter *counter)
{
    ngc_status status = NGC_OK;
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_counter_begin_save_slice(counter, SIZE_MAX, &done);
    }
    return status;
}

static uint8_t *put_record(uint8_t *out, const ngc_counts *counts, ngc_save_order *order,
                           size_t gram)
{
    const ngc_pair *pairs = counts->pairs + counts->starts[gram];
    size_t length = counts->starts[gram + 1] - counts->starts[gram];
    int32_t head[5] = {counts->keys[gram][0], counts->keys[gram][1], NGC_NO_TOKEN, NGC_NO_TOKEN,
                       (int32_t)length};
    out = ngc_put_int32s(out, head, 5);
    for (size_t i = 0; i < length; i++) {
        order->hashes[i] = (uint64_t)(int64_t)pairs[i].token;
    }
    uint32_t at = ngc_order_list(order->hashes, length, order->buckets, order->links);
    for (; at != NGC_ORDER_END; at = order->links[at]) {
        int32_t pair[2] = {pairs[at].token, pairs[at].count};
        out = ngc_put_int32s(out, pair, 2);
    }
    return out;
}

ngc_status ngc_counter_save_legacy(ngc_counter *counter, ngc_cursor *cursor, uint8_t *buffer,
                                   size_t capacity_bytes, size_t *n_written)
{
    const ngc_counts *counts = ngc_counter_counts(counter);
    ngc_save_order *order = ngc_counter_order(counter);
    *n_written = 0;
    if (counts->n_grams == 0) {
        return NGC_OK;
    }
    if (order->next == NULL) {
        return NGC_BAD_ARGUMENT;
    }
    uint32_t gram = cursor->n_done == 0 ? order->head : (uint32_t)(uintptr_t)cursor->at;
    uint8_t *out = buffer;
    while (gram != NGC_ORDER_END) {
        size_t length = counts->starts[gram + 1] - counts->starts[gram];
        if (20 + NGC_PAIR_BYTES * length > capacity_bytes - (size_t)(out - buffer)) {
            break;
        }
        out = put_record(out, counts, order, gram);
        gram = order->next[gram];
        cursor->n_done++;
    }
    cursor->at = (const void *)(uintptr_t)gram;
    *n_written = (size_t)(out - buffer);
    return gram != NGC_ORDER_END && out == buffer ? NGC_SMALL_BUFFER : NGC_OK;
}

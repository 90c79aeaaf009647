/* ngc_packed.h - the static cache as its own file, made to be mapped: a table with one record a
 * 2-gram, and packed followers behind it. What draft steps ask for most, the sum of the counts
 * and the first of the most frequent tokens, stands in the record: one cache line answers.
 *
 *     head        256 bytes, see ngc_packed_format.h
 *     lines       64 bytes each:  | record | record | ... | reach |
 *     filter      of the 2-grams whose top token could be drafted by the static cache alone with
 *                 llama.cpp's thresholds: a Bloom filter (ngc_bloom.h), lines of 8 words
 *     followers   blocks of packed (token, count), ascending by token
 *     texts       tokenizer, corpus, built by: each ended by a zero byte
 *
 * A 2-gram's key is mixed to a number that says its home line; what is left of the number stands
 * in the record, so that the key is known in full by some 16 bits. A record that has no room at
 * home stands in a line behind it, at most `reach` lines away.
 *
 *     record   used:1 | remainder | lines from home | big:1 | top token | place | length | top
 *              count | sum               widths by file; place is where the block begins, in bytes
 *     block    length times: token and count in as few whole bytes as the top count needs;
 *              a big record's begins with u32 length, u32 top count, u64 sum
 *
 * A 2-gram with one follower, as most have, needs no block. Sources: Cleary, "Compact Hash Tables
 * Using Bidirectional Linear Probing" (1984), for keys known by place and remainder.
 */
#ifndef NGC_PACKED_H
#define NGC_PACKED_H

#include "ngc_bytes.h"
#include "ngc_internal.h"

/* The followers of one 2-gram as they lie in the file. */
typedef struct packed_view {
    const uint8_t *entries; /* eight bytes can be read from each; the record if that says it all */
    size_t length;          /* 0: there is none */
    int64_t sum;
    uint64_t entry_mask;
    int32_t top_token; /* the smallest of those with the highest count */
    int32_t top_count;
    uint32_t entry_bytes;
    uint32_t token_bits;
} packed_view;

/* The followers of a 2-gram; none if it was not put in, or if what the file says of it cannot be. */
packed_view ngc_packed_find_plain(const ngc_cache *cache, const ngc_key *key);
packed_view ngc_packed_find_recorded(const ngc_cache *cache, const ngc_key *key,
                                     ngc_recorder *recorder);

/* Whether the static cache alone may draft after these two tokens, with a rule as strict as
 * llama.cpp's or stricter: a step that nothing else decided can end without the record. */
bool ngc_packed_glance(const ngc_cache *cache, const int32_t *tokens, const ngc_rule *rule,
                       ngc_recorder *recorder);

/* Asks for what a glance reads. */
void ngc_packed_prefetch(const ngc_cache *cache, const int32_t *tokens);

/* Where nothing is recorded, the recorder is the constant NULL, and this is the plain one. */
NGC_INLINE packed_view ngc_packed_find(const ngc_cache *cache, const ngc_key *key,
                                       ngc_recorder *recorder)
{
    return recorder == NULL ? ngc_packed_find_plain(cache, key)
                            : ngc_packed_find_recorded(cache, key, recorder);
}

/* ---- as a view of followers: what the draft rule reads (ngc_scan.h) ---- */

typedef size_t packed_view_cursor;

NGC_INLINE packed_view packed_view_none(void)
{
    packed_view none = {0};
    return none;
}

NGC_INLINE bool packed_view_is_none(packed_view view)
{
    return view.length == 0;
}

NGC_INLINE size_t packed_view_length(packed_view view)
{
    return view.length;
}

NGC_INLINE packed_view_cursor packed_view_first(packed_view view)
{
    (void)view;
    return 0;
}

NGC_INLINE bool packed_view_more(packed_view view, packed_view_cursor c)
{
    return c < view.length;
}

NGC_INLINE packed_view_cursor packed_view_next(packed_view_cursor c)
{
    return c + 1;
}

NGC_INLINE uint64_t packed_view_entry(packed_view view, size_t at)
{
    return ngc_get_uint64(view.entries + at * view.entry_bytes) & view.entry_mask;
}

NGC_INLINE int32_t packed_view_token(packed_view view, uint64_t entry)
{
    return (int32_t)(entry & ((UINT64_C(1) << view.token_bits) - 1));
}

/* No count is above the top one, whatever the bytes say. */
NGC_INLINE int32_t packed_view_entry_count(packed_view view, uint64_t entry)
{
    uint64_t count = entry >> view.token_bits;
    return count < (uint64_t)view.top_count ? (int32_t)count : view.top_count;
}

NGC_INLINE ngc_pair packed_view_at(packed_view view, packed_view_cursor c)
{
    if (view.length == 1) {
        return (ngc_pair){view.top_token, view.top_count};
    }
    uint64_t entry = packed_view_entry(view, c);
    return (ngc_pair){packed_view_token(view, entry), packed_view_entry_count(view, entry)};
}

/* There is one search here: a fixed number of turns. */
NGC_INLINE bool packed_view_searched(void)
{
    return false;
}

/* Writes down what making a copy touches. */
static inline void packed_view_record_copy(packed_view from, packed_view copy,
                                           ngc_recorder *recorder)
{
    for (size_t i = 0; from.length > 1 && i < from.length; i++) {
        int32_t token = packed_view_at(from, i).token;
        ngc_record(recorder, NGC_TOUCH_COPIED, from.entries, from.entries + i * from.entry_bytes,
                   from.entry_bytes, (int64_t)i, token);
        ngc_record(recorder, NGC_TOUCH_COPY, copy.entries, copy.entries + i * from.entry_bytes,
                   from.entry_bytes, (int64_t)i, token);
    }
    if (from.length == 1) { /* it stands in the record */
        ngc_record(recorder, NGC_TOUCH_COPIED, from.entries, from.entries, sizeof(ngc_pair), 0,
                   from.top_token);
        ngc_record(recorder, NGC_TOUCH_COPY, copy.entries, copy.entries, sizeof(ngc_pair), 0,
                   from.top_token);
    }
}

/* Whether the highest count is known without a scan. */
NGC_INLINE bool packed_view_knows_top(void)
{
    return true;
}

/* The count of a token, 0 if it is absent. */
NGC_INLINE int32_t packed_view_count(packed_view view, int32_t token, int32_t search,
                                     ngc_recorder *recorder)
{
    (void)search;
    if (token == view.top_token) {
        return view.top_count;
    }
    if (view.length == 1) {
        return 0;
    }
    size_t base = 0;
    for (size_t length = view.length; length > 1;) {
        size_t half = length / 2;
        int32_t middle = packed_view_token(view, packed_view_entry(view, base + half));
        if (recorder != NULL) {
            ngc_recorder_compare(recorder, view.entries,
                                 view.entries + (base + half) * view.entry_bytes,
                                 view.entry_bytes, base + half, middle, middle < token);
        }
        base += half & ngc_platform_opaque((size_t)-(ptrdiff_t)(middle <= token));
        length -= half;
    }
    uint64_t entry = packed_view_entry(view, base);
    ngc_record(recorder, NGC_TOUCH_FINAL, view.entries, view.entries + base * view.entry_bytes,
               view.entry_bytes, (int64_t)base, packed_view_token(view, entry));
    return packed_view_token(view, entry) == token ? packed_view_entry_count(view, entry) : 0;
}

/* A copy in one piece: the toggle copy_followers. */
typedef struct packed_holder {
    packed_view view;
    uint8_t *bytes;
    size_t n_bytes;
} packed_holder;

NGC_INLINE void packed_holder_init(packed_holder *holder)
{
    *holder = (packed_holder){packed_view_none(), NULL, 0};
}

NGC_INLINE ngc_status packed_holder_copy(ngc_allocator *allocator, packed_holder *holder,
                                         packed_view view)
{
    size_t n_bytes = sizeof(uint64_t) + (view.length > 1 ? view.length * view.entry_bytes : 0);
    uint8_t *bytes = ngc_alloc(allocator, n_bytes, NGC_KIND_FOLLOWERS);
    if (bytes == NULL) {
        return NGC_NO_MEMORY;
    }
    if (view.length > 1) {
        memcpy(bytes, view.entries, n_bytes);
    } else {
        memcpy(bytes, &view.top_token, sizeof view.top_token);
        memcpy(bytes + sizeof view.top_token, &view.top_count, sizeof view.top_count);
    }
    *holder = (packed_holder){view, bytes, n_bytes};
    holder->view.entries = bytes;
    return NGC_OK;
}

NGC_INLINE packed_view packed_holder_view(const packed_holder *holder)
{
    return holder->view;
}

NGC_INLINE void packed_holder_destroy(ngc_allocator *allocator, packed_holder *holder)
{
    ngc_free(allocator, holder->bytes, holder->n_bytes, NGC_KIND_FOLLOWERS);
}

#endif

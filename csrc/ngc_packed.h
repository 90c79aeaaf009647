/* ngc_packed.h - the static cache as its own file, made to be mapped: a table with one record a
 * 2-gram, and packed followers behind it. What draft steps ask for most, the sum of the counts
 * and the first of the most frequent tokens, stands in the record: one cache line answers.
 *
 *     head        256 bytes, see ngc_packed_format.h
 *     lines       64 bytes each:  | record | record | ... | reach |
 *     filter      of the 2-grams whose top token could be drafted by the static cache alone with
 *                 llama.cpp's thresholds: a Bloom filter (ngc_bloom.h), lines of 8 words
 *     followers   blocks of packed (spread token, count), ascending
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
 * A 2-gram with one follower, as most have, needs no block.
 *
 * A spread token is the token times an odd number, in as many bits: which can be undone, and the
 * tokens of a block then lie evenly between 0 and the most there can be. So a search computes where
 * a token must be about, and is mostly there at once: one cache line, where halving a block of
 * hundreds reads one after the other.
 *
 * Sources: Cleary, "Compact Hash Tables Using Bidirectional Linear Probing" (1984), for keys known
 * by place and remainder; Peterson, "Addressing for Random-Access Storage" (1957), for searching
 * by interpolation.
 */
#ifndef NGC_PACKED_H
#define NGC_PACKED_H

#include "ngc_bytes.h"
#include "ngc_internal.h"

/* A token of `token_bits` bits, spread, and back. The factors are the inverses of each other modulo
 * 2^32, so in fewer bits too; the first is 2^32 times the golden ratio. */
NGC_INLINE uint32_t packed_spread(int32_t token, uint32_t token_bits)
{
    return (uint32_t)token * UINT32_C(0x9E3779B1) & (uint32_t)((UINT64_C(1) << token_bits) - 1);
}

NGC_INLINE int32_t packed_gathered(uint32_t spread, uint32_t token_bits)
{
    return (int32_t)(spread * UINT32_C(0x0E8B2F51) & (uint32_t)((UINT64_C(1) << token_bits) - 1));
}

/* Where a spread token should be among `length` of them. */
NGC_INLINE size_t packed_about(uint32_t spread, size_t length, uint32_t token_bits)
{
    return (size_t)((uint64_t)spread * length >> token_bits);
}

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
bool ngc_packed_glance_plain(const ngc_cache *cache, const int32_t *tokens, const ngc_rule *rule);
bool ngc_packed_glance_recorded(const ngc_cache *cache, const int32_t *tokens,
                                const ngc_rule *rule, ngc_recorder *recorder);

/* Asks for what a look-up reads first, and for what a glance reads. */
void ngc_packed_prefetch(const ngc_cache *cache, const int32_t *tokens);
void ngc_packed_prefetch_glance(const ngc_cache *cache, const int32_t *tokens);

/* Where nothing is recorded, the recorder is the constant NULL, and these are the plain ones. */
NGC_INLINE packed_view ngc_packed_find(const ngc_cache *cache, const ngc_key *key,
                                       ngc_recorder *recorder)
{
    return recorder == NULL ? ngc_packed_find_plain(cache, key)
                            : ngc_packed_find_recorded(cache, key, recorder);
}

NGC_INLINE bool ngc_packed_glance(const ngc_cache *cache, const int32_t *tokens,
                                  const ngc_rule *rule, ngc_recorder *recorder)
{
    return recorder == NULL ? ngc_packed_glance_plain(cache, tokens, rule)
                            : ngc_packed_glance_recorded(cache, tokens, rule, recorder);
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

/* An entry's token, spread. */
NGC_INLINE uint32_t packed_view_spread(packed_view view, uint64_t entry)
{
    return (uint32_t)(entry & ((UINT64_C(1) << view.token_bits) - 1));
}

NGC_INLINE int32_t packed_view_token(packed_view view, uint64_t entry)
{
    return packed_gathered((uint32_t)entry, view.token_bits);
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

/* There is one search here: packed_view_count. */
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

/* The count of a token, 0 if it is absent. Each turn reads the entry where the token should be, as
 * far as is known; where that leads nowhere (a damaged file, a cunning one), halves what is left. */
NGC_INLINE int32_t packed_view_count(packed_view view, int32_t token, int32_t search,
                                     ngc_recorder *recorder)
{
    enum { TURNS = 8 };
    (void)search;
    if (token == view.top_token) {
        return view.top_count;
    }
    if (view.length == 1 || (uint32_t)token >> view.token_bits != 0) {
        return 0;
    }
    uint32_t wanted = packed_spread(token, view.token_bits);
    size_t low = 0, high = view.length; /* it can only be between */
    size_t at = packed_about(wanted, view.length, view.token_bits);
    for (int32_t turn = 0;; turn++) {
        uint64_t entry = packed_view_entry(view, at);
        uint32_t spread = packed_view_spread(view, entry);
        if (recorder != NULL) {
            ngc_recorder_compare(recorder, view.entries, view.entries + at * view.entry_bytes,
                                 view.entry_bytes, at, packed_view_token(view, entry),
                                 spread < wanted);
        }
        if (spread == wanted) {
            return packed_view_entry_count(view, entry);
        }
        bool before = spread < wanted;
        size_t steps = packed_about(before ? wanted - spread : spread - wanted, view.length,
                                    view.token_bits);
        steps += steps == 0;
        low = before ? at + 1 : low;
        high = before ? high : at;
        if (low == high) {
            return 0;
        }
        if (turn >= TURNS) {
            at = low + (high - low) / 2;
        } else if (before) {
            at = steps < high - at ? at + steps : high - 1;
        } else {
            at = steps <= at - low ? at - steps : low;
        }
    }
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

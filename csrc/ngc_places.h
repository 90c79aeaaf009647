/* ngc_places.h - a cache in which an n-gram is a place in a text.
 *
 * The cache keeps the text it counted. An n-gram needs no key then: the tokens before a place are
 * the n-gram, and the token at the place is a follower of it, for most n-grams the only one.
 *
 *     text     ... | the | cat | sat | on | the | mat | ...
 *                                ^ place of (the, cat): its follower is "sat"
 *
 *     lines    64 bytes each, one table of them for each n:
 *              | tag x 7 | reach | slot x 7 |      tag: 8 bits of the hash, 0: the slot is free
 *     slot     place:28 | outlook:4 | count             of the only follower
 *              place:28 | outlook:4 | 1 << 31 | block   of several
 *     block    sum | top token, its count | length, capacity | (token, count) ...  ascending
 *
 * A look-up reads the n-gram's home line, and the text where a tag matches. A slot that has no room
 * at home stands in a line behind it, at most `reach` lines on (255: anywhere).
 *
 * A glance reads the line alone: what the slot with that tag can pass at most (ngc_outlook.h) ends
 * most rows. A cache that others are merged into is large, and most of its n-grams cannot pass: a
 * small filter of those that can (ngc_bloom.h) answers a glance without the line.
 */
#ifndef NGC_PLACES_H
#define NGC_PLACES_H

#include "ngc_bloom.h"
#include "ngc_outlook.h"
#include "ngc_simd.h"
#include "ngc_summed.h"

enum { PLACES_SLOTS = 7, PLACES_LINE_BYTES = 64, PLACES_ANYWHERE = 255, PLACES_CLASSES = 32 };
enum { PLACES_PLACE_BITS = 28 };
#define PLACES_POOLED (UINT32_C(1) << 31)
#define PLACES_NONE UINT32_MAX
#define PLACES_FILTERED ngc_outlook_least(2, OUTLOOK_TWO_THIRDS)

typedef struct places_slot {
    uint32_t where; /* place and outlook */
    uint32_t value;
} places_slot;

typedef struct places_line {
    uint8_t tags[PLACES_SLOTS];
    uint8_t reach;
    places_slot slots[PLACES_SLOTS];
} places_line;

_Static_assert(sizeof(places_line) == PLACES_LINE_BYTES, "a line is a cache line");
_Static_assert(PLACES_SLOTS + 1 == NGC_SIMD_BYTES, "eight bytes are read for the tags");

typedef struct places_block {
    int64_t sum;
    ngc_pair top;
    uint32_t length;
    uint32_t capacity; /* a power of two */
    ngc_pair pairs[];
} places_block;

/* The n-grams of one size. */
typedef struct places_table {
    places_line *lines; /* at a multiple of 64, within `memory` */
    void *memory;
    size_t n_lines;
    size_t length;
    uint64_t *filter; /* of n-grams with an outlook of PLACES_FILTERED; NULL: there is none */
    size_t filter_words;
    size_t n_filtered; /* how often one was put in */
} places_table;

typedef struct places_cache {
    ngc_cache head;
    places_table tables[NGC_N_MAX];
    int32_t *text;
    size_t length_tokens;
    size_t capacity_tokens;
    uint64_t *pool; /* blocks, named by the word at which they begin */
    size_t length_words;
    size_t capacity_words;
    uint32_t largest_block; /* the most pairs that one has had room for */
    size_t n_blocks;        /* that slots lead to */
    uint32_t free_blocks[PLACES_CLASSES]; /* by capacity, each the first of a list */
    int64_t n_followers;
} places_cache;

NGC_INLINE uint32_t places_place(places_slot slot)
{
    return slot.where & ((UINT32_C(1) << PLACES_PLACE_BITS) - 1);
}

NGC_INLINE uint32_t places_outlook(places_slot slot)
{
    return slot.where >> PLACES_PLACE_BITS;
}

NGC_INLINE places_block *places_block_of(const places_cache *self, places_slot slot)
{
    return (places_block *)(void *)(self->pool + (slot.value & ~PLACES_POOLED));
}

NGC_INLINE bool places_is_pooled(places_slot slot)
{
    return (slot.value & PLACES_POOLED) != 0;
}

/* ---- looking up ---- */

NGC_INLINE uint8_t places_tag(uint64_t hash)
{
    uint8_t tag = (uint8_t)hash;
    return tag == 0 ? 1 : tag;
}

NGC_INLINE size_t places_home(const places_table *table, uint64_t hash)
{
    return (size_t)ngc_platform_multiply_high(hash, table->n_lines);
}

/* The slots, as bits, whose tag this is; 0: the free ones. A free slot names no place. */
NGC_INLINE uint32_t places_match(const places_line *line, uint8_t tag)
{
    return ngc_match_bytes(line->tags, tag) & ((1u << PLACES_SLOTS) - 1); /* without `reach` */
}

/* The number of lines behind the home line in which its n-grams may stand. */
NGC_INLINE size_t places_reach(const places_table *table, size_t home)
{
    size_t reach = table->lines[home].reach;
    return reach == PLACES_ANYWHERE ? table->n_lines - 1 : reach;
}

NGC_INLINE bool places_is_ngram(const places_cache *self, const places_slot *slot,
                                const int32_t *end, int32_t n)
{
    const int32_t *text = self->text + places_place(*slot);
    for (int32_t i = 1; i <= n; i++) {
        if (text[-i] != end[-i]) {
            return false;
        }
    }
    return true;
}

/* The slot of the n tokens before `end`, NULL if there is none. */
NGC_INLINE places_slot *places_find(const places_cache *self, const int32_t *end, int32_t n,
                                    uint64_t hash, ngc_recorder *recorder)
{
    const places_table *table = &self->tables[n - 1];
    if (table->length == 0) {
        return NULL;
    }
    uint8_t tag = places_tag(hash);
    size_t at = places_home(table, hash);
    size_t reach = places_reach(table, at);
    for (size_t far = 0; far <= reach; far++) {
        places_line *line = &table->lines[at];
        ngc_record(recorder, NGC_TOUCH_LINE, table->lines, line, sizeof *line, (int64_t)at,
                   (int64_t)far);
        for (uint32_t match = places_match(line, tag); match != 0; match &= match - 1) {
            places_slot *slot = &line->slots[ngc_platform_lowest_bit(match)];
            ngc_record(recorder, NGC_TOUCH_TEXT, self->text,
                       self->text + places_place(*slot) - n,
                       (size_t)(n + 1) * sizeof *self->text, places_place(*slot),
                       self->text[places_place(*slot)]);
            if (places_is_ngram(self, slot, end, n)) {
                return slot;
            }
        }
        at = at + 1 == table->n_lines ? 0 : at + 1;
    }
    return NULL;
}

NGC_INLINE summed_view places_view(const places_cache *self, const places_slot *slot,
                                   ngc_recorder *recorder)
{
    if (slot == NULL) {
        return summed_view_none();
    }
    if (!places_is_pooled(*slot)) {
        ngc_pair only = {self->text[places_place(*slot)], (int32_t)slot->value};
        return (summed_view){NULL, 1, only.count, only, slot};
    }
    const places_block *block = places_block_of(self, *slot);
    ngc_record(recorder, NGC_TOUCH_TOTALS, self->pool, block, sizeof *block, 0,
               block->top.token);
    return (summed_view){block->pairs, block->length, block->sum, block->top, block->pairs};
}

/* ---- a glance ---- */

/* Whether a table's filter answers for thresholds that need an outlook of `least`. */
NGC_INLINE bool places_is_filtered(const places_table *table, uint32_t least)
{
    return table->filter != NULL && ngc_outlook_may_pass(least, PLACES_FILTERED);
}

/* Whether a slot with this tag, in any line that its n-gram may stand in, may pass. */
static inline bool places_glance_far(const places_table *table, size_t at, uint8_t tag,
                                     uint32_t least, ngc_recorder *recorder)
{
    size_t reach = places_reach(table, at);
    bool may_pass = false;
    for (size_t far = 0; far <= reach && !may_pass; far++) {
        const places_line *line = &table->lines[at];
        if (far > 0) {
            ngc_record(recorder, NGC_TOUCH_LINE, table->lines, line, sizeof *line, (int64_t)at,
                       (int64_t)far);
        }
        for (uint32_t match = places_match(line, tag); match != 0; match &= match - 1) {
            places_slot slot = line->slots[ngc_platform_lowest_bit(match)];
            may_pass |= ngc_outlook_may_pass(places_outlook(slot), least);
        }
        at = at + 1 == table->n_lines ? 0 : at + 1;
    }
    return may_pass;
}

/* ---- operations: counting and merging (ngc_places.c) ---- */

extern const ngc_cache_operations ngc_places_operations; /* ngc_places_rule.c */

ngc_status ngc_places_update(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                             size_t n_new_tokens);
ngc_status ngc_places_merge_slice(ngc_adding *adding, size_t n_pairs);
void ngc_places_unmerge_slice(ngc_adding *adding, size_t n_pairs);

/* ---- its memory (ngc_places_room.c) ---- */

void ngc_places_clear(ngc_cache *cache);
void ngc_places_destroy(ngc_cache *cache);
void ngc_places_facts(const ngc_cache *cache, ngc_cache_facts *facts);
int64_t ngc_places_slack_bytes(const ngc_cache *cache);

/* ---- views of the inside (ngc_places_inside.c) ---- */

void ngc_places_around(const ngc_cache *cache, const ngc_key *key, size_t n_before, size_t n_after,
                       ngc_around *around, ngc_place *places, size_t capacity,
                       ngc_recorder *recorder);
void ngc_places_measure_slice(ngc_measuring *measuring, size_t n_slots, bool *last);

/* ---- loading, walking, saving, checking (ngc_places_files.c) ---- */

ngc_status ngc_places_insert(ngc_cache *cache, const ngc_key *key, const uint8_t *pairs,
                             size_t n_pairs);
void ngc_places_walk(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                     size_t capacity, size_t *n_written);
ngc_status ngc_places_save(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                           size_t capacity_bytes, size_t *n_written);
/* What is sorted: a slot alone does not say its n. */
typedef struct places_sorted {
    uintptr_t number;
    ngc_key key;
} places_sorted;

int ngc_places_compare(const void *a, const void *b);
size_t ngc_places_gather(const ngc_cache *cache, ngc_cursor *cursor, void *items,
                         size_t capacity, size_t n_grams, bool *last);
ngc_status ngc_places_save_sorted(const ngc_cache *cache, const void *const *places,
                                  size_t n_places, ngc_cursor *cursor, uint8_t *buffer,
                                  size_t capacity_bytes, size_t *n_written);
const char *ngc_places_check_slice(const ngc_cache *cache, ngc_checking *checking,
                                   size_t n_grams);

#endif

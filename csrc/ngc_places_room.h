/* ngc_places_room.h - making room in a cache of places, and putting n-grams into it; what counting,
 * merging and loading share.
 */
#ifndef NGC_PLACES_ROOM_H
#define NGC_PLACES_ROOM_H

#include "ngc_places.h"

enum { PLACES_BLOCK_WORDS = sizeof(places_block) / sizeof(uint64_t) }; /* before its pairs */

/* Room for so many more; the text, a table or the pool may move. */
ngc_status ngc_places_reserve_text(places_cache *self, size_t n_tokens);
ngc_status ngc_places_grow_table(places_cache *self, int32_t n, size_t n_more);
ngc_status ngc_places_reserve_words(places_cache *self, size_t n_more);

/* Room in the filter for so many n-grams more; a larger one is filled anew. */
ngc_status ngc_places_reserve_filter(places_cache *self, int32_t n, size_t n_more);

/* A block of a capacity, named by its first word; the pool may move. */
ngc_status ngc_places_new_block(places_cache *self, uint32_t capacity, uint32_t *out);
void ngc_places_free_block(places_cache *self, uint32_t at);

/* Gives a slot with one follower a block for it and one more. */
ngc_status ngc_places_make_block(places_cache *self, places_slot *slot);
ngc_status ngc_places_double_block(places_cache *self, places_slot *slot);

/* Puts an n-gram that is absent into the first free slot from its home on; there is one. */
NGC_INLINE places_slot *places_put(places_table *table, uint64_t hash, places_slot slot)
{
    size_t home = places_home(table, hash);
    size_t at = home, far = 0;
    while (places_match(&table->lines[at], 0) == 0) {
        at = at + 1 == table->n_lines ? 0 : at + 1;
        far++;
    }
    places_line *line = &table->lines[at];
    uint32_t i = ngc_platform_lowest_bit(places_match(line, 0));
    line->tags[i] = places_tag(hash);
    line->slots[i] = slot;
    uint8_t reach = far < PLACES_ANYWHERE ? (uint8_t)far : (uint8_t)PLACES_ANYWHERE;
    if (table->lines[home].reach < reach) {
        table->lines[home].reach = reach;
    }
    table->length++;
    return &line->slots[i];
}

/* Room for so many n-grams more: four of five slots at most are used. */
NGC_INLINE ngc_status places_reserve_slots(places_cache *self, int32_t n, size_t n_more)
{
    const places_table *table = &self->tables[n - 1];
    bool has_room = (table->length + n_more) * 5 <= table->n_lines * PLACES_SLOTS * 4;
    return has_room ? NGC_OK : ngc_places_grow_table(self, n, n_more);
}

NGC_INLINE void places_put_filtered(places_table *table, uint64_t hash)
{
    table->filter[ngc_bloom_word(table->filter_words, hash)] |= ngc_bloom_bits(hash);
    table->n_filtered++;
}

/* Keeps what an n-gram's followers can pass at most, in its slot and in the filter. */
NGC_INLINE void places_set_outlook(places_cache *self, int32_t n, places_slot *slot, int64_t sum,
                                   int32_t top_count)
{
    uint32_t before = places_outlook(*slot), now = ngc_outlook_of(sum, top_count);
    slot->where = places_place(*slot) | now << PLACES_PLACE_BITS;
    places_table *table = &self->tables[n - 1];
    if (table->filter != NULL && ngc_outlook_may_pass(now, PLACES_FILTERED) &&
        !ngc_outlook_may_pass(before, PLACES_FILTERED)) {
        places_put_filtered(table, ngc_hash_run(self->text + places_place(*slot), (size_t)n,
                                                self->head.toggles.hash));
    }
}

#endif

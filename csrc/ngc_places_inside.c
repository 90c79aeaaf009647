/* ngc_places_inside.c - views of the inside of a table of places; see ngc_places.h. */
#include "ngc_inside.h"
#include "ngc_places.h"

static ngc_place place_at(const places_cache *self, int32_t n, size_t number)
{
    const places_table *table = &self->tables[n - 1];
    size_t at = number / PLACES_SLOTS;
    const places_line *line = &table->lines[at];
    ngc_place place = ngc_no_place();
    if (line->tags[number % PLACES_SLOTS] != 0) {
        const places_slot *slot = &line->slots[number % PLACES_SLOTS];
        const int32_t *end = self->text + places_place(*slot);
        ngc_key key = ngc_key_of(end - n, n);
        uint64_t hash = ngc_hash_run(end, (size_t)n, self->head.toggles.hash);
        size_t home = places_home(table, hash);
        place = ngc_place_of(&key, hash, places_view(self, slot, NULL).length);
        place.entry = places_place(*slot);
        place.fingerprint = line->tags[number % PLACES_SLOTS];
        place.distance = (int32_t)(at >= home ? at - home : at + table->n_lines - home);
    }
    place.index = (int64_t)number;
    return place;
}

void ngc_places_around(const ngc_cache *cache, const ngc_key *key, size_t n_before, size_t n_after,
                       ngc_around *around, ngc_place *places, size_t capacity,
                       ngc_recorder *recorder)
{
    const places_cache *self = (const places_cache *)cache;
    int32_t n = ngc_key_length(key);
    const int32_t *end = key->tokens + n;
    const places_table *table = &self->tables[n - 1];
    around->hash = ngc_hash_run(end, (size_t)n, self->head.toggles.hash);
    around->fingerprint = places_tag(around->hash);
    around->n_buckets = (int64_t)(table->n_lines * PLACES_SLOTS);
    around->slots_a_line = PLACES_SLOTS;
    if (table->n_lines == 0) {
        return;
    }
    const places_slot *slot = places_find(self, end, n, around->hash, recorder);
    around->home = (int64_t)places_home(table, around->hash);
    around->n_visited = recorder->probe->visited_nodes;
    if (slot != NULL) {
        size_t line = (size_t)((const uint8_t *)slot - (const uint8_t *)table->lines) /
                      PLACES_LINE_BYTES;
        around->found = (int64_t)(line * PLACES_SLOTS) + (slot - table->lines[line].slots);
    }
    ngc_line_window window =
        ngc_line_window_of((size_t)around->home, (size_t)around->n_visited, n_before, n_after,
                           table->n_lines);
    around->n_places = (int64_t)(window.n_lines * PLACES_SLOTS);
    for (size_t i = 0; i < window.n_lines * PLACES_SLOTS && i < capacity; i++) {
        places[i] = place_at(self, n, (window.first * PLACES_SLOTS + i) %
                                          (table->n_lines * PLACES_SLOTS));
    }
}

void ngc_places_measure_slice(ngc_measuring *measuring, size_t n_slots, bool *last)
{
    const places_cache *self = (const places_cache *)measuring->cache;
    int32_t n = measuring->table + 1;
    size_t end = self->tables[n - 1].n_lines * PLACES_SLOTS;
    if (measuring->place == 0) {
        measuring->facts.n_buckets += (int64_t)end;
    }
    for (; n_slots > 0 && measuring->place < end; n_slots--, measuring->place++) {
        ngc_place place = place_at(self, n, measuring->place);
        if (place.distance < 0) {
            measuring->facts.n_empty++;
            continue;
        }
        ngc_key key = ngc_key_of(place.tokens, n);
        ngc_measuring_add(measuring, &key, place.hash, (size_t)place.distance + 1);
    }
    *last = measuring->place == end;
}

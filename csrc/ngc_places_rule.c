/* ngc_places_rule.c - the draft rule over a cache of places; see ngc_places.h and ngc_rule.h. */
#include "ngc_constmap.h"
#include "ngc_inside.h"
#include "ngc_names.h"
#include "ngc_packed.h"
#include "ngc_places.h"
#include "ngc_scan.h"

#define OUTER places
#define FOLLOWERS summed
#define VIEW summed

NGC_INLINE summed_view C(find_view)(const ngc_cache *cache, const ngc_key *key,
                                    ngc_recorder *recorder)
{
    const places_cache *self = (const places_cache *)cache;
    int32_t n = ngc_key_length(key);
    const int32_t *end = key->tokens + n;
    uint64_t hash = ngc_hash_last(end, (size_t)n, cache->toggles.hash).of[n - 1];
    return places_view(self, places_find(self, end, n, hash, recorder), recorder);
}

NGC_INLINE ngc_hashes C(hash_last)(const ngc_toggles *toggles, const int32_t *end,
                                   size_t length_tokens)
{
    return ngc_hash_last(end, length_tokens, toggles->hash);
}

NGC_INLINE summed_view C(find_last)(const ngc_cache *cache, const int32_t *end, int32_t n,
                                    const ngc_hashes *hashes, ngc_recorder *recorder)
{
    const places_cache *self = (const places_cache *)cache;
    return places_view(self, places_find(self, end, n, hashes->of[n - 1], recorder), recorder);
}

NGC_INLINE void C(prefetch_last)(const ngc_cache *cache, int32_t n, const ngc_hashes *hashes)
{
    const places_table *table = &((const places_cache *)cache)->tables[n - 1];
    if (table->length > 0) {
        ngc_platform_prefetch(&table->lines[places_home(table, hashes->of[n - 1])]);
    }
}

/* When that line has come: what its slot names. */
NGC_INLINE void C(prefetch_followers)(const ngc_cache *cache, int32_t n,
                                      const ngc_hashes *hashes)
{
    const places_cache *self = (const places_cache *)cache;
    const places_table *table = &self->tables[n - 1];
    if (table->length == 0) {
        return;
    }
    const places_line *line = &table->lines[places_home(table, hashes->of[n - 1])];
    uint64_t match = places_match(line, places_tag(hashes->of[n - 1]));
    if (match != 0) {
        places_slot slot = line->slots[ngc_platform_lowest_bit(match) / 8];
        ngc_platform_prefetch(self->text + slot.place - n);
        if (places_is_pooled(slot)) {
            ngc_platform_prefetch(places_block_of(self, slot));
        }
    }
}

#include "ngc_rules.h"

/* There is no order to come back to. */
static ngc_status set_buckets(ngc_cache *cache, size_t n_buckets)
{
    (void)cache;
    (void)n_buckets;
    return NGC_OK;
}

static void followers(const ngc_cache *cache, const ngc_key *key, int32_t *tokens,
                      int32_t *counts, size_t capacity, size_t *n_followers)
{
    summed_view view = C(find_view)(cache, key, NULL);
    for (size_t i = 0; i < view.length && i < capacity; i++) {
        ngc_pair pair = summed_view_at(view, i);
        tokens[i] = pair.token;
        counts[i] = pair.count;
    }
    *n_followers = view.length;
}

static int32_t search(const ngc_cache *cache, const ngc_key *key, int32_t token, int32_t search,
                      size_t *length, ngc_recorder *recorder)
{
    summed_view view = C(find_view)(cache, key, NULL);
    *length = view.length;
    return view.length == 0 ? 0 : summed_view_count(view, token, search, recorder);
}

static const ngc_inside_operations inside = {
    .around = ngc_places_around,
    .measure = ngc_places_measure,
    .search = search,
};

const ngc_cache_operations ngc_places_operations = {
    .destroy = ngc_places_destroy,
    .clear = ngc_places_clear,
    .set_buckets = set_buckets,
    .update = ngc_places_update,
    .merge = ngc_places_merge,
    .insert = ngc_places_insert,
    .followers = followers,
    .facts = ngc_places_facts,
    .walk = ngc_places_walk,
    .save = ngc_places_save,
    .sort = ngc_places_sort,
    .save_sorted = ngc_places_save_sorted,
    .broken = ngc_places_broken,
    .inside = &inside,
    .pick = {C(same_pick), C(constmap_pick), C(ngc_pick)},
    .pick_recorded = {C(same_pick_recorded), C(constmap_pick_recorded), C(ngc_pick_recorded)},
};

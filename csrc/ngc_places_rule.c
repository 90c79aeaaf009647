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
    uint64_t hash = ngc_hash_run(end, (size_t)n, cache->toggles.hash);
    return places_view(self, places_find(self, end, n, hash, recorder), recorder);
}

NGC_INLINE void C(hash_last)(const ngc_toggles *toggles, const int32_t *end,
                             size_t length_tokens, ngc_hashes *hashes)
{
    ngc_hash_last(end, length_tokens, toggles->hash, hashes);
}

NGC_INLINE summed_view C(find_last)(const ngc_cache *cache, const int32_t *end, int32_t n,
                                    const ngc_hashes *hashes, ngc_recorder *recorder)
{
    const places_cache *self = (const places_cache *)cache;
    return places_view(self, places_find(self, end, n, hashes->of[n - 1], recorder), recorder);
}

/* What a glance reads first. */
NGC_INLINE void C(prefetch_last)(const ngc_cache *cache, int32_t n, const ngc_hashes *hashes)
{
    const places_table *table = &((const places_cache *)cache)->tables[n - 1];
    if (table->filter != NULL) {
        ngc_platform_prefetch(
            &table->filter[ngc_bloom_word(table->filter_words, hashes->of[n - 1])]);
    } else if (table->length > 0) {
        ngc_platform_prefetch(&table->lines[places_home(table, hashes->of[n - 1])]);
    }
}

/* What a look-up reads after that. */
NGC_INLINE void C(prefetch_followers)(const ngc_cache *cache, int32_t n,
                                      const ngc_hashes *hashes)
{
    const places_table *table = &((const places_cache *)cache)->tables[n - 1];
    if (table->length > 0) {
        ngc_platform_prefetch(&table->lines[places_home(table, hashes->of[n - 1])]);
    }
}

NGC_INLINE bool C(glances)(void)
{
    return true;
}

/* Usually one line answers, and without a branch: whether a tag matches is anyone's guess. */
NGC_INLINE bool C(glance)(const ngc_cache *cache, int32_t n, const ngc_hashes *hashes,
                          uint32_t least, ngc_recorder *recorder)
{
    const places_cache *self = (const places_cache *)cache;
    const places_table *table = &self->tables[n - 1];
    if (table->length == 0) {
        return false;
    }
    uint64_t hash = hashes->of[n - 1];
    if (places_is_filtered(table, least)) {
        const uint64_t *word = &table->filter[ngc_bloom_word(table->filter_words, hash)];
        bool may_pass = ngc_bloom_has(*word, hash);
        ngc_record(recorder, NGC_TOUCH_FILTER, table->filter, word, sizeof *word,
                   word - table->filter, may_pass);
        return may_pass;
    }
    uint8_t tag = places_tag(hash);
    size_t at = places_home(table, hash);
    const places_line *line = &table->lines[at];
    ngc_record(recorder, NGC_TOUCH_LINE, table->lines, line, sizeof *line, (int64_t)at, 0);
    uint32_t match = places_match(line, tag);
    uint32_t i = ngc_platform_lowest_bit(match | 1u << (PLACES_SLOTS - 1));
    bool may_pass = (match != 0) & ngc_outlook_may_pass(places_outlook(line->slots[i]), least);
    if ((line->reach == 0) & ((match & (match - 1)) == 0)) {
        return may_pass;
    }
    return places_glance_far(table, at, tag, least, recorder);
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
    .measure_slice = ngc_places_measure_slice,
    .n_tables = NGC_N_MAX,
    .search = search,
};

const ngc_cache_operations ngc_places_operations = {
    .destroy = ngc_places_destroy,
    .clear = ngc_places_clear,
    .set_buckets = set_buckets,
    .update = ngc_places_update,
    .merge_slice = ngc_places_merge_slice,
    .unmerge_slice = ngc_places_unmerge_slice,
    .insert = ngc_places_insert,
    .followers = followers,
    .facts = ngc_places_facts,
    .slack_bytes = ngc_places_slack_bytes,
    .walk = ngc_places_walk,
    .save = ngc_places_save,
    .sorted_item_bytes = sizeof(places_sorted),
    .compare_items = ngc_places_compare,
    .gather_items = ngc_places_gather,
    .save_sorted = ngc_places_save_sorted,
    .check_slice = ngc_places_check_slice,
    .inside = &inside,
    .pick = {C(same_pick), C(constmap_pick), C(ngc_pick)},
    .pick_recorded = {C(same_pick_recorded), C(constmap_pick_recorded), C(ngc_pick_recorded)},
};

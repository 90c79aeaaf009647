/* ngc_instance_template.h - template: one kind of cache, whole: its operations, the draft rule
 * over it with each kind of static cache, and its constructor.
 *
 * Included with OUTER, FOLLOWERS and VIEW set, after the headers of both structures; see
 * ngc_chained.c.
 */

#include "ngc_cache_template.h"
#include "ngc_inside_template.h"

NGC_INLINE NGC_PAIR(VIEW, view)
    C(find_view)(const ngc_cache *cache, const ngc_key *key, ngc_recorder *recorder)
{
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, recorder);
    return entry == NULL ? NGC_PASTE(VIEW, _view, _, none)() : F(view)(&entry->followers);
}

/* This table hashes each n-gram by itself, and asks for nothing early. */
NGC_INLINE void C(hash_last)(const ngc_toggles *toggles, const int32_t *end,
                             size_t length_tokens, ngc_hashes *hashes)
{
    (void)toggles;
    (void)end;
    (void)length_tokens;
    (void)hashes;
}

NGC_INLINE NGC_PAIR(VIEW, view)
    C(find_last)(const ngc_cache *cache, const int32_t *end, int32_t n, const ngc_hashes *hashes,
                 ngc_recorder *recorder)
{
    (void)hashes;
    ngc_key key = ngc_key_of(end - n, n);
    return C(find_view)(cache, &key, recorder);
}

NGC_INLINE void C(prefetch_last)(const ngc_cache *cache, int32_t n, const ngc_hashes *hashes)
{
    (void)cache;
    (void)n;
    (void)hashes;
}

NGC_INLINE void C(prefetch_followers)(const ngc_cache *cache, int32_t n,
                                      const ngc_hashes *hashes)
{
    C(prefetch_last)(cache, n, hashes);
}

/* It keeps no outlooks. */
NGC_INLINE bool C(glances)(void)
{
    return false;
}

NGC_INLINE bool C(glance)(const ngc_cache *cache, int32_t n, const ngc_hashes *hashes,
                          uint32_t least, ngc_recorder *recorder)
{
    (void)cache;
    (void)n;
    (void)hashes;
    (void)least;
    (void)recorder;
    return true;
}

#include "ngc_rules.h"

static const ngc_cache_operations C(operations) = {
    .destroy = C(destroy),
    .clear = C(clear),
    .grow_on = C(grow_on),
    .set_buckets = C(set_buckets),
    .update = C(update),
    .count_slice = C(count_slice),
    .uncount_slice = C(uncount_slice),
    .merge_slice = C(merge_slice),
    .unmerge_slice = C(unmerge_slice),
    .insert = C(insert),
    .followers = C(followers),
    .facts = C(facts),
    .slack_bytes = C(slack_bytes),
    .walk = C(walk),
    .save = C(save),
    .sorted_item_bytes = sizeof(ENTRY_T *),
    .compare_items = C(compare_entries),
    .gather_items = C(gather_items),
    .save_sorted = C(save_sorted),
    .check_slice = C(check_slice),
    .inside = &C(inside),
    .pick = {C(same_pick), C(constmap_pick), C(ngc_pick)},
    .pick_recorded = {C(same_pick_recorded), C(constmap_pick_recorded), C(ngc_pick_recorded)},
};

ngc_status NGC_PASTE(ngc_, NGC_PAIR(OUTER, FOLLOWERS), _, new)(const ngc_toggles *toggles,
                                                               int32_t n_min, int32_t n_max,
                                                               ngc_cache **out)
{
    CACHE_T *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->head.operations = &C(operations);
    self->head.toggles = *toggles;
    self->head.n_min = n_min;
    self->head.n_max = n_max;
    self->head.grown_at_once = NGC_GROWN_AT_ONCE;
    T(init)(&self->table, toggles->hash);
    *out = &self->head;
    return NGC_OK;
}

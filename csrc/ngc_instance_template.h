/* ngc_instance_template.h - template: one kind of cache, whole: its operations, the draft rule
 * over it with each kind of static cache, and its constructor.
 *
 * Included with OUTER, FOLLOWERS and VIEW set, after the headers of both structures; see
 * ngc_chained.c.
 */

#include "ngc_cache_template.h"
#include "ngc_inside_template.h"

#define STATIC same
#define WEIGHTS VIEW
static inline NGC_PAIR(VIEW, view)
    C(find_view)(const ngc_cache *cache, const ngc_key *key, ngc_recorder *recorder)
{
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, recorder);
    return entry == NULL ? NGC_PASTE(VIEW, _view, _, none)() : F(view)(&entry->followers);
}
#define R_STATIC_FIND C(find_view)
#include "ngc_rule.h"
#undef R_STATIC_FIND
#undef WEIGHTS
#undef STATIC

#define STATIC constmap
#define WEIGHTS slice
#define R_STATIC_FIND ngc_constmap_find
#include "ngc_rule.h"
#undef R_STATIC_FIND
#undef WEIGHTS
#undef STATIC

#define STATIC ngc
#define WEIGHTS packed
#define R_STATIC_FIND ngc_packed_find
#include "ngc_rule.h"
#undef R_STATIC_FIND
#undef WEIGHTS
#undef STATIC

static const ngc_cache_operations C(operations) = {
    .destroy = C(destroy),
    .clear = C(clear),
    .set_buckets = C(set_buckets),
    .update = C(update),
    .merge = C(merge),
    .insert = C(insert),
    .followers = C(followers),
    .facts = C(facts),
    .walk = C(walk),
    .save = C(save),
    .sort = C(sort),
    .save_sorted = C(save_sorted),
    .broken = C(broken),
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
    T(init)(&self->table, toggles->hash);
    *out = &self->head;
    return NGC_OK;
}

#undef C_EACH

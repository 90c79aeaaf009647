/* ngc_rules.h - template: the draft rule over one kind of cache, with each kind of static cache.
 *
 * Included with OUTER, FOLLOWERS and VIEW set, after C(find_view), C(find_last), C(hash_last),
 * C(prefetch_last), C(prefetch_followers) and C(glance).
 */

#define STATIC same
#define WEIGHTS VIEW
#define R_STATIC_FIND C(find_view)
#define R_STATIC_PREFETCH(cache, tokens) ((void)0)
#define R_STATIC_PREFETCH_GLANCE(cache, tokens) ((void)0)
#define R_STATIC_GLANCE(cache, tokens, rule, recorder) true
#include "ngc_rule.h"
#undef R_STATIC_GLANCE
#undef R_STATIC_PREFETCH_GLANCE
#undef R_STATIC_PREFETCH
#undef R_STATIC_FIND
#undef WEIGHTS
#undef STATIC

#define STATIC constmap
#define WEIGHTS slice
#define R_STATIC_FIND ngc_constmap_find
#define R_STATIC_PREFETCH(cache, tokens) ((void)0)
#define R_STATIC_PREFETCH_GLANCE(cache, tokens) ((void)0)
#define R_STATIC_GLANCE(cache, tokens, rule, recorder) true
#include "ngc_rule.h"
#undef R_STATIC_GLANCE
#undef R_STATIC_PREFETCH_GLANCE
#undef R_STATIC_PREFETCH
#undef R_STATIC_FIND
#undef WEIGHTS
#undef STATIC

#define STATIC ngc
#define WEIGHTS packed
#define R_STATIC_FIND ngc_packed_find
#define R_STATIC_PREFETCH ngc_packed_prefetch
#define R_STATIC_PREFETCH_GLANCE ngc_packed_prefetch_glance
#define R_STATIC_GLANCE ngc_packed_glance
#include "ngc_rule.h"
#undef R_STATIC_GLANCE
#undef R_STATIC_PREFETCH_GLANCE
#undef R_STATIC_PREFETCH
#undef R_STATIC_FIND
#undef WEIGHTS
#undef STATIC

/* ngc_flat.c - caches over a flat outer table: in segments (the stages outermap, with chained
 * followers, and innervector, with sorted ones), or dense.
 */
#include "ngc_adding.h"
#include "ngc_bytes.h"
#include "ngc_constmap.h"
#include "ngc_followers_chained.h"
#include "ngc_followers_sorted.h"
#include "ngc_inside.h"
#include "ngc_names.h"
#include "ngc_packed.h"
#include "ngc_scan.h"

#define C_COPIES_LIKE_LLAMA_CPP 0

#define OUTER segmented
#define OUTER_SEGMENTED 1

#define FOLLOWERS chained
#define VIEW chained
#include "ngc_outer_flat.h"

#include "ngc_instance_template.h"
#undef VIEW
#undef FOLLOWERS

#define FOLLOWERS sorted
#define VIEW slice
#include "ngc_outer_flat.h"

#include "ngc_instance_template.h"
#undef VIEW
#undef FOLLOWERS

#undef OUTER_SEGMENTED
#undef OUTER

#define OUTER dense
#define OUTER_SEGMENTED 0

#define FOLLOWERS chained
#define VIEW chained
#include "ngc_outer_flat.h"

#include "ngc_instance_template.h"
#undef VIEW
#undef FOLLOWERS

#define FOLLOWERS sorted
#define VIEW slice
#include "ngc_outer_flat.h"

#include "ngc_instance_template.h"

/* ngc_chained.c - caches over a chained outer table, as llama.cpp has it: with chained followers
 * the stages upstream (copied at each look-up) and nocopy (read in place); with sorted ones a
 * combination that no stage uses, but a toggle can set.
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

#define OUTER chained

#define FOLLOWERS chained
#define VIEW chained
#define C_COPIES_LIKE_LLAMA_CPP 1
#include "ngc_outer_chained.h"

#include "ngc_instance_template.h"
#undef C_COPIES_LIKE_LLAMA_CPP
#undef VIEW
#undef FOLLOWERS

#define FOLLOWERS sorted
#define VIEW slice
#define C_COPIES_LIKE_LLAMA_CPP 0
#include "ngc_outer_chained.h"

#include "ngc_instance_template.h"

/* ngc_chained.c - caches as llama.cpp has them: a hash map from n-gram to a hash map from token
 * to count. The stages upstream (followers copied at each look-up) and nocopy (read in place).
 */
#include "ngc_bytes.h"
#include "ngc_internal.h"

#define OUTER chained
#define FOLLOWERS chained
#include "ngc_names.h"

#include "ngc_followers_chained.h"

#include "ngc_outer_chained.h"

#include "ngc_cache_template.h"

#define RULE_RECORDS 0
#include "ngc_rule.h"

#define RULE_RECORDS 1
#include "ngc_rule.h"

#include "ngc_instance_template.h"

/* ngc_buckets.h - how many buckets libstdc++'s maps have, growing one insertion at a time. */
#ifndef NGC_BUCKETS_H
#define NGC_BUCKETS_H

#include <stddef.h>

/* The size after n_buckets, which is 1 or one that this function gave. */
size_t ngc_next_buckets(size_t n_buckets);

#endif

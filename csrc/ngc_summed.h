/* ngc_summed.h - followers with what draft steps ask for first kept beside them: the sum of the
 * counts, and the most frequent token, the smallest of equals. A test of a threshold reads both
 * and no follower.
 *
 *     view     sum | top token x count | pairs --> | token count | token count | ...
 *
 * A single follower is its own top and needs no array.
 */
#ifndef NGC_SUMMED_H
#define NGC_SUMMED_H

#include "ngc_slice.h"

typedef struct summed_view {
    const ngc_pair *pairs; /* not read where there is one */
    size_t length;         /* 0: there is none */
    int64_t sum;
    ngc_pair top;
    const void *where; /* the bytes that hold a single follower, for records */
} summed_view;

typedef size_t summed_view_cursor;

NGC_INLINE summed_view summed_view_none(void)
{
    return (summed_view){NULL, 0, 0, {NGC_NO_TOKEN, 0}, NULL};
}

NGC_INLINE bool summed_view_is_none(summed_view view)
{
    return view.length == 0;
}

NGC_INLINE size_t summed_view_length(summed_view view)
{
    return view.length;
}

NGC_INLINE summed_view_cursor summed_view_first(summed_view view)
{
    (void)view;
    return 0;
}

NGC_INLINE bool summed_view_more(summed_view view, summed_view_cursor c)
{
    return c < view.length;
}

NGC_INLINE summed_view_cursor summed_view_next(summed_view_cursor c)
{
    return c + 1;
}

NGC_INLINE ngc_pair summed_view_at(summed_view view, summed_view_cursor c)
{
    return view.length == 1 ? view.top : view.pairs[c];
}

NGC_INLINE void summed_view_record(ngc_recorder *recorder, int32_t what, summed_view view,
                                   summed_view_cursor c)
{
    if (recorder != NULL) {
        const void *item = view.length == 1 ? view.where : &view.pairs[c];
        ngc_record(recorder, what, view.length == 1 ? NULL : view.pairs, item,
                   sizeof(ngc_pair), (int64_t)c, summed_view_at(view, c).token);
    }
}

NGC_INLINE bool summed_view_searched(void)
{
    return true;
}

/* The bound of the scores needs the highest count; see ngc_rule.h. */
NGC_INLINE bool summed_view_knows_top(void)
{
    return true;
}

/* The count of a token, 0 if it is absent. */
NGC_INLINE int32_t summed_view_count(summed_view view, int32_t token, int32_t search,
                                     ngc_recorder *recorder)
{
    if (token == view.top.token) {
        return view.top.count;
    }
    if (view.length == 1) {
        return 0;
    }
    return slice_view_count((slice_view){view.pairs, view.length}, token, search, recorder);
}

/* Writes down what making a copy touches. */
static inline void summed_view_record_copy(summed_view from, summed_view copy,
                                           ngc_recorder *recorder)
{
    for (size_t i = 0; i < from.length; i++) {
        summed_view_record(recorder, NGC_TOUCH_COPIED, from, i);
        ngc_record(recorder, NGC_TOUCH_COPY, copy.pairs, &copy.pairs[i], sizeof *copy.pairs,
                   (int64_t)i, copy.pairs[i].token);
    }
}

/* A copy in one piece: the toggle copy_followers. */
typedef summed_view summed_holder;

NGC_INLINE void summed_holder_init(summed_holder *holder)
{
    *holder = summed_view_none();
}

NGC_INLINE ngc_status summed_holder_copy(ngc_allocator *allocator, summed_holder *holder,
                                         summed_view view)
{
    ngc_pair *pairs = ngc_alloc(allocator, view.length * sizeof *pairs, NGC_KIND_FOLLOWERS);
    if (pairs == NULL) {
        return NGC_NO_MEMORY;
    }
    for (size_t i = 0; i < view.length; i++) {
        pairs[i] = summed_view_at(view, i);
    }
    *holder = view;
    holder->pairs = pairs;
    holder->where = pairs;
    return NGC_OK;
}

NGC_INLINE summed_view summed_holder_view(const summed_holder *holder)
{
    return *holder;
}

NGC_INLINE void summed_holder_destroy(ngc_allocator *allocator, summed_holder *holder)
{
    ngc_free(allocator, (void *)(uintptr_t)holder->pairs, holder->length * sizeof *holder->pairs,
             NGC_KIND_FOLLOWERS);
}

#endif

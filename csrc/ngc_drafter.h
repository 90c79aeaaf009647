/* ngc_drafter.h - a drafter: one text and its context cache, between two others.
 *
 *     text   [ tokens so far ........ | drafted in this call .. | room ]
 *                                     ^ length
 *
 * Drafted tokens are written behind the text while a call lasts, so that the rule reads one
 * array; they are not part of the text.
 */
#ifndef NGC_DRAFTER_H
#define NGC_DRAFTER_H

#include "ngc_adding.h"

struct ngc_drafter {
    ngc_toggles toggles;
    ngc_rule rule;
    uint8_t least[2][NGC_N_MAX]; /* outlooks; see ngc_outlook.h */
    const ngc_cache *static_cache;
    ngc_cache *dynamic_cache;
    ngc_cache *context;
    size_t buckets_at_start; /* of the context cache, for rewinding to the same order */
    ngc_cache *rewound; /* the context after the first n_rewound tokens, while rewinding goes on */
    size_t n_rewound;   /* USED_UP: it is done, and `rewound` what was the context before */
    ngc_cache *next_context; /* while the text ends in slices; NULL: it does not */
    ngc_adding adding;       /* to the dynamic cache, meanwhile */
    ngc_allocator scratch;   /* what copying at look-ups takes */
    ngc_allocator own;
    int32_t *text;
    size_t length_tokens;
    size_t capacity_tokens;
};

/* Makes room for so many tokens behind the text. */
ngc_status ngc_drafter_reserve(ngc_drafter *drafter, size_t n_more_tokens);

#endif

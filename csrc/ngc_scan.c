/* ngc_scan.c - the loops over candidates; see ngc_scan.h. */
#include "ngc_scan.h"

#include "ngc_names.h"

#define VIEW chained
#define WEIGHTS chained
#include "ngc_scan_template.h"
#undef WEIGHTS

#define WEIGHTS slice
#include "ngc_scan_template.h"
#undef WEIGHTS

#define WEIGHTS packed
#include "ngc_scan_template.h"
#undef VIEW

#define VIEW slice
#include "ngc_scan_template.h"
#undef WEIGHTS

#define WEIGHTS slice
#include "ngc_scan_template.h"
#undef VIEW

#define VIEW summed
#include "ngc_scan_template.h"
#undef WEIGHTS

#define WEIGHTS packed
#include "ngc_scan_template.h"
#undef WEIGHTS

#define WEIGHTS summed
#include "ngc_scan_template.h"
#undef WEIGHTS
#undef VIEW

/* ---- the highest count ---- */

#define TOP(VIEW, NAME, RECORDER)                                                                  \
    ngc_best NAME(VIEW##_view followers, bool by_token, ngc_recorder *recorder)                    \
    {                                                                                              \
        (void)recorder;                                                                            \
        ngc_best best = {NGC_NO_TOKEN, 0, 0, 0};                                                   \
        for (VIEW##_view_cursor c = VIEW##_view_first(followers); VIEW##_view_more(followers, c);  \
             c = VIEW##_view_next(c)) {                                                            \
            if (c->count > best.count ||                                                           \
                (by_token && c->count == best.count && c->token < best.token)) {                   \
                best.token = c->token;                                                             \
                best.count = c->count;                                                             \
            }                                                                                      \
            best.sum += c->count;                                                                  \
            VIEW##_view_record(RECORDER, NGC_TOUCH_SCANNED, followers, c);                         \
        }                                                                                          \
        best.score = best.count;                                                                   \
        return best;                                                                               \
    }

TOP(chained, ngc_top_chained, NULL)
TOP(chained, ngc_top_chained_recorded, recorder)
TOP(slice, ngc_top_slice, NULL)
TOP(slice, ngc_top_slice_recorded, recorder)

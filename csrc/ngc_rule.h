/* ngc_rule.h - template: the draft rule, once.
 *
 * Guess the next token of a text from follower counts of its last n tokens:
 *
 *   1. S = static followers of the last two tokens. A token weighs 100 x its static count if it
 *      has one, else 1.
 *   2. In the context cache with lax thresholds, then, if no n passed, in the dynamic cache with
 *      strict ones, for n = 4 down to 1:
 *        y* = the follower with the highest score = count x weight, F = the sum of all counts;
 *        it passes if F >= a_n and 100 x count of y* >= p_n x F. The first n that passes drafts
 *        its y*. Scores rank; the tests use plain counts.
 *   3. If nothing passed: y* = the follower in S with the highest count, if the sum of S is >= 2
 *      and y* has half of it.
 *
 * Source: llama.cpp, common/ngram-cache.cpp, common_ngram_cache_draft and both try_draft. One
 * difference: there a text of two or three tokens is read before its start; here an n longer
 * than the text is skipped.
 *
 * The check before scoring (Daniel Lemire): the count of y* is at most the largest count, so an
 * n whose largest count fails the tests cannot pass, and its followers need no scores.
 *
 * The bound (as in dynamic pruning of ranked retrieval, Turtle and Flood 1995): whatever static
 * counts the others have, none scores more than (F - count of the most frequent) x the highest
 * weight. Where the most frequent follower's own score is above that, it is y*, and nothing is
 * scored; a single follower is y* unless its score could wrap to 0 or below.
 *
 * The glance: an index may keep beside a key, or in a filter, what its row can pass at most. A row
 * that must fail ends there, and its counts are not read.
 *
 * Included with OUTER, FOLLOWERS and VIEW set, and with STATIC (the kind of static cache) and
 * WEIGHTS (how its followers are stored). The cache brings C(find_last), which looks up the last n
 * tokens, with hashes that C(hash_last) made once for all n, and C(prefetch_last), which asks for
 * what a glance will read. C(glance) says whether an n-gram may pass, by what its slot keeps alone.
 * Everything takes a recorder; see ngc_recorder.h.
 */

#define R(name) NGC_PASTE(CACHE_T, _, STATIC, _##name)
#define V(name) NGC_PASTE(VIEW, _view, _, name)
#define W(name) NGC_PASTE(WEIGHTS, _view, _, name)
#define V_HOLDER(name) NGC_PASTE(VIEW, _holder, _, name)
#define W_HOLDER(name) NGC_PASTE(WEIGHTS, _holder, _, name)
#define V_HOLDER_T NGC_PAIR(VIEW, holder)
#define W_HOLDER_T NGC_PAIR(WEIGHTS, holder)
#define VIEW_T NGC_PAIR(VIEW, view)
#define WEIGHTS_T NGC_PAIR(WEIGHTS, view)

/* Calls the plain loop or the recorded one: the recorder is a constant NULL in the plain form. */
#define R_SCAN NGC_PAIR(ngc_scan, NGC_PAIR(VIEW, WEIGHTS))
#define R_SCAN_RECORDED NGC_PAIR(R_SCAN, recorded)
#define R_TOP(view) NGC_PAIR(ngc_top, view)
#define R_TOP_RECORDED(view) NGC_PAIR(R_TOP(view), recorded)

/* p_n x F. Past 63 bits it counts as the most there is, which no share reaches. */
NGC_INLINE int64_t R(needed)(int32_t min_percent, int64_t sum)
{
    return sum > INT64_MAX / NGC_MOST_PERCENT && min_percent > 0 ? INT64_MAX : min_percent * sum;
}

/* Both tests, in 64 bits; `share` is 100 times the count of y*. */
NGC_INLINE int32_t R(verdict)(const ngc_best *best, int64_t share, int32_t min_sum,
                              int32_t min_percent)
{
    if (best->token == NGC_NO_TOKEN) {
        return NGC_ROW_NO_SCORE;
    }
    bool rare = best->sum < min_sum;
    bool split = share < R(needed)(min_percent, best->sum);
    return rare ? (split ? NGC_ROW_RARE_AND_SPLIT : NGC_ROW_TOO_RARE)
                : (split ? NGC_ROW_TOO_SPLIT : NGC_ROW_PASSES);
}

/* ---- recording ---- */

NGC_INLINE ngc_row *R(open_row)(ngc_recorder *recorder, int32_t from, int32_t n, int32_t min_sum,
                                int32_t min_percent)
{
    if (recorder == NULL || recorder->step == NULL) {
        return NULL;
    }
    ngc_row *row = &recorder->step->rows[recorder->step->n_rows++];
    memset(row, 0, sizeof *row);
    row->from = from;
    row->n = n;
    row->min_sum = min_sum;
    row->min_percent = min_percent;
    row->best_token = NGC_NO_TOKEN;
    row->verdict = NGC_ROW_TOO_SHORT;
    return row;
}

NGC_INLINE void R(close_row)(ngc_row *row, int32_t verdict, const ngc_best *best, int64_t share,
                             size_t n_followers)
{
    if (row == NULL) {
        return;
    }
    row->verdict = verdict;
    row->best_token = best->token;
    row->best_count = best->count;
    row->best_score = best->score;
    row->sum = best->sum;
    row->share = share;
    row->needed = R(needed)(row->min_percent, best->sum);
    row->n_followers = (int64_t)n_followers;
    row->rest_sum = best->sum;
    for (int32_t i = 0; i < row->n_shown; i++) {
        row->rest_sum -= row->shown[i].count;
    }
}

/* A row that the check before scoring failed: its followers are shown by count. */
NGC_INLINE void R(close_prechecked)(ngc_row *row, int32_t verdict, const ngc_best *top,
                                    int64_t share, VIEW_T followers, bool by_token)
{
    if (row == NULL) {
        return;
    }
    for (V(cursor) c = V(first)(followers); V(more)(followers, c); c = V(next)(c)) {
        ngc_pair pair = V(at)(followers, c);
        ngc_row_show(row, pair.token, pair.count, 0, pair.count, by_token);
    }
    for (int32_t i = 0; i < row->n_shown; i++) {
        row->shown[i].score = 0;
    }
    R(close_row)(row, verdict, top, share, V(length)(followers));
    row->prechecked = 1;
    row->best_token = NGC_NO_TOKEN;
    row->best_score = 0;
}

static inline void R(record_weights)(ngc_recorder *recorder, const ngc_view *view,
                                     WEIGHTS_T weights)
{
    bool by_token = view->toggles->ties == NGC_TIES_TOKEN;
    uint32_t factor = (uint32_t)view->rule->weight;
    ngc_row *row = &recorder->step->weights;
    memset(row, 0, sizeof *row);
    recorder->step->has_weights = 1;
    row->from = NGC_FROM_STATIC;
    row->n = 2;
    row->best_token = NGC_NO_TOKEN;
    row->verdict = NGC_ROW_NOT_SEEN;
    if (W(is_none)(weights)) {
        return;
    }
    ngc_best best = {NGC_NO_TOKEN, 0, 0, 0};
    for (W(cursor) c = W(first)(weights); W(more)(weights, c); c = W(next)(c)) {
        ngc_pair pair = W(at)(weights, c);
        int64_t weight = view->toggles->score == NGC_SCORE_EXACT
                             ? (int64_t)factor * pair.count
                             : (int32_t)(factor * (uint32_t)pair.count);
        ngc_row_show(row, pair.token, pair.count, factor == 0 ? 1 : weight, pair.count, by_token);
        best.sum += pair.count;
    }
    best.token = row->shown[0].token;
    best.count = row->shown[0].count;
    best.score = row->shown[0].score;
    R(close_row)(row, NGC_ROW_PASSES, &best, (int64_t)100 * best.count, W(length)(weights));
}

/* ---- looking up ---- */

/* What is known of the text's last tokens while one step runs. */
typedef struct R(tail) {
    const int32_t *end; /* of the text */
    size_t length_tokens;
    ngc_hashes hashes;
    bool looked_up; /* the static followers */
    WEIGHTS_T weights;
    W_HOLDER_T weights_copy;
} R(tail);

/* With copy_followers, what a look-up finds is copied, as llama.cpp does. */
NGC_INLINE ngc_status R(look_up)(const ngc_view *view, const ngc_cache *cache, int which,
                                 const R(tail) *tail, int32_t n, V_HOLDER_T *copy,
                                 VIEW_T *followers, ngc_recorder *recorder)
{
    ngc_record_place(recorder, which + NGC_FROM_CONTEXT, n);
    *followers = C(find_last)(cache, tail->end, n, &tail->hashes, recorder);
    if (recorder != NULL) {
        recorder->probe->lookups[which][n - 1]++;
        recorder->probe->hits[which][n - 1] += !V(is_none)(*followers);
    }
    if (V(is_none)(*followers) || !view->toggles->copy_followers) {
        return NGC_OK;
    }
    ngc_status status = V_HOLDER(copy)(view->scratch, copy, *followers);
    if (recorder != NULL && status == NGC_OK) {
        V(record_copy)(*followers, V_HOLDER(view)(copy), recorder);
    }
    *followers = V_HOLDER(view)(copy);
    return status;
}

/* The static followers of the last two tokens; once a step. */
NGC_INLINE ngc_status R(look_up_static)(const ngc_view *view, R(tail) *tail,
                                        ngc_recorder *recorder)
{
    if (tail->looked_up || view->static_cache == NULL) {
        return NGC_OK;
    }
    tail->looked_up = true;
    int32_t from = recorder == NULL ? 0 : recorder->from, n = recorder == NULL ? 0 : recorder->n;
    ngc_record_place(recorder, NGC_FROM_STATIC, 2);
    ngc_key key = ngc_key_of(tail->end - 2, 2);
    tail->weights = R_STATIC_FIND(view->static_cache, &key, recorder);
    if (recorder != NULL) {
        recorder->probe->lookups[2][1]++;
        recorder->probe->hits[2][1] += !W(is_none)(tail->weights);
    }
    ngc_status status = NGC_OK;
    if (!W(is_none)(tail->weights) && view->toggles->copy_followers) {
        status = W_HOLDER(copy)(view->scratch, &tail->weights_copy, tail->weights);
        if (status != NGC_OK) {
            tail->weights = W(none)();
            return status;
        }
        if (recorder != NULL) {
            W(record_copy)(tail->weights, W_HOLDER(view)(&tail->weights_copy), recorder);
        }
        tail->weights = W_HOLDER(view)(&tail->weights_copy);
    }
    ngc_record_place(recorder, from, n);
    return status;
}

/* The same for what a step shows: it costs nothing that is counted. */
static inline WEIGHTS_T R(shown_weights)(const ngc_view *view, const R(tail) *tail)
{
    ngc_key key = ngc_key_of(tail->end - 2, 2);
    return view->static_cache == NULL ? W(none)() : R_STATIC_FIND(view->static_cache, &key, NULL);
}

/* ---- the bound ---- */

/* Whether a count's score is above 0 whatever its static count is. */
NGC_INLINE bool R(cannot_wrap)(const ngc_view *view, int32_t count)
{
    int32_t known = view->static_cache->largest_count;
    int64_t largest_count = known == 0 ? INT32_MAX : known;
    int64_t most = (int64_t)view->rule->weight * largest_count;
    return view->toggles->score == NGC_SCORE_EXACT || most == 0 || count <= INT32_MAX / most;
}

NGC_INLINE int64_t R(weight)(const ngc_view *view, const R(tail) *tail, int32_t token,
                             ngc_recorder *recorder)
{
    if (recorder != NULL) {
        recorder->probe->static_searches++;
    }
    int32_t count = W(count)(tail->weights, token, view->toggles->search, recorder);
    return count == 0 ? 1 : (int64_t)view->rule->weight * count;
}

/* The bound for each of the others: whether those that could outscore `own` with the highest
 * weight there is do not with theirs. */
NGC_INLINE bool R(beats_all)(const ngc_view *view, int64_t own, int64_t most, int32_t token,
                             VIEW_T followers, const R(tail) *tail, ngc_recorder *recorder)
{
    for (V(cursor) c = V(first)(followers); V(more)(followers, c); c = V(next)(c)) {
        ngc_pair pair = V(at)(followers, c);
        if (pair.count * most < own || pair.token == token) {
            continue;
        }
        V(record)(recorder, NGC_TOUCH_SCORED, followers, c);
        int64_t score = pair.count * R(weight)(view, tail, pair.token, recorder);
        if (score > own || (score == own && (view->toggles->ties == NGC_TIES_LIBRARY ||
                                             pair.token < token))) {
            return false;
        }
    }
    return true;
}

/* Whether the most frequent follower is y* by the bound. Looks static followers up where their
 * weights could matter. */
NGC_INLINE ngc_status R(settle)(const ngc_view *view, const ngc_best *top, VIEW_T followers,
                                R(tail) *tail, bool *settled, ngc_recorder *recorder)
{
    int32_t factor = view->static_cache == NULL ? 0 : view->rule->weight;
    size_t n_followers = V(length)(followers);
    *settled = false;
    if (factor == 0) {
        *settled = true;
        return NGC_OK;
    }
    if (n_followers == 1 && R(cannot_wrap)(view, top->count)) {
        *settled = true;
        return NGC_OK;
    }
    ngc_status status = R(look_up_static)(view, tail, recorder);
    if (status != NGC_OK || W(is_none)(tail->weights)) {
        *settled = status == NGC_OK;
        return status;
    }
    if (!W(knows_top)()) {
        return NGC_OK;
    }
    ngc_best heaviest = R_TOP(WEIGHTS)(tail->weights, true, NULL);
    int64_t most = (int64_t)factor * heaviest.count;
    int64_t rest = top->sum - top->count;
    if (top->count > (view->toggles->score == NGC_SCORE_EXACT ? INT64_MAX : INT32_MAX) / most ||
        rest > INT64_MAX / most) {
        return NGC_OK;
    }
    if (n_followers == 1) {
        *settled = true;
        return NGC_OK;
    }
    int64_t own = top->count; /* if a weight of 1 is enough */
    if (own <= rest * most) {
        own *= top->token == heaviest.token ? most
                                            : R(weight)(view, tail, top->token, recorder);
    }
    *settled = own > rest * most ||
               R(beats_all)(view, own, most, top->token, followers, tail, recorder);
    return NGC_OK;
}

/* ---- the rule ---- */

/* A row that the bound decided; with a row to show, what scoring would have given. */
NGC_INLINE void R(close_bounded)(const ngc_view *view, VIEW_T followers, const R(tail) *tail,
                                 const ngc_scoring *scoring, ngc_row *row)
{
    if (row == NULL) {
        return;
    }
    ngc_probe not_counted = {0};
    ngc_recorder aside = {.probe = &not_counted, .failed = false, .only_rows = true};
    WEIGHTS_T weights = view->rule->weight == 0 ? W(none)() : R(shown_weights)(view, tail);
    ngc_best best = R_SCAN_RECORDED(followers, weights, scoring, row, &aside);
    R(close_row)(row, NGC_ROW_PASSES, &best, (int64_t)100 * best.count, V(length)(followers));
    row->bounded = 1;
}

/* One n of step 2: whether its y* passes, and which it is. */
NGC_INLINE ngc_status R(judge)(const ngc_view *view, VIEW_T followers, R(tail) *tail,
                               int32_t min_sum, int32_t min_percent, ngc_best *best,
                               bool *passes, ngc_row *row, ngc_recorder *recorder)
{
    *passes = false;
    ngc_scoring scoring = {
        .factor = view->rule->weight,
        .search = view->toggles->search,
        .exact = view->toggles->score == NGC_SCORE_EXACT,
        .by_token = view->toggles->ties == NGC_TIES_TOKEN,
    };
    if (view->toggles->precheck || view->toggles->bound) {
        ngc_best top = recorder == NULL
                           ? R_TOP(VIEW)(followers, scoring.by_token, NULL)
                           : R_TOP_RECORDED(VIEW)(followers, scoring.by_token, recorder);
        int64_t most = (int64_t)100 * top.count;
        int32_t verdict = R(verdict)(&top, most, min_sum, min_percent);
        if (recorder != NULL) {
            recorder->probe->prechecks++;
            recorder->probe->precheck_skips += verdict != NGC_ROW_PASSES;
        }
        if (verdict != NGC_ROW_PASSES && view->toggles->precheck) {
            R(close_prechecked)(row, verdict, &top, most, followers, scoring.by_token);
            return NGC_OK;
        }
        if (verdict == NGC_ROW_PASSES && view->toggles->bound) {
            ngc_status status =
                R(settle)(view, &top, followers, tail, passes, recorder);
            if (status != NGC_OK) {
                return status;
            }
            if (*passes) {
                if (recorder != NULL) {
                    recorder->probe->bounded++;
                }
                R(close_bounded)(view, followers, tail, &scoring, row);
                *best = top;
                return NGC_OK;
            }
        }
    }
    ngc_status status = R(look_up_static)(view, tail, recorder);
    if (status != NGC_OK) {
        return status;
    }
    WEIGHTS_T weights = view->rule->weight == 0 ? W(none)() : tail->weights;
    *best = recorder == NULL ? R_SCAN(followers, weights, &scoring, NULL, NULL)
                             : R_SCAN_RECORDED(followers, weights, &scoring, row, recorder);
    int64_t share = (int64_t)100 * best->count;
    int32_t verdict = R(verdict)(best, share, min_sum, min_percent);
    R(close_row)(row, verdict, best, share, V(length)(followers));
    *passes = verdict == NGC_ROW_PASSES;
    return NGC_OK;
}

NGC_INLINE int32_t R(longest)(const ngc_view *view, const R(tail) *tail)
{
    return (size_t)view->rule->n_max < tail->length_tokens ? view->rule->n_max
                                                           : (int32_t)tail->length_tokens;
}

/* What the rule reads next if the context's longest n-gram does not decide. */
NGC_INLINE void R(prefetch)(const ngc_view *view, const R(tail) *tail)
{
    if (view->static_cache != NULL && view->toggles->glance && !tail->looked_up) {
        R_STATIC_PREFETCH_GLANCE(view->static_cache, tail->end - 2);
    }
    if (view->dynamic_cache != NULL) {
        for (int32_t n = R(longest)(view, tail); n >= view->rule->n_min; n--) {
            if (view->toggles->glance) {
                C(prefetch_last)(view->dynamic_cache, n, &tail->hashes);
            } else {
                C(prefetch_followers)(view->dynamic_cache, n, &tail->hashes);
            }
        }
    }
}

/* The sizes from n down to the least whose n-gram may pass, as bits 1 << n; all of them in a cache
 * that keeps no outlooks. */
NGC_INLINE uint32_t R(glance)(const ngc_view *view, const ngc_cache *cache, int which,
                              const R(tail) *tail, int32_t n, int32_t least,
                              ngc_recorder *recorder)
{
    if (!C(glances)() || !view->toggles->glance) {
        return UINT32_MAX;
    }
    uint32_t chances = 0;
    for (; n >= least; n--) {
        ngc_record_place(recorder, which + NGC_FROM_CONTEXT, n);
        chances |= (uint32_t)C(glance)(cache, n, &tail->hashes, view->least[which][n - 1],
                                       recorder)
                   << n;
    }
    return chances;
}

/* The next smaller size that is looked at. A record has rows of those without a chance, too. */
NGC_INLINE int32_t R(next)(uint32_t chances, int32_t n, const ngc_recorder *recorder)
{
    if (!C(glances)() || recorder != NULL) {
        return n - 1;
    }
    uint32_t left = chances & ((UINT32_C(1) << n) - 1);
    return (int32_t)ngc_platform_bit_length(left | 1) - 1;
}

/* Records a row that a glance ended, as reading it would have shown it. */
static inline void R(record_passed_over)(const ngc_view *view, const ngc_cache *cache, int which,
                                         const R(tail) *tail, int32_t n, ngc_row *row,
                                         ngc_recorder *recorder)
{
    bool by_token = view->toggles->ties == NGC_TIES_TOKEN;
    ngc_probe *probe = recorder->probe;
    VIEW_T followers = C(find_last)(cache, tail->end, n, &tail->hashes, NULL);
    probe->lookups[which][n - 1]++;
    if (V(is_none)(followers)) {
        if (row != NULL) {
            row->verdict = NGC_ROW_NOT_SEEN;
        }
        return;
    }
    probe->hits[which][n - 1]++;
    probe->prechecks++;
    probe->precheck_skips++;
    if (row != NULL) {
        ngc_best top = R_TOP(VIEW)(followers, by_token, NULL);
        int64_t most = (int64_t)100 * top.count;
        R(close_prechecked)(row, R(verdict)(&top, most, row->min_sum, row->min_percent), &top,
                            most, followers, by_token);
    }
}

/* Step 2 for one cache. */
NGC_INLINE ngc_status R(try_cache)(const ngc_view *view, const ngc_cache *cache, int32_t from,
                                   const int32_t *min_sums, const int32_t *min_percents,
                                   R(tail) *tail, ngc_pick *pick, ngc_recorder *recorder)
{
    int which = from - NGC_FROM_CONTEXT;
    int32_t n_min = view->rule->n_min, longest = R(longest)(view, tail);
    for (int32_t n = view->rule->n_max; recorder != NULL && n > longest && n >= n_min; n--) {
        R(open_row)(recorder, from, n, min_sums[n - 1], min_percents[n - 1]); /* too short a text */
    }
    if (longest < n_min) {
        return NGC_OK;
    }
    bool at_once = from == NGC_FROM_DYNAMIC;
    uint32_t chances =
        R(glance)(view, cache, which, tail, longest, at_once ? n_min : longest, recorder);
    if (at_once && view->toggles->prefetch) {
        for (int32_t n = longest; n >= n_min; n--) {
            if (chances >> n & 1) {
                C(prefetch_followers)(cache, n, &tail->hashes);
            }
        }
    }
    int32_t least = at_once ? n_min : longest; /* the shortest that was glanced at */
    for (int32_t n = R(next)(chances, longest + 1, recorder);; n = R(next)(chances, n, recorder)) {
        if (n < least && least > n_min) { /* the longest did not decide */
            if (view->toggles->prefetch) {
                R(prefetch)(view, tail);
            }
            chances = R(glance)(view, cache, which, tail, least - 1, n_min, recorder);
            n = R(next)(chances, least, recorder);
            least = n_min;
        }
        if (n < least) {
            return NGC_OK;
        }
        int32_t min_sum = min_sums[n - 1];
        int32_t min_percent = min_percents[n - 1];
        ngc_row *row = R(open_row)(recorder, from, n, min_sum, min_percent);
        if (!(chances >> n & 1)) {
            if (recorder != NULL) {
                R(record_passed_over)(view, cache, which, tail, n, row, recorder);
            }
            continue;
        }
        V_HOLDER_T copy;
        V_HOLDER(init)(&copy);
        VIEW_T followers;
        ngc_status status =
            R(look_up)(view, cache, which, tail, n, &copy, &followers, recorder);
        if (status != NGC_OK) {
            return status;
        }
        if (V(is_none)(followers)) {
            if (row != NULL) {
                row->verdict = NGC_ROW_NOT_SEEN;
            }
            continue;
        }
        ngc_best best = {NGC_NO_TOKEN, 0, 0, 0};
        bool passes;
        status = R(judge)(view, followers, tail, min_sum, min_percent, &best, &passes, row,
                          recorder);
        if (view->toggles->copy_followers) {
            V_HOLDER(destroy)(view->scratch, &copy);
        }
        if (status != NGC_OK) {
            return status;
        }
        if (passes) {
            *pick = (ngc_pick){best.token, from, n};
            return NGC_OK;
        }
    }
}

/* Step 3. llama.cpp copies the static followers once more here. */
NGC_INLINE ngc_status R(try_static)(const ngc_view *view, WEIGHTS_T counts, ngc_pick *pick,
                                    ngc_recorder *recorder)
{
    const ngc_rule *rule = view->rule;
    ngc_row *row =
        R(open_row)(recorder, NGC_FROM_STATIC, 2, rule->static_sum, rule->static_percent);
    if (W(is_none)(counts)) {
        if (row != NULL) {
            row->verdict = NGC_ROW_NOT_SEEN;
        }
        return NGC_OK;
    }
    ngc_record_place(recorder, NGC_FROM_STATIC, 2);
    bool copied = view->toggles->copy_followers && (recorder == NULL || !recorder->only_rows);
    W_HOLDER_T copy;
    W_HOLDER(init)(&copy);
    if (copied) {
        ngc_status status = W_HOLDER(copy)(view->scratch, &copy, counts);
        if (status != NGC_OK) {
            return status;
        }
        if (recorder != NULL) {
            W(record_copy)(counts, W_HOLDER(view)(&copy), recorder);
        }
        counts = W_HOLDER(view)(&copy);
    }
    bool by_token = view->toggles->ties == NGC_TIES_TOKEN;
    ngc_best best = recorder == NULL ? R_TOP(WEIGHTS)(counts, by_token, NULL)
                                     : R_TOP_RECORDED(WEIGHTS)(counts, by_token, recorder);
    int64_t share = view->toggles->score == NGC_SCORE_EXACT
                        ? (int64_t)100 * best.count
                        : (int32_t)((uint32_t)100 * (uint32_t)best.count);
    int32_t verdict = R(verdict)(&best, share, rule->static_sum, rule->static_percent);
    if (recorder != NULL) {
        for (W(cursor) c = W(first)(counts); row != NULL && W(more)(counts, c); c = W(next)(c)) {
            ngc_pair pair = W(at)(counts, c);
            ngc_row_show(row, pair.token, pair.count, 1, pair.count, by_token);
        }
        R(close_row)(row, verdict, &best, share, W(length)(counts));
    }
    if (copied) {
        W_HOLDER(destroy)(view->scratch, &copy);
    }
    if (verdict == NGC_ROW_PASSES) {
        *pick = (ngc_pick){best.token, NGC_FROM_STATIC, 2};
    }
    return NGC_OK;
}

/* Step 3, without a look-up where a glance shows that nothing passes. */
NGC_INLINE ngc_status R(end_with_static)(const ngc_view *view, R(tail) *tail, ngc_pick *pick,
                                         ngc_recorder *recorder)
{
    ngc_record_place(recorder, NGC_FROM_STATIC, 2);
    if (tail->looked_up || !view->toggles->glance ||
        R_STATIC_GLANCE(view->static_cache, tail->end - 2, view->rule, recorder)) {
        ngc_status status = R(look_up_static)(view, tail, recorder);
        return status != NGC_OK ? status : R(try_static)(view, tail->weights, pick, recorder);
    }
    if (recorder != NULL && recorder->step != NULL) { /* the row as a look-up would have shown it */
        ngc_probe not_counted = {0};
        ngc_recorder aside = {.probe = &not_counted, .step = recorder->step, .only_rows = true};
        return R(try_static)(view, R(shown_weights)(view, tail), pick, &aside);
    }
    return NGC_OK;
}

/* The whole rule, once; see the head of this file. */
NGC_INLINE ngc_status R(run)(const ngc_view *view, const int32_t *text, size_t length_tokens,
                             ngc_pick *pick, ngc_recorder *recorder)
{
    const ngc_rule *rule = view->rule;
    R(tail) tail; /* field by field: clearing all of it first would take as long as a look-up */
    tail.end = text + length_tokens;
    tail.length_tokens = length_tokens;
    tail.looked_up = false;
    tail.weights = W(none)();
    C(hash_last)(view->toggles, tail.end, length_tokens, &tail.hashes);
    W_HOLDER(init)(&tail.weights_copy);
    if (view->static_cache != NULL && view->toggles->prefetch) {
        R_STATIC_PREFETCH(view->static_cache, tail.end - 2); /* it comes while the context is read */
    }
    ngc_status status = NGC_OK;
    *pick = (ngc_pick){NGC_NO_TOKEN, NGC_FROM_NONE, 0};
    if (!view->toggles->late_static) {
        status = R(look_up_static)(view, &tail, recorder);
    }
    if (status == NGC_OK && recorder != NULL && recorder->step != NULL &&
        view->static_cache != NULL) {
        R(record_weights)(recorder, view, R(shown_weights)(view, &tail));
    }
    if (status == NGC_OK && view->context != NULL) {
        status = R(try_cache)(view, view->context, NGC_FROM_CONTEXT, rule->context_sum,
                              rule->context_percent, &tail, pick, recorder);
    }
    if (status == NGC_OK && pick->token == NGC_NO_TOKEN && view->dynamic_cache != NULL) {
        status = R(try_cache)(view, view->dynamic_cache, NGC_FROM_DYNAMIC, rule->dynamic_sum,
                              rule->dynamic_percent, &tail, pick, recorder);
    }
    if (status == NGC_OK && pick->token == NGC_NO_TOKEN && view->static_cache != NULL) {
        status = R(end_with_static)(view, &tail, pick, recorder);
    }
    if (!W(is_none)(tail.weights) && view->toggles->copy_followers) {
        W_HOLDER(destroy)(view->scratch, &tail.weights_copy);
    }
    return status;
}

static ngc_status R(pick)(const ngc_view *view, const int32_t *text, size_t length_tokens,
                          ngc_pick *pick)
{
    return R(run)(view, text, length_tokens, pick, NULL);
}

static ngc_status R(pick_recorded)(const ngc_view *view, const int32_t *text,
                                   size_t length_tokens, ngc_pick *pick, ngc_recorder *recorder)
{
    return R(run)(view, text, length_tokens, pick, recorder);
}

#undef R
#undef V
#undef W
#undef V_HOLDER
#undef W_HOLDER
#undef V_HOLDER_T
#undef W_HOLDER_T
#undef VIEW_T
#undef WEIGHTS_T
#undef R_SCAN
#undef R_SCAN_RECORDED
#undef R_TOP
#undef R_TOP_RECORDED

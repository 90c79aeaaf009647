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
 * Included with OUTER, FOLLOWERS and VIEW set, and with STATIC (the kind of static cache) and
 * WEIGHTS (how its followers are stored). Everything takes a recorder; see ngc_recorder.h.
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
        ngc_row_show(row, c->token, c->count, 0, c->count, by_token);
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
    if (recorder->step == NULL) {
        return;
    }
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

/* With copy_followers, what a look-up finds is copied, as llama.cpp does. */
NGC_INLINE ngc_status R(look_up)(const ngc_view *view, const ngc_cache *cache, int which,
                                 const ngc_key *key, int32_t n, V_HOLDER_T *copy,
                                 VIEW_T *followers, ngc_recorder *recorder)
{
    ngc_record_place(recorder, which + NGC_FROM_CONTEXT, n);
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, recorder);
    *followers = entry == NULL ? V(none)() : F(view)(&entry->followers);
    if (recorder != NULL) {
        recorder->probe->lookups[which][n - 1]++;
        recorder->probe->hits[which][n - 1] += entry != NULL;
    }
    if (entry == NULL || !view->toggles->copy_followers) {
        return NGC_OK;
    }
    ngc_status status = V_HOLDER(copy)(view->scratch, copy, *followers);
    if (recorder != NULL && status == NGC_OK) {
        V(record_copy)(*followers, V_HOLDER(view)(copy), recorder);
    }
    *followers = V_HOLDER(view)(copy);
    return status;
}

NGC_INLINE ngc_status R(look_up_static)(const ngc_view *view, const ngc_key *key,
                                        W_HOLDER_T *copy, WEIGHTS_T *followers,
                                        ngc_recorder *recorder)
{
    ngc_record_place(recorder, NGC_FROM_STATIC, 2);
    *followers = R_STATIC_FIND(view->static_cache, key, recorder);
    if (recorder != NULL) {
        recorder->probe->lookups[2][1]++;
        recorder->probe->hits[2][1] += !W(is_none)(*followers);
    }
    if (W(is_none)(*followers) || !view->toggles->copy_followers) {
        return NGC_OK;
    }
    ngc_status status = W_HOLDER(copy)(view->scratch, copy, *followers);
    if (recorder != NULL && status == NGC_OK) {
        W(record_copy)(*followers, W_HOLDER(view)(copy), recorder);
    }
    *followers = W_HOLDER(view)(copy);
    return status;
}

/* ---- the rule ---- */

/* One n of step 2: whether its y* passes, and which it is. */
NGC_INLINE bool R(judge)(const ngc_view *view, VIEW_T followers, WEIGHTS_T weights,
                         int32_t min_sum, int32_t min_percent, ngc_best *best, ngc_row *row,
                         ngc_recorder *recorder)
{
    ngc_scoring scoring = {
        .factor = view->rule->weight,
        .search = view->toggles->search,
        .exact = view->toggles->score == NGC_SCORE_EXACT,
        .by_token = view->toggles->ties == NGC_TIES_TOKEN,
    };
    if (view->toggles->precheck) {
        ngc_best top = recorder == NULL
                           ? R_TOP(VIEW)(followers, scoring.by_token, NULL)
                           : R_TOP_RECORDED(VIEW)(followers, scoring.by_token, recorder);
        int64_t most = (int64_t)100 * top.count;
        int32_t verdict = R(verdict)(&top, most, min_sum, min_percent);
        if (recorder != NULL) {
            recorder->probe->prechecks++;
            recorder->probe->precheck_skips += verdict != NGC_ROW_PASSES;
        }
        if (verdict != NGC_ROW_PASSES) {
            R(close_prechecked)(row, verdict, &top, most, followers, scoring.by_token);
            return false;
        }
    }
    *best = recorder == NULL ? R_SCAN(followers, weights, &scoring, NULL, NULL)
                             : R_SCAN_RECORDED(followers, weights, &scoring, row, recorder);
    int64_t share = (int64_t)100 * best->count;
    int32_t verdict = R(verdict)(best, share, min_sum, min_percent);
    R(close_row)(row, verdict, best, share, V(length)(followers));
    return verdict == NGC_ROW_PASSES;
}

/* Step 2 for one cache. */
NGC_INLINE ngc_status R(try_cache)(const ngc_view *view, const ngc_cache *cache, int32_t from,
                                   const int32_t *min_sums, const int32_t *min_percents,
                                   const int32_t *text, size_t length_tokens, WEIGHTS_T weights,
                                   ngc_pick *pick, ngc_recorder *recorder)
{
    for (int32_t n = view->rule->n_max; n >= view->rule->n_min; n--) {
        int32_t min_sum = min_sums[n - 1];
        int32_t min_percent = min_percents[n - 1];
        ngc_row *row = R(open_row)(recorder, from, n, min_sum, min_percent);
        if ((size_t)n > length_tokens) {
            continue;
        }
        ngc_key key = ngc_key_of(text + length_tokens - n, n);
        V_HOLDER_T copy;
        V_HOLDER(init)(&copy);
        VIEW_T followers;
        ngc_status status = R(look_up)(view, cache, from - NGC_FROM_CONTEXT, &key, n, &copy,
                                       &followers, recorder);
        if (status != NGC_OK) {
            return status;
        }
        if (V(is_none)(followers)) {
            if (row != NULL) {
                row->verdict = NGC_ROW_NOT_SEEN;
            }
            continue;
        }
        ngc_best best;
        bool passes =
            R(judge)(view, followers, weights, min_sum, min_percent, &best, row, recorder);
        if (view->toggles->copy_followers) {
            V_HOLDER(destroy)(view->scratch, &copy);
        }
        if (passes) {
            *pick = (ngc_pick){best.token, from, n};
            return NGC_OK;
        }
    }
    return NGC_OK;
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
    bool copied = view->toggles->copy_followers != 0;
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

/* The whole rule, once; see the head of this file. */
NGC_INLINE ngc_status R(run)(const ngc_view *view, const int32_t *text, size_t length_tokens,
                             ngc_pick *pick, ngc_recorder *recorder)
{
    const ngc_rule *rule = view->rule;
    W_HOLDER_T copy;
    W_HOLDER(init)(&copy);
    WEIGHTS_T static_followers = W(none)();
    ngc_status status = NGC_OK;
    *pick = (ngc_pick){NGC_NO_TOKEN, NGC_FROM_NONE, 0};
    if (view->static_cache != NULL) {
        ngc_key key = ngc_key_of(text + length_tokens - 2, 2);
        status = R(look_up_static)(view, &key, &copy, &static_followers, recorder);
        if (status != NGC_OK) {
            return status;
        }
        if (recorder != NULL) {
            R(record_weights)(recorder, view, static_followers);
        }
    }
    WEIGHTS_T weights = rule->weight == 0 ? W(none)() : static_followers;
    if (view->context != NULL) {
        status = R(try_cache)(view, view->context, NGC_FROM_CONTEXT, rule->context_sum,
                              rule->context_percent, text, length_tokens, weights, pick, recorder);
    }
    if (status == NGC_OK && pick->token == NGC_NO_TOKEN && view->dynamic_cache != NULL) {
        status = R(try_cache)(view, view->dynamic_cache, NGC_FROM_DYNAMIC, rule->dynamic_sum,
                              rule->dynamic_percent, text, length_tokens, weights, pick, recorder);
    }
    if (status == NGC_OK && pick->token == NGC_NO_TOKEN && view->static_cache != NULL) {
        status = R(try_static)(view, static_followers, pick, recorder);
    }
    if (!W(is_none)(static_followers) && view->toggles->copy_followers) {
        W_HOLDER(destroy)(view->scratch, &copy);
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

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
 * Included with OUTER and FOLLOWERS set and with RULE_RECORDS 0 (nothing but the rule) or 1 (a
 * step and counters are filled as well), so that what is timed holds no trace of recording.
 */

#define R_PASTE_(name, records) name##_##records
#define R_PASTE(name, records) R_PASTE_(name, records)
#define R(name) C(R_PASTE(name, RULE_RECORDS))

typedef struct R(recorder) {
    ngc_step *step;
    ngc_probe *probe;
} R(recorder);

typedef struct R(best) {
    int32_t token;
    int32_t count;
    int64_t score;
    int64_t sum;
} R(best);

/* 2^31 - 1 counts times 100 times as many would pass 63 bits; such a score counts as 2^63 - 1. */
NGC_INLINE int64_t R(exact_score)(int32_t count, int64_t weight)
{
    return weight > INT64_MAX / count ? INT64_MAX : count * weight;
}

NGC_INLINE int64_t R(weight)(const FOLLOWERS_T *weights, int32_t token, int32_t factor, bool exact)
{
    const int32_t *count = weights == NULL ? NULL : F(find)(weights, token);
    if (count == NULL) {
        return 1;
    }
    return exact ? (int64_t)factor * *count : (int32_t)((uint32_t)factor * (uint32_t)*count);
}

/* The sum of a row and its follower with the highest score, the first of equals. */
NGC_INLINE R(best) R(scan)(const FOLLOWERS_T *followers, const FOLLOWERS_T *weights,
                           int32_t factor, bool exact, bool by_token, ngc_row *row)
{
    R(best) best = {NGC_NO_TOKEN, 0, 0, 0};
    for (F(cursor) c = F(first)(followers); F(more)(followers, c); c = F(next)(c)) {
        int64_t weight = R(weight)(weights, c->token, factor, exact);
        int64_t score = exact ? R(exact_score)(c->count, weight)
                              : (int32_t)((uint32_t)c->count * (uint32_t)weight);
        if (score > best.score ||
            (by_token && score == best.score && c->token < best.token)) {
            best.token = c->token;
            best.count = c->count;
            best.score = score;
        }
        best.sum += c->count;
        if (RULE_RECORDS) {
            ngc_row_show(row, c->token, c->count, weight, score, by_token);
        }
    }
    return best;
}

/* Both tests, in 64 bits; `share` is 100 times the count of y*. */
NGC_INLINE int32_t R(verdict)(const R(best) *best, int64_t share, int32_t min_sum,
                              int32_t min_percent)
{
    if (best->token == NGC_NO_TOKEN) {
        return NGC_ROW_NO_SCORE;
    }
    bool rare = best->sum < min_sum;
    bool split = share < min_percent * best->sum;
    return rare ? (split ? NGC_ROW_RARE_AND_SPLIT : NGC_ROW_TOO_RARE)
                : (split ? NGC_ROW_TOO_SPLIT : NGC_ROW_PASSES);
}

NGC_INLINE void R(record_row)(ngc_row *row, const R(best) *best, int64_t share,
                              int64_t n_followers)
{
    row->best_token = best->token;
    row->best_count = best->count;
    row->best_score = best->score;
    row->sum = best->sum;
    row->share = share;
    row->needed = row->min_percent * best->sum;
    row->n_followers = n_followers;
    row->rest_sum = best->sum;
    for (int32_t i = 0; i < row->n_shown; i++) {
        row->rest_sum -= row->shown[i].count;
    }
}

NGC_INLINE ngc_row *R(open_row)(R(recorder) *recorder, int32_t from, int32_t n, int32_t min_sum,
                                int32_t min_percent)
{
    if (!RULE_RECORDS) {
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

/* The followers of an n-gram, NULL if the cache has none. With copy_followers they are copied
 * into `copy`, as llama.cpp does at each look-up that finds something. */
NGC_INLINE ngc_status R(look_up)(const ngc_view *view, const ngc_cache *cache, int which,
                                 const ngc_key *key, FOLLOWERS_T *copy,
                                 const FOLLOWERS_T **followers, R(recorder) *recorder)
{
    int64_t visited = 0;
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, &visited);
    *followers = entry == NULL ? NULL : &entry->followers;
    if (RULE_RECORDS) {
        recorder->probe->lookups[which]++;
        recorder->probe->hits[which] += entry != NULL;
        recorder->probe->visited_nodes += visited;
    }
    if (entry == NULL || !view->toggles->copy_followers) {
        return NGC_OK;
    }
    ngc_status status = F(copy)(view->scratch, copy, &entry->followers);
    *followers = copy;
    if (RULE_RECORDS) {
        recorder->probe->copied += (int64_t)entry->followers.length;
    }
    return status;
}

/* Step 2 of the rule for one cache. */
NGC_INLINE ngc_status R(try_cache)(const ngc_view *view, const ngc_cache *cache, int32_t from,
                                   const int32_t *min_sums, const int32_t *min_percents,
                                   const int32_t *text, size_t length_tokens,
                                   const FOLLOWERS_T *weights, ngc_pick *pick,
                                   R(recorder) *recorder)
{
    const ngc_rule *rule = view->rule;
    bool by_token = view->toggles->ties == NGC_TIES_TOKEN;
    bool copied = view->toggles->copy_followers != 0;
    for (int32_t n = rule->n_max; n >= rule->n_min; n--) {
        int32_t min_sum = min_sums[n - 1];
        int32_t min_percent = min_percents[n - 1];
        ngc_row *row = R(open_row)(recorder, from, n, min_sum, min_percent);
        if ((size_t)n > length_tokens) {
            continue;
        }
        ngc_key key = ngc_key_of(text + length_tokens - n, n);
        FOLLOWERS_T copy;
        const FOLLOWERS_T *followers;
        ngc_status status =
            R(look_up)(view, cache, from - NGC_FROM_CONTEXT, &key, &copy, &followers, recorder);
        if (status != NGC_OK) {
            return status;
        }
        if (followers == NULL) {
            if (RULE_RECORDS) {
                row->verdict = NGC_ROW_NOT_SEEN;
            }
            continue;
        }
        /* Two loops from one text: the products differ, and a test in each turn would be felt. */
        R(best) best = view->toggles->score == NGC_SCORE_EXACT
                           ? R(scan)(followers, weights, rule->weight, true, by_token, row)
                           : R(scan)(followers, weights, rule->weight, false, by_token, row);
        int64_t share = (int64_t)100 * best.count;
        int32_t verdict = R(verdict)(&best, share, min_sum, min_percent);
        if (RULE_RECORDS) {
            row->verdict = verdict;
            R(record_row)(row, &best, share, (int64_t)followers->length);
            recorder->probe->scored += (int64_t)followers->length;
            recorder->probe->static_searches +=
                weights == NULL ? 0 : (int64_t)followers->length;
        }
        if (copied) {
            F(destroy)(view->scratch, &copy);
        }
        if (verdict == NGC_ROW_PASSES) {
            *pick = (ngc_pick){best.token, from, n};
            return NGC_OK;
        }
    }
    return NGC_OK;
}

/* Step 3 of the rule. llama.cpp copies the static followers once more here. */
NGC_INLINE ngc_status R(try_static)(const ngc_view *view, const FOLLOWERS_T *counts,
                                    ngc_pick *pick, R(recorder) *recorder)
{
    const ngc_rule *rule = view->rule;
    ngc_row *row =
        R(open_row)(recorder, NGC_FROM_STATIC, 2, rule->static_sum, rule->static_percent);
    if (counts == NULL) {
        if (RULE_RECORDS) {
            row->verdict = NGC_ROW_NOT_SEEN;
        }
        return NGC_OK;
    }
    FOLLOWERS_T copy;
    bool copied = view->toggles->copy_followers != 0;
    if (copied) {
        ngc_status status = F(copy)(view->scratch, &copy, counts);
        if (status != NGC_OK) {
            return status;
        }
        counts = &copy;
    }
    bool by_token = view->toggles->ties == NGC_TIES_TOKEN;
    R(best) best = R(scan)(counts, NULL, 0, true, by_token, row);
    int64_t share = view->toggles->score == NGC_SCORE_EXACT
                        ? (int64_t)100 * best.count
                        : (int32_t)((uint32_t)100 * (uint32_t)best.count);
    int32_t verdict = R(verdict)(&best, share, rule->static_sum, rule->static_percent);
    if (RULE_RECORDS) {
        row->verdict = verdict;
        R(record_row)(row, &best, share, (int64_t)counts->length);
        recorder->probe->scanned += (int64_t)counts->length;
        recorder->probe->copied += copied ? (int64_t)counts->length : 0;
    }
    if (copied) {
        F(destroy)(view->scratch, &copy);
    }
    if (verdict == NGC_ROW_PASSES) {
        *pick = (ngc_pick){best.token, NGC_FROM_STATIC, 2};
    }
    return NGC_OK;
}

static inline void R(record_weights)(ngc_step *step, const FOLLOWERS_T *weights, int32_t factor,
                                     bool exact, bool by_token)
{
    ngc_row *row = &step->weights;
    memset(row, 0, sizeof *row);
    step->has_weights = 1;
    row->from = NGC_FROM_STATIC;
    row->n = 2;
    row->best_token = NGC_NO_TOKEN;
    row->verdict = weights == NULL ? NGC_ROW_NOT_SEEN : NGC_ROW_PASSES;
    if (weights == NULL) {
        return;
    }
    R(best) best = {NGC_NO_TOKEN, 0, 0, 0};
    for (F(cursor) c = F(first)(weights); F(more)(weights, c); c = F(next)(c)) {
        int64_t weight = factor == 0 ? 1 : R(weight)(weights, c->token, factor, exact);
        ngc_row_show(row, c->token, c->count, weight, c->count, by_token);
        best.sum += c->count;
    }
    best.token = row->shown[0].token;
    best.count = row->shown[0].count;
    best.score = row->shown[0].score;
    R(record_row)(row, &best, (int64_t)100 * best.count, (int64_t)weights->length);
}

/* The whole rule, once; see the head of this file. */
static ngc_status R(pick)(const ngc_view *view, const int32_t *text, size_t length_tokens,
                          ngc_pick *pick, ngc_step *step, ngc_probe *probe)
{
    const ngc_rule *rule = view->rule;
    R(recorder) recorder = {step, probe};
    FOLLOWERS_T copy;
    const FOLLOWERS_T *static_followers = NULL;
    ngc_status status = NGC_OK;
    *pick = (ngc_pick){NGC_NO_TOKEN, NGC_FROM_NONE, 0};
    if (RULE_RECORDS) {
        step->length_tokens = (int64_t)length_tokens;
        step->n_rows = 0;
        step->has_weights = 0;
    }
    if (view->static_cache != NULL) {
        ngc_key key = ngc_key_of(text + length_tokens - 2, 2);
        status = R(look_up)(view, view->static_cache, 2, &key, &copy, &static_followers,
                            &recorder);
        if (status != NGC_OK) {
            return status;
        }
        if (RULE_RECORDS) {
            R(record_weights)(step, static_followers, rule->weight,
                              view->toggles->score == NGC_SCORE_EXACT,
                              view->toggles->ties == NGC_TIES_TOKEN);
        }
    }
    const FOLLOWERS_T *weights = rule->weight == 0 ? NULL : static_followers;
    if (view->context != NULL) {
        status = R(try_cache)(view, view->context, NGC_FROM_CONTEXT, rule->context_sum,
                              rule->context_percent, text, length_tokens, weights, pick,
                              &recorder);
    }
    if (status == NGC_OK && pick->token == NGC_NO_TOKEN && view->dynamic_cache != NULL) {
        status = R(try_cache)(view, view->dynamic_cache, NGC_FROM_DYNAMIC, rule->dynamic_sum,
                              rule->dynamic_percent, text, length_tokens, weights, pick,
                              &recorder);
    }
    if (status == NGC_OK && pick->token == NGC_NO_TOKEN && view->static_cache != NULL) {
        status = R(try_static)(view, static_followers, pick, &recorder);
    }
    if (static_followers != NULL && view->toggles->copy_followers) {
        F(destroy)(view->scratch, &copy);
    }
    if (RULE_RECORDS) {
        step->token = pick->token;
        step->from = pick->from;
        step->n = pick->n;
    }
    return status;
}

#undef R_PASTE_
#undef R_PASTE
#undef R
#undef RULE_RECORDS

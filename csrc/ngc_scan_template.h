/* ngc_scan_template.h - template: the loops of ngc_scan.h for one VIEW and one WEIGHTS. */

#define V(name) NGC_PASTE(VIEW, _view, _, name)
#define W(name) NGC_PASTE(WEIGHTS, _view, _, name)
#define S(name) NGC_PASTE(NGC_PAIR(VIEW, WEIGHTS), _, scan_, name)
#define VIEW_T NGC_PAIR(VIEW, view)
#define WEIGHTS_T NGC_PAIR(WEIGHTS, view)

NGC_INLINE int64_t S(weight)(WEIGHTS_T weights, int32_t token, int32_t factor, bool exact,
                             int32_t search, ngc_recorder *recorder)
{
    if (recorder != NULL) {
        recorder->probe->static_searches++;
    }
    int32_t count = W(count)(weights, token, search, recorder);
    if (count == 0) {
        return 1;
    }
    return exact ? (int64_t)factor * count : (int32_t)((uint32_t)factor * (uint32_t)count);
}

/* 2^31 - 1 counts times 100 times as many would pass 63 bits; such a score counts as 2^63 - 1. */
NGC_INLINE int64_t S(score)(int32_t count, int64_t weight, bool exact)
{
    if (!exact) {
        return (int32_t)((uint32_t)count * (uint32_t)weight);
    }
    return weight > INT64_MAX / count ? INT64_MAX : count * weight;
}

NGC_INLINE ngc_best S(loop)(VIEW_T followers, WEIGHTS_T weights, bool weighted, int32_t factor,
                            int32_t search, bool exact, bool by_token, ngc_row *row,
                            ngc_recorder *recorder)
{
    ngc_best best = {NGC_NO_TOKEN, 0, 0, 0};
    for (V(cursor) c = V(first)(followers); V(more)(followers, c); c = V(next)(c)) {
        ngc_pair pair = V(at)(followers, c);
        int64_t weight =
            weighted ? S(weight)(weights, pair.token, factor, exact, search, recorder) : 1;
        int64_t score = S(score)(pair.count, weight, exact);
        if (score > best.score ||
            (by_token && score == best.score && pair.token < best.token)) {
            best.token = pair.token;
            best.count = pair.count;
            best.score = score;
        }
        best.sum += pair.count;
        V(record)(recorder, NGC_TOUCH_SCORED, followers, c);
        if (recorder != NULL && row != NULL) {
            ngc_row_show(row, pair.token, pair.count, weight, score, by_token);
        }
    }
    return best;
}

/* One loop from one text for each search and score: a test in every turn would be felt. */
NGC_INLINE ngc_best S(choose)(VIEW_T followers, WEIGHTS_T weights, const ngc_scoring *scoring,
                              ngc_row *row, ngc_recorder *recorder)
{
#define LOOP(search, exact)                                                                        \
    S(loop)(followers, weights, true, scoring->factor, search, exact, scoring->by_token, row,      \
            recorder)
#define BOTH(search) (scoring->exact ? LOOP(search, true) : LOOP(search, false))
    if (W(is_none)(weights)) {
        return S(loop)(followers, weights, false, 1, NGC_SEARCH_FIXED, true, scoring->by_token,
                       row, recorder);
    }
    if (!W(searched)()) {
        return BOTH(NGC_SEARCH_FIXED);
    }
    switch (scoring->search) {
    case NGC_SEARCH_LOWER_BOUND:
        return BOTH(NGC_SEARCH_LOWER_BOUND);
    case NGC_SEARCH_LINEAR:
        return BOTH(NGC_SEARCH_LINEAR);
    case NGC_SEARCH_SIMD:
        return BOTH(NGC_SEARCH_SIMD);
    default:
        return BOTH(NGC_SEARCH_FIXED);
    }
#undef BOTH
#undef LOOP
}

ngc_best NGC_PAIR(ngc_scan, NGC_PAIR(VIEW, WEIGHTS))(VIEW_T followers, WEIGHTS_T weights,
                                                     const ngc_scoring *scoring, ngc_row *row,
                                                     ngc_recorder *recorder)
{
    (void)row;
    (void)recorder;
    return S(choose)(followers, weights, scoring, NULL, NULL);
}

ngc_best NGC_PASTE(ngc_scan_, NGC_PAIR(VIEW, WEIGHTS), _, recorded)(VIEW_T followers,
                                                                    WEIGHTS_T weights,
                                                                    const ngc_scoring *scoring,
                                                                    ngc_row *row,
                                                                    ngc_recorder *recorder)
{
    return S(choose)(followers, weights, scoring, row, recorder);
}

#undef V
#undef W
#undef S
#undef VIEW_T
#undef WEIGHTS_T

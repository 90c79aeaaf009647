/* test_rule.c - the draft rule on worked examples. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

typedef struct totals {
    int passes, drafted, accepted;
} totals;

/* The caches that recipe B gives: the dynamic one, and as 2-grams the static one. */
typedef struct helpers {
    ngc_cache *dynamic_cache, *static_cache;
} helpers;

static helpers helpers_from_b(const ngc_toggles *toggles)
{
    return (helpers){counted(toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B)),
                     counted_static(toggles, RECIPE_B, LENGTH(RECIPE_B))};
}

static void free_helpers(helpers *helpers)
{
    ngc_cache_free(helpers->dynamic_cache);
    ngc_cache_free(helpers->static_cache);
}

static ngc_drafter *drafter_over(const ngc_toggles *toggles, helpers helpers)
{
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_rule_default(&rule);
    CHECK_OK(ngc_drafter_new(toggles, &rule, helpers.static_cache, helpers.dynamic_cache,
                             &drafter));
    return drafter;
}

/* Replays recipe A by hand, four guesses a pass, none past the end. */
static totals replay_a(ngc_drafter *drafter)
{
    totals totals = {0, 0, 0};
    size_t n_done;
    CHECK_OK(ngc_drafter_feed(drafter, RECIPE_A, 1, &n_done));
    while (ngc_drafter_length(drafter) < LENGTH(RECIPE_A)) {
        const int32_t *truth = RECIPE_A + ngc_drafter_length(drafter);
        int32_t left = (int32_t)(LENGTH(RECIPE_A) - ngc_drafter_length(drafter));
        int32_t drafted[4];
        int32_t n_drafted, n_right = 0;
        CHECK_OK(ngc_drafter_draft(drafter, left < 4 ? left : 4, drafted, &n_drafted));
        while (n_right < n_drafted && drafted[n_right] == truth[n_right]) {
            n_right++;
        }
        totals.passes++;
        totals.drafted += n_drafted;
        totals.accepted += n_right;
        int32_t n_new = n_right < left ? n_right + 1 : n_right;
        CHECK_OK(ngc_drafter_feed(drafter, truth, (size_t)n_new, &n_done));
    }
    return totals;
}

static void check_totals(helpers (*make)(const ngc_toggles *), totals wanted)
{
    ngc_toggles toggles = *with_toggles;
    toggles.ties = NGC_TIES_TOKEN;
    helpers helpers = make(&toggles);
    ngc_drafter *drafter = drafter_over(&toggles, helpers);
    totals got = replay_a(drafter);
    CHECK_EQUAL(got.passes, wanted.passes);
    CHECK_EQUAL(got.drafted, wanted.drafted);
    CHECK_EQUAL(got.accepted, wanted.accepted);
    check_sound(ngc_drafter_context_view(drafter));
    ngc_drafter_free(drafter);
    free_helpers(&helpers);
}

static helpers no_helpers(const ngc_toggles *toggles)
{
    (void)toggles;
    return (helpers){NULL, NULL};
}

static helpers dynamic_alone(const ngc_toggles *toggles)
{
    return (helpers){counted(toggles, 1, 4, RECIPE_B, LENGTH(RECIPE_B)), NULL};
}

void test_recipe_totals(void)
{
    check_totals(no_helpers, (totals){88, 50, 28});
    check_totals(dynamic_alone, (totals){81, 56, 35});
    check_totals(helpers_from_b, (totals){79, 64, 37});
}

/* ---- single steps ---- */

/* The step that guesses the word of this number, first word 1, from the true words before it. */
static ngc_step step_at_word(ngc_drafter *drafter, size_t word)
{
    ngc_step steps[2];
    int32_t n_steps;
    size_t n_done;
    ngc_probe probe;
    CHECK_OK(ngc_drafter_rewind(drafter, 0));
    CHECK_OK(ngc_drafter_feed(drafter, RECIPE_A, word - 1, &n_done));
    CHECK_OK(ngc_drafter_trace(drafter, 1, steps, &n_steps, &probe));
    CHECK_EQUAL(n_steps, 1);
    return steps[0];
}

static void check_row(const ngc_step *step, int32_t i, int32_t from, int32_t n, int32_t verdict)
{
    if (CHECK(i < step->n_rows)) {
        CHECK_EQUAL(step->rows[i].from, from);
        CHECK_EQUAL(step->rows[i].n, n);
        CHECK_EQUAL(step->rows[i].verdict, verdict);
    }
}

static void check_tests(const ngc_row *row, int64_t sum, int64_t share, int64_t needed)
{
    CHECK_EQUAL(row->sum, sum);
    CHECK_EQUAL(row->share, share);
    CHECK_EQUAL(row->needed, needed);
}

static void check_guess(const ngc_step *step, int32_t token, int32_t from, int32_t n)
{
    CHECK_EQUAL(step->token, token);
    CHECK_EQUAL(step->from, from);
    CHECK_EQUAL(step->n, n);
}

/* "into the": every row says no, down to the static fallback. */
static void check_the_ladder(ngc_drafter *drafter)
{
    ngc_step step = step_at_word(drafter, 40);
    CHECK_EQUAL(step.n_rows, 9);
    check_row(&step, 0, NGC_FROM_CONTEXT, 4, NGC_ROW_NOT_SEEN);
    check_row(&step, 1, NGC_FROM_CONTEXT, 3, NGC_ROW_NOT_SEEN);
    check_row(&step, 2, NGC_FROM_CONTEXT, 2, NGC_ROW_TOO_RARE);
    check_row(&step, 3, NGC_FROM_CONTEXT, 1, NGC_ROW_TOO_SPLIT);
    check_row(&step, 4, NGC_FROM_DYNAMIC, 4, NGC_ROW_TOO_RARE);
    check_row(&step, 5, NGC_FROM_DYNAMIC, 3, NGC_ROW_TOO_RARE);
    check_row(&step, 6, NGC_FROM_DYNAMIC, 2, NGC_ROW_TOO_RARE);
    check_row(&step, 7, NGC_FROM_DYNAMIC, 1, NGC_ROW_TOO_SPLIT);
    check_row(&step, 8, NGC_FROM_STATIC, 2, NGC_ROW_PASSES);
    check_tests(&step.rows[3], 7, 200, 462);
    CHECK_EQUAL(step.rows[3].best_token, FLOUR); /* 2 as batter has, and the smaller id */
    check_tests(&step.rows[7], 10, 200, 750);
    CHECK_EQUAL(step.rows[7].best_score, 400);
    check_tests(&step.rows[8], 2, 200, 100);
    check_guess(&step, TIN, NGC_FROM_STATIC, 2);
    CHECK_EQUAL(step.weights.shown[0].weight, 200);
}

void test_recipe_steps(void)
{
    ngc_toggles toggles = toggles_of(0, NGC_TIES_TOKEN, NGC_SCORE_EXACT);
    helpers helpers = helpers_from_b(&toggles);
    ngc_drafter *drafter = drafter_over(&toggles, helpers);
    check_the_ladder(drafter);

    /* "tin and": stir has 3 of 5, the context fails; the dynamic cache knows bake. */
    ngc_step step = step_at_word(drafter, 42);
    check_row(&step, 3, NGC_FROM_CONTEXT, 1, NGC_ROW_TOO_SPLIT);
    check_tests(&step.rows[3], 5, 300, 330);
    check_guess(&step, BAKE, NGC_FROM_DYNAMIC, 4);

    /* "the batter": the weight makes `into` win, and the plain count then vetoes it. */
    step = step_at_word(drafter, 82);
    CHECK_EQUAL(step.rows[2].best_token, INTO);
    CHECK_EQUAL(step.rows[2].best_score, 100);
    check_tests(&step.rows[2], 3, 100, 150);
    check_guess(&step, NGC_NO_TOKEN, NGC_FROM_NONE, 0);

    /* "into the": the weight turns a tie. */
    step = step_at_word(drafter, 89);
    CHECK_EQUAL(step.rows[2].best_score, 200);
    check_guess(&step, TIN, NGC_FROM_CONTEXT, 2);

    /* "until pale": the context passes, so the dynamic cache is not asked. */
    step = step_at_word(drafter, 102);
    CHECK_EQUAL(step.n_rows, 3);
    check_guess(&step, AND, NGC_FROM_CONTEXT, 2);

    ngc_drafter_free(drafter);
    free_helpers(&helpers);
}

void test_recipe_steps_without_weights(void)
{
    ngc_toggles toggles = toggles_of(0, NGC_TIES_TOKEN, NGC_SCORE_EXACT);
    ngc_drafter *drafter = drafter_over(&toggles, no_helpers(&toggles));
    ngc_step step = step_at_word(drafter, 82);
    CHECK_EQUAL(step.has_weights, 0);
    check_guess(&step, REST, NGC_FROM_CONTEXT, 2);
    step = step_at_word(drafter, 89);
    check_guess(&step, BOWL, NGC_FROM_CONTEXT, 2);
    ngc_drafter_free(drafter);
}

/* ---- short texts ---- */

void test_short_texts(void)
{
    ngc_toggles toggles = toggles_of(1, NGC_TIES_LIBRARY, NGC_SCORE_INT32);
    ngc_drafter *drafter = drafter_over(&toggles, no_helpers(&toggles));
    ngc_step steps[5];
    ngc_probe probe;
    int32_t n_steps;
    size_t n_done;
    CHECK_OK(ngc_drafter_feed(drafter, (int32_t[]){9}, 1, &n_done));
    CHECK_OK(ngc_drafter_trace(drafter, 4, steps, &n_steps, &probe));
    CHECK_EQUAL(n_steps, 0);
    CHECK_OK(ngc_drafter_feed(drafter, (int32_t[]){9}, 1, &n_done));
    CHECK_OK(ngc_drafter_trace(drafter, 4, steps, &n_steps, &probe));
    CHECK_EQUAL(n_steps, 1);
    check_row(&steps[0], 0, NGC_FROM_CONTEXT, 4, NGC_ROW_TOO_SHORT);
    check_row(&steps[0], 1, NGC_FROM_CONTEXT, 3, NGC_ROW_TOO_SHORT);
    check_row(&steps[0], 2, NGC_FROM_CONTEXT, 2, NGC_ROW_NOT_SEEN);
    check_row(&steps[0], 3, NGC_FROM_CONTEXT, 1, NGC_ROW_TOO_RARE);
    ngc_drafter_free(drafter);
}

/* ---- products in 32 bits ---- */

/* A cache of 2-grams with the followers of (8, 9): pairs of token and count. */
static ngc_cache *static_row(const ngc_toggles *toggles, const int32_t *pairs, size_t n_pairs)
{
    int32_t record[5 + 2 * 4] = {8, 9, -1, -1, (int32_t)n_pairs};
    memcpy(record + 5, pairs, 2 * n_pairs * sizeof *pairs);
    uint8_t bytes[sizeof record];
    size_t n_bytes = 20 + 8 * n_pairs;
    for (size_t i = 0; i < n_bytes; i++) {
        bytes[i] = (uint8_t)((uint32_t)record[i / 4] >> i % 4 * 8);
    }
    return loaded(toggles, bytes, n_bytes);
}

/* Text: (8, 9) was followed by 1 twenty times, by 2 once; now it stands at the end. */
static int32_t guess_after_8_9(const ngc_toggles *toggles, const ngc_cache *static_cache,
                               bool with_context)
{
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_rule_default(&rule);
    rule.use_context = with_context;
    CHECK_OK(ngc_drafter_new(toggles, &rule, static_cache, NULL, &drafter));
    size_t n_done;
    for (int i = 0; i < 20; i++) {
        CHECK_OK(ngc_drafter_feed(drafter, (int32_t[]){8, 9, 1}, 3, &n_done));
    }
    CHECK_OK(ngc_drafter_feed(drafter, (int32_t[]){8, 9, 2, 7, 8, 9}, 6, &n_done));
    int32_t drafted[1] = {NGC_NO_TOKEN};
    int32_t n_drafted;
    CHECK_OK(ngc_drafter_draft(drafter, 1, drafted, &n_drafted));
    ngc_drafter_free(drafter);
    return n_drafted == 0 ? NGC_NO_TOKEN : drafted[0];
}

void test_products_wrap_as_in_llama_cpp(void)
{
    ngc_toggles wrapping = toggles_of(0, NGC_TIES_TOKEN, NGC_SCORE_INT32);
    ngc_toggles exact = toggles_of(0, NGC_TIES_TOKEN, NGC_SCORE_EXACT);

    /* 20 * 100 * 1,100,000 is negative in 32 bits: 2 wins there, the veto stops it, and the
     * static fallback has the last word. */
    int32_t weights[] = {1, 1100000, 2, 2, 3, 1200000};
    ngc_cache *cache = static_row(&wrapping, weights, 3);
    CHECK_EQUAL(guess_after_8_9(&exact, cache, true), 1);
    CHECK_EQUAL(guess_after_8_9(&wrapping, cache, true), 3);
    ngc_cache_free(cache);

    /* The fallback's own product: 100 * 21,474,837 is negative in 32 bits. */
    int32_t large[] = {5, 21474837};
    cache = static_row(&wrapping, large, 1);
    CHECK_EQUAL(guess_after_8_9(&exact, cache, false), 5);
    CHECK_EQUAL(guess_after_8_9(&wrapping, cache, false), NGC_NO_TOKEN);
    ngc_cache_free(cache);
    int32_t just_below[] = {5, 21474836};
    cache = static_row(&wrapping, just_below, 1);
    CHECK_EQUAL(guess_after_8_9(&wrapping, cache, false), 5);
    ngc_cache_free(cache);

    /* Counts and sums near the end of 32 bits. */
    int32_t largest[] = {5, INT32_MAX, 6, INT32_MAX, 7, INT32_MAX};
    cache = static_row(&wrapping, largest, 3);
    CHECK_EQUAL(guess_after_8_9(&exact, cache, false), NGC_NO_TOKEN); /* a third each */
    ngc_cache_free(cache);
    cache = static_row(&wrapping, largest, 2);
    CHECK_EQUAL(guess_after_8_9(&exact, cache, false), 5); /* half, and the smaller id */
    ngc_cache_free(cache);
}

/* ---- recording changes nothing ---- */

static void check_recorded(ngc_drafter *drafter, const ngc_toggles *toggles)
{
    enum { N_DRAFT = 8 };
    static ngc_step steps[N_DRAFT + 1];
    int32_t drafted[N_DRAFT];
    int32_t n_drafted, n_steps;
    ngc_probe probe;
    CHECK_OK(ngc_drafter_draft(drafter, N_DRAFT, drafted, &n_drafted));
    CHECK_OK(ngc_drafter_trace(drafter, N_DRAFT, steps, &n_steps, &probe));
    CHECK_EQUAL(n_steps, n_drafted < N_DRAFT ? n_drafted + 1 : n_drafted);
    int64_t rows_seen = 0;
    for (int32_t i = 0; i < n_steps; i++) {
        CHECK_EQUAL(steps[i].token, i < n_drafted ? drafted[i] : NGC_NO_TOKEN);
        for (int32_t row = 0; row < steps[i].n_rows; row++) {
            rows_seen += steps[i].rows[row].n_followers > 0 &&
                         steps[i].rows[row].from != NGC_FROM_STATIC;
        }
    }
    int64_t hits = 0;
    for (int32_t n = 1; n <= 4; n++) {
        hits += probe.hits[0][n - 1] + probe.hits[1][n - 1];
    }
    CHECK_EQUAL(hits, rows_seen);
    CHECK(toggles->late_static ? probe.lookups[2][1] <= n_steps : probe.lookups[2][1] == n_steps);
    CHECK(probe.static_searches <= probe.scored + (toggles->bound ? rows_seen : 0));
    /* What a glance ended is told as found, and was not read. */
    bool may_copy = toggles->copy_followers && hits + probe.hits[2][1] > 0;
    CHECK(toggles->glance ? probe.copied == 0 || may_copy : (probe.copied > 0) == may_copy);
    CHECK_EQUAL(probe.n_drafted, n_drafted);
}

void test_recording_changes_nothing(void)
{
    enum { N = 400 };
    int32_t text[N], corpus[N];
    random_text(text, N, 12, 1);
    random_text(corpus, N, 12, 2);
    helpers helpers = {counted(with_toggles, 1, 4, corpus, N),
                       counted_static(with_toggles, corpus, N)};
    ngc_drafter *drafter = drafter_over(with_toggles, helpers);
    for (size_t i = 0; i < N; i += 10) {
        size_t n_done;
        CHECK_OK(ngc_drafter_feed(drafter, text + i, 10, &n_done));
        check_recorded(drafter, with_toggles);
    }
    ngc_drafter_free(drafter);
    free_helpers(&helpers);
}

/* Where the smaller id wins a tie, nothing but the score may change a draft, and with small counts
 * not even that; where the library's order decides, neither the outer table nor copying may. */
void test_toggles_change_no_draft(void)
{
    enum { N = 3000 };
    static int32_t text[N], corpus[N];
    random_text(text, N, 40, 3);
    random_text(corpus, N, 40, 4);
    uint64_t by_ties[2] = {0, 0};
    for (size_t k = 0; toggles_at(k) != NULL; k++) {
        const ngc_toggles *toggles = toggles_at(k);
        ngc_cache *static_cache = counted_static(toggles, corpus, N);
        ngc_rule rule;
        ngc_replay *replay;
        ngc_sample sample;
        ngc_rule_default(&rule);
        ngc_replay_options options = {.n_ctx = 700, .n_draft = 6};
        CHECK_OK(
            ngc_replay_new(toggles, &rule, &options, text, N, static_cache, NULL, &replay));
        CHECK_OK(ngc_replay_advance(replay, -1, -1, &sample));
        CHECK(sample.done && sample.n_accept > 100);
        uint64_t *wanted = &by_ties[toggles->ties];
        *wanted = *wanted == 0 ? sample.drafts_checksum : *wanted;
        CHECK(sample.drafts_checksum == *wanted);
        ngc_replay_free(replay);
        ngc_cache_free(static_cache);
    }
    CHECK(by_ties[0] != by_ties[1]);
}

/* test_replay.c - a replay in slices, against a loop written here. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 1500 };

typedef struct recording {
    ngc_sample sample;
    int32_t *drafts;
    size_t n_drafts;
    ngc_call *calls;
    size_t n_calls;
} recording;

static ngc_replay *new_replay(const ngc_toggles *toggles, const ngc_replay_options *options,
                              const int32_t *text, size_t length)
{
    ngc_rule rule;
    ngc_replay *replay;
    ngc_rule_default(&rule);
    CHECK_OK(ngc_replay_new(toggles, &rule, options, text, length, NULL, NULL, &replay));
    return replay;
}

/* Replays a text in slices of that many tokens, taking what was recorded after each. */
static recording recorded(const ngc_toggles *toggles, const ngc_replay_options *options,
                          const int32_t *text, size_t length, int64_t slice_tokens)
{
    enum { ROOM = 30000 };
    recording out = {.drafts = malloc(ROOM * sizeof(int32_t)),
                     .calls = malloc(ROOM * sizeof(ngc_call))};
    ngc_replay *replay = new_replay(toggles, options, text, length);
    size_t n;
    do {
        int64_t before = out.sample.n_replayed;
        CHECK_OK(ngc_replay_advance(replay, slice_tokens, -1, &out.sample));
        CHECK(out.sample.n_replayed > before || out.sample.done);
        CHECK_OK(ngc_replay_take_drafts(replay, out.drafts + out.n_drafts, ROOM - out.n_drafts,
                                        &n));
        out.n_drafts += n;
        CHECK_OK(ngc_replay_take_calls(replay, out.calls + out.n_calls, ROOM - out.n_calls, &n));
        out.n_calls += n;
    } while (!out.sample.done);
    check_sound(ngc_replay_dynamic_view(replay));
    ngc_replay_free(replay);
    return out;
}

static void free_recording(recording *recording)
{
    free(recording->drafts);
    free(recording->calls);
}

static void check_same_sample(const ngc_sample *a, const ngc_sample *b)
{
    CHECK_EQUAL(a->n_tokens, b->n_tokens);
    CHECK_EQUAL(a->n_replayed, b->n_replayed);
    CHECK_EQUAL(a->n_left_out, b->n_left_out);
    CHECK_EQUAL(a->n_calls, b->n_calls);
    CHECK_EQUAL(a->n_drafted, b->n_drafted);
    CHECK_EQUAL(a->n_accept, b->n_accept);
    CHECK_EQUAL(a->copied_bytes, b->copied_bytes);
    CHECK_EQUAL(a->copied_allocations, b->copied_allocations);
    CHECK_EQUAL(a->context_bytes, b->context_bytes);
    CHECK_EQUAL(a->dynamic_bytes, b->dynamic_bytes);
    CHECK(a->drafts_checksum == b->drafts_checksum);
}

/* One token at a time, seven, all at once: the same. */
void test_slices_of_any_size(void)
{
    static int32_t text[N];
    random_text(text, N, 30, 31);
    for (int32_t tail = NGC_TAIL_KEEP; tail <= NGC_TAIL_DROP; tail++) {
        ngc_replay_options options = {.n_ctx = 200, .n_draft = 8, .tail = tail, .record = 3};
        recording whole = recorded(with_toggles, &options, text, N, -1);
        const int64_t slices[] = {0, 1, 7, 199, 200, 201, 1000};
        for (size_t i = 0; i < LENGTH(slices); i++) {
            recording parts = recorded(with_toggles, &options, text, N, slices[i]);
            check_same_sample(&parts.sample, &whole.sample);
            CHECK(parts.n_drafts == whole.n_drafts &&
                  memcmp(parts.drafts, whole.drafts, whole.n_drafts * sizeof(int32_t)) == 0);
            CHECK_EQUAL(parts.n_calls, whole.n_calls);
            free_recording(&parts);
        }
        CHECK_EQUAL(whole.sample.n_replayed, tail == NGC_TAIL_KEEP ? N : 1400);
        CHECK_EQUAL(whole.sample.n_left_out, tail == NGC_TAIL_KEEP ? 0 : 100);
        CHECK_EQUAL(whole.n_calls, whole.sample.n_calls);
        CHECK(whole.sample.n_accept > 100);
        free_recording(&whole);
    }
}

/* ---- against a loop of our own ---- */

/* One draft call of RULE: draft, accept what matches, take one token more. */
static ngc_call call_by_hand(ngc_drafter *drafter, const int32_t *rest, size_t left,
                             const ngc_replay_options *options, int32_t *drafted)
{
    ngc_call call = {0, 0, 0, 0};
    int32_t n_draft = options->n_draft;
    if (options->tail == NGC_TAIL_KEEP && (size_t)n_draft > left) {
        n_draft = (int32_t)left;
    }
    CHECK_OK(ngc_drafter_draft(drafter, n_draft, drafted, &call.n_drafted));
    size_t n_right = 0, n_done;
    while (n_right < (size_t)call.n_drafted && n_right < left && drafted[n_right] == rest[n_right]) {
        n_right++;
    }
    call.n_accept = (int32_t)n_right;
    CHECK_OK(ngc_drafter_feed(drafter, rest, n_right < left ? n_right + 1 : n_right, &n_done));
    return call;
}

static void check_by_hand(const ngc_toggles *toggles, const ngc_replay_options *options,
                          const int32_t *text, size_t length)
{
    recording replayed = recorded(toggles, options, text, length, -1);
    ngc_rule rule;
    ngc_cache *dynamic_cache;
    ngc_drafter *drafter;
    ngc_rule_default(&rule);
    CHECK_OK(ngc_cache_new(toggles, 1, 4, &dynamic_cache));
    CHECK_OK(ngc_drafter_new(toggles, &rule, NULL, dynamic_cache, &drafter));
    size_t n_ctx = (size_t)options->n_ctx;
    size_t call_at = 0, draft_at = 0, n_done;
    for (size_t start = 0; start < length; start += n_ctx) {
        size_t left = length - start;
        if (options->tail == NGC_TAIL_DROP && left <= n_ctx) {
            break;
        }
        size_t chunk = left < n_ctx ? left : n_ctx;
        CHECK_OK(ngc_drafter_feed(drafter, text + start, 1, &n_done));
        while (ngc_drafter_length(drafter) < chunk) {
            int32_t drafted[32];
            size_t at = ngc_drafter_length(drafter);
            ngc_call call =
                call_by_hand(drafter, text + start + at, chunk - at, options, drafted);
            CHECK_EQUAL(replayed.calls[call_at].n_drafted, call.n_drafted);
            CHECK_EQUAL(replayed.calls[call_at].n_accept, call.n_accept);
            CHECK_EQUAL(replayed.drafts[draft_at], call.n_drafted);
            CHECK(memcmp(replayed.drafts + draft_at + 1, drafted,
                         (size_t)call.n_drafted * sizeof *drafted) == 0);
            draft_at += 1 + (size_t)call.n_drafted;
            call_at++;
        }
        CHECK_OK(ngc_drafter_end_text(drafter));
    }
    CHECK_EQUAL(call_at, replayed.n_calls);
    CHECK_EQUAL(draft_at, replayed.n_drafts);
    ngc_drafter_free(drafter);
    ngc_cache_free(dynamic_cache);
    free_recording(&replayed);
}

void test_replay_as_by_hand(void)
{
    static int32_t text[N];
    random_text(text, N, 25, 41);
    const int64_t contexts[] = {1, 2, 3, 64, 500, N - 1, N, N + 1, INT64_MAX};
    const int32_t drafts[] = {0, 1, 8, 16};
    size_t n_done = 0;
    for (size_t i = 0; i < LENGTH(contexts); i++) {
        for (size_t k = 0; k < LENGTH(drafts); k++) {
            for (int32_t tail = NGC_TAIL_KEEP; tail <= NGC_TAIL_DROP; tail++) {
                ngc_replay_options options = {contexts[i], drafts[k], tail, 3, 0};
                check_by_hand(toggles_at(n_done++ % 12), &options, text, N);
            }
        }
    }
}

void test_replay_of_the_recipe(void)
{
    ngc_toggles toggles = toggles_of(0, NGC_TIES_TOKEN, NGC_SCORE_EXACT);
    ngc_replay_options options = {.n_ctx = 4096, .n_draft = 4, .record = 3};
    recording replayed = recorded(&toggles, &options, RECIPE_A, LENGTH(RECIPE_A), -1);
    CHECK_EQUAL(replayed.sample.n_calls, 88);
    CHECK_EQUAL(replayed.sample.n_drafted, 50);
    CHECK_EQUAL(replayed.sample.n_accept, 28);
    free_recording(&replayed);

    /* Exactly one context long, dropped as llama.cpp does: nothing is left to replay. */
    options = (ngc_replay_options){LENGTH(RECIPE_A), 4, NGC_TAIL_DROP, 3, 0};
    replayed = recorded(&toggles, &options, RECIPE_A, LENGTH(RECIPE_A), -1);
    CHECK_EQUAL(replayed.sample.n_calls, 0);
    CHECK_EQUAL(replayed.sample.n_left_out, LENGTH(RECIPE_A));
    free_recording(&replayed);
}

/* ---- end of sequence ---- */

/* Nothing is drafted past it. */
void test_no_draft_past_the_end_of_sequence(void)
{
    const int32_t text[] = {1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2};
    ngc_toggles toggles = *with_toggles;
    for (int32_t eos = NGC_NO_TOKEN; eos <= 5; eos++) {
        ngc_rule rule;
        ngc_drafter *drafter;
        int32_t drafted[6], n_drafted;
        size_t n_done;
        ngc_rule_default(&rule);
        rule.eos = eos;
        CHECK_OK(ngc_drafter_new(&toggles, &rule, NULL, NULL, &drafter));
        CHECK_OK(ngc_drafter_feed(drafter, text, LENGTH(text), &n_done));
        CHECK_OK(ngc_drafter_draft(drafter, 6, drafted, &n_drafted));
        CHECK_EQUAL(n_drafted, eos == 3 ? 1 : eos == 4 ? 2 : eos == 5 ? 3 : eos == 1 ? 4
                               : eos == 2 ? 5 : 6);
        ngc_drafter_free(drafter);
    }
}

/* ---- what was recorded ---- */

void test_recorded_calls_are_taken_whole(void)
{
    static int32_t text[N], drafts[30000];
    random_text(text, N, 30, 31);
    ngc_replay_options options = {.n_ctx = 300, .n_draft = 8, .record = 3};
    recording whole = recorded(toggles_at(5), &options, text, N, -1);
    for (size_t room = 0; room < 30; room++) {
        ngc_replay *replay = new_replay(toggles_at(5), &options, text, N);
        ngc_sample sample;
        size_t done = 0, n;
        ngc_status status;
        CHECK_OK(ngc_replay_advance(replay, -1, -1, &sample));
        do {
            status = ngc_replay_take_drafts(replay, drafts + done, room, &n);
            done += n;
        } while (status == NGC_OK && n > 0);
        CHECK_EQUAL(status, room < 9 ? NGC_SMALL_BUFFER : NGC_OK);
        CHECK(room < 9 || done == whole.n_drafts);
        CHECK(memcmp(drafts, whole.drafts, done * sizeof *drafts) == 0);
        ngc_replay_free(replay);
    }
    free_recording(&whole);
}

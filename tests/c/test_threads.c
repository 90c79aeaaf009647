/* test_threads.c - two threads with caches of their own read one static cache, draft, add and take
 * back. For ThreadSanitizer. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 2000, BEGIN = 1 /* of a checksum: not what one that was never set is */ };

typedef struct job {
    const ngc_toggles *toggles;
    const ngc_cache *static_cache;
    const int32_t *text;
    uint64_t checksum;
    ngc_status status;
} job;

static void *replay_text(void *argument)
{
    job *job = argument;
    ngc_rule rule;
    ngc_replay *replay;
    ngc_sample sample = {0};
    ngc_replay_options options = {.n_ctx = 500, .n_draft = 8};
    ngc_rule_default(&rule);
    job->status = ngc_replay_new(job->toggles, &rule, &options, job->text, N, job->static_cache,
                                 NULL, &replay);
    while (job->status == NGC_OK && !sample.done) {
        job->status = ngc_replay_advance(replay, 10, -1, &sample);
    }
    job->checksum = sample.drafts_checksum;
    ngc_replay_free(replay);
    return NULL;
}

/* Does two jobs with the same static cache at once, then one after the other: the same came out. */
static void check_together(void *(*work)(void *), const ngc_toggles *toggles,
                           const ngc_cache *shared, int32_t texts[2][N])
{
    pthread_t threads[2];
    job jobs[2] = {{toggles, shared, texts[0], BEGIN, NGC_OK},
                   {toggles, shared, texts[1], BEGIN, NGC_OK}};
    job alone[2] = {jobs[0], jobs[1]};
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
        work(&alone[i]);
        CHECK_OK(jobs[i].status);
        CHECK(jobs[i].checksum == alone[i].checksum && jobs[i].checksum != BEGIN);
    }
}

void test_two_threads_share_a_static_cache(void)
{
    static int32_t texts[2][N], corpus[N];
    random_text(texts[0], N, 40, 61);
    random_text(texts[1], N, 40, 62);
    random_text(corpus, N, 40, 63);
    for (size_t k = 0; k < 2; k++) {
        ngc_toggles toggles = *toggles_at(k);
        ngc_cache *shared = counted(&toggles, 2, 2, corpus, N);
        for (int round = 0; round < 3; round++) {
            check_together(replay_text, &toggles, shared, texts);
        }
        check_sound(shared);
        ngc_cache_free(shared);
    }
}

/* ---- adding in slices, and taking back ---- */

static void run_to_end(ngc_adding *adding, job *job)
{
    for (int32_t done = 0; job->status == NGC_OK && !done;) {
        job->status = ngc_adding_step(adding, 50, &done);
    }
    ngc_adding_free(adding);
}

/* Adds, turns back in the middle, and adds once more. */
static void add_twice(job *job, ngc_cache *cache, const ngc_cache *added)
{
    for (int turn = 0; job->status == NGC_OK && turn < 2; turn++) {
        ngc_adding *adding;
        int32_t done = 0;
        job->status = added != NULL
                          ? ngc_adding_begin_merge(cache, added, &adding)
                          : ngc_adding_begin_update(cache, job->text, N, N, &adding);
        for (int i = 0; job->status == NGC_OK && turn == 0 && i < 30 && !done; i++) {
            job->status = ngc_adding_step(adding, 50, &done);
        }
        if (turn == 0) {
            ngc_adding_turn_back(adding);
        }
        run_to_end(adding, job);
    }
}

/* A text that is read, drafts from both caches, and whose end is settled halfway, then made whole. */
static void end_text_twice(job *job, ngc_cache *dynamic_cache)
{
    ngc_rule rule;
    ngc_drafter *drafter;
    int32_t drafted[8], n_drafted, done = 0;
    size_t n_done;
    ngc_rule_default(&rule);
    if (job->status != NGC_OK) {
        return;
    }
    job->status = ngc_drafter_new(job->toggles, &rule, job->static_cache, dynamic_cache, &drafter);
    for (size_t at = 0; job->status == NGC_OK && at < N; at += 100) {
        job->status = ngc_drafter_feed(drafter, job->text + at, 100, &n_done);
        ngc_drafter_draft(drafter, 8, drafted, &n_drafted);
        for (int32_t i = 0; i < n_drafted; i++) {
            job->checksum = 31 * job->checksum + (uint64_t)drafted[i];
        }
    }
    for (int i = 0; job->status == NGC_OK && i < 20; i++) {
        job->status = ngc_drafter_end_text_slice(drafter, 50, &done);
    }
    while (!done) {
        ngc_drafter_settle_slice(drafter, 50, &done);
    }
    job->status = job->status == NGC_OK ? ngc_drafter_end_text(drafter) : job->status;
    ngc_drafter_free(drafter);
}

static void *add_and_take_back(void *argument)
{
    job *job = argument;
    ngc_cache *cache, *added;
    ngc_cache_facts facts;
    const char *reason;
    job->status = ngc_cache_new(job->toggles, 1, NGC_N_MAX, &cache) |
                  ngc_cache_new(job->toggles, 1, NGC_N_MAX, &added) |
                  ngc_cache_update(added, job->text, N, N / 2);
    add_twice(job, cache, added);
    if (job->toggles->outer != NGC_OUTER_PLACES) { /* those count any part of a text alike */
        add_twice(job, cache, NULL);
    }
    end_text_twice(job, cache);
    job->status = job->status == NGC_OK ? ngc_cache_validate(cache, &reason) : job->status;
    ngc_cache_facts_of(cache, &facts);
    job->checksum = 31 * job->checksum + (uint64_t)facts.n_followers;
    ngc_cache_free(added);
    ngc_cache_free(cache);
    return NULL;
}

void test_two_threads_add_and_take_back(void)
{
    static int32_t texts[2][N], corpus[N];
    random_text(texts[0], N, 40, 64);
    random_text(texts[1], N, 40, 65);
    random_text(corpus, N, 40, 66);
    for (size_t k = 0; toggles_at(k) != NULL; k++) {
        ngc_toggles toggles = *toggles_at(k);
        ngc_cache *shared = counted_static(&toggles, corpus, N);
        check_together(add_and_take_back, &toggles, shared, texts);
        ngc_cache_free(shared);
    }
}

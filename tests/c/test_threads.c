/* test_threads.c - two drafters in two threads read one static cache. For ThreadSanitizer. */
#include <pthread.h>
#include <stdlib.h>

#include "check.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 2000 };

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

void test_two_threads_share_a_static_cache(void)
{
    static int32_t texts[2][N], corpus[N];
    random_text(texts[0], N, 40, 61);
    random_text(texts[1], N, 40, 62);
    random_text(corpus, N, 40, 63);
    for (size_t k = 0; k < 2; k++) {
        ngc_toggles toggles = *toggles_at(k);
        ngc_cache *shared = counted(&toggles, 2, 2, corpus, N);
        pthread_t threads[2];
        for (int round = 0; round < 3; round++) {
            job jobs[2] = {{&toggles, shared, texts[0], 0, NGC_OK},
                           {&toggles, shared, texts[1], 0, NGC_OK}};
            job alone[2] = {jobs[0], jobs[1]};
            for (int i = 0; i < 2; i++) {
                CHECK_EQUAL(pthread_create(&threads[i], NULL, replay_text, &jobs[i]), 0);
            }
            for (int i = 0; i < 2; i++) {
                CHECK_EQUAL(pthread_join(threads[i], NULL), 0);
                replay_text(&alone[i]);
                CHECK_OK(jobs[i].status);
                CHECK(jobs[i].checksum == alone[i].checksum);
            }
        }
        check_sound(shared);
        ngc_cache_free(shared);
    }
}

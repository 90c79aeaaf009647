/* test_faults.c - every allocation fails: a clean error, nothing leaked, the object as before.
 *
 * An action is tried with its nth allocation failing, for n = 1, 2, ... until none fails any more;
 * once alone, and once with all that follow it, as when memory has really run out. What is left is
 * compared with a world in which nothing was tried. Then the action is repeated, and what it gives
 * is compared with a world in which nothing failed.
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fault.h"
#include "fixtures.h"
#include "ngc_counter.h"
#include "tests.h"

enum { N = 36, N_DRAFT = 6 };

typedef struct world {
    const ngc_toggles *toggles;
    ngc_rule rule;
    int32_t text[N], corpus[N];
    ngc_cache *cache, *added, *packed;
    ngc_counter *counter;
    ngc_drafter *drafter;
    ngc_replay *replay;
    ngc_sample sample;
    uint8_t *file;
    size_t file_bytes;
    ngc_load_report report;
    int32_t drafted[N_DRAFT];
    int32_t n_drafted;
} world;

typedef struct scenario {
    void (*prepare)(world *world);
    ngc_status (*act)(world *world);
    bool keeps_a_part; /* a failure leaves what was done before it, and the action goes on there */
} scenario;

static void begin(world *world, const ngc_toggles *toggles, const scenario *scenario)
{
    memset(world, 0, sizeof *world);
    world->toggles = toggles;
    ngc_rule_default(&world->rule);
    random_text(world->text, N, 12, 51);
    random_text(world->corpus, N, 12, 52);
    scenario->prepare(world);
}

static void end(world *world)
{
    ngc_replay_free(world->replay);
    ngc_drafter_free(world->drafter);
    ngc_cache_free(world->cache);
    ngc_cache_free(world->added);
    ngc_cache_free(world->packed);
    ngc_counter_free(world->counter);
    free(world->file);
}

/* The context cache counts the text, no more and no less. */
static void check_context(const world *world)
{
    ngc_cache *wanted = counted(world->toggles, 1, 4, ngc_drafter_text_view(world->drafter),
                                ngc_drafter_length(world->drafter));
    CHECK(same_counts(ngc_drafter_context_view(world->drafter), wanted));
    ngc_cache_free(wanted);
}

static void check_worlds(const world *a, const world *b, bool same)
{
    const ngc_cache *caches_a[] = {a->cache, a->added, NULL, NULL};
    const ngc_cache *caches_b[] = {b->cache, b->added, NULL, NULL};
    if (a->drafter != NULL && CHECK(b->drafter != NULL)) {
        caches_a[2] = ngc_drafter_context_view(a->drafter);
        caches_b[2] = ngc_drafter_context_view(b->drafter);
        CHECK(!same || ngc_drafter_length(a->drafter) == ngc_drafter_length(b->drafter));
        check_context(a);
    }
    if (a->replay != NULL && CHECK(b->replay != NULL)) {
        caches_a[3] = ngc_replay_dynamic_view(a->replay);
        caches_b[3] = ngc_replay_dynamic_view(b->replay);
    }
    for (size_t i = 0; i < LENGTH(caches_a); i++) {
        CHECK((caches_a[i] == NULL) == (caches_b[i] == NULL));
        if (caches_a[i] != NULL) {
            check_sound(caches_a[i]);
            CHECK(!same || same_counts(caches_a[i], caches_b[i]));
        }
    }
    if (same) {
        CHECK(a->file_bytes == b->file_bytes &&
              (a->file_bytes == 0 || memcmp(a->file, b->file, a->file_bytes) == 0));
        CHECK_EQUAL(a->n_drafted, b->n_drafted);
        CHECK(memcmp(a->drafted, b->drafted, (size_t)a->n_drafted * sizeof *a->drafted) == 0);
        CHECK_EQUAL(a->sample.n_replayed, b->sample.n_replayed);
        CHECK_EQUAL(a->sample.n_calls, b->sample.n_calls);
        CHECK_EQUAL(a->sample.n_accept, b->sample.n_accept);
        CHECK(a->sample.drafts_checksum == b->sample.drafts_checksum);
    }
}

/* The action fails at its nth allocation, is repeated, and leaves no trace of that. */
static bool try_nth(const ngc_toggles *toggles, const scenario *scenario, int64_t nth, bool lasting,
                    const world *before, const world *after)
{
    int64_t live_blocks = fault_live_blocks();
    world tried;
    begin(&tried, toggles, scenario);
    fault_at(nth, lasting);
    ngc_status status = scenario->act(&tried);
    bool happened = fault_happened();
    fault_at(0, false);
    CHECK_EQUAL(status, happened ? NGC_NO_MEMORY : NGC_OK);
    if (happened) {
        check_worlds(&tried, before, !scenario->keeps_a_part);
        CHECK_OK(scenario->act(&tried));
    }
    check_worlds(&tried, after, true);
    end(&tried);
    CHECK_EQUAL(fault_live_blocks(), live_blocks);
    return happened;
}

/* How many allocations the action makes, each of which failed. */
static int64_t try_all(const ngc_toggles *toggles, const scenario *scenario)
{
    world before, after;
    begin(&before, toggles, scenario);
    begin(&after, toggles, scenario);
    CHECK_OK(scenario->act(&after));
    int64_t nth = 1;
    while (try_nth(toggles, scenario, nth, false, &before, &after)) {
        CHECK(try_nth(toggles, scenario, nth, true, &before, &after));
        nth++;
    }
    end(&before);
    end(&after);
    return nth - 1;
}

/* With every structure. Token ties: where tables have grown before a failure, the library's order
 * may differ. */
static void check_scenario(void (*prepare)(world *), ngc_status (*act)(world *),
                           bool keeps_a_part, int64_t at_least)
{
    static const size_t structures[] = {3, 4, 5, 8, 10, 15}; /* of toggles_at */
    scenario scenario = {prepare, act, keeps_a_part};
    for (size_t i = 0; i < LENGTH(structures); i++) {
        const ngc_toggles *toggles = toggles_at(structures[i]);
        CHECK_EQUAL(toggles->ties, NGC_TIES_TOKEN);
        bool in_pool = toggles->outer == NGC_OUTER_PLACES; /* an n-gram has no block of its own */
        CHECK(try_all(toggles, &scenario) >= (in_pool ? at_least > 0 : at_least));
    }
}

/* ---- what is prepared ---- */

static void prepare_nothing(world *world)
{
    (void)world;
}

static void prepare_cache(world *world)
{
    world->cache = counted(world->toggles, 1, 4, world->corpus, N);
}

static void prepare_two_caches(world *world)
{
    prepare_cache(world);
    world->added = counted(world->toggles, 1, 4, world->text, N);
}

/* In which what is added finds full counts: what they do not take is noted, which takes memory. */
static void prepare_full_caches(world *world)
{
    static const uint8_t file[28] = {99,  0,   0,   0,   255, 255, 255, 255, 255, 255,
                                     255, 255, 255, 255, 255, 255, 1,   0,   0,   0,
                                     2,   0,   0,   0,   255, 255, 255, 127};
    ngc_load_report reports[2] = {0};
    size_t n_used;
    prepare_two_caches(world);
    CHECK_OK(ngc_cache_load_legacy(world->cache, file, sizeof file, sizeof file, &n_used, reports));
    CHECK_OK(ngc_cache_load_legacy(world->added, file, sizeof file, sizeof file, &n_used,
                                   reports + 1));
}

static void prepare_empty_and_file(world *world)
{
    ngc_cache *cache = counted(world->toggles, 1, 4, world->corpus, N);
    world->file = saved(cache, &world->file_bytes);
    ngc_cache_free(cache);
    CHECK_OK(ngc_cache_new(world->toggles, 1, 4, &world->cache));
}

/* A drafter with both helpers; `added` is the static cache. */
static void prepare_drafter(world *world)
{
    prepare_cache(world);
    world->added = counted_static(world->toggles, world->corpus, N);
    CHECK_OK(ngc_drafter_new(world->toggles, &world->rule, world->added, world->cache,
                             &world->drafter));
}

/* The length is such that drafting has to make room first. */
static void prepare_fed_drafter(world *world)
{
    size_t n_done;
    prepare_drafter(world);
    CHECK_OK(ngc_drafter_feed(world->drafter, world->text, 36, &n_done));
    CHECK_OK(ngc_drafter_feed(world->drafter, world->text, 26, &n_done));
}

/* A second text, so that rewinding begins with the buckets that the first one left. */
static void prepare_second_text(world *world)
{
    size_t n_done;
    prepare_fed_drafter(world);
    CHECK_OK(ngc_drafter_end_text(world->drafter));
    CHECK_OK(ngc_drafter_feed(world->drafter, world->text, 30, &n_done));
}

static void prepare_replay(world *world)
{
    ngc_replay_options options = {.n_ctx = 16, .n_draft = N_DRAFT, .record = 7};
    world->added = counted_static(world->toggles, world->corpus, N);
    CHECK_OK(ngc_replay_new(world->toggles, &world->rule, &options, world->text, N, world->added,
                            NULL, &world->replay));
}

static void prepare_pairs(world *world)
{
    world->cache = counted(world->toggles, 2, 2, world->corpus, N);
}

/* A constmap's bytes, filled in and not yet checked. */
static void prepare_unchecked(world *world)
{
    uint8_t *room;
    size_t bytes;
    prepare_pairs(world);
    ngc_cache *packed;
    CHECK_OK(ngc_constmap_build(world->toggles, world->cache, &packed));
    const uint8_t *file = ngc_constmap_bytes_view(packed, &bytes);
    CHECK_OK(ngc_constmap_new(world->toggles, bytes, &world->packed, &room));
    memcpy(room, file, bytes);
    ngc_cache_free(packed);
}

static void prepare_packed(world *world)
{
    prepare_pairs(world);
    CHECK_OK(pack(world->toggles, world->cache, NULL, 0, 100, &world->packed));
}

static void prepare_counter(world *world)
{
    CHECK_OK(ngc_counter_new(&world->counter));
}

static void prepare_finished(world *world)
{
    prepare_counter(world);
    CHECK_OK(ngc_counter_add(world->counter, world->corpus, N));
    CHECK_OK(ngc_counter_finish(world->counter));
    CHECK_OK(ngc_cache_new(world->toggles, 2, 2, &world->cache));
}

/* ---- what is done ---- */

static ngc_status make_cache(world *world)
{
    ngc_status status = ngc_cache_new(world->toggles, 1, 4, &world->cache);
    CHECK((status == NGC_OK) == (world->cache != NULL));
    return status;
}

static ngc_status update(world *world)
{
    return ngc_cache_update(world->cache, world->text, N, N - 3);
}

static ngc_status merge(world *world)
{
    return ngc_cache_merge(world->cache, world->added);
}

/* In slices; what a failed one had added is taken back. */
static ngc_status in_slices(ngc_status begun, ngc_adding *adding)
{
    ngc_status outcome = begun;
    for (int32_t done = 0; begun == NGC_OK && !done;) {
        ngc_status status = ngc_adding_step(adding, 5, &done);
        outcome = outcome == NGC_OK ? status : outcome;
    }
    ngc_adding_free(adding);
    return outcome;
}

static ngc_status merge_in_slices(world *world)
{
    ngc_adding *adding;
    ngc_status status = ngc_adding_begin_merge(world->cache, world->added, &adding);
    return in_slices(status, adding);
}

static ngc_status update_in_slices(world *world)
{
    ngc_adding *adding;
    ngc_status status =
        ngc_adding_begin_update(world->cache, world->text, N, N - 3, &adding);
    return status == NGC_UNSUPPORTED ? update(world) : in_slices(status, adding);
}

static ngc_status load(world *world)
{
    size_t at = (size_t)world->report.n_bytes, n_used;
    return ngc_cache_load_legacy(world->cache, world->file + at, world->file_bytes - at,
                                 world->file_bytes - at, &n_used, &world->report);
}

/* These take no memory at all. */
static ngc_status save_and_look(world *world)
{
    int32_t tokens[4], counts[4];
    size_t n;
    ngc_memory memory;
    ngc_cursor cursor = {0};
    uint8_t *file = malloc(100000); /* of this file, which never fails */
    ngc_status status = ngc_cache_save_legacy(world->cache, &cursor, file, 100000, &n);
    free(file);
    CHECK_OK(ngc_cache_followers(world->cache, world->text, 1, tokens, counts, 4, &n));
    CHECK_OK(ngc_cache_memory(world->cache, &memory));
    return status;
}

static ngc_status save_sorted(world *world)
{
    enum { ROOM = 100000 };
    ngc_sorter *sorter;
    ngc_status status = ngc_sorter_begin(world->cache, &sorter);
    CHECK((status == NGC_OK) == (sorter != NULL));
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_sorter_step(sorter, 9, &done);
    }
    if (status == NGC_OK) {
        free(world->file);
        world->file = malloc(ROOM); /* of this file, which never fails */
        CHECK_OK(ngc_sorter_save(sorter, world->file, ROOM, &world->file_bytes));
    }
    ngc_sorter_free(sorter);
    return status;
}

static ngc_status make_drafter(world *world)
{
    ngc_status status =
        ngc_drafter_new(world->toggles, &world->rule, NULL, world->cache, &world->drafter);
    CHECK((status == NGC_OK) == (world->drafter != NULL));
    return status;
}

static ngc_status feed(world *world)
{
    size_t length = ngc_drafter_length(world->drafter), n_done;
    ngc_status status =
        ngc_drafter_feed(world->drafter, world->text + length, N - length, &n_done);
    CHECK_EQUAL(ngc_drafter_length(world->drafter), length + n_done);
    return status;
}

static ngc_status draft(world *world)
{
    return ngc_drafter_draft(world->drafter, N_DRAFT, world->drafted, &world->n_drafted);
}

static ngc_status trace(world *world)
{
    static ngc_step steps[N_DRAFT + 1];
    ngc_probe probe;
    int32_t n_steps;
    ngc_status status = ngc_drafter_trace(world->drafter, N_DRAFT, steps, &n_steps, &probe);
    CHECK_EQUAL(status == NGC_OK, n_steps > 0);
    return status;
}

static ngc_status rewind_text(world *world)
{
    return ngc_drafter_rewind(world->drafter, 25);
}

static ngc_status end_text(world *world)
{
    return ngc_drafter_end_text(world->drafter);
}

static ngc_status make_replay(world *world)
{
    ngc_replay_options options = {.n_ctx = 50, .n_draft = 4};
    ngc_status status = ngc_replay_new(world->toggles, &world->rule, &options, world->text, N, NULL,
                                       NULL, &world->replay);
    CHECK((status == NGC_OK) == (world->replay != NULL));
    return status;
}

static ngc_status replay_all(world *world)
{
    return ngc_replay_advance(world->replay, -1, -1, &world->sample);
}

static ngc_status pack_constmap(world *world)
{
    ngc_status status = ngc_constmap_build(world->toggles, world->cache, &world->packed);
    CHECK((status == NGC_OK) == (world->packed != NULL));
    return status;
}

static ngc_status pack_ours(world *world)
{
    return pack(world->toggles, world->cache, NULL, 0, 7, &world->packed);
}

static ngc_status pack_our_counts(world *world)
{
    return pack(world->toggles, NULL, world->counter, 0, 7, &world->packed);
}

static ngc_status merge_ours(world *world)
{
    ngc_packed_about about = {0};
    ngc_packed_builder *builder;
    ngc_status status = ngc_packed_begin_merge(world->toggles, world->cache, world->packed, &about,
                                               &builder);
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_packed_step(builder, 7, &done);
    }
    ngc_packed_builder_free(builder);
    return status;
}

/* Back from our own file's structure; what was put in before it failed is thrown away. */
static ngc_status unpack(world *world)
{
    ngc_cursor cursor = {0};
    size_t n_done;
    ngc_cache *cache;
    ngc_status status = ngc_cache_new(world->toggles, 2, 2, &cache);
    status = status == NGC_OK ? ngc_cache_take(cache, world->packed, &cursor, SIZE_MAX, &n_done)
                              : status;
    ngc_cache_free(cache);
    return status;
}

static ngc_status open_ours(world *world)
{
    size_t bytes;
    const uint8_t *file = ngc_packed_bytes_view(world->packed, &bytes);
    ngc_fault fault;
    ngc_cache *opened;
    ngc_status status = ngc_packed_open(world->toggles, file, bytes, &opened, &fault);
    CHECK((status == NGC_OK) == (opened != NULL));
    ngc_cache_free(opened);
    return status;
}

static ngc_status check_packed(world *world)
{
    int32_t done = 0;
    ngc_status status = NGC_OK;
    while (status == NGC_OK && !done) {
        status = ngc_constmap_check(world->packed, &done);
    }
    return status;
}

/* A failed add says how far it came. */
static ngc_status add_to_counter(world *world)
{
    size_t done = (size_t)ngc_counter_tokens(world->counter);
    return ngc_counter_add(world->counter, world->corpus + done, N - done);
}

/* Counts that were lost are counted again. */
static ngc_status count_and_save(world *world)
{
    enum { ROOM = 20000 };
    ngc_cursor cursor = {0};
    ngc_counter_free(world->counter);
    free(world->file);
    world->file = malloc(ROOM);
    world->file_bytes = 0;
    ngc_status status = ngc_counter_new(&world->counter);
    status = status == NGC_OK ? ngc_counter_add(world->counter, world->corpus, N) : status;
    status = status == NGC_OK ? ngc_counter_finish(world->counter) : status;
    status = status == NGC_OK ? ngc_counter_begin_save(world->counter) : status;
    return status != NGC_OK ? status
                            : ngc_counter_save_legacy(world->counter, &cursor, world->file, ROOM,
                                                      &world->file_bytes);
}

static ngc_status count_in_any_order(world *world)
{
    ngc_counter_free(world->counter);
    ngc_status status = ngc_counter_new(&world->counter);
    status = status == NGC_OK ? ngc_counter_in_any_order(world->counter) : status;
    if (status == NGC_OK) {
        ngc_counter_bound(world->counter, 64);
    }
    status = status == NGC_OK ? ngc_counter_add(world->counter, world->corpus, N) : status;
    return status == NGC_OK ? ngc_counter_finish(world->counter) : status;
}

static ngc_status fill_from_counter(world *world)
{
    ngc_cache_facts all, done;
    int64_t n_done;
    CHECK_OK(ngc_counter_facts(world->counter, &all));
    CHECK_OK(ngc_cache_facts_of(world->cache, &done));
    return ngc_counter_fill(world->counter, world->cache, done.n_grams,
                            all.n_grams - done.n_grams, &n_done);
}

static ngc_status pack_counts(world *world)
{
    return ngc_constmap_count(world->toggles, world->counter, &world->packed);
}

/* ---- tests ---- */

void test_no_memory_for_caches(void)
{
    check_scenario(prepare_nothing, make_cache, false, 1);
    check_scenario(prepare_cache, update, false, 20);
    check_scenario(prepare_two_caches, merge, false, 20);
    check_scenario(prepare_cache, update_in_slices, false, 20);
    check_scenario(prepare_two_caches, merge_in_slices, false, 20);
    check_scenario(prepare_full_caches, merge, false, 20);
    check_scenario(prepare_empty_and_file, load, true, 20);
    check_scenario(prepare_cache, save_and_look, false, 0);
    check_scenario(prepare_cache, save_sorted, false, 2);
}

void test_no_memory_for_constmaps_and_counters(void)
{
    check_scenario(prepare_pairs, pack_constmap, false, 4);
    check_scenario(prepare_unchecked, check_packed, false, 1);
    check_scenario(prepare_counter, add_to_counter, false, 3);
    check_scenario(prepare_nothing, count_and_save, true, 10);
    check_scenario(prepare_nothing, count_in_any_order, true, 5);
    check_scenario(prepare_finished, fill_from_counter, true, 20);
    check_scenario(prepare_finished, pack_counts, false, 4);
}

void test_no_memory_for_packed_caches(void)
{
    check_scenario(prepare_pairs, pack_ours, false, 8);
    check_scenario(prepare_finished, pack_our_counts, false, 6);
    check_scenario(prepare_packed, merge_ours, false, 8);
    check_scenario(prepare_packed, open_ours, false, 1);
    check_scenario(prepare_packed, unpack, false, 20);
}

void test_no_memory_for_drafting(void)
{
    check_scenario(prepare_nothing, make_drafter, false, 2);
    check_scenario(prepare_drafter, feed, true, 20);
    check_scenario(prepare_fed_drafter, draft, false, 1);
    check_scenario(prepare_fed_drafter, trace, false, 2);
    check_scenario(prepare_second_text, rewind_text, false, 20);
    check_scenario(prepare_fed_drafter, end_text, false, 20);
}

void test_no_memory_for_replays(void)
{
    check_scenario(prepare_nothing, make_replay, false, 4);
    check_scenario(prepare_replay, replay_all, true, 100);
}

/* Copying allocates in a draft; reading in place does not. */
void test_only_copies_allocate_in_a_draft(void)
{
    scenario scenario = {prepare_fed_drafter, draft, false};
    ngc_toggles in_place = toggles_of(0, NGC_TIES_TOKEN, NGC_SCORE_EXACT);
    ngc_toggles copying = toggles_of(1, NGC_TIES_TOKEN, NGC_SCORE_EXACT);
    CHECK_EQUAL(try_all(&in_place, &scenario), 1); /* room for the drafted tokens */
    CHECK(try_all(&copying, &scenario) > 5);
}

/* The engine's own switch, which the Python tests use. */
void test_the_engine_s_own_fault_switch(void)
{
    world world;
    size_t n_done;
    scenario scenario = {prepare_two_caches, merge, false};
    ngc_toggles toggles = toggles_of(1, NGC_TIES_LIBRARY, NGC_SCORE_INT32);
    begin(&world, &toggles, &scenario);
    ngc_cache_fail_allocation(world.cache, 5);
    CHECK_EQUAL(merge(&world), NGC_NO_MEMORY);
    CHECK_OK(merge(&world)); /* once */
    ngc_cache_fail_allocation(world.cache, 1);
    ngc_cache_fail_allocation(world.cache, 0);
    CHECK_OK(update(&world));
    end(&world);

    scenario.prepare = prepare_fed_drafter;
    begin(&world, &toggles, &scenario);
    ngc_drafter_fail_allocation(world.drafter, 3);
    CHECK_EQUAL(draft(&world), NGC_NO_MEMORY);
    CHECK_OK(draft(&world));
    ngc_drafter_fail_allocation(world.drafter, 3);
    CHECK_EQUAL(ngc_drafter_rewind(world.drafter, 30), NGC_NO_MEMORY);
    CHECK_EQUAL(ngc_drafter_length(world.drafter), 62);
    ngc_drafter_fail_allocation(world.drafter, 0);
    CHECK_OK(ngc_drafter_feed(world.drafter, world.text, 1, &n_done));
    end(&world);

    scenario.prepare = prepare_replay;
    begin(&world, &toggles, &scenario);
    ngc_replay_fail_allocation(world.replay, 9);
    CHECK_EQUAL(replay_all(&world), NGC_NO_MEMORY);
    ngc_replay_fail_allocation(world.replay, 0);
    CHECK_OK(replay_all(&world));
    CHECK(world.sample.done);
    end(&world);
}

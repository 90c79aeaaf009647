/* test_inside.c - the views of the inside: they show what is there, within the room they are given, and
 * refuse what they cannot show. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fault.h"
#include "fixtures.h"
#include "tests.h"

enum { N = 600, N_VOCAB = 30, ROOM = 4096 };

static ngc_touch touches[ROOM];
static ngc_place places[ROOM];

/* The first touches and places are written and no more, however little room there is. */
void test_table_around_fits_its_room(void)
{
    int32_t text[N];
    random_text(text, N, N_VOCAB, 81);
    ngc_cache *cache = counted(with_toggles, 1, 4, text, N);
    ngc_around whole, part;
    size_t n_touches, n;
    CHECK_OK(ngc_cache_table_around(cache, text, 2, 2, 3, &whole, places, ROOM, touches, ROOM,
                                    &n_touches));
    CHECK(whole.found >= 0 && whole.n_visited > 0 && whole.n_places > 0 && n_touches > 0);
    for (size_t room = 0; room <= n_touches; room++) {
        ngc_touch *few = malloc((room + 1) * sizeof *few);
        ngc_place *row = malloc((room + 1) * sizeof *row);
        CHECK_OK(ngc_cache_table_around(cache, text, 2, 2, 3, &part, row, room, few, room, &n));
        CHECK_EQUAL(n, n_touches);
        CHECK(memcmp(&part, &whole, sizeof part) == 0);
        CHECK(memcmp(few, touches, room * sizeof *few) == 0);
        for (size_t i = 0; i < room && i < (size_t)whole.n_places; i++) {
            CHECK(memcmp(&row[i], &places[i], sizeof *row) == 0);
        }
        free(few);
        free(row);
    }
    ngc_cache_free(cache);
}

/* What a look-up visits is what the table says of its place, for every n-gram. */
void test_table_facts_are_those_of_all_lookups(void)
{
    int32_t text[N];
    random_text(text, N, N_VOCAB, 82);
    ngc_cache *cache = counted(with_toggles, 1, 4, text, N);
    ngc_table_facts facts;
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    ngc_around around;
    size_t n, n_touches;
    int64_t n_grams = 0, longest = 0, sum = 0;
    CHECK_OK(ngc_cache_table_facts(cache, &facts));
    while (ngc_cache_walk(cache, &cursor, &ngram, 1, &n) == NGC_OK && n == 1) {
        CHECK_OK(ngc_cache_table_around(cache, ngram.tokens, ngram.n, 0, 0, &around, places, ROOM,
                                        NULL, 0, &n_touches));
        CHECK(around.found >= 0);
        n_grams++;
        sum += around.n_visited;
        longest = around.n_visited > longest ? around.n_visited : longest;
    }
    CHECK_EQUAL(facts.n_grams, n_grams);
    CHECK_EQUAL(facts.sum_visited, sum);
    CHECK_EQUAL(facts.longest, longest);
    CHECK(facts.n_sharing <= n_grams);
    /* N-grams with one hash stand in one chain or row, but several in a line. */
    CHECK(around.slots_a_line > 0 || facts.most_sharing <= facts.longest);
    ngc_cache_free(cache);
}

/* Our own file: every 2-gram is found where its place says, none that is absent is, and the facts are
 * the sum of all look-ups. */
void test_packed_table_is_that_of_all_lookups(void)
{
    int32_t text[N];
    random_text(text, N, N_VOCAB, 86);
    ngc_cache *plain = counted(toggles_at(5), 2, 2, text, N), *packed;
    CHECK_OK(pack(toggles_at(5), plain, NULL, 0, 100, &packed));
    ngc_table_facts facts;
    ngc_around around;
    size_t n_touches, n_found = 0;
    int64_t longest = 0, sum = 0;
    for (int32_t a = 0; a <= N_VOCAB; a++) {
        for (int32_t b = 0; b <= N_VOCAB; b++) {
            int32_t key[] = {a, b};
            size_t length;
            CHECK_OK(ngc_cache_followers(packed, key, 2, NULL, NULL, 0, &length));
            CHECK_OK(ngc_cache_table_around(packed, key, 2, 1, 1, &around, places, ROOM, touches,
                                            ROOM, &n_touches));
            CHECK_EQUAL(around.found >= 0, length > 0);
            CHECK_EQUAL((int64_t)n_touches, around.n_visited);
            for (int64_t i = 0; i < around.n_places; i++) {
                bool is_it = places[i].tokens[0] == a && places[i].tokens[1] == b;
                CHECK_EQUAL(is_it, places[i].index == around.found);
                if (is_it) {
                    CHECK_EQUAL(places[i].distance, around.n_visited - 1);
                    CHECK_EQUAL(places[i].index / around.slots_a_line - places[i].distance,
                                around.home);
                    CHECK_EQUAL(places[i].fingerprint, around.fingerprint);
                    CHECK(places[i].hash == around.hash);
                    CHECK_EQUAL(places[i].n_followers, (int64_t)length);
                    longest = around.n_visited > longest ? around.n_visited : longest;
                    sum += around.n_visited;
                    n_found++;
                }
            }
        }
    }
    CHECK_OK(ngc_cache_table_facts(packed, &facts));
    CHECK_EQUAL(facts.n_grams, (int64_t)n_found);
    CHECK_EQUAL(facts.n_empty, facts.n_buckets - facts.n_grams);
    CHECK_EQUAL(facts.sum_visited, sum);
    CHECK_EQUAL(facts.longest, longest);
    CHECK(facts.n_sharing == 0 && facts.most_sharing == 1);
    const int32_t one[] = {1};
    CHECK_OK(ngc_cache_table_around(packed, one, 1, 0, 0, &around, NULL, 0, NULL, 0, &n_touches));
    CHECK(around.home == -1 && around.found == -1 && n_touches == 0);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

void test_searches_of_every_length(void)
{
    int32_t pairs[2 * 70];
    int32_t count;
    size_t n;
    for (int32_t i = 0; i < 70; i++) {
        pairs[2 * i] = 2 * i + 1;
        pairs[2 * i + 1] = i + 1;
    }
    for (size_t length = 0; length <= 70; length++) {
        int32_t *list = malloc((2 * length + 1) * sizeof *list); /* its end is watched */
        memcpy(list, pairs, 2 * length * sizeof *list);
        for (int32_t token = 0; token <= 142; token++) {
            int32_t wanted = token % 2 == 1 && (size_t)token / 2 < length ? token / 2 + 1 : 0;
            for (int32_t search = NGC_SEARCH_FIXED; search <= NGC_SEARCH_SIMD; search++) {
                CHECK_OK(
                    ngc_search_path(list, length, token, search, &count, touches, ROOM, &n));
                CHECK_EQUAL(count, wanted);
                CHECK((n > 0) == (length > 0));
            }
        }
        free(list);
    }
    int64_t n_found, ns;
    for (int32_t search = NGC_SEARCH_FIXED; search <= NGC_SEARCH_SIMD; search++) {
        const int32_t wanted[] = {0, 1, 2, 139, 140};
        CHECK_OK(ngc_time_searches(pairs, 70, wanted, 5, 3, search, &n_found, &ns));
        CHECK_EQUAL(n_found, 3 * 2);
        CHECK(ns >= 0);
        CHECK_OK(ngc_time_searches(pairs, 0, wanted, 5, 3, search, &n_found, &ns));
        CHECK_EQUAL(n_found, 0);
    }
    CHECK_EQUAL(ngc_time_searches(pairs, 1, pairs, 1, 1, 4, &n_found, &ns), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_search_path(pairs, 1, 1, 4, &count, touches, ROOM, &n), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_search_path(pairs, 1, 1, -1, &count, touches, ROOM, &n), NGC_BAD_ARGUMENT);
}

/* A probe's touches are the same whether they are written or not, and change no draft. */
void test_touches_change_nothing(void)
{
    enum { N_DRAFT = 8 };
    int32_t text[N], corpus[N], plain[N_DRAFT], n_plain, n_again;
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_probe probe, again;
    size_t n_done, n_touches, n;
    random_text(text, N, 12, 83);
    random_text(corpus, N, 12, 84);
    ngc_rule_default(&rule);
    ngc_cache *static_cache = counted_static(with_toggles, corpus, N);
    CHECK_OK(ngc_drafter_new(with_toggles, &rule, static_cache, NULL, &drafter));
    CHECK_OK(ngc_drafter_feed(drafter, text, N, &n_done));
    CHECK_OK(ngc_drafter_draft(drafter, N_DRAFT, plain, &n_plain));
    CHECK_OK(ngc_drafter_touches(drafter, N_DRAFT, touches, ROOM, &n_touches, &probe));
    CHECK_OK(ngc_drafter_touches(drafter, N_DRAFT, NULL, 0, &n, &again));
    CHECK_EQUAL(probe.n_drafted, n_plain);
    CHECK_EQUAL(again.visited_nodes, probe.visited_nodes);
    CHECK_EQUAL(again.scored, probe.scored);
    CHECK(n_touches > 0 && n > 0);
    int32_t drafted[N_DRAFT];
    CHECK_OK(ngc_drafter_draft(drafter, N_DRAFT, drafted, &n_again));
    CHECK(n_again == n_plain && memcmp(drafted, plain, (size_t)n_plain * sizeof *plain) == 0);
    CHECK_EQUAL(ngc_drafter_touches(drafter, -1, NULL, 0, &n, &again), NGC_BAD_ARGUMENT);
    ngc_drafter_free(drafter);
    ngc_cache_free(static_cache);
}

void test_views_refuse_what_they_cannot_show(void)
{
    ngc_toggles toggles = *toggles_at(5);
    ngc_cache *plain = counted(&toggles, 2, 2, RECIPE_B, LENGTH(RECIPE_B)), *packed;
    ngc_around around;
    ngc_table_facts facts;
    ngc_fuse_lookup lookup;
    ngc_span span;
    size_t n, length;
    int32_t count;
    const int32_t key[] = {1, 16}, bad[] = {1, -5};
    CHECK_OK(ngc_constmap_build(&toggles, plain, &packed));
    CHECK_EQUAL(ngc_cache_table_around(packed, key, 2, 0, 0, &around, NULL, 0, NULL, 0, &n),
                NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_cache_table_facts(packed, &facts), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_constmap_look_up(plain, key, &lookup), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_constmap_spans(plain, 0, 9, &span, 1, &n), NGC_UNSUPPORTED);
    CHECK_EQUAL(ngc_constmap_spans(packed, 9, 0, &span, 1, &n), NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_constmap_spans(packed, -1, 0, &span, 1, &n), NGC_BAD_ARGUMENT);
    for (int32_t size = 0; size <= 5; size += 5) {
        CHECK_EQUAL(ngc_cache_table_around(plain, key, size, 0, 0, &around, NULL, 0, NULL, 0, &n),
                    NGC_BAD_ARGUMENT);
        CHECK_EQUAL(ngc_cache_search_path(plain, key, size, 3, 0, &count, &length, NULL, 0, &n),
                    NGC_BAD_ARGUMENT);
    }
    CHECK_EQUAL(ngc_cache_table_around(plain, key, 2, -1, 0, &around, NULL, 0, NULL, 0, &n),
                NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_cache_table_around(plain, bad, 2, 0, 0, &around, NULL, 0, NULL, 0, &n),
                NGC_BAD_TOKEN);
    CHECK_EQUAL(ngc_cache_search_path(plain, key, 2, 3, 9, &count, &length, NULL, 0, &n),
                NGC_BAD_ARGUMENT);
    CHECK_EQUAL(ngc_constmap_look_up(packed, bad, &lookup), NGC_BAD_TOKEN);
    CHECK_OK(ngc_constmap_look_up(packed, key, &lookup));
    CHECK_EQUAL(lookup.verdict, NGC_FUSE_FOUND);
    ngc_cache_free(packed);
    ngc_cache_free(plain);
}

/* ---- without memory ---- */

typedef struct scene {
    ngc_cache *cache, *packed;
    int32_t text[N];
} scene;

static ngc_status show_around(const scene *scene)
{
    ngc_around around;
    size_t n;
    ngc_status status = ngc_cache_table_around(scene->cache, scene->text, 2, 1, 1, &around, places,
                                               ROOM, touches, ROOM, &n);
    CHECK((status == NGC_OK) == (n > 0));
    return status;
}

static ngc_status show_facts(const scene *scene)
{
    ngc_table_facts facts;
    return ngc_cache_table_facts(scene->cache, &facts);
}

static ngc_status show_search(const scene *scene)
{
    int32_t count;
    size_t length, n;
    return ngc_cache_search_path(scene->cache, scene->text, 2, scene->text[2], NGC_SEARCH_FIXED,
                                 &count, &length, touches, ROOM, &n);
}

static ngc_status show_lookup(const scene *scene)
{
    ngc_fuse_lookup lookup;
    return ngc_constmap_look_up(scene->packed, scene->text, &lookup);
}

static ngc_status show_peeling(const scene *scene)
{
    enum { KEYS = 3, CELLS = 100 };
    static const uint64_t values[KEYS] = {7, 8, 9};
    const int32_t keys[2 * KEYS] = {1, 2, 3, 4, 5, 6};
    ngc_peeling peeling;
    ngc_peel_step peeled[KEYS];
    ngc_assign_step assigned[KEYS];
    uint32_t cells[3 * KEYS];
    uint64_t data[CELLS], checks[CELLS];
    (void)scene;
    CHECK_EQUAL(ngc_fuse_peeling(keys, values, KEYS, &peeling, cells, peeled, assigned, data,
                                 checks, 2),
                NGC_SMALL_BUFFER);
    CHECK(peeling.n_cells <= CELLS);
    return ngc_fuse_peeling(keys, values, KEYS, &peeling, cells, peeled, assigned, data, checks,
                            CELLS);
}

/* Each allocation fails in turn, alone or with all after it: a clean error, nothing kept. */
static void check_without_memory(ngc_status (*show)(const scene *), const scene *scene,
                                 int64_t at_least)
{
    int64_t live_blocks = fault_live_blocks();
    CHECK_OK(show(scene));
    for (int lasting = 0; lasting <= 1; lasting++) {
        int64_t nth = 1;
        for (bool happened = true; happened; nth++) {
            fault_at(nth, lasting);
            ngc_status status = show(scene);
            happened = fault_happened();
            fault_at(0, false);
            CHECK_EQUAL(status, happened ? NGC_NO_MEMORY : NGC_OK);
            CHECK_EQUAL(fault_live_blocks(), live_blocks);
        }
        CHECK(nth - 2 >= at_least);
    }
}

void test_no_memory_for_views(void)
{
    static scene scene;
    random_text(scene.text, N, N_VOCAB, 85);
    for (size_t i = 0; toggles_at(i) != NULL; i++) {
        scene.cache = counted(toggles_at(i), 2, 2, scene.text, N);
        CHECK_OK(ngc_constmap_build(toggles_at(i), scene.cache, &scene.packed));
        check_without_memory(show_around, &scene, 1);
        check_without_memory(show_facts, &scene, 1);
        /* A summed list may know the count without reading a follower. */
        bool is_summed = toggles_at(i)->followers == NGC_FOLLOWERS_SUMMED;
        check_without_memory(show_search, &scene, is_summed ? 0 : 1);
        check_without_memory(show_lookup, &scene, 1);
        check_without_memory(show_peeling, &scene, 4);
        ngc_cache_free(scene.packed);
        ngc_cache_free(scene.cache);
    }
}

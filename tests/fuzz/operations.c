/* operations.c - fuzzes sequences of operations on caches and drafters, with failing allocations.
 *
 * Everything is done twice, side by side, under two sets of toggles that must draft the same. An
 * operation whose memory fails must leave the counts as they were, and is then repeated. What the
 * counts have to be is known from the digests alone: counting and merging add them.
 */
#include "fuzz.h"

/* Two caches merged into each other in turn grow like Fibonacci's numbers: a limit keeps counts from
 * reaching 2^31 - 1, where they stay and digests no longer add. */
enum { SIDES = 2, CACHES = 2, TEXT = 64, MOST_OPERATIONS = 60, MOST_MERGES = 20 };

/* One set of toggles, and all that is made with it. */
typedef struct side {
    ngc_toggles toggles;
    ngc_cache *caches[CACHES]; /* the first is the drafter's dynamic cache */
    ngc_cache *static_cache;
    ngc_drafter *drafter;
} side;

typedef struct world {
    side sides[SIDES];
    uint64_t digests[CACHES];
    uint64_t context_digest;
    int32_t text[TEXT]; /* of the next operation */
    int32_t fail_in; /* 0: nothing fails */
    int32_t n_merges;
    bool in_slices; /* what the next operation adds */
    bool turns_back;
    int32_t turns_at; /* so many slices, if there are as many */
    size_t n_pairs; /* of a slice */
} world;

/* ---- tokens ---- */

/* Few ids, so that n-grams repeat; some large, some that share a bucket, and none at the end. */
static int32_t take_token(input *input)
{
    uint8_t byte = take(input);
    return byte < 224 ? byte % 8 : byte < 250 ? 13 * (byte - 224) : INT32_MAX - 1 - (byte - 250);
}

static size_t take_text(world *world, input *input)
{
    size_t length = take(input) % TEXT;
    for (size_t i = 0; i < length; i++) {
        world->text[i] = take_token(input);
    }
    return length;
}

/* What counting the tokens from `from` on adds. */
static uint64_t digest_of_text(const int32_t *text, size_t from, size_t length)
{
    uint64_t sum = 0;
    for (int32_t n = 1; n <= NGC_N_MAX; n++) {
        for (size_t i = from < (size_t)n ? (size_t)n : from; i < length; i++) {
            sum += digest_of_one(text + i - n, n, text[i]);
        }
    }
    return sum;
}

/* ---- operations; each says whether it failed for want of memory ---- */

static bool failed(ngc_status status)
{
    MUST(status == NGC_OK || status == NGC_NO_MEMORY);
    return status == NGC_NO_MEMORY;
}

static void arm(const side *side, int32_t fail_in)
{
    for (int i = 0; i < CACHES; i++) {
        ngc_cache_fail_allocation(side->caches[i], fail_in);
    }
    ngc_drafter_fail_allocation(side->drafter, fail_in);
}

/* Goes on with it to its end; true if all was added. */
static bool add_in_slices(const world *world, const side *side, ngc_adding *adding)
{
    bool all = true;
    int32_t done = 0;
    for (int32_t i = 0; !done && !(world->turns_back && i == world->turns_at); i++) {
        if (failed(ngc_adding_step(adding, world->n_pairs, &done))) {
            all = false;
            arm(side, 0);
        }
    }
    if (world->turns_back) {
        all = false;
        ngc_adding_turn_back(adding);
        arm(side, 0);
        for (done = 0; !done;) {
            MUST(ngc_adding_step(adding, world->n_pairs, &done) == NGC_OK);
        }
    }
    ngc_adding_free(adding);
    return all;
}

static void update(world *world, input *input)
{
    size_t which = take(input) % CACHES;
    size_t length = take_text(world, input);
    size_t n_new = length == 0 ? 0 : take(input) % (length + 1);
    for (int i = 0; i < SIDES; i++) {
        ngc_cache *cache = world->sides[i].caches[which];
        ngc_adding *adding;
        if (world->in_slices && ngc_adding_begin_update(cache, world->text, length, n_new,
                                                        &adding) == NGC_OK) {
            if (add_in_slices(world, &world->sides[i], adding)) {
                continue;
            }
            MUST(digest(cache) == world->digests[which]);
        }
        while (failed(ngc_cache_update(cache, world->text, length, n_new))) {
            MUST(digest(cache) == world->digests[which]);
            arm(&world->sides[i], 0);
        }
    }
    world->digests[which] += digest_of_text(world->text, length - n_new, length);
}

static void merge(world *world, input *input)
{
    size_t which = take(input) % CACHES;
    if (world->n_merges++ >= MOST_MERGES) {
        return;
    }
    for (int i = 0; i < SIDES; i++) {
        ngc_cache *cache = world->sides[i].caches[which];
        const ngc_cache *added = world->sides[i].caches[1 - which];
        if (world->in_slices) {
            ngc_adding *adding;
            MUST(ngc_adding_begin_merge(cache, added, &adding) == NGC_OK);
            if (add_in_slices(world, &world->sides[i], adding)) {
                continue;
            }
            MUST(digest(cache) == world->digests[which]);
        }
        while (failed(ngc_cache_merge(cache, added))) {
            MUST(digest(cache) == world->digests[which]);
            arm(&world->sides[i], 0);
        }
    }
    world->digests[which] += world->digests[1 - which];
}

static void clear(world *world, input *input)
{
    size_t which = take(input) % CACHES;
    for (int i = 0; i < SIDES; i++) {
        MUST(ngc_cache_clear(world->sides[i].caches[which]) == NGC_OK);
    }
    world->digests[which] = 0;
}

static void feed(world *world, input *input)
{
    size_t length = take_text(world, input);
    for (int i = 0; i < SIDES; i++) {
        ngc_drafter *drafter = world->sides[i].drafter;
        size_t before = ngc_drafter_length(drafter), done = 0, n_done;
        while (failed(ngc_drafter_feed(drafter, world->text + done, length - done, &n_done))) {
            done += n_done;
            MUST(ngc_drafter_length(drafter) == before + done);
            MUST(digest(ngc_drafter_context_view(drafter)) ==
                 digest_of_text(ngc_drafter_text_view(drafter), 0, before + done));
            arm(&world->sides[i], 0);
        }
    }
    const ngc_drafter *drafter = world->sides[0].drafter;
    world->context_digest =
        digest_of_text(ngc_drafter_text_view(drafter), 0, ngc_drafter_length(drafter));
}

/* Drafts, plain and recorded, on both sides: all four must be the same. */
static void draft(world *world, input *input)
{
    enum { MOST = 12 };
    static ngc_step steps[MOST + 1];
    int32_t drafted[SIDES][MOST], n_drafted[SIDES], n_steps;
    int32_t n_draft = take(input) % (MOST + 1);
    for (int i = 0; i < SIDES; i++) {
        ngc_drafter *drafter = world->sides[i].drafter;
        ngc_probe probe;
        while (failed(ngc_drafter_draft(drafter, n_draft, drafted[i], &n_drafted[i]))) {
            MUST(n_drafted[i] == 0);
            arm(&world->sides[i], 0);
        }
        arm(&world->sides[i], world->fail_in);
        while (failed(ngc_drafter_trace(drafter, n_draft, steps, &n_steps, &probe))) {
            MUST(n_steps == 0);
            arm(&world->sides[i], 0);
        }
        MUST(n_steps == n_drafted[i] || n_steps == n_drafted[i] + 1);
        for (int32_t k = 0; k < n_steps; k++) {
            MUST(steps[k].token == (k < n_drafted[i] ? drafted[i][k] : NGC_NO_TOKEN));
        }
    }
    MUST(n_drafted[0] == n_drafted[1]);
    MUST(memcmp(drafted[0], drafted[1], (size_t)n_drafted[0] * sizeof(int32_t)) == 0);
}

static void rewind_text(world *world, input *input)
{
    size_t length = ngc_drafter_length(world->sides[0].drafter);
    length = length * take(input) / 255;
    for (int i = 0; i < SIDES; i++) {
        ngc_drafter *drafter = world->sides[i].drafter;
        while (failed(ngc_drafter_rewind(drafter, length))) {
            MUST(digest(ngc_drafter_context_view(drafter)) == world->context_digest);
            arm(&world->sides[i], 0);
        }
        MUST(ngc_drafter_length(drafter) == length);
    }
    world->context_digest =
        digest_of_text(ngc_drafter_text_view(world->sides[0].drafter), 0, length);
}

/* In slices up to the last or fewer, then back, or to the end; true if the text has ended. */
static bool end_in_slices(const world *world, const side *side)
{
    int32_t done = 0;
    bool fails = false;
    for (int32_t i = 0; !done && !fails && !(world->turns_back && i == world->turns_at); i++) {
        fails = failed(ngc_drafter_end_text_slice(side->drafter, world->n_pairs, &done));
    }
    arm(side, 0);
    while (!done) {
        ngc_drafter_settle_slice(side->drafter, world->n_pairs, &done);
    }
    return ngc_drafter_length(side->drafter) == 0;
}

static void end_text(world *world, input *input)
{
    (void)input;
    for (int i = 0; i < SIDES; i++) {
        if (world->in_slices && end_in_slices(world, &world->sides[i])) {
            continue; /* be it that there was no text */
        }
        MUST(digest(ngc_drafter_context_view(world->sides[i].drafter)) == world->context_digest);
        MUST(digest(world->sides[i].caches[0]) == world->digests[0]);
        while (failed(ngc_drafter_end_text(world->sides[i].drafter))) {
            MUST(digest(world->sides[i].caches[0]) == world->digests[0]);
            arm(&world->sides[i], 0);
        }
    }
    world->digests[0] += world->context_digest;
    world->context_digest = 0;
}

/* A walk that begins before other operations and is taken up after them. */
static void walk(world *world, input *input)
{
    size_t which = take(input) % CACHES;
    size_t steps = take(input);
    for (int i = 0; i < SIDES; i++) {
        ngc_cursor cursor = {0};
        ngc_ngram_facts ngram;
        size_t n = 1;
        for (size_t k = 0; k < steps && n > 0; k++) {
            MUST(ngc_cache_walk(world->sides[i].caches[which], &cursor, &ngram, 1, &n) == NGC_OK);
        }
        bool begun = cursor.n_done > 0;
        MUST(ngc_cache_clear(world->sides[i].caches[which]) == NGC_OK);
        MUST(ngc_cache_walk(world->sides[i].caches[which], &cursor, &ngram, 1, &n) ==
             (begun ? NGC_CHANGED : NGC_OK));
        MUST(n == 0);
    }
    world->digests[which] = 0;
}

/* ---- the whole ---- */

static void begin(world *world, input *input)
{
    int32_t score = take(input) % 2 ? NGC_SCORE_EXACT : NGC_SCORE_INT32;
    for (int i = 0; i < SIDES; i++) {
        world->sides[i].toggles = take_toggles(input, score);
    }
    ngc_rule rule;
    ngc_rule_default(&rule);
    rule.use_context = take(input) % 8 != 1;
    rule.eos = take(input) % 16 - 1;
    size_t length = take_text(world, input);
    for (int i = 0; i < SIDES; i++) {
        side *side = &world->sides[i];
        for (int k = 0; k < CACHES; k++) {
            MUST(ngc_cache_new(&side->toggles, 1, NGC_N_MAX, &side->caches[k]) == NGC_OK);
            ngc_cache_grow_at_once(side->caches[k], 3);
        }
        ngc_cache *pairs;
        MUST(ngc_cache_new(&side->toggles, 2, 2, &pairs) == NGC_OK);
        MUST(ngc_cache_update(pairs, world->text, length, length) == NGC_OK);
        side->static_cache = pairs;
        if (side->toggles.static_cache == NGC_STATIC_CONSTMAP) {
            MUST(ngc_constmap_build(&side->toggles, pairs, &side->static_cache) == NGC_OK);
            ngc_cache_free(pairs);
        }
        MUST(ngc_drafter_new(&side->toggles, &rule, side->static_cache, side->caches[0],
                             &side->drafter) == NGC_OK);
    }
}

static void check(const world *world)
{
    for (int i = 0; i < SIDES; i++) {
        const side *side = &world->sides[i];
        for (int k = 0; k < CACHES; k++) {
            must_be_sound(side->caches[k]);
            MUST(digest(side->caches[k]) == world->digests[k]);
        }
        must_be_sound(ngc_drafter_context_view(side->drafter));
        MUST(digest(ngc_drafter_context_view(side->drafter)) == world->context_digest);
    }
}

static void end(world *world)
{
    for (int i = 0; i < SIDES; i++) {
        ngc_drafter_free(world->sides[i].drafter);
        ngc_cache_free(world->sides[i].static_cache);
        for (int k = 0; k < CACHES; k++) {
            ngc_cache_free(world->sides[i].caches[k]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const operations[])(world *, input *) = {
        feed, update, draft, merge, rewind_text, end_text, clear, walk,
    };
    input input = {data, data + size};
    world world = {0};
    begin(&world, &input);
    for (int i = 0; i < MOST_OPERATIONS && input.at < input.end; i++) {
        uint8_t what = take(&input);
        world.fail_in = what & 0x80 ? 1 + take(&input) % 40 : 0;
        world.in_slices = what & 0x40;
        if (world.in_slices) {
            uint8_t how = take(&input);
            world.turns_back = how & 1;
            world.turns_at = how >> 5;
            world.n_pairs = (how >> 1 & 15) * (how >> 1 & 15);
        }
        for (int k = 0; k < SIDES; k++) {
            arm(&world.sides[k], world.fail_in);
        }
        operations[what % 8](&world, &input);
        for (int k = 0; k < SIDES; k++) {
            arm(&world.sides[k], 0);
        }
    }
    check(&world);
    end(&world);
    return 0;
}

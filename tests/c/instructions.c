/* instructions.c - replays one text as golden runs do; for tests/instructions.py, which counts
 * with callgrind what each of the engine's functions executes.
 *
 * Usage: instructions STAGE TOKENS.i32 STATIC.cache      (constmap and precheck: a constmap file;
 *                                                         places makes its own of llama.cpp's)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ngc.h"

typedef struct stage {
    const char *name;
    ngc_toggles toggles;
} stage;

static const stage STAGES[] = {
    {"upstream", {.copy_followers = 1}},
    {"nocopy", {.copy_followers = 0}},
    {"outermap", {.outer = NGC_OUTER_SEGMENTED}},
    {"innervector",
     {.outer = NGC_OUTER_SEGMENTED, .followers = NGC_FOLLOWERS_SORTED, .ties = NGC_TIES_TOKEN}},
    {"constmap",
     {.outer = NGC_OUTER_SEGMENTED,
      .followers = NGC_FOLLOWERS_SORTED,
      .static_cache = NGC_STATIC_CONSTMAP,
      .ties = NGC_TIES_TOKEN}},
    {"precheck",
     {.outer = NGC_OUTER_SEGMENTED,
      .followers = NGC_FOLLOWERS_SORTED,
      .static_cache = NGC_STATIC_CONSTMAP,
      .precheck = 1,
      .ties = NGC_TIES_TOKEN}},
    {"places",
     {.outer = NGC_OUTER_PLACES,
      .followers = NGC_FOLLOWERS_SUMMED,
      .static_cache = NGC_STATIC_NGC,
      .precheck = 1,
      .hash = NGC_HASH_MIXED,
      .ties = NGC_TIES_TOKEN,
      .bound = 1,
      .late_static = 1,
      .prefetch = 1,
      .glance = 1}},
};

static void must(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "instructions: %s\n", what);
        exit(1);
    }
}

static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    must(file != NULL && fseek(file, 0, SEEK_END) == 0, path);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *content = malloc(*bytes + 1);
    must(content != NULL && fread(content, 1, *bytes, file) == *bytes, path);
    fclose(file);
    return content;
}

/* Our own file of a cache, which it takes. */
static ngc_cache *packed(const ngc_toggles *toggles, ngc_cache *source)
{
    ngc_packed_about about = {0};
    ngc_packed_builder *builder;
    ngc_cache *made;
    ngc_status status = ngc_packed_begin(toggles, source, &about, &builder);
    for (int32_t done = 0; status == NGC_OK && !done;) {
        status = ngc_packed_step(builder, SIZE_MAX, &done);
    }
    must(status == NGC_OK && ngc_packed_take(builder, &made) == NGC_OK, "cannot be packed");
    ngc_packed_builder_free(builder);
    ngc_cache_free(source);
    return made;
}

static ngc_cache *load(const ngc_toggles *toggles, const char *path)
{
    size_t bytes, n_used;
    uint8_t *file = read_file(path, &bytes), *room;
    ngc_cache *cache;
    ngc_status status;
    if (toggles->static_cache == NGC_STATIC_CONSTMAP) {
        must(ngc_constmap_new(toggles, bytes, &cache, &room) == NGC_OK, "no memory");
        memcpy(room, file, bytes);
        int32_t done = 0;
        do {
            status = ngc_constmap_check(cache, &done);
        } while (status == NGC_OK && !done);
    } else {
        ngc_load_report report = {0};
        must(ngc_cache_new(toggles, 2, 2, &cache) == NGC_OK, "no memory");
        status = ngc_cache_load_legacy(cache, file, bytes, bytes, &n_used, &report);
    }
    must(status == NGC_OK, path);
    free(file);
    return toggles->static_cache == NGC_STATIC_NGC ? packed(toggles, cache) : cache;
}

int main(int argc, char **argv)
{
    must(argc == 4, "needs STAGE TOKENS STATIC");
    const stage *stage = STAGES;
    const struct stage *end = STAGES + sizeof STAGES / sizeof STAGES[0];
    while (stage < end && strcmp(stage->name, argv[1]) != 0) {
        stage++;
    }
    must(stage < end, "no such stage");
    size_t text_bytes;
    uint8_t *text = read_file(argv[2], &text_bytes);
    ngc_cache *static_cache = load(&stage->toggles, argv[3]);
    ngc_replay_options options = {.n_ctx = 4096, .n_draft = 8, .tail = NGC_TAIL_DROP};
    ngc_rule rule;
    ngc_replay *replay;
    ngc_sample sample;
    ngc_rule_default(&rule);
    must(ngc_replay_new(&stage->toggles, &rule, &options, (const int32_t *)(const void *)text,
                        text_bytes / 4, static_cache, NULL, &replay) == NGC_OK,
         "not a text");
    must(ngc_replay_advance(replay, -1, -1, &sample) == NGC_OK, "the replay failed");
    printf("%lld drafted, %lld accepted\n", (long long)sample.n_drafted,
           (long long)sample.n_accept);
    ngc_replay_free(replay);
    ngc_cache_free(static_cache);
    free(text);
    return 0;
}

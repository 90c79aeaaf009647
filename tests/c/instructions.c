/* instructions.c - replays one text as golden runs do; for tests/instructions.py, which counts
 * with callgrind what each of the engine's functions executes.
 *
 * Usage: instructions TOKENS.i32 STATIC.legacy.cache COPY   (COPY: 1 for upstream, 0 for nocopy)
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "ngc.h"

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

int main(int argc, char **argv)
{
    must(argc == 4, "needs TOKENS STATIC COPY");
    size_t text_bytes, file_bytes, n_used;
    uint8_t *text = read_file(argv[1], &text_bytes);
    uint8_t *file = read_file(argv[2], &file_bytes);
    ngc_toggles toggles = {.copy_followers = argv[3][0] == '1'};
    ngc_replay_options options = {.n_ctx = 4096, .n_draft = 8, .tail = NGC_TAIL_DROP};
    ngc_rule rule;
    ngc_cache *static_cache;
    ngc_load_report report = {0};
    ngc_replay *replay;
    ngc_sample sample;
    ngc_rule_default(&rule);
    must(ngc_cache_new(&toggles, 2, 2, &static_cache) == NGC_OK, "no memory");
    must(ngc_cache_load_legacy(static_cache, file, file_bytes, file_bytes, &n_used, &report) ==
             NGC_OK,
         "not a cache file");
    must(ngc_replay_new(&toggles, &rule, &options, (const int32_t *)(const void *)text,
                        text_bytes / 4, static_cache, NULL, &replay) == NGC_OK,
         "not a text");
    must(ngc_replay_advance(replay, -1, -1, &sample) == NGC_OK, "the replay failed");
    printf("%lld drafted, %lld accepted\n", (long long)sample.n_drafted,
           (long long)sample.n_accept);
    ngc_replay_free(replay);
    ngc_cache_free(static_cache);
    free(text);
    free(file);
    return 0;
}

/* constmap_file.c - fuzzes the reader of constmap files.
 *
 * The first byte says whether the checksum is made right first, since no fuzzer would guess it. What
 * is opened is then looked up everywhere, through a drafter too: whatever the bytes say, a look-up
 * gives nothing or a list of followers.
 */
#include "fuzz.h"

enum { HEAD_BYTES = 24, MOST_LENGTH = 64 };

static void make_sum_right(uint8_t *file, size_t bytes)
{
    uint64_t n_pairs = 0;
    for (size_t i = 0; i < 8 && bytes >= HEAD_BYTES; i++) {
        n_pairs |= (uint64_t)file[8 + i] << 8 * i;
    }
    if (bytes < HEAD_BYTES || n_pairs > (bytes - HEAD_BYTES) / 8 ||
        bytes - HEAD_BYTES - 8 * n_pairs < 8) {
        return;
    }
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = HEAD_BYTES + 8 * (size_t)n_pairs; i < bytes - 8; i++) {
        sum = (sum ^ file[i]) * UINT64_C(0x100000001b3);
    }
    for (size_t i = 0; i < 8; i++) {
        file[bytes - 8 + i] = (uint8_t)(sum >> 8 * i);
    }
}

static void look_up(const ngc_cache *cache, int32_t a, int32_t b)
{
    int32_t key[2] = {a, b}, tokens[MOST_LENGTH], counts[MOST_LENGTH];
    size_t length;
    MUST(ngc_cache_followers(cache, key, 2, tokens, counts, MOST_LENGTH, &length) == NGC_OK);
    ngc_fuse_lookup lookup;
    MUST(ngc_constmap_look_up(cache, key, &lookup) == NGC_OK);
    MUST((lookup.verdict == NGC_FUSE_FOUND) == (length > 0));
    MUST(length == 0 || (size_t)lookup.length == length);
    for (size_t i = 0; i < length && i < MOST_LENGTH; i++) {
        MUST(tokens[i] >= 0 && counts[i] > 0);
        MUST(i == 0 || tokens[i - 1] < tokens[i]);
    }
}

/* What the bytes mean: told of all of them or, of what was refused, of none. */
static void tell_spans(const ngc_cache *cache, size_t bytes, bool loads)
{
    enum { MOST = 32 };
    ngc_span spans[MOST];
    size_t n_spans;
    for (size_t from = 0; from < bytes;) {
        ngc_status status =
            ngc_constmap_spans(cache, (int64_t)from, (int64_t)from + 100, spans, MOST, &n_spans);
        MUST(status == (loads ? NGC_OK : NGC_UNSUPPORTED));
        if (status != NGC_OK) {
            return;
        }
        MUST(n_spans > 0 && n_spans <= MOST && spans[0].offset <= (int64_t)from);
        const ngc_span *last = &spans[n_spans - 1];
        MUST(last->offset + last->n_bytes <= (int64_t)bytes);
        from = (size_t)(last->offset + last->n_bytes);
    }
}

static void draft_with(const ngc_toggles *toggles, const ngc_cache *cache)
{
    ngc_rule rule;
    ngc_drafter *drafter;
    int32_t text[4], drafted[8], n_drafted;
    size_t n_done;
    ngc_rule_default(&rule);
    MUST(ngc_drafter_new(toggles, &rule, cache, NULL, &drafter) == NGC_OK);
    for (int32_t i = 0; i < 16; i++) {
        text[0] = i % 4;
        text[1] = i / 4;
        MUST(ngc_drafter_feed(drafter, text, 2, &n_done) == NGC_OK);
        MUST(ngc_drafter_draft(drafter, 8, drafted, &n_drafted) == NGC_OK);
        ngc_probe probe;
        size_t n_touches;
        MUST(ngc_drafter_touches(drafter, 8, NULL, 0, &n_touches, &probe) == NGC_OK);
        MUST(probe.n_drafted == n_drafted);
    }
    ngc_drafter_free(drafter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input input = {data, data + size};
    bool sum_is_made_right = take(&input) % 2;
    ngc_toggles toggles = take_toggles(&input, NGC_SCORE_EXACT);
    toggles.static_cache = NGC_STATIC_CONSTMAP;
    size_t bytes = (size_t)(input.end - input.at);
    ngc_cache *cache;
    uint8_t *file;
    MUST(ngc_constmap_new(&toggles, bytes, &cache, &file) == NGC_OK);
    if (bytes > 0) {
        memcpy(file, input.at, bytes);
    }
    if (sum_is_made_right) {
        make_sum_right(file, bytes);
    }
    int32_t done = 0;
    ngc_status status = NGC_OK;
    while (status == NGC_OK && !done) {
        status = ngc_constmap_check(cache, &done);
    }
    MUST(status == NGC_OK || status == NGC_TRUNCATED || status == NGC_BAD_RECORD ||
         status == NGC_BAD_SUM);
    for (int32_t a = 0; a < 12; a++) {
        for (int32_t b = 0; b < 12; b++) {
            look_up(cache, a, b);
            look_up(cache, INT32_MAX - 1 - a, b * 1000003);
        }
    }
    tell_spans(cache, bytes, status == NGC_OK);
    draft_with(&toggles, cache);
    ngc_cache_free(cache);
    return 0;
}

/* packed_file.c - fuzzes the reader of our own static file.
 *
 * The first byte says which checksums are made right first, since no fuzzer would guess them. What
 * is opened is then looked up everywhere, listed and drafted with, before and after it is checked:
 * whatever the bytes say, nothing outside of them is read.
 */
#include "fuzz.h"
#include "ngc_packed_format.h"

enum { MOST_LENGTH = 64 };

static uint64_t sum_of(const uint8_t *bytes, size_t n_bytes)
{
    packed_sum sum = ngc_packed_sum_begin();
    ngc_packed_sum_add(&sum, bytes, n_bytes);
    return ngc_packed_sum_end(&sum);
}

/* The sections' sums, where the head says that they lie. */
static void make_section_sums_right(uint8_t *file, size_t bytes)
{
    for (uint32_t i = 0; i < PACKED_SECTIONS; i++) {
        uint8_t *section = file + PACKED_SECTIONS_AT + PACKED_SECTION_BYTES * i;
        uint64_t offset = ngc_get_uint64(section + 8), length = ngc_get_uint64(section + 16);
        if (offset <= bytes && length <= bytes - offset) {
            ngc_put_uint64(section + 24, sum_of(file + offset, (size_t)length));
        }
    }
}

static void make_head_right(uint8_t *file, size_t bytes)
{
    uint8_t head[PACKED_HEAD_BYTES] = {0};
    memcpy(file, ngc_packed_magic, sizeof ngc_packed_magic);
    ngc_put_uint64(file + 16, bytes);
    memcpy(head, file, PACKED_SUM_AT);
    ngc_put_uint64(file + PACKED_SUM_AT, sum_of(head, sizeof head));
}

static void look_up(const ngc_cache *cache, int32_t a, int32_t b)
{
    int32_t key[2] = {a, b}, tokens[MOST_LENGTH], counts[MOST_LENGTH];
    size_t length;
    MUST(ngc_cache_followers(cache, key, 2, tokens, counts, MOST_LENGTH, &length) == NGC_OK);
    for (size_t i = 0; i < length && i < MOST_LENGTH; i++) {
        MUST(tokens[i] >= 0 && counts[i] >= 0);
    }
}

static void draft_with(const ngc_toggles *toggles, const ngc_cache *cache)
{
    static ngc_step steps[9];
    ngc_rule rule;
    ngc_drafter *drafter;
    ngc_probe probe;
    int32_t text[4], drafted[8], n_drafted;
    size_t n_done;
    ngc_rule_default(&rule);
    MUST(ngc_drafter_new(toggles, &rule, cache, NULL, &drafter) == NGC_OK);
    for (int32_t i = 0; i < 16; i++) {
        text[0] = i % 4;
        text[1] = i / 4;
        MUST(ngc_drafter_feed(drafter, text, 2, &n_done) == NGC_OK);
        MUST(ngc_drafter_draft(drafter, 8, drafted, &n_drafted) == NGC_OK);
        MUST(ngc_drafter_trace(drafter, 8, steps, &n_drafted, &probe) == NGC_OK);
    }
    ngc_drafter_free(drafter);
}

/* What the bytes mean: of any window something is told, of whatever bytes. */
static void tell_spans(const ngc_cache *cache)
{
    enum { WINDOW = 200 };
    ngc_span spans[WINDOW + 2];
    size_t bytes, n_spans;
    MUST(ngc_packed_bytes_view(cache, &bytes) != NULL);
    for (int64_t from = 0; from < (int64_t)bytes; from += WINDOW + (int64_t)bytes / 8) {
        MUST(ngc_packed_spans(cache, from, from + WINDOW, spans, WINDOW + 2, &n_spans) == NGC_OK);
        MUST(n_spans > 0 && spans[0].offset <= from);
        for (size_t i = 0; i < n_spans; i++) {
            MUST(spans[i].offset >= 0 && spans[i].n_bytes > 0);
            MUST(spans[i].offset + spans[i].n_bytes <= (int64_t)bytes);
            MUST(i == 0 || spans[i].offset >= spans[i - 1].offset);
        }
    }
}

static void use(const ngc_toggles *toggles, const ngc_cache *cache)
{
    ngc_cursor cursor = {0};
    ngc_ngram_facts ngram;
    for (int32_t a = 0; a < 12; a++) {
        for (int32_t b = 0; b < 12; b++) {
            look_up(cache, a, b);
            look_up(cache, INT32_MAX - 1 - a, b * 1000003);
        }
    }
    for (size_t n = 1; n == 1;) {
        MUST(ngc_cache_walk(cache, &cursor, &ngram, 1, &n) == NGC_OK);
    }
    tell_spans(cache);
    draft_with(toggles, cache);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input input = {data, data + size};
    uint8_t made_right = take(&input);
    ngc_toggles toggles = take_toggles(&input, NGC_SCORE_EXACT);
    toggles.static_cache = NGC_STATIC_NGC;
    size_t bytes = (size_t)(input.end - input.at);
    uint8_t *file = malloc(bytes + (bytes == 0));
    ngc_cache *cache;
    ngc_fault fault;
    int32_t done = 0;
    MUST(file != NULL);
    if (bytes > 0) {
        memcpy(file, input.at, bytes);
    }
    if (bytes >= PACKED_HEAD_BYTES && made_right % 2) {
        if (made_right / 2 % 2) {
            make_section_sums_right(file, bytes);
        }
        make_head_right(file, bytes);
    }
    ngc_status status = ngc_packed_open(&toggles, file, bytes, &cache, &fault);
    if (status == NGC_OK) {
        use(&toggles, cache);
        while (status == NGC_OK && !done) {
            status = ngc_packed_check(cache, &done, &fault);
        }
        if (done) {
            const char *reason;
            MUST(ngc_cache_validate(cache, &reason) == NGC_OK);
        }
        ngc_cache_free(cache);
    }
    MUST(status == NGC_OK || (fault.part != NULL && fault.at_byte <= bytes));
    MUST(status == NGC_OK || status == NGC_TRUNCATED || status == NGC_BAD_RECORD ||
         status == NGC_BAD_SUM || status == NGC_BAD_VERSION);
    free(file);
    return 0;
}

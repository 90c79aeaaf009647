/* counter.c - fuzzes counting in bounded memory against counting into a cache: the same file, byte for
 * byte, and the same constmap.
 */
#include "fuzz.h"
#include "ngc_counter.h"

enum { MOST = 2000 };

/* Few ids, and some of any size. */
static int32_t take_token(input *input)
{
    uint8_t byte = take(input);
    if (byte < 250) {
        return byte % 50;
    }
    uint32_t wide = 0;
    for (int i = 0; i < 4; i++) {
        wide = wide << 8 | take(input);
    }
    return (int32_t)(wide % INT32_MAX);
}

static void must_be_the_same_file(ngc_counter *counter, const ngc_cache *cache)
{
    enum { ROOM = 64 * MOST };
    uint8_t *files = malloc(2 * ROOM);
    MUST(files != NULL);
    size_t done = 0, n_written = 1, wanted;
    ngc_cursor cursor = {0};
    MUST(ngc_counter_begin_save(counter) == NGC_OK);
    while (n_written > 0) {
        MUST(ngc_counter_save_legacy(counter, &cursor, files + done, ROOM - done, &n_written) ==
             NGC_OK);
        done += n_written;
    }
    cursor = (ngc_cursor){0};
    MUST(ngc_cache_save_legacy(cache, &cursor, files + ROOM, ROOM, &wanted) == NGC_OK);
    MUST(done == wanted && memcmp(files, files + ROOM, done) == 0);
    free(files);
}

static void must_pack_the_same(const ngc_counter *counter, const ngc_cache *cache,
                               const ngc_toggles *toggles)
{
    ngc_cache *a, *b;
    size_t bytes_a, bytes_b;
    MUST(ngc_constmap_count(toggles, counter, &a) == NGC_OK);
    MUST(ngc_constmap_build(toggles, cache, &b) == NGC_OK);
    const uint8_t *file_a = ngc_constmap_bytes_view(a, &bytes_a);
    const uint8_t *file_b = ngc_constmap_bytes_view(b, &bytes_b);
    MUST(bytes_a == bytes_b && memcmp(file_a, file_b, bytes_a) == 0);
    must_be_sound(a);
    ngc_cache_free(a);
    ngc_cache_free(b);
}

/* Without an order, too, a packed cache is the same, however often the table was spilled. */
static void must_need_no_order(const ngc_counter *ordered, const int32_t *text, size_t length,
                               size_t n_homes, int32_t fail_in)
{
    const ngc_toggles toggles = {.outer = NGC_OUTER_SEGMENTED, .static_cache = NGC_STATIC_NGC};
    ngc_counter *counter;
    MUST(ngc_counter_new(&counter) == NGC_OK);
    MUST(ngc_counter_in_any_order(counter) == NGC_OK);
    ngc_counter_bound(counter, n_homes);
    ngc_counter_fail_allocation(counter, fail_in);
    for (size_t at = 0; at < length; at = (size_t)ngc_counter_tokens(counter)) {
        ngc_status status = ngc_counter_add(counter, text + at, length - at);
        MUST(status == NGC_OK || status == NGC_NO_MEMORY);
    }
    ngc_counter_fail_allocation(counter, 0);
    MUST(ngc_counter_finish(counter) == NGC_OK);
    const ngc_counter *counters[] = {ordered, counter};
    ngc_cache *caches[2];
    const uint8_t *files[2];
    size_t bytes[2];
    for (int i = 0; i < 2; i++) {
        ngc_packed_about about = {.n_vocab = fail_in % 2 == 0 ? 0 : INT32_MAX};
        ngc_packed_builder *builder;
        MUST(ngc_packed_begin_counts(&toggles, counters[i], &about, &builder) == NGC_OK);
        for (int32_t done = 0; !done;) {
            MUST(ngc_packed_step(builder, SIZE_MAX, &done) == NGC_OK);
        }
        MUST(ngc_packed_take(builder, &caches[i]) == NGC_OK);
        ngc_packed_builder_free(builder);
        files[i] = ngc_packed_bytes_view(caches[i], &bytes[i]);
    }
    MUST(bytes[0] == bytes[1] && memcmp(files[0], files[1], bytes[0]) == 0);
    ngc_cache_free(caches[0]);
    ngc_cache_free(caches[1]);
    ngc_counter_free(counter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int32_t text[MOST];
    input input = {data, data + size};
    size_t piece = 1 + take(&input);
    int32_t fail_in = take(&input);
    size_t length = 0;
    while (length < MOST && input.at < input.end) {
        text[length++] = take_token(&input);
    }
    const ngc_toggles chained = {0};
    const ngc_toggles flat = {.outer = NGC_OUTER_SEGMENTED}; /* lists in order of first occurrence */
    ngc_cache *cache, *in_order;
    ngc_counter *counter;
    MUST(ngc_cache_new(&chained, 2, 2, &cache) == NGC_OK);
    MUST(ngc_cache_update(cache, text, length, length) == NGC_OK);
    MUST(ngc_cache_new(&flat, 2, 2, &in_order) == NGC_OK);
    MUST(ngc_cache_update(in_order, text, length, length) == NGC_OK);
    MUST(ngc_counter_new(&counter) == NGC_OK);
    ngc_counter_fail_allocation(counter, fail_in);
    for (size_t at = 0; at < length; at = (size_t)ngc_counter_tokens(counter)) {
        ngc_status status =
            ngc_counter_add(counter, text + at, length - at < piece ? length - at : piece);
        MUST(status == NGC_OK || status == NGC_NO_MEMORY);
    }
    ngc_counter_fail_allocation(counter, 0);
    MUST(ngc_counter_finish(counter) == NGC_OK);
    must_be_the_same_file(counter, cache);
    must_pack_the_same(counter, in_order, &flat);
    must_need_no_order(counter, text, length, 64 + piece, fail_in);
    ngc_counter_free(counter);
    ngc_cache_free(in_order);
    ngc_cache_free(cache);
    return 0;
}

/* legacy_file.c - fuzzes the reader of llama.cpp's cache files.
 *
 * The first bytes say how the cache is made and how large the pieces are; the rest is the file. It is
 * read whole and in pieces, which must agree in everything; then it is saved and read again. What its
 * bytes mean is told, too: of a file that can be loaded, of all of them.
 */
#include "fuzz.h"

static ngc_cache *new_cache(const ngc_toggles *toggles, int32_t n_min, int32_t n_max)
{
    ngc_cache *cache;
    MUST(ngc_cache_new(toggles, n_min, n_max, &cache) == NGC_OK);
    return cache;
}

/* Shows the reader some new bytes at a time, of the sizes that `sizes` tells. */
static ngc_status load_in_pieces(ngc_cache *cache, const uint8_t *file, size_t bytes, input sizes,
                                 ngc_load_report *report)
{
    size_t start = 0, end = 0;
    const uint8_t *first_size = sizes.at;
    while (start < bytes) {
        if (sizes.at == sizes.end) {
            sizes.at = first_size;
        }
        size_t piece = 1 + take(&sizes);
        end = piece < bytes - end ? end + piece : bytes;
        size_t n_used;
        ngc_status status = ngc_cache_load_legacy(cache, file + start, end - start, bytes - start,
                                                  &n_used, report);
        MUST(n_used <= end - start);
        start += n_used;
        MUST(report->n_bytes == (int64_t)start);
        if (status != NGC_OK) {
            return status;
        }
    }
    return NGC_OK;
}

/* A window of the file that begins with byte `from`. */
static void tell_spans(const uint8_t *file, size_t bytes, size_t from, bool loads)
{
    enum { MOST = 64 };
    ngc_span spans[MOST];
    ngc_file_place place = {0};
    size_t n_spans, n_used;
    ngc_status status = ngc_legacy_spans(file, bytes, bytes, (int64_t)from, (int64_t)from + 4 * MOST,
                                         &place, spans, MOST - 8, &n_spans, &n_used);
    MUST(status == NGC_OK || status == NGC_TRUNCATED || status == NGC_BAD_RECORD);
    MUST(status == NGC_OK || !loads);
    MUST(place.offset == (int64_t)n_used && n_used <= bytes && n_spans <= MOST + 1);
    for (size_t i = 0; i < n_spans && i < MOST - 8; i++) {
        MUST(spans[i].n_bytes == 4 && spans[i].offset + 4 > (int64_t)from);
        MUST(spans[i].offset + 4 <= (int64_t)bytes);
        MUST(i == 0 || spans[i].offset == spans[i - 1].offset + 4);
        size_t at = (size_t)spans[i].offset;
        uint32_t value = file[at] | (uint32_t)file[at + 1] << 8 | (uint32_t)file[at + 2] << 16 |
                         (uint32_t)file[at + 3] << 24;
        MUST((uint32_t)spans[i].value == value);
    }
}

static uint8_t *save(const ngc_cache *cache, size_t room, size_t *bytes)
{
    uint8_t *file = malloc(room + 1);
    ngc_cursor cursor = {0};
    MUST(file != NULL);
    MUST(ngc_cache_save_legacy(cache, &cursor, file, room, bytes) == NGC_OK);
    size_t rest;
    MUST(ngc_cache_save_legacy(cache, &cursor, file, 0, &rest) == NGC_OK && rest == 0);
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    input input = {data, data + size};
    ngc_toggles toggles = take_toggles(&input, NGC_SCORE_EXACT);
    int32_t n_min = 1 + take(&input) % 4;
    int32_t n_max = n_min + take(&input) % (5 - n_min);
    struct input sizes = input;
    take(&input);
    take(&input);
    sizes.end = input.at > sizes.at ? input.at : sizes.at;
    size_t bytes = (size_t)(input.end - input.at);

    ngc_cache *whole = new_cache(&toggles, n_min, n_max);
    ngc_cache *pieces = new_cache(&toggles, n_min, n_max);
    ngc_cache *again = new_cache(&toggles, n_min, n_max);
    ngc_load_report of_whole = {0}, of_pieces = {0}, of_again = {0};
    size_t n_used;
    ngc_status status = ngc_cache_load_legacy(whole, input.at, bytes, bytes, &n_used, &of_whole);
    MUST(status != NGC_OK || n_used == bytes);
    MUST(status == NGC_OK || status == NGC_TRUNCATED || status == NGC_BAD_RECORD ||
         status == NGC_DUPLICATE);
    MUST(load_in_pieces(pieces, input.at, bytes, sizes, &of_pieces) == status);
    MUST(memcmp(&of_whole, &of_pieces, sizeof of_whole) == 0);
    must_be_sound(whole);
    must_be_sound(pieces);
    MUST(digest(whole) == digest(pieces));

    for (size_t from = 0; from <= bytes; from += 1 + bytes / 4) {
        tell_spans(input.at, bytes, from, status == NGC_OK);
    }

    size_t saved_bytes;
    uint8_t *file = save(whole, bytes, &saved_bytes);
    MUST(ngc_cache_load_legacy(again, file, saved_bytes, saved_bytes, &n_used, &of_again) ==
         NGC_OK);
    MUST(of_again.n_grams == of_whole.n_grams && of_again.n_followers == of_whole.n_followers);
    MUST(of_again.n_left_out == 0);
    MUST(digest(again) == digest(whole));
    must_be_sound(again);

    free(file);
    ngc_cache_free(again);
    ngc_cache_free(pieces);
    ngc_cache_free(whole);
    return 0;
}

/* ngc_files.c - llama.cpp's cache file, read and written in pieces; the format is in ngc.h.
 *
 * Nothing in a file is trusted: a record's claimed length is held against what the file still
 * has before anything is allocated for it.
 */
#include "ngc_bytes.h"
#include "ngc_internal.h"

enum { HEAD_BYTES = 4 * NGC_N_MAX + 4 };

/* The hash is simple, so a file can be made whose n-grams all meet in one place: each would be held
 * against all before it, and loading would take the square of their number. Corpora of 541 MB have
 * some 1,000 n-grams to a hash, (a, a) for one: much less than what is allowed. A slice ends early
 * where it is slow, so that Ctrl-C is heard. */
#define PASSED_AT_MOST (UINT64_C(1) << 27)
#define PASSED_BY_EACH 256
#define PASSED_IN_A_SLICE (UINT64_C(1) << 23)

/* Reads and checks a key: used slots first, the rest NGC_NO_TOKEN. */
static ngc_status read_key(const uint8_t *in, ngc_key *key)
{
    int32_t n = 0;
    for (int32_t i = 0; i < NGC_N_MAX; i++) {
        key->tokens[i] = ngc_get_int32(in + 4 * i);
        if (key->tokens[i] == NGC_NO_TOKEN) {
            continue;
        }
        if (key->tokens[i] < 0 || key->tokens[i] == INT32_MAX || n != i) {
            return NGC_BAD_RECORD;
        }
        n++;
    }
    return n == 0 ? NGC_BAD_RECORD : NGC_OK;
}

static ngc_status check_pairs(const uint8_t *pairs, size_t n_pairs)
{
    for (size_t i = 0; i < n_pairs; i++) {
        int32_t token = ngc_get_int32(pairs + NGC_PAIR_BYTES * i);
        int32_t count = ngc_get_int32(pairs + NGC_PAIR_BYTES * i + 4);
        if (token < 0 || token == INT32_MAX || count <= 0) {
            return NGC_BAD_RECORD;
        }
    }
    return NGC_OK;
}

static ngc_status load_record(ngc_cache *cache, const uint8_t *record, size_t n_pairs,
                              ngc_load_report *report)
{
    ngc_key key;
    const uint8_t *pairs = record + HEAD_BYTES;
    ngc_status status = read_key(record, &key);
    if (status == NGC_OK) {
        status = check_pairs(pairs, n_pairs);
    }
    if (status != NGC_OK) {
        return status;
    }
    int32_t n = ngc_key_length(&key);
    if (n < cache->n_min || n > cache->n_max) {
        report->n_left_out++;
        return NGC_OK;
    }
    status = cache->operations->insert(cache, &key, pairs, n_pairs);
    if (status == NGC_OK) {
        report->n_grams++;
        report->n_followers += (int64_t)n_pairs;
    }
    return status;
}

/* How long the record is that starts here, with so many bytes of it at hand and so many left in the
 * file; 0: more must be at hand. */
static ngc_status measure_record(const uint8_t *record, size_t here, uint64_t left,
                                 uint64_t *record_bytes)
{
    *record_bytes = 0;
    if (left < HEAD_BYTES) {
        return NGC_TRUNCATED;
    }
    if (here < HEAD_BYTES) {
        return NGC_OK;
    }
    int32_t claimed = ngc_get_int32(record + 4 * NGC_N_MAX);
    if (claimed <= 0) {
        return NGC_BAD_RECORD;
    }
    uint64_t n_bytes = HEAD_BYTES + (uint64_t)claimed * NGC_PAIR_BYTES;
    if (n_bytes > left) {
        return NGC_TRUNCATED;
    }
    *record_bytes = n_bytes > here ? 0 : n_bytes;
    return NGC_OK;
}

ngc_status ngc_cache_load_legacy(ngc_cache *cache, const uint8_t *piece, size_t piece_bytes,
                                 uint64_t file_left_bytes, size_t *n_used,
                                 ngc_load_report *report)
{
    size_t used = 0;
    ngc_status status = NGC_OK;
    *n_used = 0;
    if (piece_bytes > file_left_bytes) {
        return NGC_BAD_ARGUMENT;
    }
    if (cache->operations->insert == NULL) {
        return NGC_UNSUPPORTED;
    }
    cache->changes++;
    cache->in_slices = true;
    uint64_t passed = cache->passed;
    while (status == NGC_OK && used < piece_bytes && cache->passed - passed < PASSED_IN_A_SLICE) {
        uint64_t record_bytes;
        status = measure_record(piece + used, piece_bytes - used, file_left_bytes - used,
                                &record_bytes);
        if (status != NGC_OK || record_bytes == 0) {
            break;
        }
        size_t n_pairs = (size_t)(record_bytes - HEAD_BYTES) / NGC_PAIR_BYTES;
        status = load_record(cache, piece + used, n_pairs, report);
        if (status == NGC_OK) {
            used += (size_t)record_bytes;
            report->n_bytes += (int64_t)record_bytes;
            if (cache->passed > PASSED_AT_MOST + PASSED_BY_EACH * (uint64_t)report->n_grams) {
                status = NGC_CROWDED;
            }
        }
    }
    ngc_end_slice(cache, status);
    *n_used = used;
    return status;
}

ngc_status ngc_cache_save_legacy(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                                 size_t capacity_bytes, size_t *n_written)
{
    *n_written = 0;
    if (cache->operations->save == NULL) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = ngc_check_cursor(cache, cursor);
    if (status == NGC_OK) {
        status = cache->operations->save(cache, cursor, buffer, capacity_bytes, n_written);
    }
    return status;
}

/* ---- what a file's bytes mean (views of the inside) ---- */

typedef struct span_list {
    int64_t from, to;
    ngc_span *spans;
    size_t capacity, n_spans;
} span_list;

static void add_span(span_list *list, const uint8_t *bytes, int64_t offset, int64_t gram,
                     int64_t index, int32_t meaning)
{
    if (offset + 4 <= list->from || offset >= list->to) {
        return;
    }
    if (list->n_spans < list->capacity) {
        list->spans[list->n_spans] = (ngc_span){
            .offset = offset,
            .value = ngc_get_int32(bytes),
            .gram = gram,
            .index = index,
            .n_bytes = 4,
            .meaning = meaning,
        };
    }
    list->n_spans++;
}

static void add_record(span_list *list, const uint8_t *record, size_t n_pairs,
                       const ngc_file_place *place)
{
    int64_t at = place->offset;
    for (int32_t i = 0; i < NGC_N_MAX; i++) {
        add_span(list, record + 4 * i, at + 4 * i, place->gram, i, NGC_SPAN_TOKEN);
    }
    add_span(list, record + 4 * NGC_N_MAX, at + 4 * NGC_N_MAX, place->gram, 0,
             NGC_SPAN_N_FOLLOWERS);
    for (size_t i = 0; i < n_pairs; i++) {
        const uint8_t *pair = record + HEAD_BYTES + NGC_PAIR_BYTES * i;
        int64_t pair_at = at + HEAD_BYTES + NGC_PAIR_BYTES * (int64_t)i;
        add_span(list, pair, pair_at, place->gram, (int64_t)i, NGC_SPAN_FOLLOWER);
        add_span(list, pair + 4, pair_at + 4, place->gram, (int64_t)i, NGC_SPAN_COUNT);
    }
}

ngc_status ngc_legacy_spans(const uint8_t *piece, size_t piece_bytes, uint64_t file_left_bytes,
                            int64_t from, int64_t to, ngc_file_place *place, ngc_span *spans,
                            size_t capacity, size_t *n_spans, size_t *n_used)
{
    span_list list = {from, to, spans, capacity, 0};
    *n_spans = *n_used = 0;
    if (piece_bytes > file_left_bytes || from < 0 || to < from) {
        return NGC_BAD_ARGUMENT;
    }
    while (*n_used < piece_bytes && place->offset < to) {
        const uint8_t *record = piece + *n_used;
        uint64_t left = file_left_bytes - *n_used;
        size_t n_pairs;
        ngc_key key;
        uint64_t record_bytes;
        ngc_status status = measure_record(record, piece_bytes - *n_used, left, &record_bytes);
        if (status != NGC_OK || record_bytes == 0) {
            return status;
        }
        n_pairs = (size_t)(record_bytes - HEAD_BYTES) / NGC_PAIR_BYTES;
        status = read_key(record, &key);
        if (status != NGC_OK) {
            return status;
        }
        if (place->offset + (int64_t)record_bytes > from) {
            add_record(&list, record, n_pairs, place);
        }
        place->offset += (int64_t)record_bytes;
        place->gram++;
        *n_used += (size_t)record_bytes;
        *n_spans = list.n_spans;
    }
    return NGC_OK;
}

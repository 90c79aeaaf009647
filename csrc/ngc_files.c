/* ngc_files.c - llama.cpp's cache file, read and written in pieces; the format is in ngc.h.
 *
 * Nothing in a file is trusted: a record's claimed length is held against what the file still
 * has before anything is allocated for it.
 */
#include "ngc_bytes.h"
#include "ngc_internal.h"

enum { HEAD_BYTES = 4 * NGC_N_MAX + 4 };

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
    while (status == NGC_OK && used < piece_bytes) {
        size_t here = piece_bytes - used;
        uint64_t left = file_left_bytes - used;
        if (left < HEAD_BYTES) {
            status = NGC_TRUNCATED;
            break;
        }
        if (here < HEAD_BYTES) {
            break;
        }
        int32_t claimed = ngc_get_int32(piece + used + 4 * NGC_N_MAX);
        if (claimed <= 0) {
            status = NGC_BAD_RECORD;
            break;
        }
        uint64_t record_bytes = HEAD_BYTES + (uint64_t)claimed * NGC_PAIR_BYTES;
        if (record_bytes > left) {
            status = NGC_TRUNCATED;
            break;
        }
        if (record_bytes > here) {
            break;
        }
        status = load_record(cache, piece + used, (size_t)claimed, report);
        if (status == NGC_OK) {
            used += (size_t)record_bytes;
            report->n_bytes += (int64_t)record_bytes;
        }
    }
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

ngc_status ngc_cache_sort(const ngc_cache *cache, const void **places, ngc_cursor *cursor)
{
    if (cache->operations->sort == NULL) {
        return NGC_UNSUPPORTED;
    }
    memset(cursor, 0, sizeof *cursor);
    cursor->changes = cache->changes;
    cache->operations->sort(cache, places);
    return NGC_OK;
}

ngc_status ngc_cache_save_sorted(const ngc_cache *cache, const void **places, size_t n_places,
                                 ngc_cursor *cursor, uint8_t *buffer, size_t capacity_bytes,
                                 size_t *n_written)
{
    *n_written = 0;
    if (cache->operations->save_sorted == NULL) {
        return NGC_UNSUPPORTED;
    }
    if (cursor->changes != cache->changes) {
        return NGC_CHANGED;
    }
    return cache->operations->save_sorted(places, n_places, cursor, buffer, capacity_bytes,
                                          n_written);
}

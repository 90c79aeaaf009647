/* ngc_runs.c - taking in, merging and keying anew; see ngc_runs.h. */
#include "ngc_runs.h"

#include "ngc_packed_format.h"

enum { FREE_CHUNKS = 1 << 16 }; /* merging begins at 256 MB: less is merged at the end alone */

/* ---- order ---- */

static radix_order order_of(uint32_t token_bits)
{
    uint64_t most_token = (UINT64_C(1) << token_bits) - 1;
    return (radix_order){(UINT64_C(1) << (2 * token_bits)) - 1, (uint32_t)most_token};
}

static radix_record mixed(const radix_record *record, uint32_t token_bits)
{
    uint64_t key = record->key >> 32 << token_bits | (uint32_t)record->key;
    return (radix_record){packed_mix(key, token_bits),
                          packed_spread((int32_t)record->minor, token_bits), record->count};
}

void ngc_runs_gram(uint64_t key, uint32_t token_bits, int32_t gram[2])
{
    uint64_t tokens = packed_unmix(key, token_bits);
    gram[0] = (int32_t)(tokens >> token_bits);
    gram[1] = (int32_t)packed_low_bits(tokens, token_bits);
}

radix_record ngc_runs_unmixed(const radix_record *entry, uint32_t token_bits)
{
    int32_t gram[2];
    ngc_runs_gram(entry->key, token_bits, gram);
    return (radix_record){(uint64_t)(uint32_t)gram[0] << 32 | (uint32_t)gram[1],
                          (uint32_t)packed_gathered(entry->minor, token_bits), entry->count};
}

/* ---- chunks and entries ---- */

static void free_chunks(ngc_runs *runs, runs_chunk *chunk)
{
    while (chunk != NULL) {
        runs_chunk *next = chunk->next;
        ngc_free(runs->allocator, chunk, sizeof *chunk, NGC_KIND_FOLLOWERS);
        runs->n_chunks--;
        chunk = next;
    }
}

static void free_parts(ngc_runs *runs, runs_part *parts)
{
    for (size_t i = 0; i < RUNS_PARTS; i++) {
        free_chunks(runs, parts[i].first);
        parts[i] = (runs_part){0};
    }
}

/* Room for one more entry. */
static ngc_status reserve_entry(ngc_runs *runs, runs_part *part)
{
    if (part->last != NULL &&
        part->last->used + RUNS_MOST_BYTES + RUNS_PAD_BYTES <= RUNS_CHUNK_BYTES) {
        return NGC_OK;
    }
    runs_chunk *chunk = ngc_alloc(runs->allocator, sizeof *chunk, NGC_KIND_FOLLOWERS);
    if (chunk == NULL) {
        return NGC_NO_MEMORY;
    }
    chunk->next = NULL;
    chunk->used = 0;
    *(part->last == NULL ? &part->first : &part->last->next) = chunk;
    part->last = chunk;
    runs->n_chunks++;
    return NGC_OK;
}

static uint32_t bytes_for(uint64_t value)
{
    return (ngc_platform_bit_length(value) + 7) / 8;
}

/* A key below the last, or far above it, is written whole. */
static size_t put_entry(uint8_t *out, runs_point last, const radix_record *entry)
{
    uint8_t *begin = out++;
    uint64_t step = entry->key - last.key;
    uint32_t key_bytes = entry->key < last.key ? 8 : bytes_for(step);
    bool whole = key_bytes > 6;
    key_bytes = whole ? 8 : key_bytes;
    ngc_put_uint64(out, whole ? entry->key : step);
    out += key_bytes;
    uint32_t minor = key_bytes == 0 ? entry->minor - last.minor : entry->minor;
    uint32_t minor_bytes = bytes_for(minor | 1);
    ngc_put_uint64(out, minor);
    out += minor_bytes;
    uint32_t count_code = entry->count - 1;
    if (entry->count > 6) {
        uint32_t count_bytes = entry->count <= 0xff ? 1 : 4;
        count_code = count_bytes == 1 ? 6 : 7;
        ngc_put_uint64(out, entry->count);
        out += count_bytes;
    }
    *begin = (uint8_t)((whole ? 7 : key_bytes) | (minor_bytes - 1) << 3 | count_code << 5);
    return (size_t)(out - begin);
}

static bool is_same(const radix_record *a, const radix_record *b)
{
    return a->key == b->key && a->minor == b->minor;
}

/* Adds what several records say of one follower; how many they are. */
static size_t add_up(const radix_record *records, size_t n, radix_record *entry)
{
    size_t i = 1;
    *entry = records[0];
    for (; i < n && is_same(&records[i], entry); i++) {
        uint64_t sum = (uint64_t)entry->count + records[i].count;
        entry->count = sum < INT32_MAX ? (uint32_t)sum : INT32_MAX;
    }
    return i;
}

/* Appends sorted records as a run; all of them or none. */
static ngc_status append_run(ngc_runs *runs, runs_part *part, const radix_record *records, size_t n)
{
    runs_part before = *part;
    uint32_t used = before.last == NULL ? 0 : before.last->used;
    ngc_status status = NGC_OK;
    radix_record entry;
    size_t n_grams = 0;
    for (size_t i = 0; i < n && status == NGC_OK;) {
        status = reserve_entry(runs, part);
        if (status == NGC_OK) {
            n_grams += i == 0 || records[i].key != entry.key;
            i += add_up(records + i, n - i, &entry);
            part->last->used +=
                (uint32_t)put_entry(part->last->bytes + part->last->used, part->point, &entry);
            part->point = (runs_point){entry.key, entry.minor};
            part->n_entries++;
        }
    }
    if (status != NGC_OK) {
        free_chunks(runs, before.last == NULL ? part->first : before.last->next);
        *part = before;
        if (part->last != NULL) {
            part->last->next = NULL;
            part->last->used = used;
        }
        return status;
    }
    if (n > 0) {
        part->n_runs++;
        part->n_grams = n_grams;
    }
    return NGC_OK;
}

/* ---- phases ---- */

static void enter(ngc_runs *runs, runs_phase phase)
{
    runs->phase = phase;
    runs->at = 0;
}

static ngc_status reserve_scratch(ngc_runs *runs, size_t length)
{
    if (length <= runs->scratch_length) {
        return NGC_OK;
    }
    size_t more = length + length / 8;
    radix_record *scratch =
        ngc_alloc(runs->allocator, more * sizeof *scratch, NGC_KIND_OTHER);
    if (scratch == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_free(runs->allocator, runs->scratch, runs->scratch_length * sizeof *scratch,
             NGC_KIND_OTHER);
    runs->scratch = scratch;
    runs->scratch_length = more;
    return NGC_OK;
}

/* The entries of one part, into the scratch. */
static ngc_status read_part(ngc_runs *runs, size_t i)
{
    ngc_status status = reserve_scratch(runs, runs->parts[i].n_entries);
    if (status == NGC_OK) {
        runs_cursor cursor = {runs, (uint32_t)i, runs->parts[i].first, 0, {0, 0}};
        for (size_t k = 0; k < runs->parts[i].n_entries; k++) {
            runs_next(&cursor, &runs->scratch[k]);
        }
    }
    return status;
}

/* One part's entries, keyed by so many bits, into the parts of those keys; sorted first. */
static ngc_status rekey_part(ngc_runs *runs, size_t i, uint32_t token_bits)
{
    radix_order order = order_of(token_bits);
    radix_digit digit = ngc_radix_first(order);
    radix_binning bins = {0};
    size_t n = runs->parts[i].n_entries;
    if (n == 0) {
        return NGC_OK;
    }
    ngc_status status = read_part(runs, i);
    for (size_t k = 0; status == NGC_OK && k < n; k++) {
        radix_record record = ngc_runs_unmixed(&runs->scratch[k], runs->token_bits);
        runs->scratch[k] = mixed(&record, token_bits);
    }
    if (status == NGC_OK) {
        ngc_radix_bin_slice(&bins, runs->scratch, n, SIZE_MAX, digit);
    }
    for (size_t bin = 0; status == NGC_OK && bin < RUNS_PARTS; bin++) {
        size_t from = bin == 0 ? 0 : bins.ends[bin - 1];
        ngc_radix_sort_below(runs->scratch + from, bins.ends[bin] - from, order, digit);
        status = append_run(runs, &runs->renewed[bin], runs->scratch + from,
                            bins.ends[bin] - from);
    }
    return status;
}

static uint32_t bits_for_token(int32_t greatest)
{
    uint32_t bits = greatest < 0 ? 0 : ngc_platform_bit_length((uint32_t)greatest);
    return bits == 0 ? 1 : bits;
}

static void free_renewed(ngc_runs *runs)
{
    if (runs->renewed != NULL) {
        free_parts(runs, runs->renewed);
        ngc_free(runs->allocator, runs->renewed, RUNS_PARTS * sizeof *runs->renewed,
                 NGC_KIND_OTHER);
        runs->renewed = NULL;
    }
}

/* What was renewed before a failure is renewed again. */
static ngc_status rekey_slice(ngc_runs *runs, size_t n_records)
{
    uint32_t token_bits = bits_for_token(runs->greatest);
    ngc_status status = NGC_OK;
    if (runs->renewed == NULL) {
        size_t bytes = RUNS_PARTS * sizeof *runs->renewed;
        runs->renewed = ngc_alloc(runs->allocator, bytes, NGC_KIND_OTHER);
        if (runs->renewed == NULL) {
            return NGC_NO_MEMORY;
        }
        memset(runs->renewed, 0, bytes);
        runs->at = 0;
    }
    for (size_t done = 0; status == NGC_OK && runs->at < RUNS_PARTS && done <= n_records;) {
        done += runs->parts[runs->at].n_entries;
        status = rekey_part(runs, runs->at, token_bits);
        runs->at += status == NGC_OK;
    }
    if (status != NGC_OK) {
        free_renewed(runs);
    } else if (runs->at == RUNS_PARTS) {
        free_parts(runs, runs->parts);
        memcpy(runs->parts, runs->renewed, sizeof runs->parts);
        ngc_free(runs->allocator, runs->renewed, sizeof runs->parts, NGC_KIND_OTHER);
        runs->renewed = NULL;
        runs->token_bits = token_bits;
        enter(runs, RUNS_MIX);
    }
    return status;
}

static void mix_slice(ngc_runs *runs, size_t n_records)
{
    for (; n_records > 0 && runs->at < runs->n_records; n_records--, runs->at++) {
        runs->records[runs->at] = mixed(&runs->records[runs->at], runs->token_bits);
    }
    if (runs->at == runs->n_records) {
        runs->bins = (radix_binning){0};
        enter(runs, RUNS_BIN);
    }
}

static ngc_status append_slice(ngc_runs *runs, size_t n_records)
{
    radix_order order = order_of(runs->token_bits);
    ngc_status status = NGC_OK;
    for (size_t done = 0; status == NGC_OK && runs->at < RUNS_PARTS && done <= n_records;) {
        size_t from = runs->at == 0 ? 0 : runs->bins.ends[runs->at - 1];
        size_t n = runs->bins.ends[runs->at] - from;
        ngc_radix_sort_below(runs->records + from, n, order, ngc_radix_first(order));
        status = append_run(runs, &runs->parts[runs->at], runs->records + from, n);
        runs->at += status == NGC_OK;
        done += n;
    }
    if (status == NGC_OK && runs->at == RUNS_PARTS) {
        bool is_due = runs->n_chunks > FREE_CHUNKS && runs->n_chunks > 2 * runs->merged_chunks;
        enter(runs, is_due ? RUNS_MERGE : RUNS_IDLE);
    }
    return status;
}

static ngc_status merge_part(ngc_runs *runs, size_t i)
{
    radix_order order = order_of(runs->token_bits);
    runs_part merged = {0};
    size_t n = runs->parts[i].n_entries;
    ngc_status status = read_part(runs, i);
    if (status == NGC_OK) {
        ngc_radix_sort_below(runs->scratch, n, order, ngc_radix_first(order));
        status = append_run(runs, &merged, runs->scratch, n);
    }
    if (status == NGC_OK) {
        free_chunks(runs, runs->parts[i].first);
        runs->parts[i] = merged;
    }
    return status;
}

static ngc_status merge_slice(ngc_runs *runs, size_t n_records)
{
    ngc_status status = NGC_OK;
    for (size_t done = 0; status == NGC_OK && runs->at < RUNS_PARTS && done <= n_records;) {
        if (runs->parts[runs->at].n_runs > 1) {
            done += runs->parts[runs->at].n_entries;
            status = merge_part(runs, runs->at);
        }
        runs->at += status == NGC_OK;
    }
    if (status == NGC_OK && runs->at == RUNS_PARTS) {
        ngc_free(runs->allocator, runs->scratch, runs->scratch_length * sizeof *runs->scratch,
                 NGC_KIND_OTHER);
        runs->scratch = NULL;
        runs->scratch_length = 0;
        runs->merged_chunks = runs->n_chunks;
        ngc_platform_trim();
        enter(runs, RUNS_IDLE);
    }
    return status;
}

ngc_status ngc_runs_slice(ngc_runs *runs, size_t n_records)
{
    switch (runs->phase) {
    case RUNS_IDLE:
        break;
    case RUNS_REKEY:
        return rekey_slice(runs, n_records);
    case RUNS_MIX:
        mix_slice(runs, n_records);
        break;
    case RUNS_BIN:
        if (ngc_radix_bin_slice(&runs->bins, runs->records, runs->n_records, n_records,
                                ngc_radix_first(order_of(runs->token_bits)))) {
            enter(runs, RUNS_APPEND);
        }
        break;
    case RUNS_APPEND:
        return append_slice(runs, n_records);
    case RUNS_MERGE:
        return merge_slice(runs, n_records);
    }
    return NGC_OK;
}

/* ---- the rest ---- */

void ngc_runs_begin(ngc_runs *runs, ngc_allocator *allocator, uint32_t token_bits)
{
    memset(runs, 0, sizeof *runs);
    runs->allocator = allocator;
    runs->greatest = -1;
    runs->token_bits = token_bits;
}

void ngc_runs_free(ngc_runs *runs)
{
    if (runs->allocator == NULL) {
        return; /* it never began */
    }
    free_renewed(runs);
    free_parts(runs, runs->parts);
    ngc_free(runs->allocator, runs->scratch, runs->scratch_length * sizeof *runs->scratch,
             NGC_KIND_OTHER);
    ngc_runs_begin(runs, runs->allocator, 0);
}

void ngc_runs_take(ngc_runs *runs, radix_record *records, size_t n_records, int32_t greatest)
{
    runs->records = records;
    runs->n_records = n_records;
    runs->greatest = greatest > runs->greatest ? greatest : runs->greatest;
    uint32_t needed = bits_for_token(runs->greatest);
    bool is_new = ngc_runs_entries(runs) == 0;
    if (is_new && needed > runs->token_bits) {
        runs->token_bits = needed;
    }
    enter(runs, needed > runs->token_bits ? RUNS_REKEY : RUNS_MIX);
}

void ngc_runs_merge(ngc_runs *runs)
{
    enter(runs, RUNS_MERGE);
}

bool ngc_runs_busy(const ngc_runs *runs)
{
    return runs->phase != RUNS_IDLE;
}

double ngc_runs_fraction(const ngc_runs *runs)
{
    double parts = (double)runs->at / RUNS_PARTS;
    switch (runs->phase) {
    case RUNS_IDLE:
        return 1;
    case RUNS_APPEND:
        return 0.2 + 0.8 * parts;
    case RUNS_MERGE:
        return parts;
    default:
        return 0;
    }
}

size_t ngc_runs_grams(const ngc_runs *runs)
{
    size_t n = 0;
    for (size_t i = 0; i < RUNS_PARTS; i++) {
        n += runs->parts[i].n_grams;
    }
    return n;
}

size_t ngc_runs_entries(const ngc_runs *runs)
{
    size_t n = 0;
    for (size_t i = 0; i < RUNS_PARTS; i++) {
        n += runs->parts[i].n_entries;
    }
    return n;
}

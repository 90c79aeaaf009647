/* ngc_packed_gather.c - the counts of one cache, of two, or of a counter, into sorted runs. What two
 * caches say of the same follower is added up there.
 */
#include "ngc_packed_build.h"

enum {
    MOST_RECORDS = 1 << 20, /* sorted at once: 16 MB; or one row, if that is longer */
    GRAMS_AT_ONCE = 256
};

static ngc_status reserve_records(ngc_packed_builder *self, size_t n)
{
    build_gathering *gathering = &self->gathering;
    if (n <= gathering->capacity) {
        return NGC_OK;
    }
    radix_record *records = ngc_alloc(&self->allocator, n * sizeof *records, NGC_KIND_OTHER);
    if (records == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_free(&self->allocator, gathering->records, gathering->capacity * sizeof *records,
             NGC_KIND_OTHER);
    gathering->records = records;
    gathering->capacity = n;
    return NGC_OK;
}

static ngc_status reserve_scratch(ngc_packed_builder *self, size_t length)
{
    build_gathering *gathering = &self->gathering;
    if (length <= gathering->scratch_length) {
        return NGC_OK;
    }
    int32_t *scratch = ngc_alloc(&self->allocator, 2 * length * NGC_PAIR_BYTES, NGC_KIND_OTHER);
    if (scratch == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_free(&self->allocator, gathering->scratch, gathering->scratch_length * NGC_PAIR_BYTES,
             NGC_KIND_OTHER);
    gathering->scratch = scratch;
    gathering->scratch_length = 2 * length;
    return NGC_OK;
}

/* What came in so far goes into the runs. */
static void take_records(ngc_packed_builder *self)
{
    build_gathering *gathering = &self->gathering;
    ngc_runs_take(&self->own, gathering->records, gathering->n_records, gathering->greatest);
    gathering->n_records = 0;
}

static void note_token(build_gathering *gathering, int32_t token)
{
    gathering->greatest = token > gathering->greatest ? token : gathering->greatest;
}

/* Begins a row of so many followers. *fits is false if the runs have to take in first what came
 * before. */
static ngc_status begin_row(ngc_packed_builder *self, const int32_t *gram, size_t length,
                            bool *fits)
{
    build_gathering *gathering = &self->gathering;
    *fits = length <= gathering->capacity - gathering->n_records;
    if (!*fits && gathering->n_records > 0) {
        take_records(self);
        return NGC_OK;
    }
    ngc_status status = *fits ? NGC_OK : reserve_records(self, length);
    if (status == NGC_OK) {
        *fits = true;
        note_token(gathering, gram[0]);
        note_token(gathering, gram[1]);
    }
    return status;
}

static void add_record(build_gathering *gathering, const int32_t *gram, int32_t token,
                       int32_t count)
{
    uint64_t key = (uint64_t)(uint32_t)gram[0] << 32 | (uint32_t)gram[1];
    note_token(gathering, token);
    gathering->records[gathering->n_records++] =
        (radix_record){key, (uint32_t)token, (uint32_t)count};
}

/* ---- from counts ---- */

static ngc_status gather_counted(ngc_packed_builder *self, bool *fits)
{
    build_gathering *gathering = &self->gathering;
    const ngc_counts *counts = gathering->counts;
    size_t i = gathering->next_gram, begin = counts->starts[i], end = counts->starts[i + 1];
    ngc_status status = begin_row(self, counts->keys[i], end - begin, fits);
    if (status != NGC_OK || !*fits) {
        return status;
    }
    for (size_t k = begin; k < end; k++) {
        add_record(gathering, counts->keys[i], counts->pairs[k].token, counts->pairs[k].count);
    }
    gathering->next_gram++;
    return NGC_OK;
}

/* ---- from runs ---- */

static ngc_status gather_entry(ngc_packed_builder *self, bool *fits)
{
    build_gathering *gathering = &self->gathering;
    radix_record entry;
    runs_cursor next = gathering->entries;
    runs_next(&next, &entry);
    entry = ngc_runs_unmixed(&entry, gathering->runs->token_bits);
    int32_t gram[2] = {(int32_t)(entry.key >> 32), (int32_t)(uint32_t)entry.key};
    ngc_status status = begin_row(self, gram, 1, fits);
    if (status == NGC_OK && *fits) {
        add_record(gathering, gram, (int32_t)entry.minor, (int32_t)entry.count);
        gathering->entries = next;
    }
    return status;
}

/* ---- from caches ---- */

/* A file that was never checked to its end may say anything. */
static bool can_be(const int32_t *gram, const int32_t *tokens, const int32_t *counts, size_t n)
{
    bool possible = gram[0] >= 0 && gram[1] >= 0;
    for (size_t i = 0; i < n; i++) {
        possible = possible && tokens[i] >= 0 && counts[i] > 0;
    }
    return possible;
}

static ngc_status gather_row(ngc_packed_builder *self, bool *fits)
{
    build_gathering *gathering = &self->gathering;
    const ngc_cache *cache = gathering->caches[gathering->n_caches_done];
    const ngc_ngram_facts *gram = &gathering->grams[gathering->next_gram];
    size_t length = (size_t)gram->n_followers, found;
    ngc_status status = begin_row(self, gram->tokens, length, fits);
    if (status != NGC_OK || !*fits) {
        return status;
    }
    status = reserve_scratch(self, length);
    if (status != NGC_OK) {
        return status;
    }
    int32_t *tokens = gathering->scratch, *counts = gathering->scratch + length;
    ngc_key key = ngc_key_of(gram->tokens, 2);
    cache->operations->followers(cache, &key, tokens, counts, length, &found);
    if (found != length || !can_be(gram->tokens, tokens, counts, length)) {
        return ngc_changed(cache);
    }
    for (size_t i = 0; i < length; i++) {
        add_record(gathering, gram->tokens, tokens[i], counts[i]);
    }
    gathering->next_gram++;
    return NGC_OK;
}

/* The next 2-grams of the caches; none after the last. */
static ngc_status walk_on(ngc_packed_builder *self)
{
    build_gathering *gathering = &self->gathering;
    size_t bytes = GRAMS_AT_ONCE * sizeof *gathering->grams;
    if (gathering->grams == NULL) {
        gathering->grams = ngc_alloc(&self->allocator, bytes, NGC_KIND_OTHER);
    }
    if (gathering->grams == NULL) {
        return NGC_NO_MEMORY;
    }
    gathering->next_gram = gathering->n_grams = 0;
    while (gathering->n_caches_done < 2 && gathering->caches[gathering->n_caches_done] != NULL) {
        ngc_status status =
            ngc_cache_walk(gathering->caches[gathering->n_caches_done], &gathering->cursor,
                           gathering->grams, GRAMS_AT_ONCE, &gathering->n_grams);
        if (status != NGC_OK || gathering->n_grams > 0) {
            return status;
        }
        gathering->n_caches_done++;
        gathering->cursor = (ngc_cursor){0};
    }
    return NGC_OK;
}

/* ---- all of them ---- */

static ngc_status begin_gathering(ngc_packed_builder *self)
{
    build_gathering *gathering = &self->gathering;
    gathering->greatest = -1;
    gathering->n_all = 0;
    if (gathering->counts != NULL) {
        gathering->n_all = gathering->counts->n_grams;
    } else if (gathering->runs != NULL) {
        gathering->n_all = ngc_runs_entries(gathering->runs);
        gathering->entries = runs_first(gathering->runs);
    }
    for (size_t i = 0; i < 2 && gathering->caches[i] != NULL; i++) {
        ngc_cache_facts facts = {0};
        gathering->caches[i]->operations->facts(gathering->caches[i], &facts);
        gathering->n_all += (size_t)facts.n_grams;
    }
    size_t wanted = gathering->n_all < MOST_RECORDS / 4 ? 4 * gathering->n_all : MOST_RECORDS;
    return reserve_records(self, wanted > 0 ? wanted : 1);
}

static ngc_status gather_next(ngc_packed_builder *self, bool *fits, bool *ended)
{
    build_gathering *gathering = &self->gathering;
    if (gathering->counts == NULL && gathering->runs == NULL) {
        if (gathering->next_gram == gathering->n_grams) {
            ngc_status status = walk_on(self);
            *ended = gathering->n_grams == 0;
            if (status != NGC_OK || *ended) {
                return status;
            }
        }
        return gather_row(self, fits);
    }
    *ended = gathering->n_done == gathering->n_all;
    return *ended                      ? NGC_OK
           : gathering->counts != NULL ? gather_counted(self, fits)
                                       : gather_entry(self, fits);
}

ngc_status ngc_packed_gather_slice(ngc_packed_builder *self, size_t n_rows, bool *done)
{
    build_gathering *gathering = &self->gathering;
    bool fits = true, ended = false;
    *done = false;
    if (ngc_runs_busy(&self->own)) {
        return ngc_runs_slice(&self->own, n_rows);
    }
    ngc_status status = gathering->capacity == 0 ? begin_gathering(self) : NGC_OK;
    for (; status == NGC_OK && fits && !ended && n_rows > 0; n_rows--) {
        status = gather_next(self, &fits, &ended);
        gathering->n_done += status == NGC_OK && fits && !ended;
    }
    if (status == NGC_OK && ended && gathering->n_records > 0) {
        take_records(self);
    } else if (status == NGC_OK && ended) {
        *done = true;
    }
    return status;
}

double ngc_packed_gathered_fraction(const build_gathering *gathering)
{
    return gathering->n_done >= gathering->n_all
               ? 1
               : (double)gathering->n_done / (double)gathering->n_all;
}

void ngc_packed_end_gathering(ngc_packed_builder *self)
{
    build_gathering *gathering = &self->gathering;
    ngc_free(&self->allocator, gathering->records,
             gathering->capacity * sizeof *gathering->records, NGC_KIND_OTHER);
    ngc_free(&self->allocator, gathering->scratch, gathering->scratch_length * NGC_PAIR_BYTES,
             NGC_KIND_OTHER);
    ngc_free(&self->allocator, gathering->grams, GRAMS_AT_ONCE * sizeof *gathering->grams,
             NGC_KIND_OTHER);
    gathering->records = NULL;
    gathering->scratch = NULL;
    gathering->grams = NULL;
}

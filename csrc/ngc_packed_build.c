/* ngc_packed_build.c - making a packed static cache, in slices.
 *
 *     gather    counts into sorted runs (ngc_packed_gather.c); a counter may have such already
 *     merge     the runs: now the 2-grams stand in the order of the file, each with its followers
 *     plan      how many lines there are, and how long a record is
 *     measure   what widths the records need, and how far from home each will stand
 *     clear     the file's bytes
 *     write     records and blocks, in that order
 *     seal      checksums and head
 *
 * Measuring and writing read the runs from their first entry to their last. The bytes depend on what
 * was counted alone, not on the order in which it was seen.
 */
#include "ngc_packed_build.h"

enum {
    ALIGNMENT = 64,
    SLICE_BYTES = 1 << 22, /* cleared or summed in one slice */
    MOST_TRIES = 6, /* 64 times the homes: no corpus comes near, hostile counts end here */
    LEAST_FREE_BITS = 15,   /* for length, top count and sum together */
    EXPECTED_DISPLACEMENT_BITS = 5,
    FULL_PERCENT = 92       /* of the records' room in all homes */
};

/* ---- rows ---- */

/* The row that begins with an entry: `begin` is the cursor before it. */
typedef struct build_row {
    runs_cursor begin;
    uint64_t key;
    row_facts facts;
} build_row;

static bool next_row(ngc_packed_builder *self, build_row *row)
{
    radix_record entry;
    row_facts facts = {0, 0, NGC_NO_TOKEN, 0};
    row->begin = self->rows;
    if (!runs_next(&self->rows, &entry)) {
        return false;
    }
    row->key = entry.key;
    for (;; runs_next(&self->rows, &entry)) {
        int32_t token = packed_gathered(entry.minor, self->head.layout.token_bits);
        int32_t count = (int32_t)entry.count;
        facts.length++;
        facts.sum += entry.count;
        if (count > facts.top_count || (count == facts.top_count && token < facts.top_token)) {
            facts.top_count = count;
            facts.top_token = token;
        }
        if (!runs_same_gram(&self->rows)) {
            break;
        }
    }
    row->facts = facts;
    self->n_rows++;
    return true;
}

static void begin_rows(ngc_packed_builder *self, build_phase phase)
{
    self->rows = runs_first(self->runs);
    self->n_rows = 0;
    self->position = 0;
    self->phase = phase;
}

/* ---- plan: how many lines ---- */

static uint64_t homes_for(size_t n_grams, uint32_t n_records)
{
    uint64_t room = (uint64_t)n_records * FULL_PERCENT;
    return ((uint64_t)n_grams * 100 + room - 1) / room + (n_grams == 0);
}

/* The shortest record that leaves some bits for length, top count and sum. */
static void choose_record(ngc_packed_builder *self)
{
    static const uint8_t record_bytes[] = {12, 15, 20};
    packed_layout *layout = &self->head.layout;
    size_t n_grams = ngc_runs_grams(self->runs);
    uint64_t blocks_bytes = 8 * (uint64_t)ngc_runs_entries(self->runs) + 16 * (uint64_t)n_grams;
    layout->displacement_bits = EXPECTED_DISPLACEMENT_BITS;
    layout->place_bits = (uint8_t)ngc_platform_bit_length(blocks_bytes);
    for (size_t i = 0; i < sizeof record_bytes; i++) {
        layout->record_bytes = record_bytes[i];
        self->head.n_homes = homes_for(n_grams, packed_records_a_line(layout));
        layout->remainder_bits =
            ngc_packed_remainder_bits(layout->token_bits, self->head.n_homes);
        if (packed_fixed_bits(layout) + LEAST_FREE_BITS <= 8u * layout->record_bytes) {
            return;
        }
    }
}

static uint32_t bits_of_vocabulary(uint32_t n_vocab)
{
    uint32_t bits = ngc_platform_bit_length(n_vocab - 1);
    return bits == 0 ? 1 : bits;
}

static ngc_status begin_measuring(ngc_packed_builder *self)
{
    self->most_displacement = 0;
    begin_rows(self, MEASURE);
    return ngc_packed_begin_widths(self);
}

static ngc_status plan(ngc_packed_builder *self)
{
    int32_t greatest = self->runs->greatest < 0 ? 0 : self->runs->greatest;
    if (ngc_runs_grams(self->runs) >= UINT32_MAX / 2) {
        return NGC_UNSUPPORTED;
    }
    if (self->head.n_vocab == 0) {
        self->head.n_vocab = (uint32_t)greatest + 1;
    }
    if ((uint32_t)greatest >= self->head.n_vocab) {
        return NGC_BAD_TOKEN;
    }
    self->head.layout.token_bits = (uint8_t)bits_of_vocabulary(self->head.n_vocab);
    choose_record(self);
    return begin_measuring(self);
}

/* ---- measure ---- */

/* The line where a 2-gram of this home stands, after those before it. */
static uint64_t next_line(ngc_packed_builder *self, uint64_t home)
{
    uint32_t n_records = packed_records_a_line(&self->head.layout);
    uint64_t first = home * n_records;
    self->position = self->position > first ? self->position : first;
    return self->position / n_records;
}

static packed_place place_of(const ngc_packed_builder *self, const build_row *row)
{
    return packed_place_of_mixed(&self->head.layout, self->head.n_homes, row->key);
}

static uint64_t rounded_up(uint64_t bytes)
{
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static ngc_status make_file(ngc_packed_builder *self)
{
    packed_head *head = &self->head;
    uint32_t n_records = packed_records_a_line(&head->layout);
    uint64_t n_lines = (self->position + n_records - 1) / n_records;
    n_lines = n_lines > head->n_homes ? n_lines : head->n_homes;
    uint64_t blocks_bytes = self->widths.blocks_bytes + PACKED_BIG_BYTES * self->n_big;
    head->filter_lines =
        (uint32_t)(self->widths.n_filtered / (PACKED_FILTER_WORDS * NGC_BLOOM_KEYS_A_WORD) + 1);
    uint64_t sizes[PACKED_SECTIONS] = {
        (n_lines + head->filter_lines) * PACKED_LINE_BYTES,
        rounded_up(blocks_bytes + PACKED_PAD_BYTES),
        rounded_up(self->texts_bytes),
    };
    uint64_t offset = PACKED_HEAD_BYTES;
    for (uint32_t i = 0; i < PACKED_SECTIONS; i++) {
        head->sections[i] = (packed_section){offset, sizes[i], 0};
        offset += sizes[i];
    }
    head->file_bytes = offset;
    head->n_grams = self->n_rows;
    head->n_followers = self->widths.n_followers;
    head->n_counted = self->widths.n_counted;
    head->most_count = self->widths.most_count;
    self->block_bytes = (size_t)offset + ALIGNMENT;
    self->block = ngc_alloc(&self->allocator, self->block_bytes, NGC_KIND_FOLLOWERS);
    if (self->block == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_platform_prefer_big_pages(self->block, self->block_bytes);
    self->bytes = self->block + (ALIGNMENT - (uintptr_t)self->block % ALIGNMENT) % ALIGNMENT;
    self->at = 0;
    self->phase = CLEAR;
    return NGC_OK;
}

/* Some home is so crowded that its 2-grams stand too far off: more homes, once more. */
static ngc_status spread_out(ngc_packed_builder *self)
{
    if (++self->tries > MOST_TRIES || self->head.n_homes > UINT32_MAX / 2) {
        return NGC_UNSUPPORTED;
    }
    self->head.n_homes *= 2;
    self->head.layout.remainder_bits =
        ngc_packed_remainder_bits(self->head.layout.token_bits, self->head.n_homes);
    return begin_measuring(self);
}

static ngc_status measure_slice(ngc_packed_builder *self, size_t n_rows)
{
    build_row row;
    for (; n_rows > 0; n_rows--) {
        if (!next_row(self, &row)) {
            if (self->most_displacement > PACKED_MOST_REACH) {
                return spread_out(self);
            }
            ngc_status status = ngc_packed_choose_widths(self);
            return status == NGC_OK ? make_file(self) : status;
        }
        ngc_packed_note_row(self, &row.facts);
        uint64_t home = place_of(self, &row).home, far = next_line(self, home) - home;
        self->most_displacement = far > self->most_displacement ? far : self->most_displacement;
        self->position++;
    }
    return NGC_OK;
}

/* ---- write ---- */

static void clear_slice(ngc_packed_builder *self)
{
    const packed_head *head = &self->head;
    size_t left = (size_t)head->file_bytes - self->at;
    size_t n = left < SLICE_BYTES ? left : SLICE_BYTES;
    memset(self->bytes + self->at, 0, n);
    self->at += n;
    if (n == left) {
        memcpy(self->bytes + head->sections[PACKED_TEXTS].offset, self->texts, self->texts_bytes);
        self->at = 0;
        self->blocks_bytes = 0;
        begin_rows(self, WRITE);
    }
}

static bool fits(uint64_t value, uint32_t n_bits)
{
    return ngc_platform_bit_length(value) <= n_bits;
}

static void put_block(ngc_packed_builder *self, const build_row *row, bool big)
{
    const row_facts *facts = &row->facts;
    uint8_t *out =
        self->bytes + self->head.sections[PACKED_FOLLOWERS].offset + self->blocks_bytes;
    if (big) {
        int32_t head[2] = {(int32_t)(uint32_t)facts->length, facts->top_count};
        ngc_put_int32s(out, head, 2);
        ngc_put_uint64(out + 8, facts->sum);
        out += PACKED_BIG_BYTES;
        self->blocks_bytes += PACKED_BIG_BYTES;
    }
    if (facts->length == 1) {
        return;
    }
    uint32_t token_bits = self->head.layout.token_bits;
    uint32_t n_bytes = packed_entry_bytes(token_bits, (uint32_t)facts->top_count);
    runs_cursor entries = row->begin;
    radix_record entry;
    for (size_t i = 0; i < facts->length && runs_next(&entries, &entry); i++) {
        /* The zeros above it are written over next, or are the pad. */
        ngc_put_uint64(out, (uint64_t)entry.count << token_bits | entry.minor);
        out += n_bytes;
    }
    self->blocks_bytes += facts->length * n_bytes;
}

static void put_filtered(ngc_packed_builder *self, const int32_t *key)
{
    const packed_section *lines = &self->head.sections[PACKED_LINES];
    uint64_t filter_bytes = (uint64_t)self->head.filter_lines * PACKED_LINE_BYTES;
    uint64_t hash = packed_filter_hash(key[0], key[1]);
    uint8_t *word = self->bytes + lines->offset + lines->bytes - filter_bytes +
                    8 * ngc_bloom_word((size_t)(filter_bytes / 8), hash);
    ngc_put_uint64(word, ngc_get_uint64(word) | ngc_bloom_bits(hash));
}

static void write_row(ngc_packed_builder *self, const build_row *row)
{
    const packed_layout *layout = &self->head.layout;
    const row_facts *facts = &row->facts;
    packed_place place = place_of(self, row);
    uint64_t line = next_line(self, place.home);
    uint8_t *lines = self->bytes + self->head.sections[PACKED_LINES].offset;
    bool big = !fits(facts->length, layout->length_bits) ||
               !fits((uint64_t)facts->top_count, layout->top_bits) ||
               !fits(facts->sum, layout->sum_bits);
    packed_record record = {
        .remainder = place.remainder,
        .displacement = line - place.home,
        .big = big,
        .top_token = (uint64_t)facts->top_token,
        .place = big || facts->length > 1 ? self->blocks_bytes : 0,
        .length = big ? 0 : facts->length,
        .top_count = big ? 0 : (uint64_t)facts->top_count,
        .sum = big ? 0 : facts->sum,
    };
    ngc_packed_put_record(layout,
                          lines + line * PACKED_LINE_BYTES +
                              self->position % packed_records_a_line(layout) *
                                  layout->record_bytes,
                          &record);
    lines[place.home * PACKED_LINE_BYTES + PACKED_REACH_AT] = (uint8_t)(line - place.home);
    if (packed_is_filtered(facts->sum, (uint64_t)facts->top_count)) {
        int32_t gram[2];
        ngc_runs_gram(row->key, layout->token_bits, gram);
        put_filtered(self, gram);
    }
    put_block(self, row, big);
    self->position++;
}

static void write_slice(ngc_packed_builder *self, size_t n_rows)
{
    build_row row;
    for (; n_rows > 0; n_rows--) {
        if (!next_row(self, &row)) {
            self->phase = SEAL;
            return;
        }
        write_row(self, &row);
    }
}

/* ---- seal ---- */

static void sum_slice(ngc_packed_builder *self)
{
    packed_section *section = &self->head.sections[self->n_summed];
    self->sum = self->at == 0 ? ngc_packed_sum_begin() : self->sum;
    size_t left = (size_t)section->bytes - self->at;
    size_t end = self->at + (left < SLICE_BYTES ? left : SLICE_BYTES);
    ngc_packed_sum_add(&self->sum, self->bytes + section->offset + self->at, end - self->at);
    self->at = end;
    if (end == section->bytes) {
        section->sum = ngc_packed_sum_end(&self->sum);
        self->n_summed++;
        self->at = 0;
    }
}

static ngc_status seal(ngc_packed_builder *self)
{
    packed_head *head = &self->head;
    if (self->n_summed < PACKED_SECTIONS) {
        sum_slice(self);
        return NGC_OK;
    }
    ngc_packed_put_head(self->bytes, head);
    ngc_fault fault;
    ngc_status status = ngc_packed_wrap(&self->toggles, self->bytes, (size_t)head->file_bytes,
                                        self->block, self->block_bytes, &self->result, &fault);
    if (status != NGC_OK) {
        return status;
    }
    /* Its memory is the block alone; how the block is divided is known only now. */
    ngc_allocator *allocator = &self->result->allocator;
    uint64_t lines_bytes = head->sections[PACKED_LINES].bytes;
    ngc_count_allocated(allocator, 1, self->block_bytes, NGC_KIND_FOLLOWERS);
    allocator->kind_bytes[NGC_KIND_FOLLOWERS] -= (int64_t)lines_bytes;
    allocator->kind_bytes[NGC_KIND_NGRAMS] += (int64_t)lines_bytes;
    self->block = NULL;
    self->phase = DONE;
    return NGC_OK;
}

/* ---- the builder ---- */

static ngc_status copy_texts(ngc_packed_builder *self, const ngc_packed_about *about)
{
    const char *texts[3] = {about->tokenizer, about->corpus, about->built_by};
    for (size_t i = 0; i < 3; i++) {
        self->texts_bytes += (texts[i] == NULL ? 0 : strlen(texts[i])) + 1;
    }
    self->texts = ngc_alloc(&self->allocator, self->texts_bytes, NGC_KIND_OTHER);
    if (self->texts == NULL) {
        return NGC_NO_MEMORY;
    }
    char *out = self->texts;
    for (size_t i = 0; i < 3; i++) {
        size_t bytes = texts[i] == NULL ? 0 : strlen(texts[i]);
        memcpy(out, texts[i] == NULL ? "" : texts[i], bytes);
        out[bytes] = 0;
        out += bytes + 1;
    }
    return NGC_OK;
}

static ngc_status new_builder(const ngc_toggles *toggles, const ngc_packed_about *about,
                              ngc_packed_builder **out)
{
    *out = NULL;
    if (about->n_vocab < 0 || about->n_vocab > INT32_MAX) {
        return NGC_BAD_ARGUMENT;
    }
    ngc_packed_builder *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->toggles = *toggles;
    self->head.n_vocab = (uint32_t)about->n_vocab;
    memcpy(self->head.fingerprint, about->fingerprint, sizeof self->head.fingerprint);
    ngc_runs_begin(&self->own, &self->allocator,
                   about->n_vocab == 0 ? 0 : bits_of_vocabulary(self->head.n_vocab));
    self->runs = &self->own;
    if (copy_texts(self, about) != NGC_OK) {
        free(self);
        return NGC_NO_MEMORY;
    }
    *out = self;
    return NGC_OK;
}

static bool can_be_gathered(const ngc_cache *cache)
{
    return cache->operations->walk != NULL && cache->n_min == 2 && cache->n_max == 2;
}

ngc_status ngc_packed_begin_merge(const ngc_toggles *toggles, const ngc_cache *source,
                                  const ngc_cache *added, const ngc_packed_about *about,
                                  ngc_packed_builder **out)
{
    *out = NULL;
    if (!can_be_gathered(source) || (added != NULL && !can_be_gathered(added))) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = new_builder(toggles, about, out);
    if (status == NGC_OK) {
        (*out)->gathering.caches[0] = source;
        (*out)->gathering.caches[1] = added;
    }
    return status;
}

ngc_status ngc_packed_begin(const ngc_toggles *toggles, const ngc_cache *source,
                            const ngc_packed_about *about, ngc_packed_builder **out)
{
    return ngc_packed_begin_merge(toggles, source, NULL, about, out);
}

/* Runs that are keyed as the file will be are read where they are. */
static bool are_keyed_alike(const ngc_runs *runs, uint32_t n_vocab)
{
    return n_vocab == 0 || runs->token_bits == 0 ||
           runs->token_bits == bits_of_vocabulary(n_vocab);
}

ngc_status ngc_packed_begin_counts(const ngc_toggles *toggles, const ngc_counter *counter,
                                   const ngc_packed_about *about, ngc_packed_builder **out)
{
    ngc_status status = new_builder(toggles, about, out);
    const ngc_runs *runs = ngc_counter_runs(counter);
    if (status != NGC_OK) {
        return status;
    }
    if (runs == NULL) {
        (*out)->gathering.counts = ngc_counter_counts(counter);
    } else if (are_keyed_alike(runs, (*out)->head.n_vocab)) {
        (*out)->runs = runs;
        (*out)->first_phase = (*out)->phase = PLAN;
    } else {
        (*out)->gathering.runs = runs;
    }
    return NGC_OK;
}

static ngc_status gather_slice(ngc_packed_builder *self, size_t n_rows)
{
    bool done;
    ngc_status status = ngc_packed_gather_slice(self, n_rows, &done);
    if (status == NGC_OK && done) {
        ngc_packed_end_gathering(self);
        ngc_runs_merge(&self->own);
        self->phase = MERGE;
    }
    return status;
}

static ngc_status merge_slice(ngc_packed_builder *self, size_t n_rows)
{
    ngc_status status = ngc_runs_slice(&self->own, n_rows);
    if (status == NGC_OK && !ngc_runs_busy(&self->own)) {
        self->phase = PLAN;
    }
    return status;
}

ngc_status ngc_packed_step(ngc_packed_builder *self, size_t n_grams, int32_t *done)
{
    ngc_status status = NGC_OK;
    n_grams = n_grams == 0 ? 1 : n_grams;
    switch (self->phase) {
    case GATHER:
        status = gather_slice(self, n_grams);
        break;
    case MERGE:
        status = merge_slice(self, n_grams);
        break;
    case PLAN:
        status = plan(self);
        break;
    case MEASURE:
        status = measure_slice(self, n_grams);
        break;
    case CLEAR:
        clear_slice(self);
        break;
    case WRITE:
        write_slice(self, n_grams);
        break;
    case SEAL:
        status = seal(self);
        break;
    case DONE:
        break;
    }
    *done = self->phase == DONE;
    return status;
}

/* How much of its phase is done. */
static double done_of_phase(const ngc_packed_builder *self)
{
    switch (self->phase) {
    case GATHER:
        return ngc_packed_gathered_fraction(&self->gathering);
    case MERGE:
        return ngc_runs_fraction(&self->own);
    case MEASURE:
    case WRITE: {
        size_t n_grams = ngc_runs_grams(self->runs);
        return n_grams == 0 ? 0 : (double)self->n_rows / (double)n_grams;
    }
    case CLEAR:
        return (double)self->at / (double)self->head.file_bytes;
    case SEAL:
        return (double)self->n_summed / (PACKED_SECTIONS + 1);
    default:
        return 0;
    }
}

double ngc_packed_fraction(const ngc_packed_builder *self)
{
    static const double share[DONE] = {0.54, 0.09, 0, 0.07, 0.12, 0.17, 0.01}; /* measured */
    double before = 0, all = 0;
    for (build_phase i = self->first_phase; i < DONE; i++) {
        before += i < self->phase ? share[i] : 0;
        all += share[i];
    }
    double now = self->phase < DONE ? share[self->phase] * done_of_phase(self) : 0;
    return (before + now) / all;
}

ngc_status ngc_packed_take(ngc_packed_builder *self, ngc_cache **out)
{
    *out = self->result;
    self->result = NULL;
    return *out == NULL ? NGC_BAD_ARGUMENT : NGC_OK;
}

void ngc_packed_builder_free(ngc_packed_builder *self)
{
    if (self == NULL) {
        return;
    }
    ngc_packed_end_gathering(self);
    ngc_runs_free(&self->own);
    free(self->widths.n_by_bits);
    free(self->texts);
    free(self->block);
    ngc_cache_free(self->result);
    free(self);
    ngc_platform_trim();
}

void ngc_packed_builder_fail_allocation(ngc_packed_builder *self, int64_t nth)
{
    self->allocator.fail_in = nth;
}

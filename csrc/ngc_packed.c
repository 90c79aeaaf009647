/* ngc_packed.c - reading a packed static cache; see ngc_packed.h.
 *
 * The file is not read when it is opened: its head is checked, and no look-up leaves the file
 * whatever its bytes say. ngc_packed_check goes over all of it, for those who want to know.
 */
#include "ngc_inside.h"
#include "ngc_packed_cache.h"

enum { SLICE_BYTES = 1 << 22, SLICE_LINES = 1 << 14 };

static const ngc_cache_operations operations;

static bool is_packed(const ngc_cache *cache)
{
    return cache->operations == &operations;
}

/* ---- looking up ---- */

/* What a record says, as far as it can be; none otherwise. */
static packed_view view_of(const packed_cache *self, const uint8_t *record)
{
    packed_record values = packed_get_record(&self->file.layout, record);
    uint64_t room = self->followers_bytes;
    uint64_t start = values.place;
    if (values.big) {
        if (start > room || room - start < PACKED_BIG_BYTES) {
            return packed_view_none();
        }
        const uint8_t *block = self->followers + start;
        values.length = (uint32_t)ngc_get_int32(block);
        values.top_count = (uint32_t)ngc_get_int32(block + 4);
        values.sum = ngc_get_uint64(block + 8);
        start += PACKED_BIG_BYTES;
    }
    if (values.top_token >= self->file.n_vocab || values.length == 0 || values.top_count == 0 ||
        values.top_count > self->file.most_count || values.sum > INT64_MAX / NGC_MOST_PERCENT) {
        return packed_view_none();
    }
    uint32_t token_bits = self->file.layout.token_bits;
    packed_view view = {
        .entries = record,
        .length = (size_t)values.length,
        .sum = (int64_t)values.sum,
        .top_token = (int32_t)values.top_token,
        .top_count = (int32_t)values.top_count,
        .token_bits = token_bits,
    };
    if (values.length > 1) {
        view.entry_bytes = packed_entry_bytes(token_bits, (uint32_t)values.top_count);
        view.entry_mask = packed_low_bits(UINT64_MAX, 8 * view.entry_bytes);
        if (start > room || values.length * view.entry_bytes > room - start) { /* both are small */
            return packed_view_none();
        }
        view.entries = self->followers + start;
    }
    return view;
}

/* The record with this home and remainder, NULL if there is none. */
NGC_INLINE const uint8_t *find_record(const packed_cache *self, const packed_place *place,
                                      ngc_recorder *recorder)
{
    const packed_layout *layout = &self->file.layout;
    uint32_t n_records = self->n_records;
    const uint8_t *line = self->lines + place->home * PACKED_LINE_BYTES;
    uint64_t reach = line[PACKED_REACH_AT];
    if (reach > self->n_lines - 1 - place->home) {
        reach = self->n_lines - 1 - place->home;
    }
    for (uint64_t far = 0; far <= reach; far++, line += PACKED_LINE_BYTES) {
        uint64_t wanted = packed_tag(layout, place->remainder, far);
        const uint8_t *record = line;
        ngc_record(recorder, NGC_TOUCH_LINE, self->lines, line, PACKED_LINE_BYTES,
                   (int64_t)(place->home + far), (int64_t)far);
        for (uint32_t i = 0; i < n_records; i++, record += layout->record_bytes) {
            if ((ngc_get_uint64(record) & self->tag_mask) == wanted) {
                return record;
            }
        }
    }
    return NULL;
}

NGC_INLINE packed_view find(const ngc_cache *cache, const ngc_key *key, ngc_recorder *recorder)
{
    const packed_cache *self = (const packed_cache *)cache;
    if ((uint32_t)key->tokens[0] >= self->file.n_vocab ||
        (uint32_t)key->tokens[1] >= self->file.n_vocab) {
        return packed_view_none();
    }
    packed_place place = packed_place_of(&self->file.layout, self->file.n_homes, key->tokens[0],
                                         key->tokens[1]);
    const uint8_t *record = find_record(self, &place, recorder);
    return record == NULL ? packed_view_none() : view_of(self, record);
}

packed_view ngc_packed_find_plain(const ngc_cache *cache, const ngc_key *key)
{
    return find(cache, key, NULL);
}

packed_view ngc_packed_find_recorded(const ngc_cache *cache, const ngc_key *key,
                                     ngc_recorder *recorder)
{
    return find(cache, key, recorder);
}

NGC_INLINE bool glance(const ngc_cache *cache, const int32_t *tokens, const ngc_rule *rule,
                       ngc_recorder *recorder)
{
    const packed_cache *self = (const packed_cache *)cache;
    if (rule->static_sum < PACKED_FILTER_SUM || rule->static_percent < PACKED_FILTER_PERCENT) {
        return true;
    }
    uint64_t hash = packed_filter_hash(tokens[0], tokens[1]);
    const uint8_t *word = packed_filter_word(self->filter, self->filter_words, hash);
    bool may_pass = ngc_bloom_has(ngc_get_uint64(word), hash);
    ngc_record(recorder, NGC_TOUCH_FILTER, self->filter, word, sizeof(uint64_t),
               (word - self->filter) / 8, may_pass);
    return may_pass;
}

bool ngc_packed_glance_plain(const ngc_cache *cache, const int32_t *tokens, const ngc_rule *rule)
{
    return glance(cache, tokens, rule, NULL);
}

bool ngc_packed_glance_recorded(const ngc_cache *cache, const int32_t *tokens,
                                const ngc_rule *rule, ngc_recorder *recorder)
{
    return glance(cache, tokens, rule, recorder);
}

void ngc_packed_prefetch(const ngc_cache *cache, const int32_t *tokens)
{
    const packed_cache *self = (const packed_cache *)cache;
    packed_place place =
        packed_place_of(&self->file.layout, self->file.n_homes, tokens[0], tokens[1]);
    ngc_platform_prefetch(self->lines + place.home * PACKED_LINE_BYTES);
}

void ngc_packed_prefetch_glance(const ngc_cache *cache, const int32_t *tokens)
{
    const packed_cache *self = (const packed_cache *)cache;
    uint64_t hash = packed_filter_hash(tokens[0], tokens[1]);
    ngc_platform_prefetch(packed_filter_word(self->filter, self->filter_words, hash));
}

/* ---- walking ---- */

/* The place, in records, of the next record that is used, from one on; the end if there is none. */
static uint64_t next_used(const packed_cache *self, uint64_t at)
{
    uint32_t n_records = packed_records_a_line(&self->file.layout);
    uint64_t end = self->n_lines * n_records;
    while (at < end) {
        const uint8_t *line = self->lines + at / n_records * PACKED_LINE_BYTES;
        if (line[at % n_records * self->file.layout.record_bytes] & 1) {
            return at;
        }
        at++;
    }
    return end;
}

static const uint8_t *record_at(const packed_cache *self, uint64_t at)
{
    uint32_t n_records = packed_records_a_line(&self->file.layout);
    return self->lines + at / n_records * PACKED_LINE_BYTES +
           at % n_records * self->file.layout.record_bytes;
}

/* The 2-gram of a used record; false if the record is not one that a look-up would find. */
static bool key_of(const packed_cache *self, uint64_t at, int32_t *tokens)
{
    uint64_t line = at / packed_records_a_line(&self->file.layout);
    const uint8_t *record = record_at(self, at);
    packed_record values = packed_get_record(&self->file.layout, record);
    packed_place place = {line - values.displacement, values.remainder};
    return values.displacement <= line && place.home < self->file.n_homes &&
           ngc_packed_key_of(&self->file, &place, tokens) &&
           find_record(self, &place, NULL) == record;
}

static void walk(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                 size_t capacity, size_t *n_written)
{
    const packed_cache *self = (const packed_cache *)cache;
    uint64_t end = self->n_lines * packed_records_a_line(&self->file.layout);
    uint64_t at = next_used(self, (uint64_t)(uintptr_t)cursor->at);
    size_t n = 0;
    for (; n < capacity && at < end; at = next_used(self, at + 1)) {
        packed_view view = view_of(self, record_at(self, at));
        if (packed_view_is_none(view) || !key_of(self, at, facts[n].tokens)) {
            continue; /* damaged */
        }
        facts[n].tokens[2] = facts[n].tokens[3] = NGC_NO_TOKEN;
        facts[n].n = 2;
        facts[n].n_followers =
            (int32_t)(view.length > INT32_MAX ? (size_t)INT32_MAX : view.length);
        facts[n].sum = view.sum;
        n++;
    }
    cursor->at = (const void *)(uintptr_t)at;
    cursor->n_done += (int64_t)n;
    *n_written = n;
}

/* ---- checking all of it ---- */

static ngc_status fails(packed_cache *self, ngc_status status, uint32_t section, uint64_t at_byte)
{
    self->fault = (ngc_fault){ngc_packed_section_names[section],
                              self->file.sections[section].offset + at_byte};
    return status;
}

static ngc_status sum_slice(packed_cache *self)
{
    const packed_section *section = &self->file.sections[self->section];
    uint64_t left = section->bytes - self->done_bytes;
    size_t n_bytes = left < SLICE_BYTES ? (size_t)left : SLICE_BYTES;
    if (self->done_bytes == 0) {
        self->sum = ngc_packed_sum_begin();
    }
    ngc_packed_sum_add(&self->sum, self->bytes + section->offset + self->done_bytes, n_bytes);
    self->done_bytes += n_bytes;
    if (self->done_bytes < section->bytes) {
        return NGC_OK;
    }
    if (ngc_packed_sum_end(&self->sum) != section->sum) {
        return fails(self, NGC_BAD_SUM, self->section, 0);
    }
    self->section++;
    self->done_bytes = 0;
    return NGC_OK;
}

/* Whether a record's followers ascend and agree with what the record says of them. */
static bool row_is_good(const packed_cache *self, packed_view view)
{
    int64_t sum = 0, last = -1;
    int32_t top_token = NGC_NO_TOKEN, top_count = 0;
    for (size_t i = 0; i < view.length; i++) {
        ngc_pair pair = packed_view_at(view, i);
        int64_t spread = packed_spread(pair.token, view.token_bits);
        if (spread <= last || (uint32_t)pair.token >= self->file.n_vocab || pair.count == 0) {
            return false;
        }
        if (pair.count > top_count || (pair.count == top_count && pair.token < top_token)) {
            top_count = pair.count;
            top_token = pair.token;
        }
        last = spread;
        sum += pair.count;
    }
    return sum == view.sum && top_token == view.top_token && top_count == view.top_count;
}

/* Whether a 2-gram that has to be in the filter is. */
static bool is_in_filter(const packed_cache *self, const int32_t *tokens, packed_view view)
{
    uint64_t hash = packed_filter_hash(tokens[0], tokens[1]);
    const uint8_t *word = packed_filter_word(self->filter, self->filter_words, hash);
    return !packed_is_filtered((uint64_t)view.sum, (uint64_t)view.top_count) ||
           ngc_bloom_has(ngc_get_uint64(word), hash);
}

static ngc_status check_lines(packed_cache *self)
{
    uint32_t n_records = packed_records_a_line(&self->file.layout);
    uint64_t left = self->n_lines - self->n_lines_checked;
    uint64_t end = self->n_lines_checked + (left < SLICE_LINES ? left : SLICE_LINES);
    for (uint64_t line = self->n_lines_checked; line < end; line++) {
        for (uint64_t at = line * n_records; at < (line + 1) * n_records; at++) {
            if (!(*record_at(self, at) & 1)) {
                continue;
            }
            int32_t tokens[2];
            packed_view view = view_of(self, record_at(self, at));
            if (packed_view_is_none(view) || !key_of(self, at, tokens) ||
                !row_is_good(self, view) || !is_in_filter(self, tokens, view)) {
                return fails(self, NGC_BAD_RECORD, PACKED_LINES, line * PACKED_LINE_BYTES);
            }
            self->n_grams_seen++;
            self->n_followers_seen += view.length;
            self->n_counted_seen += (uint64_t)view.sum;
            if ((uint32_t)view.top_count > self->most_count_seen) {
                self->most_count_seen = (uint32_t)view.top_count;
            }
        }
    }
    self->n_lines_checked = end;
    return NGC_OK;
}

static ngc_status check_slice(packed_cache *self, int32_t *done)
{
    if (self->section < PACKED_SECTIONS) {
        return sum_slice(self);
    }
    if (self->n_lines_checked < self->n_lines) {
        return check_lines(self);
    }
    if (self->n_grams_seen != self->file.n_grams ||
        self->n_followers_seen != self->file.n_followers ||
        self->n_counted_seen != self->file.n_counted) {
        self->fault = (ngc_fault){"head", 24};
        return NGC_BAD_RECORD;
    }
    if (self->most_count_seen != self->file.most_count) {
        self->fault = (ngc_fault){"head", PACKED_MOST_COUNT_AT};
        return NGC_BAD_RECORD;
    }
    *done = 1;
    return NGC_OK;
}

ngc_status ngc_packed_check(ngc_cache *cache, int32_t *done, ngc_fault *fault)
{
    *done = 0;
    if (!is_packed(cache)) {
        return NGC_UNSUPPORTED;
    }
    packed_cache *self = (packed_cache *)cache;
    if (self->status == NGC_OK) {
        self->status = check_slice(self, done);
    }
    *fault = self->fault;
    return self->status;
}

static const char *check_all(const ngc_cache *cache, ngc_checking *checking, size_t n_grams)
{
    (void)n_grams;
    checking->done = true;
    packed_cache copy = *(const packed_cache *)cache; /* what it notes is not for keeps */
    copy.status = NGC_OK;
    copy.section = 0;
    copy.done_bytes = copy.n_lines_checked = 0;
    copy.most_count_seen = 0;
    copy.n_grams_seen = copy.n_followers_seen = copy.n_counted_seen = 0;
    for (int32_t done = 0; !done;) {
        if (check_slice(&copy, &done) != NGC_OK) {
            return copy.fault.part;
        }
    }
    return NULL;
}

/* ---- operations ---- */

static void destroy(ngc_cache *cache)
{
    free(((packed_cache *)cache)->block);
    free(cache);
}

static void clear(ngc_cache *cache)
{
    (void)cache; /* it never changes; ngc_cache.c refuses before this */
}

static void followers(const ngc_cache *cache, const ngc_key *key, int32_t *tokens,
                      int32_t *counts, size_t capacity, size_t *n_followers)
{
    packed_view view = ngc_key_length(key) == 2 ? ngc_packed_find(cache, key, NULL)
                                                : packed_view_none();
    for (size_t i = 0; i < view.length && i < capacity; i++) {
        ngc_pair pair = packed_view_at(view, i);
        tokens[i] = pair.token;
        counts[i] = pair.count;
    }
    *n_followers = view.length;
}

static void facts(const ngc_cache *cache, ngc_cache_facts *facts)
{
    const packed_cache *self = (const packed_cache *)cache;
    facts->n_grams = (int64_t)self->file.n_grams;
    facts->n_grams_by_n[1] = (int64_t)self->file.n_grams;
    facts->n_followers = (int64_t)self->file.n_followers;
    facts->n_buckets = (int64_t)(self->n_lines * packed_records_a_line(&self->file.layout));
}

/* Spare records; those of a mapped file are not the allocator's. */
static int64_t slack_bytes(const ngc_cache *cache)
{
    const packed_cache *self = (const packed_cache *)cache;
    uint64_t n_spare = self->n_lines * self->n_records - self->file.n_grams;
    return cache->mapped_bytes > 0 ? 0 : (int64_t)(n_spare * self->file.layout.record_bytes);
}

static int32_t search(const ngc_cache *cache, const ngc_key *key, int32_t token, int32_t search,
                      size_t *length, ngc_recorder *recorder)
{
    packed_view view = ngc_key_length(key) == 2 ? ngc_packed_find(cache, key, NULL)
                                                : packed_view_none();
    *length = view.length;
    return view.length == 0 ? 0 : packed_view_count(view, token, search, recorder);
}

static const ngc_inside_operations inside = {
    .around = ngc_packed_around,
    .measure_slice = ngc_packed_measure_slice,
    .n_tables = 1,
    .search = search,
};

/* What changes it is absent: ngc_cache.c answers NGC_UNSUPPORTED. */
static const ngc_cache_operations operations = {
    .destroy = destroy,
    .clear = clear,
    .followers = followers,
    .facts = facts,
    .slack_bytes = slack_bytes,
    .walk = walk,
    .check_slice = check_all,
    .inside = &inside,
};

ngc_status ngc_packed_wrap(const ngc_toggles *toggles, const uint8_t *bytes, size_t n_bytes,
                           uint8_t *block, size_t block_bytes, ngc_cache **out, ngc_fault *fault)
{
    packed_head file;
    *out = NULL;
    *fault = (ngc_fault){"head", 0};
    ngc_status status = ngc_packed_get_head(bytes, n_bytes, &file, fault);
    if (status != NGC_OK) {
        return status;
    }
    packed_cache *self = calloc(1, sizeof *self);
    if (self == NULL) {
        return NGC_NO_MEMORY;
    }
    self->head.operations = &operations;
    self->head.toggles = *toggles;
    self->head.toggles.static_cache = NGC_STATIC_NGC;
    self->head.n_min = 2;
    self->head.n_max = 2;
    self->head.mapped_bytes = block == NULL ? (int64_t)n_bytes : 0;
    self->head.largest_count = (int32_t)file.most_count;
    self->file = file;
    self->bytes = bytes;
    self->block = block;
    self->block_bytes = block_bytes;
    self->lines = bytes + file.sections[PACKED_LINES].offset;
    self->n_lines = file.sections[PACKED_LINES].bytes / PACKED_LINE_BYTES - file.filter_lines;
    self->filter = self->lines + self->n_lines * PACKED_LINE_BYTES;
    self->filter_words = (uint64_t)file.filter_lines * PACKED_FILTER_WORDS;
    self->followers = bytes + file.sections[PACKED_FOLLOWERS].offset;
    self->followers_bytes = file.sections[PACKED_FOLLOWERS].bytes - PACKED_PAD_BYTES;
    self->n_records = packed_records_a_line(&file.layout);
    self->tag_mask = packed_low_bits(UINT64_MAX, packed_tag_bits(&file.layout));
    *out = &self->head;
    return NGC_OK;
}

ngc_status ngc_packed_open(const ngc_toggles *toggles, const uint8_t *bytes, size_t n_bytes,
                           ngc_cache **out, ngc_fault *fault)
{
    return ngc_packed_wrap(toggles, bytes, n_bytes, NULL, 0, out, fault);
}

const uint8_t *ngc_packed_bytes_view(const ngc_cache *cache, size_t *n_bytes)
{
    *n_bytes = 0;
    if (!is_packed(cache)) {
        return NULL;
    }
    const packed_cache *self = (const packed_cache *)cache;
    *n_bytes = (size_t)self->file.file_bytes;
    return self->bytes;
}

/* The nth of the texts; the last section ends with a zero byte, so each ends. */
static const char *text_at(const packed_cache *self, uint32_t nth)
{
    const packed_section *section = &self->file.sections[PACKED_TEXTS];
    const char *text = (const char *)self->bytes + section->offset;
    const char *end = text + section->bytes;
    for (; nth > 0 && text < end; nth--) {
        text += strlen(text) + 1;
    }
    return text < end ? text : "";
}

ngc_status ngc_packed_about_of(const ngc_cache *cache, ngc_packed_about *about)
{
    if (!is_packed(cache)) {
        return NGC_UNSUPPORTED;
    }
    const packed_cache *self = (const packed_cache *)cache;
    about->n_vocab = self->file.n_vocab;
    memcpy(about->fingerprint, self->file.fingerprint, sizeof about->fingerprint);
    about->tokenizer = text_at(self, 0);
    about->corpus = text_at(self, 1);
    about->built_by = text_at(self, 2);
    return NGC_OK;
}

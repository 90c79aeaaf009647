/* ngc_packed_build.c - making a packed static cache, in slices.
 *
 *     gather    the 2-grams of one cache or two into arrays (finished counts are such already)
 *     count     how many have each line as their home, and the widths that their records need
 *     order     the 2-grams by home, and by what tells them apart there
 *     measure   how far from home each will stand
 *     write     records and blocks, in that order
 *     seal      checksums and head
 *
 * The bytes depend on what was counted alone, not on the order in which it was seen.
 */
#include "ngc_counter.h"
#include "ngc_packed_cache.h"
#include "ngc_slice.h"

enum {
    ALIGNMENT = 64,
    SUM_BYTES = 1 << 22, /* summed in one slice */
    GRAMS_A_HOME = 8,    /* some four; twice as many, since their rows lie here and there */
    MOST_TRIES = 6, /* 64 times the homes: no corpus comes near, hostile counts end here */
    LEAST_FREE_BITS = 15,   /* for length, top count and sum together */
    EXPECTED_DISPLACEMENT_BITS = 5,
    LENGTH_CLASSES = 33,
    TOP_CLASSES = 32,
    SUM_CLASSES = 49,
    FULL_PERCENT = 92       /* of the records' room in all homes */
};

typedef enum phase { GATHER, PLAN, COUNT, ORDER, SORT, MEASURE, WRITE, SEAL, DONE } phase;

struct ngc_packed_builder {
    ngc_allocator allocator; /* here to make allocations fail; nobody asks for its counts */
    ngc_toggles toggles;
    const ngc_cache *sources[2]; /* NULL: from counts; the second: from one cache */
    size_t n_sources_done;
    const ngc_counts *counts;
    ngc_counts own; /* what was gathered from a cache */
    ngc_cursor cursor;
    int32_t *scratch; /* tokens, then counts */
    size_t scratch_length;
    char *texts;
    size_t texts_bytes;
    phase phase;
    size_t at;
    packed_head head;
    int32_t tries;
    uint32_t *starts; /* by home: where its 2-grams begin in `order`; n_homes + 1 */
    uint32_t *order;
    ngc_pair *row;      /* one in the order of the file, and room to bring it in it */
    uint32_t *row_ends;
    size_t longest;
    uint32_t n_summed; /* sections whose sum is known */
    packed_sum sum;    /* of the next one, as far as `at` */
    uint64_t position; /* of the next record, in records */
    uint64_t most_displacement;
    uint64_t blocks_bytes;
    uint64_t n_big;
    uint64_t n_filtered;
    uint32_t *n_by_bits; /* rows of more than one follower by the bits of length, top and sum */
    uint8_t *block;
    size_t block_bytes;
    uint8_t *bytes; /* the file, within the block, at a cache line */
    ngc_cache *result;
};

typedef struct row_facts {
    uint64_t length;
    uint64_t sum;
    int32_t top_token;
    int32_t top_count;
} row_facts;

/* ---- rows ---- */

static row_facts facts_of(const ngc_counts *counts, size_t gram)
{
    row_facts facts = {counts->starts[gram + 1] - counts->starts[gram], 0, NGC_NO_TOKEN, 0};
    for (size_t i = counts->starts[gram]; i < counts->starts[gram + 1]; i++) {
        const ngc_pair *pair = &counts->pairs[i];
        facts.sum += (uint64_t)pair->count;
        if (pair->count > facts.top_count ||
            (pair->count == facts.top_count && pair->token < facts.top_token)) {
            facts.top_count = pair->count;
            facts.top_token = pair->token;
        }
    }
    return facts;
}

static packed_place place_of(const ngc_packed_builder *self, size_t gram)
{
    const int32_t *key = self->counts->keys[gram];
    return packed_place_of(&self->head.layout, self->head.n_homes, key[0], key[1]);
}

static void insert_row(ngc_pair *row, size_t length)
{
    for (size_t i = 1; i < length; i++) {
        ngc_pair moved = row[i];
        size_t at = i;
        for (; at > 0 && row[at - 1].token > moved.token; at--) {
            row[at] = row[at - 1];
        }
        row[at] = moved;
    }
}

/* Most rows are short: for them a plain insertion is much faster than the library's sort. */
static void sort_row(ngc_pair *row, size_t length)
{
    if (length > 24) {
        qsort(row, length, sizeof *row, ngc_pair_compare);
        return;
    }
    insert_row(row, length);
}

/* Brings a row in the order of its spread tokens, which lie evenly: each has its place, or about. */
static const ngc_pair *spread_row(ngc_packed_builder *self, const ngc_pair *row, size_t length)
{
    uint32_t token_bits = self->head.layout.token_bits;
    uint32_t *ends = self->row_ends;
    ngc_pair *out = self->row;
    memset(ends, 0, length * sizeof *ends);
    for (size_t i = 0; i < length; i++) {
        ends[packed_about(packed_spread(row[i].token, token_bits), length, token_bits)]++;
    }
    for (size_t i = 1; i < length; i++) {
        ends[i] += ends[i - 1];
    }
    for (size_t i = 0; i < length; i++) {
        ngc_pair pair = {(int32_t)packed_spread(row[i].token, token_bits), row[i].count};
        out[--ends[packed_about((uint32_t)pair.token, length, token_bits)]] = pair;
    }
    insert_row(out, length);
    return out;
}

/* ---- gather ---- */

static ngc_status reserve_gathered(ngc_packed_builder *self)
{
    ngc_counts *own = &self->own;
    for (size_t i = 0; i < 2 && self->sources[i] != NULL; i++) {
        ngc_cache_facts facts = {0};
        self->sources[i]->operations->facts(self->sources[i], &facts);
        own->n_grams += (size_t)facts.n_grams;
        own->n_pairs += (size_t)facts.n_followers;
    }
    own->keys = ngc_alloc(&self->allocator, (own->n_grams + 1) * sizeof *own->keys,
                          NGC_KIND_OTHER);
    own->starts = ngc_alloc(&self->allocator, (own->n_grams + 1) * sizeof *own->starts,
                            NGC_KIND_OTHER);
    own->pairs = ngc_alloc(&self->allocator, (own->n_pairs + 1) * sizeof *own->pairs,
                           NGC_KIND_OTHER);
    if (own->keys == NULL || own->starts == NULL || own->pairs == NULL) {
        return NGC_NO_MEMORY;
    }
    own->starts[0] = 0;
    return NGC_OK;
}

static size_t length_in(const ngc_cache *cache, const ngc_key *key)
{
    size_t length = 0;
    if (cache != NULL) {
        cache->operations->followers(cache, key, NULL, NULL, 0, &length);
    }
    return length;
}

/* Appends a cache's followers of a 2-gram to the row that begins at `start` and holds *length. */
static ngc_status gather_followers(ngc_packed_builder *self, const ngc_cache *cache,
                                   const ngc_key *key, size_t added, size_t start, size_t *length)
{
    size_t found;
    if (added > self->own.n_pairs - start - *length) {
        return ngc_changed(cache);
    }
    if (added > self->scratch_length) {
        free(self->scratch);
        self->scratch_length = 2 * added;
        self->scratch = ngc_alloc(&self->allocator, 8 * self->scratch_length, NGC_KIND_OTHER);
        if (self->scratch == NULL) {
            self->scratch_length = 0;
            return NGC_NO_MEMORY;
        }
    }
    /* Through arrays of the kind that caches hand out. */
    int32_t *tokens = self->scratch, *counts = self->scratch + added;
    cache->operations->followers(cache, key, tokens, counts, added, &found);
    if (found != added) {
        return ngc_changed(cache);
    }
    ngc_pair *out = self->own.pairs + start + *length;
    for (size_t i = 0; i < added; i++) {
        out[i] = (ngc_pair){tokens[i], counts[i]};
    }
    *length += added;
    return NGC_OK;
}

/* Adds up the counts of the same token; the new length. */
static size_t fold_row(ngc_pair *row, size_t length)
{
    size_t n = 0;
    sort_row(row, length);
    for (size_t i = 0; i < length; i++) {
        if (n == 0 || row[n - 1].token != row[i].token) {
            row[n++] = row[i];
        } else {
            int32_t room = INT32_MAX - row[n - 1].count;
            row[n - 1].count += row[i].count < room ? row[i].count : room;
        }
    }
    return n;
}

/* One 2-gram of the source at hand, with what the other says of it. */
static ngc_status gather_row(ngc_packed_builder *self, const ngc_ngram_facts *gram)
{
    size_t start = self->own.starts[self->at], length = 0;
    ngc_key key = ngc_key_of(gram->tokens, 2);
    bool second = self->n_sources_done > 0;
    size_t n_others = length_in(self->sources[second ? 0 : 1], &key);
    if (second && n_others > 0) {
        return NGC_OK; /* it came with the first */
    }
    if (self->at >= self->own.n_grams) {
        return ngc_changed(self->sources[self->n_sources_done]);
    }
    ngc_status status =
        gather_followers(self, self->sources[self->n_sources_done], &key,
                         (size_t)gram->n_followers, start, &length);
    if (status == NGC_OK && n_others > 0) {
        status = gather_followers(self, self->sources[1], &key, n_others, start, &length);
        length = fold_row(self->own.pairs + start, length);
    }
    if (status == NGC_OK) {
        memcpy(self->own.keys[self->at], gram->tokens, sizeof *self->own.keys);
        self->own.starts[++self->at] = start + length;
    }
    return status;
}

/* The next source; after the last all is gathered. */
static void end_source(ngc_packed_builder *self)
{
    self->n_sources_done++;
    if (self->n_sources_done < 2 && self->sources[self->n_sources_done] != NULL) {
        self->cursor = (ngc_cursor){0};
        return;
    }
    self->own.n_grams = self->at;
    self->own.n_pairs = self->own.starts[self->at];
    self->counts = &self->own;
    self->phase = PLAN;
}

static ngc_status gather_slice(ngc_packed_builder *self, size_t n_grams)
{
    enum { CHUNK = 256 };
    ngc_ngram_facts chunk[CHUNK];
    size_t n = 0, done = 0;
    ngc_status status = self->own.keys == NULL ? reserve_gathered(self) : NGC_OK;
    while (status == NGC_OK && done < n_grams) {
        status = ngc_cache_walk(self->sources[self->n_sources_done], &self->cursor, chunk, CHUNK,
                                &n);
        if (status != NGC_OK || n == 0) {
            break;
        }
        for (size_t i = 0; i < n && status == NGC_OK; i++) {
            status = gather_row(self, &chunk[i]);
        }
        done += n;
    }
    if (status == NGC_OK && n == 0) {
        end_source(self);
    }
    return status;
}

/* ---- plan: how many lines ---- */

static uint64_t homes_for(size_t n_grams, uint32_t n_records)
{
    uint64_t room = (uint64_t)n_records * FULL_PERCENT;
    return ((uint64_t)n_grams * 100 + room - 1) / room + (n_grams == 0);
}

static uint32_t fixed_bits(const packed_layout *layout)
{
    return packed_tag_bits(layout) + 1 + layout->token_bits + layout->place_bits;
}

/* The shortest record that leaves some bits for length, top count and sum. */
static void choose_record(ngc_packed_builder *self)
{
    static const uint8_t record_bytes[] = {12, 15, 20};
    packed_layout *layout = &self->head.layout;
    uint64_t blocks_bytes =
        8 * (uint64_t)self->counts->n_pairs + 16 * (uint64_t)self->counts->n_grams;
    layout->displacement_bits = EXPECTED_DISPLACEMENT_BITS;
    layout->place_bits = (uint8_t)ngc_platform_bit_length(blocks_bytes);
    for (size_t i = 0; i < sizeof record_bytes; i++) {
        layout->record_bytes = record_bytes[i];
        self->head.n_homes = homes_for(self->counts->n_grams, packed_records_a_line(layout));
        layout->remainder_bits =
            ngc_packed_remainder_bits(layout->token_bits, self->head.n_homes);
        if (fixed_bits(layout) + LEAST_FREE_BITS <= 8u * layout->record_bytes) {
            return;
        }
    }
}

static ngc_status find_vocabulary(ngc_packed_builder *self)
{
    const ngc_counts *counts = self->counts;
    int32_t greatest = 0;
    for (size_t i = 0; i < counts->n_grams; i++) {
        greatest = counts->keys[i][0] > greatest ? counts->keys[i][0] : greatest;
        greatest = counts->keys[i][1] > greatest ? counts->keys[i][1] : greatest;
    }
    for (size_t i = 0; i < counts->n_pairs; i++) {
        greatest = counts->pairs[i].token > greatest ? counts->pairs[i].token : greatest;
    }
    if (self->head.n_vocab == 0) {
        self->head.n_vocab = (uint32_t)greatest + 1;
    }
    if ((uint32_t)greatest >= self->head.n_vocab) {
        return NGC_BAD_TOKEN;
    }
    uint32_t bits = ngc_platform_bit_length(self->head.n_vocab - 1);
    self->head.layout.token_bits = (uint8_t)(bits == 0 ? 1 : bits);
    return NGC_OK;
}

static void free_starts(ngc_packed_builder *self)
{
    free(self->starts);
    self->starts = NULL;
}

static ngc_status make_starts(ngc_packed_builder *self)
{
    size_t bytes = (size_t)(self->head.n_homes + 1) * sizeof *self->starts;
    self->starts = ngc_alloc(&self->allocator, bytes, NGC_KIND_OTHER);
    if (self->starts == NULL) {
        return NGC_NO_MEMORY;
    }
    memset(self->starts, 0, bytes);
    self->head.n_followers = self->head.n_counted = 0;
    self->head.most_count = 0;
    self->blocks_bytes = self->n_filtered = 0;
    memset(self->n_by_bits, 0,
           LENGTH_CLASSES * TOP_CLASSES * SUM_CLASSES * sizeof *self->n_by_bits);
    self->at = 0;
    self->phase = COUNT;
    return NGC_OK;
}

static ngc_status plan(ngc_packed_builder *self)
{
    const ngc_counts *counts = self->counts;
    if (counts->n_grams >= UINT32_MAX / 2) {
        return NGC_UNSUPPORTED;
    }
    ngc_status status = find_vocabulary(self);
    if (status != NGC_OK) {
        return status;
    }
    choose_record(self);
    for (size_t i = 0; i < counts->n_grams; i++) {
        size_t length = counts->starts[i + 1] - counts->starts[i];
        self->longest = length > self->longest ? length : self->longest;
    }
    self->row = ngc_alloc(&self->allocator, (self->longest + 1) * sizeof *self->row,
                          NGC_KIND_OTHER);
    self->row_ends = ngc_alloc(&self->allocator, (self->longest + 1) * sizeof *self->row_ends,
                               NGC_KIND_OTHER);
    self->order = ngc_alloc(&self->allocator, (counts->n_grams + 1) * sizeof *self->order,
                            NGC_KIND_OTHER);
    self->n_by_bits = ngc_alloc(&self->allocator,
                                LENGTH_CLASSES * TOP_CLASSES * SUM_CLASSES * sizeof(uint32_t),
                                NGC_KIND_OTHER);
    return self->row == NULL || self->row_ends == NULL || self->order == NULL ||
                   self->n_by_bits == NULL
               ? NGC_NO_MEMORY
               : make_starts(self);
}

/* ---- count and order: a counting sort by home ---- */

static size_t slice_end(const ngc_packed_builder *self, size_t n_grams, size_t end)
{
    return end - self->at < n_grams ? end : self->at + n_grams;
}

static uint32_t *class_of(ngc_packed_builder *self, uint32_t length_bits, uint32_t top_bits,
                          uint32_t sum_bits)
{
    return &self->n_by_bits[(length_bits * TOP_CLASSES + top_bits) * SUM_CLASSES + sum_bits];
}

static uint64_t entries_bytes(const ngc_packed_builder *self, const row_facts *facts)
{
    return facts->length > 1 ? facts->length * packed_entry_bytes(self->head.layout.token_bits,
                                                                  (uint32_t)facts->top_count)
                             : 0;
}

/* Adds one row to what the widths are chosen by. */
static void note_row(ngc_packed_builder *self, const row_facts *facts)
{
    self->blocks_bytes += entries_bytes(self, facts);
    self->head.n_followers += facts->length;
    self->head.n_counted += facts->sum;
    if ((uint32_t)facts->top_count > self->head.most_count) {
        self->head.most_count = (uint32_t)facts->top_count;
    }
    self->n_filtered += packed_is_filtered(facts->sum, (uint64_t)facts->top_count);
    uint32_t sum_bits = ngc_platform_bit_length(facts->sum);
    ++*class_of(self, ngc_platform_bit_length(facts->length),
                ngc_platform_bit_length((uint64_t)facts->top_count),
                sum_bits < SUM_CLASSES ? sum_bits : SUM_CLASSES - 1);
}

static void count_slice(ngc_packed_builder *self, size_t n_grams)
{
    size_t end = slice_end(self, n_grams, self->counts->n_grams);
    for (; self->at < end; self->at++) {
        row_facts facts = facts_of(self->counts, self->at);
        note_row(self, &facts);
        self->starts[place_of(self, self->at).home]++;
    }
    if (end < self->counts->n_grams) {
        return;
    }
    uint32_t sum = 0;
    for (uint64_t home = 0; home <= self->head.n_homes; home++) {
        uint32_t n = self->starts[home];
        self->starts[home] = sum;
        sum += n;
    }
    self->at = 0;
    self->phase = ORDER;
}

/* Afterwards starts[home] is where the next home's 2-grams begin. */
static void order_slice(ngc_packed_builder *self, size_t n_grams)
{
    size_t end = slice_end(self, n_grams, self->counts->n_grams);
    for (; self->at < end; self->at++) {
        self->order[self->starts[place_of(self, self->at).home]++] = (uint32_t)self->at;
    }
    if (end == self->counts->n_grams) {
        self->at = 0;
        self->phase = SORT;
    }
}

/* Those of one home by remainder; a few each. */
static void sort_home(ngc_packed_builder *self, size_t first, size_t end)
{
    for (size_t i = first + 1; i < end; i++) {
        uint32_t gram = self->order[i];
        uint64_t remainder = place_of(self, gram).remainder;
        size_t at = i;
        for (; at > first && place_of(self, self->order[at - 1]).remainder > remainder; at--) {
            self->order[at] = self->order[at - 1];
        }
        self->order[at] = gram;
    }
}

static void sort_slice(ngc_packed_builder *self, size_t n_homes)
{
    size_t end = slice_end(self, n_homes, (size_t)self->head.n_homes);
    for (; self->at < end; self->at++) {
        sort_home(self, self->at == 0 ? 0 : self->starts[self->at - 1], self->starts[self->at]);
    }
    if (end == self->head.n_homes) {
        self->at = 0;
        self->position = self->most_displacement = 0;
        self->phase = MEASURE;
    }
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

static uint64_t big_rows(ngc_packed_builder *self, uint32_t length_bits, uint32_t top_bits,
                         uint32_t sum_bits)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < LENGTH_CLASSES; l++) {
        for (uint32_t t = 0; t < TOP_CLASSES; t++) {
            for (uint32_t s = 0; s < SUM_CLASSES; s++) {
                bool fits = l <= length_bits && t <= top_bits && s <= sum_bits;
                n += fits ? 0 : *class_of(self, l, t, s);
            }
        }
    }
    return n;
}

/* Shares the free bits so that few rows are big; more than a few shapes are not worth trying. */
static bool share_bits(ngc_packed_builder *self, uint32_t place_bits)
{
    packed_layout *layout = &self->head.layout;
    layout->place_bits = (uint8_t)place_bits;
    uint32_t room = 8u * layout->record_bytes;
    if (fixed_bits(layout) + 3 > room) {
        return false;
    }
    uint32_t n_free = room - fixed_bits(layout);
    uint32_t middle_top = n_free / 3, middle_length = n_free / 3 - (n_free >= 12);
    uint64_t fewest = UINT64_MAX;
    for (uint32_t top = middle_top - (middle_top > 1); top <= middle_top + 1; top++) {
        for (uint32_t length = middle_length - (middle_length > 1); length <= middle_length + 1;
             length++) {
            if (top + length >= n_free || top >= TOP_CLASSES || length >= LENGTH_CLASSES) {
                continue;
            }
            uint32_t sum = n_free - top - length;
            sum = sum < SUM_CLASSES ? sum : SUM_CLASSES - 1;
            uint64_t n_big = big_rows(self, length, top, sum);
            if (n_big < fewest) {
                fewest = n_big;
                layout->top_bits = (uint8_t)top;
                layout->length_bits = (uint8_t)length;
                layout->sum_bits = (uint8_t)sum;
            }
        }
    }
    self->n_big = fewest;
    return fewest != UINT64_MAX;
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
    uint64_t blocks_bytes = self->blocks_bytes + PACKED_BIG_BYTES * self->n_big;
    head->filter_lines =
        (uint32_t)(self->n_filtered / (PACKED_FILTER_WORDS * NGC_BLOOM_KEYS_A_WORD) + 1);
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
    head->n_grams = self->counts->n_grams;
    self->block_bytes = (size_t)offset + ALIGNMENT;
    self->block = ngc_alloc(&self->allocator, self->block_bytes, NGC_KIND_FOLLOWERS);
    if (self->block == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_platform_prefer_big_pages(self->block, self->block_bytes);
    self->bytes = self->block + (ALIGNMENT - (uintptr_t)self->block % ALIGNMENT) % ALIGNMENT;
    memset(self->bytes, 0, (size_t)offset);
    memcpy(self->bytes + head->sections[PACKED_TEXTS].offset, self->texts, self->texts_bytes);
    self->at = 0;
    self->position = self->blocks_bytes = 0;
    self->phase = WRITE;
    return NGC_OK;
}

/* Some home is so crowded that its 2-grams stand too far off: more homes, once more. */
static ngc_status spread(ngc_packed_builder *self)
{
    if (++self->tries > MOST_TRIES || self->head.n_homes > UINT32_MAX / 2) {
        return NGC_UNSUPPORTED;
    }
    free_starts(self);
    self->head.n_homes *= 2;
    self->head.layout.remainder_bits =
        ngc_packed_remainder_bits(self->head.layout.token_bits, self->head.n_homes);
    return make_starts(self);
}

static ngc_status choose_widths(ngc_packed_builder *self)
{
    packed_layout *layout = &self->head.layout;
    if (self->most_displacement > PACKED_MOST_REACH) {
        return spread(self);
    }
    layout->displacement_bits = (uint8_t)ngc_platform_bit_length(self->most_displacement);
    /* Big rows have longer blocks, so the place may need a bit more than it seemed. */
    for (uint32_t bits = ngc_platform_bit_length(self->blocks_bytes);; bits++) {
        if (!share_bits(self, bits)) {
            return NGC_UNSUPPORTED;
        }
        uint64_t blocks_bytes = self->blocks_bytes + PACKED_BIG_BYTES * self->n_big;
        if (ngc_platform_bit_length(blocks_bytes) <= bits) {
            return make_file(self);
        }
    }
}

static ngc_status measure_slice(ngc_packed_builder *self, size_t n_homes)
{
    size_t end = slice_end(self, n_homes, (size_t)self->head.n_homes);
    for (; self->at < end; self->at++) {
        size_t first = self->at == 0 ? 0 : self->starts[self->at - 1];
        for (size_t i = first; i < self->starts[self->at]; i++, self->position++) {
            uint64_t far = next_line(self, self->at) - self->at;
            self->most_displacement =
                far > self->most_displacement ? far : self->most_displacement;
        }
    }
    return end == self->head.n_homes ? choose_widths(self) : NGC_OK;
}

/* ---- write ---- */

static bool fits(uint64_t value, uint32_t n_bits)
{
    return ngc_platform_bit_length(value) <= n_bits;
}

static void put_block(ngc_packed_builder *self, size_t gram, const row_facts *facts, bool big)
{
    uint8_t *out =
        self->bytes + self->head.sections[PACKED_FOLLOWERS].offset + self->blocks_bytes;
    if (big) {
        int32_t head[2] = {(int32_t)(uint32_t)facts->length, facts->top_count};
        ngc_put_int32s(out, head, 2);
        ngc_put_uint64(out + 8, facts->sum);
        out += PACKED_BIG_BYTES;
    }
    if (facts->length == 1) {
        return;
    }
    size_t start = self->counts->starts[gram];
    uint32_t token_bits = self->head.layout.token_bits;
    uint32_t n_bytes = packed_entry_bytes(token_bits, (uint32_t)facts->top_count);
    const ngc_pair *row =
        spread_row(self, self->counts->pairs + start, (size_t)facts->length);
    for (size_t i = 0; i < facts->length; i++) {
        uint64_t entry = (uint64_t)row[i].count << token_bits | (uint32_t)row[i].token;
        ngc_put_uint64(out, entry); /* the zeros above it are written over next, or are the pad */
        out += n_bytes;
    }
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

static void write_gram(ngc_packed_builder *self, uint64_t home, size_t gram)
{
    const packed_layout *layout = &self->head.layout;
    row_facts facts = facts_of(self->counts, gram);
    uint64_t line = next_line(self, home);
    uint8_t *lines = self->bytes + self->head.sections[PACKED_LINES].offset;
    bool big = !fits(facts.length, layout->length_bits) ||
               !fits((uint64_t)facts.top_count, layout->top_bits) ||
               !fits(facts.sum, layout->sum_bits);
    packed_record record = {
        .remainder = place_of(self, gram).remainder,
        .displacement = line - home,
        .big = big,
        .top_token = (uint64_t)facts.top_token,
        .place = big || facts.length > 1 ? self->blocks_bytes : 0,
        .length = big ? 0 : facts.length,
        .top_count = big ? 0 : (uint64_t)facts.top_count,
        .sum = big ? 0 : facts.sum,
    };
    ngc_packed_put_record(layout,
                          lines + line * PACKED_LINE_BYTES +
                              self->position % packed_records_a_line(layout) *
                                  layout->record_bytes,
                          &record);
    lines[home * PACKED_LINE_BYTES + PACKED_REACH_AT] = (uint8_t)(line - home);
    if (packed_is_filtered(facts.sum, (uint64_t)facts.top_count)) {
        put_filtered(self, self->counts->keys[gram]);
    }
    put_block(self, gram, &facts, big);
    self->blocks_bytes += entries_bytes(self, &facts) + (big ? PACKED_BIG_BYTES : 0);
    self->position++;
}

/* Rows are read in the order of their homes, which is none in memory. */
static void ask_ahead(const ngc_packed_builder *self, size_t i)
{
    enum { ROWS = 8, STARTS = 16 };
    const ngc_counts *counts = self->counts;
    if (i + STARTS < counts->n_grams) {
        ngc_platform_prefetch(&counts->starts[self->order[i + STARTS]]);
        ngc_platform_prefetch(&counts->keys[self->order[i + STARTS]]);
        ngc_platform_prefetch(&counts->pairs[counts->starts[self->order[i + ROWS]]]);
    }
}

static void write_slice(ngc_packed_builder *self, size_t n_homes)
{
    size_t end = slice_end(self, n_homes, (size_t)self->head.n_homes);
    for (; self->at < end; self->at++) {
        size_t first = self->at == 0 ? 0 : self->starts[self->at - 1];
        for (size_t i = first; i < self->starts[self->at]; i++) {
            ask_ahead(self, i);
            write_gram(self, self->at, self->order[i]);
        }
    }
    if (end == self->head.n_homes) {
        self->at = 0;
        self->phase = SEAL;
    }
}

/* ---- seal ---- */

static void sum_slice(ngc_packed_builder *self)
{
    packed_section *section = &self->head.sections[self->n_summed];
    self->sum = self->at == 0 ? ngc_packed_sum_begin() : self->sum;
    size_t end = slice_end(self, SUM_BYTES, (size_t)section->bytes);
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
        (*out)->sources[0] = source;
        (*out)->sources[1] = added;
        (*out)->phase = GATHER;
    }
    return status;
}

ngc_status ngc_packed_begin(const ngc_toggles *toggles, const ngc_cache *source,
                            const ngc_packed_about *about, ngc_packed_builder **out)
{
    return ngc_packed_begin_merge(toggles, source, NULL, about, out);
}

ngc_status ngc_packed_begin_counts(const ngc_toggles *toggles, const ngc_counter *counter,
                                   const ngc_packed_about *about, ngc_packed_builder **out)
{
    ngc_status status = new_builder(toggles, about, out);
    if (status == NGC_OK) {
        (*out)->counts = ngc_counter_counts(counter);
        (*out)->phase = PLAN;
    }
    return status;
}

ngc_status ngc_packed_step(ngc_packed_builder *self, size_t n_grams, int32_t *done)
{
    ngc_status status = NGC_OK;
    n_grams = n_grams == 0 ? 1 : n_grams;
    size_t n_homes = n_grams / GRAMS_A_HOME + 1;
    switch (self->phase) {
    case GATHER:
        status = gather_slice(self, n_grams);
        break;
    case PLAN:
        status = plan(self);
        break;
    case COUNT:
        count_slice(self, n_grams);
        break;
    case ORDER:
        order_slice(self, n_grams);
        break;
    case SORT:
        sort_slice(self, n_homes);
        break;
    case MEASURE:
        status = measure_slice(self, n_homes);
        break;
    case WRITE:
        write_slice(self, n_homes);
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
    if (self->phase == SEAL) {
        return (double)self->n_summed / (PACKED_SECTIONS + 1);
    }
    size_t all = self->phase == GATHER                            ? self->own.n_grams
                 : self->phase == COUNT || self->phase == ORDER ? self->counts->n_grams
                                                                  : (size_t)self->head.n_homes;
    return all == 0 || self->at > all ? 0 : (double)self->at / (double)all;
}

double ngc_packed_fraction(const ngc_packed_builder *self)
{
    static const double share[DONE] = {0.17, 0, 0.05, 0.03, 0.1, 0.05, 0.59, 0.01}; /* measured */
    phase first = self->sources[0] == NULL ? PLAN : GATHER;
    double before = 0, all = 0;
    for (phase i = first; i < DONE; i++) {
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
    free_starts(self);
    free(self->order);
    free(self->row);
    free(self->row_ends);
    free(self->n_by_bits);
    free(self->own.keys);
    free(self->own.starts);
    free(self->own.pairs);
    free(self->texts);
    free(self->block);
    free(self->scratch);
    ngc_cache_free(self->result);
    free(self);
}

void ngc_packed_builder_fail_allocation(ngc_packed_builder *self, int64_t nth)
{
    self->allocator.fail_in = nth;
}

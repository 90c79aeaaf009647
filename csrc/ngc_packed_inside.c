/* ngc_packed_inside.c - what the bytes of our own file mean, and its table around a 2-gram; see
 * ngc_packed_format.h.
 *
 * Records say where their followers' blocks are, not the other way round: for a window among the
 * followers all records are gone through.
 */
#include "ngc_inside.h"
#include "ngc_packed_cache.h"

typedef struct span_list {
    int64_t from, to;
    ngc_span *spans;
    size_t capacity, n_spans;
} span_list;

/* `detail` may be NULL. More spans than there is room for come from a damaged file alone. */
static void add(span_list *list, uint64_t at, uint64_t n_bytes, int32_t meaning, int64_t index,
                int64_t value, const int64_t *detail)
{
    bool inside = (int64_t)(at + n_bytes) > list->from && (int64_t)at < list->to;
    if (n_bytes == 0 || !inside || list->n_spans == list->capacity) {
        return;
    }
    ngc_span span = {.offset = (int64_t)at, .value = value, .gram = -1, .index = index,
                     .n_bytes = (int32_t)n_bytes, .meaning = meaning};
    if (detail != NULL) {
        memcpy(span.detail, detail, sizeof span.detail);
    }
    list->spans[list->n_spans++] = span;
}

/* ---- the head ---- */

static void add_number(span_list *list, const uint8_t *bytes, uint64_t at, uint64_t n_bytes,
                       int32_t meaning, int64_t index)
{
    const uint8_t *number = bytes + at;
    int64_t value = n_bytes == 8   ? (int64_t)ngc_get_uint64(number)
                    : n_bytes == 4 ? (int64_t)(uint32_t)ngc_get_int32(number)
                                   : number[0];
    add(list, at, n_bytes, meaning, index, value, NULL);
}

static void add_head(span_list *list, const uint8_t *bytes)
{
    static const struct {
        uint16_t at, n_bytes;
        int32_t meaning;
    } numbers[] = {
        {0, 8, NGC_SPAN_MAGIC},      {8, 4, NGC_SPAN_VERSION},    {12, 4, NGC_SPAN_HEAD_BYTES},
        {16, 8, NGC_SPAN_FILE_BYTES}, {24, 8, NGC_SPAN_N_GRAMS},  {32, 8, NGC_SPAN_N_PAIRS},
        {40, 8, NGC_SPAN_N_COUNTED}, {48, 4, NGC_SPAN_N_VOCAB},   {52, 4, NGC_SPAN_N_SECTIONS},
        {56, 8, NGC_SPAN_N_HOMES},   {72, 8, NGC_SPAN_SPARE},     
        {PACKED_MOST_COUNT_AT, 4, NGC_SPAN_MOST_COUNT}, {PACKED_FILTER_LINES_AT, 4, NGC_SPAN_FILTER_LINES},
        {120, 8, NGC_SPAN_SPARE},    {224, 8, NGC_SPAN_SPARE},    {232, 8, NGC_SPAN_SPARE},
        {240, 8, NGC_SPAN_SPARE},    {PACKED_SUM_AT, 8, NGC_SPAN_SUM},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        add_number(list, bytes, numbers[i].at, numbers[i].n_bytes, numbers[i].meaning, 0);
    }
    for (uint64_t i = 0; i < sizeof(packed_layout); i++) {
        add_number(list, bytes, PACKED_LAYOUT_AT + i, 1, NGC_SPAN_WIDTH, (int64_t)i);
    }
    for (uint64_t i = 0; i < 4; i++) {
        add_number(list, bytes, PACKED_FINGERPRINT_AT + 8 * i, 8, NGC_SPAN_FINGERPRINT,
                   (int64_t)i);
    }
    for (uint64_t i = 0; i < PACKED_SECTIONS; i++) {
        uint64_t at = PACKED_SECTIONS_AT + PACKED_SECTION_BYTES * i;
        add_number(list, bytes, at, 4, NGC_SPAN_SECTION_KIND, (int64_t)i);
        add_number(list, bytes, at + 4, 4, NGC_SPAN_SPARE, 0);
        add_number(list, bytes, at + 8, 8, NGC_SPAN_SECTION_OFFSET, (int64_t)i);
        add_number(list, bytes, at + 16, 8, NGC_SPAN_SECTION_BYTES, (int64_t)i);
        add_number(list, bytes, at + 24, 8, NGC_SPAN_SECTION_SUM, (int64_t)i);
    }
}

/* ---- lines ---- */

/* The 2-gram and the followers of a used record, as a look-up finds them; false: it is damaged. */
static bool look_up(const packed_cache *self, uint64_t line, const packed_record *record,
                    int32_t *tokens, packed_view *view)
{
    packed_place place = {line - record->displacement, record->remainder};
    if (record->displacement > line || place.home >= self->file.n_homes ||
        !ngc_packed_key_of(&self->file, &place, tokens)) {
        return false;
    }
    ngc_key key = ngc_key_of(tokens, 2);
    *view = ngc_packed_find(&self->head, &key, NULL);
    return !packed_view_is_none(*view);
}

static void add_record(span_list *list, const packed_cache *self, uint64_t line, uint64_t i)
{
    const packed_layout *layout = &self->file.layout;
    const uint8_t *bytes = self->lines + line * PACKED_LINE_BYTES + i * layout->record_bytes;
    int64_t index = (int64_t)(line * packed_records_a_line(layout) + i);
    uint64_t at = (uint64_t)(bytes - self->bytes);
    int32_t tokens[2];
    packed_view view;
    if (!(bytes[0] & 1)) {
        add(list, at, layout->record_bytes, NGC_SPAN_FREE_RECORD, index, 0, NULL);
        return;
    }
    packed_record record = packed_get_record(layout, bytes);
    if (!look_up(self, line, &record, tokens, &view)) {
        add(list, at, layout->record_bytes, NGC_SPAN_SPARE, index, 0, NULL);
        return;
    }
    int64_t detail[NGC_SPAN_DETAILS] = {tokens[0],     tokens[1],      (int64_t)record.displacement,
                                        (int64_t)view.length, view.sum, view.top_count,
                                        (int64_t)record.place, record.big};
    add(list, at, layout->record_bytes, NGC_SPAN_RECORD, index, view.top_token, detail);
}

static void add_lines(span_list *list, const packed_cache *self)
{
    uint64_t start = self->file.sections[PACKED_LINES].offset;
    uint32_t n_records = packed_records_a_line(&self->file.layout);
    uint64_t used_bytes = (uint64_t)n_records * self->file.layout.record_bytes;
    uint64_t first = list->from > (int64_t)start
                         ? ((uint64_t)list->from - start) / PACKED_LINE_BYTES
                         : 0;
    for (uint64_t line = first; line < self->n_lines; line++) {
        uint64_t at = start + line * PACKED_LINE_BYTES;
        if ((int64_t)at >= list->to) {
            return;
        }
        for (uint64_t i = 0; i < n_records; i++) {
            add_record(list, self, line, i);
        }
        add(list, at + used_bytes, PACKED_REACH_AT - used_bytes, NGC_SPAN_SPARE, 0, 0, NULL);
        add(list, at + PACKED_REACH_AT, 1, NGC_SPAN_REACH, (int64_t)line,
            self->bytes[at + PACKED_REACH_AT], NULL);
    }
}

static void add_filter(span_list *list, const packed_cache *self)
{
    uint64_t start = (uint64_t)(self->filter - self->bytes);
    uint64_t first = list->from > (int64_t)start ? ((uint64_t)list->from - start) / 8 : 0;
    for (uint64_t word = first; word < self->filter_words; word++) {
        uint64_t at = start + 8 * word;
        if ((int64_t)at >= list->to) {
            return;
        }
        add_number(list, self->bytes, at, 8, NGC_SPAN_FILTER, (int64_t)word);
    }
}

/* ---- followers ---- */

static void add_block(span_list *list, const packed_cache *self, const packed_record *record,
                      const int32_t *tokens, packed_view view)
{
    uint64_t at = self->file.sections[PACKED_FOLLOWERS].offset + record->place;
    int64_t detail[NGC_SPAN_DETAILS] = {tokens[0], tokens[1]};
    if (record->big) {
        add(list, at, 4, NGC_SPAN_N_FOLLOWERS, 0, (int64_t)view.length, detail);
        add(list, at + 4, 4, NGC_SPAN_TOP_COUNT, 0, view.top_count, detail);
        add(list, at + 8, 8, NGC_SPAN_COUNTS, 0, view.sum, detail);
        at += PACKED_BIG_BYTES;
    }
    for (size_t i = 0; view.length > 1 && i < view.length; i++) {
        ngc_pair pair = packed_view_at(view, i);
        detail[2] = pair.count;
        add(list, at + i * view.entry_bytes, view.entry_bytes, NGC_SPAN_ENTRY, (int64_t)i,
            pair.token, detail);
    }
}

static void add_blocks(span_list *list, const packed_cache *self)
{
    const packed_section *section = &self->file.sections[PACKED_FOLLOWERS];
    const packed_layout *layout = &self->file.layout;
    if (list->to <= (int64_t)section->offset ||
        list->from >= (int64_t)(section->offset + section->bytes)) {
        return;
    }
    for (uint64_t line = 0; line < self->n_lines; line++) {
        for (uint64_t i = 0; i < packed_records_a_line(layout); i++) {
            const uint8_t *bytes =
                self->lines + line * PACKED_LINE_BYTES + i * layout->record_bytes;
            int32_t tokens[2];
            packed_view view;
            if (!(bytes[0] & 1)) {
                continue;
            }
            packed_record record = packed_get_record(layout, bytes);
            uint64_t end = section->offset + record.place + PACKED_BIG_BYTES;
            bool is_before = (int64_t)(section->offset + record.place) < list->to;
            if (is_before && look_up(self, line, &record, tokens, &view) &&
                (int64_t)(end + view.length * view.entry_bytes) > list->from) {
                add_block(list, self, &record, tokens, view);
            }
        }
    }
}

/* ---- texts ---- */

static void add_texts(span_list *list, const packed_cache *self)
{
    const packed_section *section = &self->file.sections[PACKED_TEXTS];
    uint64_t end = section->offset + section->bytes;
    uint64_t at = section->offset;
    for (int64_t nth = 0; nth < 3 && at < end; nth++) {
        uint64_t n_bytes = strlen((const char *)self->bytes + at) + 1;
        add(list, at, n_bytes, NGC_SPAN_TEXT, nth, nth, NULL);
        at += n_bytes;
    }
}

/* ---- all together ---- */

static int compare_spans(const void *a, const void *b)
{
    int64_t left = ((const ngc_span *)a)->offset;
    int64_t right = ((const ngc_span *)b)->offset;
    return (left > right) - (left < right);
}

/* What no span covers is spare: alignment, and the pad behind the last block. */
static void fill_gaps(span_list *list, uint64_t end)
{
    size_t n = list->n_spans;
    int64_t at = list->from;
    qsort(list->spans, n, sizeof *list->spans, compare_spans);
    for (size_t i = 0; i <= n; i++) {
        int64_t next = i < n ? list->spans[i].offset : (int64_t)end;
        if (next > at) {
            add(list, (uint64_t)at, (uint64_t)(next - at), NGC_SPAN_SPARE, 0, 0, NULL);
        }
        int64_t after = i < n ? next + list->spans[i].n_bytes : at;
        at = after > at ? after : at;
    }
    qsort(list->spans, list->n_spans, sizeof *list->spans, compare_spans);
}

ngc_status ngc_packed_spans(const ngc_cache *cache, int64_t from, int64_t to, ngc_span *spans,
                            size_t capacity, size_t *n_spans)
{
    size_t n_bytes;
    *n_spans = 0;
    if (ngc_packed_bytes_view(cache, &n_bytes) == NULL) {
        return NGC_UNSUPPORTED;
    }
    to = to > (int64_t)n_bytes ? (int64_t)n_bytes : to;
    if (from < 0 || to < from) {
        return NGC_BAD_ARGUMENT;
    }
    if (capacity < (size_t)(to - from) + 2) {
        return NGC_SMALL_BUFFER;
    }
    const packed_cache *self = (const packed_cache *)cache;
    span_list list = {from, to, spans, capacity, 0};
    add_head(&list, self->bytes);
    add_lines(&list, self);
    add_filter(&list, self);
    add_blocks(&list, self);
    add_texts(&list, self);
    fill_gaps(&list, (uint64_t)to);
    *n_spans = list.n_spans;
    return NGC_OK;
}

/* ---- the table ---- */

/* The mixed key as a fraction of 1: home and remainder are cut from it, and it tells the key. */
static uint64_t mixed(const packed_cache *self, const int32_t *tokens)
{
    uint32_t bits = self->file.layout.token_bits;
    uint64_t key = (uint64_t)(uint32_t)tokens[0] << bits | (uint32_t)tokens[1];
    return packed_mix(key, bits) << (64 - 2 * bits);
}

/* An empty one, too, where a damaged record leads to no followers. */
static ngc_place place_at(const packed_cache *self, uint64_t number, bool *damaged)
{
    const packed_layout *layout = &self->file.layout;
    uint32_t n_records = packed_records_a_line(layout);
    uint64_t line = number / n_records;
    const uint8_t *bytes = self->lines + line * PACKED_LINE_BYTES +
                           number % n_records * layout->record_bytes;
    ngc_place place = ngc_no_place();
    int32_t tokens[2];
    packed_view view;
    *damaged = false;
    if (bytes[0] & 1) {
        packed_record record = packed_get_record(layout, bytes);
        *damaged = !look_up(self, line, &record, tokens, &view);
        if (!*damaged) {
            ngc_key key = ngc_key_of(tokens, 2);
            size_t shown = view.length < INT32_MAX ? view.length : INT32_MAX;
            place = ngc_place_of(&key, mixed(self, tokens), shown);
            place.entry = view.length > 1 ? (int64_t)record.place : -1;
            place.fingerprint = (int64_t)record.remainder;
            place.distance = (int32_t)record.displacement;
        }
    }
    place.index = (int64_t)number;
    return place;
}

/* Where the look-up that visited the last of these lines has found its 2-gram. */
static int64_t found_in(const packed_cache *self, uint64_t line, const ngc_key *key)
{
    uint32_t n_records = packed_records_a_line(&self->file.layout);
    for (uint64_t number = line * n_records; number < (line + 1) * n_records; number++) {
        bool damaged;
        ngc_place place = place_at(self, number, &damaged);
        if (memcmp(place.tokens, key->tokens, sizeof place.tokens) == 0) {
            return (int64_t)number;
        }
    }
    return -1;
}

void ngc_packed_around(const ngc_cache *cache, const ngc_key *key, size_t n_before, size_t n_after,
                       ngc_around *around, ngc_place *places, size_t capacity,
                       ngc_recorder *recorder)
{
    const packed_cache *self = (const packed_cache *)cache;
    const packed_layout *layout = &self->file.layout;
    uint32_t n_records = packed_records_a_line(layout);
    around->n_buckets = (int64_t)(self->n_lines * n_records);
    around->slots_a_line = n_records;
    if (ngc_key_length(key) != 2 || (uint32_t)key->tokens[0] >= self->file.n_vocab ||
        (uint32_t)key->tokens[1] >= self->file.n_vocab) {
        return; /* such a look-up reads nothing */
    }
    packed_place home =
        packed_place_of(layout, self->file.n_homes, key->tokens[0], key->tokens[1]);
    bool is_there = !packed_view_is_none(ngc_packed_find_recorded(cache, key, recorder));
    around->hash = mixed(self, key->tokens);
    around->fingerprint = (int64_t)home.remainder;
    around->home = (int64_t)home.home;
    around->n_visited = recorder->probe->visited_nodes;
    if (is_there) {
        around->found = found_in(self, home.home + (uint64_t)around->n_visited - 1, key);
    }
    ngc_line_window window =
        ngc_line_window_of((size_t)home.home, (size_t)around->n_visited, n_before, n_after,
                           (size_t)self->n_lines);
    around->n_places = (int64_t)(window.n_lines * n_records);
    for (size_t i = 0; i < window.n_lines * n_records && i < capacity; i++) {
        bool damaged;
        places[i] = place_at(
            self, (window.first * n_records + i) % (self->n_lines * n_records), &damaged);
    }
}

void ngc_packed_measure_slice(ngc_measuring *measuring, size_t n_slots, bool *last)
{
    const packed_cache *self = (const packed_cache *)measuring->cache;
    ngc_table_facts *facts = &measuring->facts;
    size_t n_records = (size_t)(self->n_lines * packed_records_a_line(&self->file.layout));
    facts->n_buckets = (int64_t)n_records;
    for (; n_slots > 0 && measuring->place < n_records; n_slots--, measuring->place++) {
        bool damaged;
        ngc_place place = place_at(self, measuring->place, &damaged);
        if (place.distance < 0) {
            facts->n_empty += !damaged;
            continue;
        }
        if ((uint64_t)facts->n_grams < self->file.n_grams) { /* a damaged file may have more */
            ngc_key key = ngc_key_of(place.tokens, 2);
            ngc_measuring_add(measuring, &key, place.hash, (size_t)place.distance + 1);
        }
    }
    *last = measuring->place == n_records;
}

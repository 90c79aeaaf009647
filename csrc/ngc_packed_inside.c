/* ngc_packed_inside.c - what the bytes of our own file mean; see ngc_packed_format.h.
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
        {PACKED_MOST_COUNT_AT, 4, NGC_SPAN_MOST_COUNT}, {116, 4, NGC_SPAN_SPARE},
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
    packed_record record = ngc_packed_get_record(layout, bytes);
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
            packed_record record = ngc_packed_get_record(layout, bytes);
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
    add_blocks(&list, self);
    add_texts(&list, self);
    fill_gaps(&list, (uint64_t)to);
    *n_spans = list.n_spans;
    return NGC_OK;
}

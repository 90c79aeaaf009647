/* ngc_packed_format.c - see ngc_packed_format.h. */
#include "ngc_packed_format.h"

const uint8_t ngc_packed_magic[8] = {0x89, 'N', 'G', 'C', '\r', '\n', 0x1a, '\n'};
const char *const ngc_packed_section_names[PACKED_SECTIONS] = {"lines", "followers", "texts"};

/* ---- keys ---- */

uint8_t ngc_packed_remainder_bits(uint32_t token_bits, uint64_t n_homes)
{
    return (uint8_t)(2 * token_bits + 1 - ngc_platform_bit_length(n_homes));
}

/* high * 2^64 + low, divided by a number below 2^32, rounded up; the quotient fits 64 bits. */
static uint64_t divide_up(uint64_t high, uint64_t low, uint64_t divisor)
{
    uint64_t middle = (high % divisor) << 32 | low >> 32;
    uint64_t last = (middle % divisor) << 32 | (uint32_t)low;
    uint64_t quotient = (middle / divisor) << 32 | last / divisor;
    return quotient + (last % divisor != 0);
}

bool ngc_packed_key_of(const packed_head *head, const packed_place *place, int32_t *tokens)
{
    const packed_layout *layout = &head->layout;
    uint32_t n_bits = 2 * (uint32_t)layout->token_bits;
    /* The least mixed key k with k * n_homes >= (home, remainder) as a number of home_bits +
     * remainder_bits, shifted to where products of n_bits stand. */
    uint64_t wanted = place->home << layout->remainder_bits | place->remainder;
    uint32_t shift = n_bits - layout->remainder_bits;
    uint64_t mixed = divide_up(shift == 0 ? 0 : wanted >> (64 - shift), wanted << shift,
                               head->n_homes);
    if (mixed >> n_bits != 0) {
        return false;
    }
    uint64_t key = packed_unmix(mixed, layout->token_bits);
    uint64_t a = key >> layout->token_bits;
    uint64_t b = packed_low_bits(key, layout->token_bits);
    if (a >= head->n_vocab || b >= head->n_vocab) {
        return false;
    }
    tokens[0] = (int32_t)a;
    tokens[1] = (int32_t)b;
    packed_place again = packed_place_of(layout, head->n_homes, tokens[0], tokens[1]);
    return again.home == place->home && again.remainder == place->remainder;
}

/* ---- records ---- */

/* Into zeros, as packed_get_bits reads them. */
static void put_bits(uint8_t *record, uint32_t *at, uint64_t value, uint32_t n_bits)
{
    uint8_t *bytes = record + *at / 8;
    ngc_put_uint64(bytes, ngc_get_uint64(bytes) | value << (*at % 8));
    *at += n_bits;
}

void ngc_packed_put_record(const packed_layout *layout, uint8_t *record,
                           const packed_record *values)
{
    uint32_t at = 0;
    put_bits(record, &at, 1, 1);
    put_bits(record, &at, values->remainder, layout->remainder_bits);
    put_bits(record, &at, values->displacement, layout->displacement_bits);
    put_bits(record, &at, values->big, 1);
    put_bits(record, &at, values->top_token, layout->token_bits);
    put_bits(record, &at, values->place, layout->place_bits);
    put_bits(record, &at, values->length, layout->length_bits);
    put_bits(record, &at, values->top_count, layout->top_bits);
    put_bits(record, &at, values->sum, layout->sum_bits);
}

/* ---- checksum: four lanes, since one multiplication waits for the one before ---- */

packed_sum ngc_packed_sum_begin(void)
{
    return (packed_sum){{UINT64_C(0x243F6A8885A308D3), UINT64_C(0x13198A2E03707344),
                         UINT64_C(0xA4093822299F31D0), UINT64_C(0x082EFA98EC4E6C89)}};
}

void ngc_packed_sum_add(packed_sum *sum, const uint8_t *bytes, size_t n_bytes)
{
    for (size_t at = 0; at + 32 <= n_bytes; at += 32) {
        for (size_t lane = 0; lane < 4; lane++) {
            uint64_t mixed = sum->lanes[lane] ^ ngc_get_uint64(bytes + at + 8 * lane);
            mixed *= UINT64_C(0x9FB21C651E98DF25);
            sum->lanes[lane] = mixed ^ mixed >> 32;
        }
    }
}

uint64_t ngc_packed_sum_end(const packed_sum *sum)
{
    uint64_t all = 0;
    for (size_t lane = 0; lane < 4; lane++) {
        all = (all ^ sum->lanes[lane]) * UINT64_C(0x9FB21C651E98DF25);
        all ^= all >> 29;
    }
    return all;
}

/* The head's own bytes before its sum, made a multiple of 32 by the zeros that stand for it. */
static uint64_t head_sum(const uint8_t *bytes)
{
    uint8_t copy[PACKED_HEAD_BYTES];
    memcpy(copy, bytes, PACKED_SUM_AT);
    memset(copy + PACKED_SUM_AT, 0, PACKED_HEAD_BYTES - PACKED_SUM_AT);
    packed_sum sum = ngc_packed_sum_begin();
    ngc_packed_sum_add(&sum, copy, PACKED_HEAD_BYTES);
    return ngc_packed_sum_end(&sum);
}

/* ---- the head ---- */

static void put_uint32(uint8_t *out, uint32_t value)
{
    int32_t bits = (int32_t)value;
    ngc_put_int32s(out, &bits, 1);
}

static uint32_t get_uint32(const uint8_t *in)
{
    return (uint32_t)ngc_get_int32(in);
}

void ngc_packed_put_head(uint8_t *bytes, const packed_head *head)
{
    memset(bytes, 0, PACKED_HEAD_BYTES);
    memcpy(bytes, ngc_packed_magic, sizeof ngc_packed_magic);
    put_uint32(bytes + 8, PACKED_VERSION);
    put_uint32(bytes + 12, PACKED_HEAD_BYTES);
    ngc_put_uint64(bytes + 16, head->file_bytes);
    ngc_put_uint64(bytes + 24, head->n_grams);
    ngc_put_uint64(bytes + 32, head->n_followers);
    ngc_put_uint64(bytes + 40, head->n_counted);
    put_uint32(bytes + 48, head->n_vocab);
    put_uint32(bytes + 52, PACKED_SECTIONS);
    ngc_put_uint64(bytes + 56, head->n_homes);
    memcpy(bytes + PACKED_LAYOUT_AT, &head->layout, sizeof head->layout);
    memcpy(bytes + PACKED_FINGERPRINT_AT, head->fingerprint, sizeof head->fingerprint);
    put_uint32(bytes + PACKED_MOST_COUNT_AT, head->most_count);
    put_uint32(bytes + PACKED_FILTER_LINES_AT, head->filter_lines);
    for (uint32_t i = 0; i < PACKED_SECTIONS; i++) {
        uint8_t *section = bytes + PACKED_SECTIONS_AT + PACKED_SECTION_BYTES * i;
        put_uint32(section, i);
        ngc_put_uint64(section + 8, head->sections[i].offset);
        ngc_put_uint64(section + 16, head->sections[i].bytes);
        ngc_put_uint64(section + 24, head->sections[i].sum);
    }
    ngc_put_uint64(bytes + PACKED_SUM_AT, head_sum(bytes));
}

static bool layout_is_good(const packed_head *head)
{
    const packed_layout *layout = &head->layout;
    uint32_t token_bits = layout->token_bits;
    if (token_bits < 1 || token_bits > PACKED_MOST_TOKEN_BITS || head->n_homes < 1 ||
        head->n_homes > UINT32_MAX || ngc_platform_bit_length(head->n_homes) > 2 * token_bits) {
        return false;
    }
    uint32_t n_bits = packed_tag_bits(layout) + 1 + token_bits + layout->place_bits +
                      layout->length_bits + layout->top_bits + layout->sum_bits;
    return layout->remainder_bits == ngc_packed_remainder_bits(token_bits, head->n_homes) &&
           packed_tag_bits(layout) <= 64 && layout->displacement_bits <= 8 &&
           layout->place_bits <= 48 && layout->length_bits <= 32 && layout->top_bits <= 31 &&
           layout->sum_bits <= 48 && layout->record_bytes >= 8 &&
           layout->record_bytes <= PACKED_ROOM_BYTES && n_bits <= 8u * layout->record_bytes &&
           head->n_vocab >= 1 && (uint64_t)head->n_vocab <= UINT64_C(1) << token_bits;
}

static bool section_is_good(const packed_section *section, uint64_t from, uint64_t file_bytes)
{
    return section->offset == from && section->bytes >= PACKED_LINE_BYTES &&
           section->bytes % PACKED_LINE_BYTES == 0 && section->bytes <= file_bytes - from;
}

static ngc_status fails(ngc_fault *fault, ngc_status status, const char *part, uint64_t at_byte)
{
    *fault = (ngc_fault){part, at_byte};
    return status;
}

ngc_status ngc_packed_get_head(const uint8_t *bytes, size_t n_bytes, packed_head *head,
                               ngc_fault *fault)
{
    if (n_bytes < PACKED_HEAD_BYTES) {
        return fails(fault, NGC_TRUNCATED, "head", n_bytes);
    }
    if (memcmp(bytes, ngc_packed_magic, sizeof ngc_packed_magic) != 0) {
        return fails(fault, NGC_BAD_RECORD, "head", 0);
    }
    if (get_uint32(bytes + 8) != PACKED_VERSION) {
        return fails(fault, NGC_BAD_VERSION, "head", 8);
    }
    if (ngc_get_uint64(bytes + PACKED_SUM_AT) != head_sum(bytes)) {
        return fails(fault, NGC_BAD_SUM, "head", PACKED_SUM_AT);
    }
    head->file_bytes = ngc_get_uint64(bytes + 16);
    head->n_grams = ngc_get_uint64(bytes + 24);
    head->n_followers = ngc_get_uint64(bytes + 32);
    head->n_counted = ngc_get_uint64(bytes + 40);
    head->n_vocab = get_uint32(bytes + 48);
    head->n_homes = ngc_get_uint64(bytes + 56);
    memcpy(&head->layout, bytes + PACKED_LAYOUT_AT, sizeof head->layout);
    memcpy(head->fingerprint, bytes + PACKED_FINGERPRINT_AT, sizeof head->fingerprint);
    head->most_count = get_uint32(bytes + PACKED_MOST_COUNT_AT);
    head->filter_lines = get_uint32(bytes + PACKED_FILTER_LINES_AT);
    if (head->file_bytes != n_bytes) {
        return fails(fault, head->file_bytes > n_bytes ? NGC_TRUNCATED : NGC_BAD_RECORD, "head",
                     16);
    }
    if (get_uint32(bytes + 12) != PACKED_HEAD_BYTES ||
        get_uint32(bytes + 52) != PACKED_SECTIONS) {
        return fails(fault, NGC_BAD_RECORD, "head", 12);
    }
    if (head->most_count > INT32_MAX || (head->most_count == 0) != (head->n_grams == 0)) {
        return fails(fault, NGC_BAD_RECORD, "head", PACKED_MOST_COUNT_AT);
    }
    if (!layout_is_good(head)) {
        return fails(fault, NGC_BAD_RECORD, "head", PACKED_LAYOUT_AT);
    }
    uint64_t from = PACKED_HEAD_BYTES;
    for (uint32_t i = 0; i < PACKED_SECTIONS; i++) {
        const uint8_t *in = bytes + PACKED_SECTIONS_AT + PACKED_SECTION_BYTES * i;
        packed_section *section = &head->sections[i];
        *section = (packed_section){ngc_get_uint64(in + 8), ngc_get_uint64(in + 16),
                                    ngc_get_uint64(in + 24)};
        if (get_uint32(in) != i || !section_is_good(section, from, head->file_bytes)) {
            return fails(fault, NGC_BAD_RECORD, ngc_packed_section_names[i],
                         PACKED_SECTIONS_AT + PACKED_SECTION_BYTES * i);
        }
        from += section->bytes;
    }
    uint64_t n_lines = head->sections[PACKED_LINES].bytes / PACKED_LINE_BYTES;
    if (head->filter_lines == 0 || head->filter_lines >= n_lines) {
        return fails(fault, NGC_BAD_RECORD, "head", PACKED_FILTER_LINES_AT);
    }
    if (from != head->file_bytes || head->n_homes > n_lines - head->filter_lines ||
        bytes[from - 1] != 0) { /* the texts must end */
        return fails(fault, NGC_BAD_RECORD, "head", PACKED_SECTIONS_AT);
    }
    return NGC_OK;
}

/* ngc_packed_format.h - the bytes of a packed static cache: its head, its widths, and how a
 * 2-gram becomes a place. Shared by what reads it (ngc_packed.c) and what makes it
 * (ngc_packed_build.c).
 *
 *       0  magic: 0x89 "NGC" CR LF 0x1a LF       a copy in text mode would change it
 *       8  u32 version, u32 head_bytes
 *      16  u64 file_bytes, n_grams, n_followers, n_counted
 *      48  u32 n_vocab, u32 n_sections
 *      56  u64 n_homes                           lines that can be home; a few more stand behind
 *      64  u8 token_bits, record_bytes, then the widths of a record's fields, then zeros
 *      80  u8 fingerprint[32]                    of the tokenizer, SHA-256; zeros: not known
 *     112  u32 most_count                        no follower has more
 *     116  u32 filter_lines                      behind the other lines; then zeros
 *     128  sections: u32 kind, u32 0, u64 offset, u64 bytes, u64 sum       lines, followers, texts
 *     224  zeros
 *     248  u64 sum of the 248 bytes before
 *
 * Little-endian; every section begins and ends at a multiple of 64.
 */
#ifndef NGC_PACKED_FORMAT_H
#define NGC_PACKED_FORMAT_H

#include "ngc_packed.h"

enum {
    PACKED_VERSION = 4, /* 1 had no most_count, 2 no filter, 3 its followers by token */
    PACKED_HEAD_BYTES = 256,
    PACKED_LINE_BYTES = 64,
    PACKED_REACH_AT = 63,      /* in a line: the byte that holds `reach` */
    PACKED_ROOM_BYTES = 60,    /* of a line, for records */
    PACKED_BIG_BYTES = 16,     /* what a big record's block begins with */
    PACKED_PAD_BYTES = 8,      /* behind the last block: eight bytes are read at once */
    PACKED_MOST_REACH = 255,
    PACKED_MOST_TOKEN_BITS = 31,
    PACKED_SUM_AT = 248,
    PACKED_LAYOUT_AT = 64,
    PACKED_FINGERPRINT_AT = 80,
    PACKED_MOST_COUNT_AT = 112,
    PACKED_FILTER_LINES_AT = 116,
    PACKED_FILTER_WORDS = PACKED_LINE_BYTES / 8, /* in a line */
    PACKED_FILTER_SUM = 2,      /* what a 2-gram in the filter has at least: the sum of its counts, */
    PACKED_FILTER_PERCENT = 50, /* and the top token's share of it */
    PACKED_SECTIONS_AT = 128,
    PACKED_SECTION_BYTES = 32
};
enum { PACKED_LINES, PACKED_FOLLOWERS, PACKED_TEXTS, PACKED_SECTIONS };

extern const uint8_t ngc_packed_magic[8];
extern const char *const ngc_packed_section_names[PACKED_SECTIONS];

/* Widths in bits, from the lowest bit of a record up; `used` stands below them, one bit. */
typedef struct packed_layout {
    uint8_t token_bits;
    uint8_t record_bytes;
    uint8_t remainder_bits;
    uint8_t displacement_bits;
    uint8_t place_bits;
    uint8_t length_bits;
    uint8_t top_bits;
    uint8_t sum_bits;
} packed_layout;

typedef struct packed_section {
    uint64_t offset;
    uint64_t bytes;
    uint64_t sum;
} packed_section;

typedef struct packed_head {
    uint64_t file_bytes;
    uint64_t n_grams;
    uint64_t n_followers;
    uint64_t n_counted;
    uint64_t n_homes;
    uint32_t n_vocab;
    uint32_t most_count;
    uint32_t filter_lines;
    packed_layout layout;
    packed_section sections[PACKED_SECTIONS];
    uint8_t fingerprint[32];
} packed_head;

/* A record, unpacked. */
typedef struct packed_record {
    uint64_t remainder;
    uint64_t displacement;
    bool big;
    uint64_t top_token;
    uint64_t place;
    uint64_t length; /* these three are 0 in a big record */
    uint64_t top_count;
    uint64_t sum;
} packed_record;

NGC_INLINE uint64_t packed_low_bits(uint64_t value, uint32_t n_bits)
{
    return n_bits >= 64 ? value : value & ((UINT64_C(1) << n_bits) - 1);
}

NGC_INLINE uint32_t packed_records_a_line(const packed_layout *layout)
{
    return PACKED_ROOM_BYTES / layout->record_bytes;
}

/* ---- from a 2-gram to its home and back ---- */

typedef struct packed_place {
    uint64_t home;
    uint64_t remainder;
} packed_place;

/* Both steps can be undone, so different keys stay different. */
NGC_INLINE uint64_t packed_mix(uint64_t key, uint32_t token_bits)
{
    uint32_t n_bits = 2 * token_bits;
    key ^= key >> token_bits;
    key = packed_low_bits(key * UINT64_C(0x9E3779B97F4A7C15), n_bits);
    key ^= key >> token_bits;
    key = packed_low_bits(key * UINT64_C(0xD6E8FEB86659FD93), n_bits);
    return key ^ (key >> token_bits);
}

/* The factors are the inverses of those above, modulo 2^64. */
NGC_INLINE uint64_t packed_unmix(uint64_t key, uint32_t token_bits)
{
    uint32_t n_bits = 2 * token_bits;
    key ^= key >> token_bits;
    key = packed_low_bits(key * UINT64_C(0xcfee444d8b59a89b), n_bits);
    key ^= key >> token_bits;
    key = packed_low_bits(key * UINT64_C(0xf1de83e19937733d), n_bits);
    return key ^ (key >> token_bits);
}

/* The mixed key as a fraction of 1, times n_homes: the whole part is the home, the rest to
 * remainder_bits tells apart the keys that share it. */
NGC_INLINE packed_place packed_place_of_mixed(const packed_layout *layout, uint64_t n_homes,
                                              uint64_t mixed)
{
    uint64_t fraction = mixed << (64 - 2 * layout->token_bits);
    packed_place place = {
        ngc_platform_multiply_high(fraction, n_homes),
        (fraction * n_homes) >> (64 - layout->remainder_bits),
    };
    return place;
}

NGC_INLINE packed_place packed_place_of(const packed_layout *layout, uint64_t n_homes, int32_t a,
                                        int32_t b)
{
    uint32_t bits = layout->token_bits;
    uint64_t key = (uint64_t)(uint32_t)a << bits | (uint32_t)b;
    return packed_place_of_mixed(layout, n_homes, packed_mix(key, bits));
}

/* The bits that remainders need: home and remainder together must tell all keys apart. */
uint8_t ngc_packed_remainder_bits(uint32_t token_bits, uint64_t n_homes);

/* The only 2-gram with this home and remainder; false if there is none. */
bool ngc_packed_key_of(const packed_head *head, const packed_place *place, int32_t *tokens);

/* ---- the filter ---- */

/* All of its bits are spread, other than those of a place. */
NGC_INLINE uint64_t packed_filter_hash(int32_t a, int32_t b)
{
    uint64_t hash = ((uint64_t)(uint32_t)a << 32 | (uint32_t)b) * UINT64_C(0x9E3779B97F4A7C15);
    hash = (hash ^ hash >> 32) * UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ hash >> 32;
}

NGC_INLINE bool packed_is_filtered(uint64_t sum, uint64_t top_count)
{
    return sum >= PACKED_FILTER_SUM && top_count * (100 / PACKED_FILTER_PERCENT) >= sum;
}

/* ---- records ---- */

/* What the lowest bits of a record hold, up to the lines from home: what a look-up compares. */
NGC_INLINE uint64_t packed_tag(const packed_layout *layout, uint64_t remainder,
                               uint64_t displacement)
{
    return 1 | remainder << 1 | displacement << (1 + layout->remainder_bits);
}

NGC_INLINE uint32_t packed_tag_bits(const packed_layout *layout)
{
    return 1 + (uint32_t)layout->remainder_bits + layout->displacement_bits;
}

/* Bits of a record that do not depend on how long its row is. */
NGC_INLINE uint32_t packed_fixed_bits(const packed_layout *layout)
{
    return packed_tag_bits(layout) + 1 + layout->token_bits + layout->place_bits;
}

NGC_INLINE uint64_t packed_get_bits(const uint8_t *record, uint32_t *at, uint32_t n_bits)
{
    uint64_t value = packed_low_bits(ngc_get_uint64(record + *at / 8) >> (*at % 8), n_bits);
    *at += n_bits;
    return value;
}

/* `record` has eight readable bytes from any of its own on. */
NGC_INLINE packed_record packed_get_record(const packed_layout *layout, const uint8_t *record)
{
    packed_record values;
    uint32_t at = 1;
    values.remainder = packed_get_bits(record, &at, layout->remainder_bits);
    values.displacement = packed_get_bits(record, &at, layout->displacement_bits);
    values.big = packed_get_bits(record, &at, 1) != 0;
    values.top_token = packed_get_bits(record, &at, layout->token_bits);
    values.place = packed_get_bits(record, &at, layout->place_bits);
    values.length = packed_get_bits(record, &at, layout->length_bits);
    values.top_count = packed_get_bits(record, &at, layout->top_bits);
    values.sum = packed_get_bits(record, &at, layout->sum_bits);
    return values;
}

/* The record's bytes are zeros; eight from any of them on can be written, and stay as they are
 * where they are not its own. */
void ngc_packed_put_record(const packed_layout *layout, uint8_t *record,
                           const packed_record *values);

/* Bytes of one entry of a block: token and count, as few as the top count needs. */
NGC_INLINE uint32_t packed_entry_bytes(uint32_t token_bits, uint32_t top_count)
{
    return (token_bits + ngc_platform_bit_length(top_count) + 7) / 8;
}

/* ---- the head ---- */

void ngc_packed_put_head(uint8_t *bytes, const packed_head *head);

/* Reads a head and holds all that it says against the file's real size, so that nothing outside
 * of the file is ever read. On failure `fault` says where. */
ngc_status ngc_packed_get_head(const uint8_t *bytes, size_t n_bytes, packed_head *head,
                               ngc_fault *fault);

/* A checksum of bytes, a multiple of 64 of them, in pieces: begin with 0 words done. */
typedef struct packed_sum {
    uint64_t lanes[4];
} packed_sum;

packed_sum ngc_packed_sum_begin(void);
void ngc_packed_sum_add(packed_sum *sum, const uint8_t *bytes, size_t n_bytes);
uint64_t ngc_packed_sum_end(const packed_sum *sum);

#endif

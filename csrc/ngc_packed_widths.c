/* ngc_packed_widths.c - how many bits the fields of a record get, by what the rows need. */
#include "ngc_packed_build.h"

static size_t classes_bytes(const build_widths *widths)
{
    return (size_t)WIDTHS_LENGTHS * WIDTHS_TOPS * WIDTHS_SUMS * sizeof *widths->n_by_bits;
}

static uint32_t *class_of(build_widths *widths, uint32_t length_bits, uint32_t top_bits,
                          uint32_t sum_bits)
{
    return &widths->n_by_bits[(length_bits * WIDTHS_TOPS + top_bits) * WIDTHS_SUMS + sum_bits];
}

ngc_status ngc_packed_begin_widths(ngc_packed_builder *self)
{
    build_widths *widths = &self->widths;
    uint32_t *n_by_bits = widths->n_by_bits;
    if (n_by_bits == NULL) {
        n_by_bits = ngc_alloc(&self->allocator, classes_bytes(widths), NGC_KIND_OTHER);
    }
    if (n_by_bits == NULL) {
        return NGC_NO_MEMORY;
    }
    memset(n_by_bits, 0, classes_bytes(widths));
    *widths = (build_widths){.n_by_bits = n_by_bits};
    return NGC_OK;
}

uint64_t ngc_packed_entries_bytes(const packed_layout *layout, const row_facts *facts)
{
    uint32_t bytes = packed_entry_bytes(layout->token_bits, (uint32_t)facts->top_count);
    return facts->length > 1 ? facts->length * bytes : 0;
}

void ngc_packed_note_row(ngc_packed_builder *self, const row_facts *facts)
{
    build_widths *widths = &self->widths;
    uint32_t top_count = (uint32_t)facts->top_count;
    widths->blocks_bytes += ngc_packed_entries_bytes(&self->head.layout, facts);
    widths->n_followers += facts->length;
    widths->n_counted += facts->sum;
    widths->most_count = top_count > widths->most_count ? top_count : widths->most_count;
    widths->n_filtered += packed_is_filtered(facts->sum, top_count);
    uint32_t sum_bits = ngc_platform_bit_length(facts->sum);
    ++*class_of(widths, ngc_platform_bit_length(facts->length),
                ngc_platform_bit_length(top_count),
                sum_bits < WIDTHS_SUMS ? sum_bits : WIDTHS_SUMS - 1);
}

static uint64_t big_rows(build_widths *widths, uint32_t length_bits, uint32_t top_bits,
                         uint32_t sum_bits)
{
    uint64_t n = 0;
    for (uint32_t l = 0; l < WIDTHS_LENGTHS; l++) {
        for (uint32_t t = 0; t < WIDTHS_TOPS; t++) {
            for (uint32_t s = 0; s < WIDTHS_SUMS; s++) {
                bool fits = l <= length_bits && t <= top_bits && s <= sum_bits;
                n += fits ? 0 : *class_of(widths, l, t, s);
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
    uint32_t fixed = packed_fixed_bits(layout);
    if (fixed + 3 > room) {
        return false;
    }
    uint32_t n_free = room - fixed;
    uint32_t middle_top = n_free / 3, middle_length = n_free / 3 - (n_free >= 12);
    uint64_t fewest = UINT64_MAX;
    for (uint32_t top = middle_top - (middle_top > 1); top <= middle_top + 1; top++) {
        for (uint32_t length = middle_length - (middle_length > 1); length <= middle_length + 1;
             length++) {
            if (top + length >= n_free || top >= WIDTHS_TOPS || length >= WIDTHS_LENGTHS) {
                continue;
            }
            uint32_t sum = n_free - top - length;
            sum = sum < WIDTHS_SUMS ? sum : WIDTHS_SUMS - 1;
            uint64_t n_big = big_rows(&self->widths, length, top, sum);
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

ngc_status ngc_packed_choose_widths(ngc_packed_builder *self)
{
    uint64_t blocks_bytes = self->widths.blocks_bytes;
    self->head.layout.displacement_bits =
        (uint8_t)ngc_platform_bit_length(self->most_displacement);
    /* Big rows have longer blocks, so the place may need a bit more than it seemed. */
    for (uint32_t bits = ngc_platform_bit_length(blocks_bytes);; bits++) {
        if (!share_bits(self, bits)) {
            return NGC_UNSUPPORTED;
        }
        if (ngc_platform_bit_length(blocks_bytes + PACKED_BIG_BYTES * self->n_big) <= bits) {
            return NGC_OK;
        }
    }
}

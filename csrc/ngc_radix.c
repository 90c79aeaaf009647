/* ngc_radix.c - see ngc_radix.h. */
#include "ngc_radix.h"

enum { FEW = 64 }; /* records that insertion sorts faster */

NGC_INLINE uint32_t digit_of(const radix_record *record, radix_digit digit)
{
    return digit.of_minor ? record->minor >> digit.shift & 0xff
                          : (uint32_t)(record->key >> digit.shift) & 0xff;
}

static radix_digit highest(bool of_minor, uint64_t most)
{
    uint32_t bits = ngc_platform_bit_length(most);
    return (radix_digit){of_minor, bits <= 8 ? 0 : bits - 8};
}

radix_digit ngc_radix_first(radix_order order)
{
    return order.most_key > 0 ? highest(false, order.most_key) : highest(true, order.most_minor);
}

/* The next lower digit; false if there is none. */
static bool lower(radix_order order, radix_digit *digit)
{
    if (digit->shift > 0) {
        digit->shift = digit->shift > 8 ? digit->shift - 8 : 0;
        return true;
    }
    if (digit->of_minor || order.most_minor == 0) {
        return false;
    }
    *digit = highest(true, order.most_minor);
    return true;
}

static void end_counting(radix_binning *bins)
{
    size_t sum = 0;
    for (int digit = 0; digit < 256; digit++) {
        size_t count = bins->heads[digit];
        bins->heads[digit] = sum;
        sum += count;
        bins->ends[digit] = sum;
    }
}

bool ngc_radix_bin_slice(radix_binning *bins, radix_record *records, size_t n, size_t n_more,
                         radix_digit digit)
{
    size_t *heads = bins->heads;
    for (; bins->n_counted < n; n_more--) {
        if (n_more == 0) {
            return false;
        }
        heads[digit_of(&records[bins->n_counted], digit)]++;
        if (++bins->n_counted == n) {
            end_counting(bins);
        }
    }
    for (; bins->digit < 256; bins->digit++) {
        uint32_t bin = bins->digit;
        while (heads[bin] < bins->ends[bin]) {
            if (n_more == 0) {
                return false;
            }
            radix_record moving = records[heads[bin]];
            for (;;) {
                uint32_t to = digit_of(&moving, digit);
                n_more -= n_more > 1;
                if (to == bin) {
                    break;
                }
                radix_record other = records[heads[to]];
                records[heads[to]++] = moving;
                moving = other;
            }
            records[heads[bin]++] = moving;
        }
    }
    return true;
}

static void insert(radix_record *records, size_t n, radix_order order)
{
    uint64_t by_key = order.most_key > 0 ? UINT64_MAX : 0;
    uint32_t by_minor = order.most_minor > 0 ? UINT32_MAX : 0;
    for (size_t i = 1; i < n; i++) {
        radix_record moving = records[i];
        uint64_t key = moving.key & by_key;
        uint32_t minor = moving.minor & by_minor;
        size_t at = i;
        for (; at > 0; at--) {
            uint64_t before = records[at - 1].key & by_key;
            if (before < key || (before == key && (records[at - 1].minor & by_minor) <= minor)) {
                break;
            }
            records[at] = records[at - 1];
        }
        records[at] = moving;
    }
}

static bool same_keys(const radix_record *records, size_t n)
{
    size_t i = 1;
    while (i < n && records[i].key == records[0].key) {
        i++;
    }
    return i == n;
}

static void sort_from(radix_record *records, size_t n, radix_order order, radix_digit digit)
{
    if (n < FEW) {
        insert(records, n, order);
        return;
    }
    if (!digit.of_minor && same_keys(records, n)) {
        if (order.most_minor == 0) {
            return;
        }
        digit = highest(true, order.most_minor);
    }
    radix_binning bins = {0};
    ngc_radix_bin_slice(&bins, records, n, SIZE_MAX, digit);
    for (int bin = 0; bin < 256; bin++) {
        size_t from = bin == 0 ? 0 : bins.ends[bin - 1];
        if (bins.ends[bin] - from > 1) {
            ngc_radix_sort_below(records + from, bins.ends[bin] - from, order, digit);
        }
    }
}

void ngc_radix_sort_below(radix_record *records, size_t n, radix_order order, radix_digit digit)
{
    if (lower(order, &digit)) {
        sort_from(records, n, order, digit);
    }
}

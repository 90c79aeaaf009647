/* ngc_bytes.h - numbers in files, little-endian whatever the machine. */
#ifndef NGC_BYTES_H
#define NGC_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "ngc_platform.h"

enum { NGC_PAIR_BYTES = 8 }; /* int32 token, int32 count */

NGC_INLINE int32_t ngc_get_int32(const uint8_t *in)
{
    return (int32_t)((uint32_t)in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 |
                     (uint32_t)in[3] << 24);
}

NGC_INLINE uint64_t ngc_get_uint64(const uint8_t *in)
{
    return (uint64_t)(uint32_t)ngc_get_int32(in) | (uint64_t)(uint32_t)ngc_get_int32(in + 4) << 32;
}

NGC_INLINE void ngc_put_uint64(uint8_t *out, uint64_t value)
{
    for (int i = 0; i < 8; i++) {
        out[i] = (uint8_t)(value >> 8 * i);
    }
}

/* Writes n values; returns where the next ones go. */
NGC_INLINE uint8_t *ngc_put_int32s(uint8_t *out, const int32_t *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t value = (uint32_t)values[i];
        *out++ = (uint8_t)value;
        *out++ = (uint8_t)(value >> 8);
        *out++ = (uint8_t)(value >> 16);
        *out++ = (uint8_t)(value >> 24);
    }
    return out;
}

#endif

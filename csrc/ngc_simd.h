/* ngc_simd.h - how many tokens of a short sorted array are below one, four at a time; and which of
 * eight bytes are a wanted one.
 *
 * SSE2 and NEON are part of every x86-64 and arm64 machine, so nothing is asked at run time. The
 * plain twin is always compiled; tests hold both to the same results.
 */
#ifndef NGC_SIMD_H
#define NGC_SIMD_H

#include "ngc_internal.h"

#if defined(__SSE2__) || (defined(_MSC_VER) && defined(_M_X64))
#include <emmintrin.h>
#define NGC_SIMD_NAME "SSE2"
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#define NGC_SIMD_NAME "NEON"
#else
#define NGC_SIMD_NAME "none"
#endif

enum { NGC_SIMD_PAIRS = 4, NGC_SIMD_BYTES = 8 };

NGC_INLINE size_t ngc_count_below_plain(const ngc_pair *pairs, size_t length, int32_t token)
{
    size_t below = 0;
    for (size_t i = 0; i < length; i++) {
        below += (size_t)(pairs[i].token < token);
    }
    return below;
}

/* Bit i: byte i is the wanted one. */
NGC_INLINE uint32_t ngc_match_bytes_plain(const uint8_t *bytes, uint8_t wanted)
{
    uint32_t match = 0;
    for (uint32_t i = 0; i < NGC_SIMD_BYTES; i++) {
        match |= (uint32_t)(bytes[i] == wanted) << i;
    }
    return match;
}

#if defined(__SSE2__) || (defined(_MSC_VER) && defined(_M_X64))

NGC_INLINE uint32_t ngc_match_bytes(const uint8_t *bytes, uint8_t wanted)
{
    __m128i eight = _mm_loadl_epi64((const __m128i *)(const void *)bytes);
    __m128i equal = _mm_cmpeq_epi8(eight, _mm_set1_epi8((char)wanted));
    return (uint32_t)_mm_movemask_epi8(equal) & 0xFF;
}

NGC_INLINE size_t ngc_count_below(const ngc_pair *pairs, size_t length, int32_t token)
{
    size_t whole = length & ~(size_t)(NGC_SIMD_PAIRS - 1);
    __m128i wanted = _mm_set1_epi32(token);
    __m128i below = _mm_setzero_si128();
    for (size_t i = 0; i < whole; i += NGC_SIMD_PAIRS) {
        __m128 low = _mm_loadu_ps((const float *)(const void *)(pairs + i));
        __m128 high = _mm_loadu_ps((const float *)(const void *)(pairs + i + 2));
        __m128i tokens = _mm_castps_si128(_mm_shuffle_ps(low, high, _MM_SHUFFLE(2, 0, 2, 0)));
        below = _mm_sub_epi32(below, _mm_cmplt_epi32(tokens, wanted));
    }
    below = _mm_add_epi32(below, _mm_shuffle_epi32(below, _MM_SHUFFLE(1, 0, 3, 2)));
    below = _mm_add_epi32(below, _mm_shuffle_epi32(below, _MM_SHUFFLE(2, 3, 0, 1)));
    return (size_t)(uint32_t)_mm_cvtsi128_si32(below) +
           ngc_count_below_plain(pairs + whole, length - whole, token);
}

#elif defined(__ARM_NEON) && defined(__aarch64__)

NGC_INLINE uint32_t ngc_match_bytes(const uint8_t *bytes, uint8_t wanted)
{
    const uint8x8_t bits = vcreate_u8(UINT64_C(0x8040201008040201));
    return vaddv_u8(vand_u8(vceq_u8(vld1_u8(bytes), vdup_n_u8(wanted)), bits));
}

NGC_INLINE size_t ngc_count_below(const ngc_pair *pairs, size_t length, int32_t token)
{
    size_t whole = length & ~(size_t)(NGC_SIMD_PAIRS - 1);
    int32x4_t wanted = vdupq_n_s32(token);
    uint32x4_t below = vdupq_n_u32(0);
    for (size_t i = 0; i < whole; i += NGC_SIMD_PAIRS) {
        int32x4x2_t columns = vld2q_s32((const int32_t *)(const void *)(pairs + i));
        below = vsubq_u32(below, vcltq_s32(columns.val[0], wanted));
    }
    return (size_t)vaddvq_u32(below) +
           ngc_count_below_plain(pairs + whole, length - whole, token);
}

#else

NGC_INLINE uint32_t ngc_match_bytes(const uint8_t *bytes, uint8_t wanted)
{
    return ngc_match_bytes_plain(bytes, wanted);
}

NGC_INLINE size_t ngc_count_below(const ngc_pair *pairs, size_t length, int32_t token)
{
    return ngc_count_below_plain(pairs, length, token);
}

#endif

#endif

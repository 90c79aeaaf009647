/* ngc_platform.h - what differs between compilers and systems; nothing else asks which one it is.
 */
#ifndef NGC_PLATFORM_H
#define NGC_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

/* The rule and the tables are written into each function that is timed, once for each kind of
 * cache. A build with NGC_CALLS calls them instead: the same text, compiled in a fifth of the
 * time, for sanitizers, fuzzers and debuggers.
 */
#if defined(NGC_CALLS) && (defined(__GNUC__) || defined(__clang__))
#define NGC_INLINE static inline __attribute__((unused))
#define NGC_NOINLINE __attribute__((noinline))
#elif defined(__GNUC__) || defined(__clang__)
#define NGC_INLINE static inline __attribute__((always_inline, unused))
#define NGC_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define NGC_INLINE static __forceinline
#define NGC_NOINLINE __declspec(noinline)
#else
#define NGC_INLINE static inline
#define NGC_NOINLINE
#endif

/* The upper half of a 128-bit product. */
NGC_INLINE uint64_t ngc_platform_multiply_high(uint64_t a, uint64_t b)
{
#if defined(__SIZEOF_INT128__)
    __extension__ typedef unsigned __int128 uint128;
    return (uint64_t)((uint128)a * b >> 64);
#else
    uint64_t a_low = (uint32_t)a, a_high = a >> 32, b_low = (uint32_t)b, b_high = b >> 32;
    uint64_t low = a_low * b_low;
    uint64_t middle = a_high * b_low + (low >> 32);
    uint64_t middle2 = a_low * b_high + (uint32_t)middle;
    return a_high * b_high + (middle >> 32) + (middle2 >> 32);
#endif
}

/* The same number, of which the compiler then knows nothing: it cannot turn a computation that leads
 * to it back into a condition, and that into a branch, as clang does in loops. */
NGC_INLINE size_t ngc_platform_opaque(size_t value)
{
#if defined(__GNUC__) || defined(__clang__)
    __asm__("" : "+r"(value));
#endif
    return value;
}

/* The number of bits that a value takes; 0 for 0. */
NGC_INLINE uint32_t ngc_platform_bit_length(uint64_t value)
{
#if defined(__GNUC__) || defined(__clang__)
    return value == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(value);
#else
    uint32_t length = 0;
    for (uint32_t half = 32; half > 0; half /= 2) {
        if (value >> half != 0) {
            value >>= half;
            length += half;
        }
    }
    return length + (uint32_t)value;
#endif
}

/* The number of the lowest bit that is set in a value other than 0. */
NGC_INLINE uint32_t ngc_platform_lowest_bit(uint64_t value)
{
#if defined(__GNUC__) || defined(__clang__)
    return (uint32_t)__builtin_ctzll(value);
#else
    return ngc_platform_bit_length(value & (0 - value)) - 1;
#endif
}

/* Asks for the cache line of an address, to be there when it is used. */
NGC_INLINE void ngc_platform_prefetch(const void *address)
{
#if defined(__GNUC__) || defined(__clang__)
    __builtin_prefetch(address);
#else
    (void)address;
#endif
}

/* Asks for big pages behind a big block, where the system has them. */
void ngc_platform_prefer_big_pages(void *block, size_t bytes);

/* A clock that never goes back, in nanoseconds from an arbitrary start. */
int64_t ngc_platform_clock_ns(void);

/* Gives memory that was freed back to the system, where the allocator would keep it. */
void ngc_platform_trim(void);

/* Name and version of the compiler, and the flags that matter, as text. */
const char *ngc_platform_compiler(void);

#endif

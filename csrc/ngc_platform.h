/* ngc_platform.h - what differs between compilers and systems; nothing else asks which one it is.
 */
#ifndef NGC_PLATFORM_H
#define NGC_PLATFORM_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define NGC_INLINE static inline __attribute__((always_inline, unused))
#define NGC_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define NGC_INLINE static __forceinline
#define NGC_NOINLINE __declspec(noinline)
#else
#define NGC_INLINE static inline
#define NGC_NOINLINE
#endif

/* A clock that never goes back, in nanoseconds from an arbitrary start. */
int64_t ngc_platform_clock_ns(void);

/* Gives memory that was freed back to the system, where the allocator would keep it. */
void ngc_platform_trim(void);

/* Name and version of the compiler, and the flags that matter, as text. */
const char *ngc_platform_compiler(void);

#endif

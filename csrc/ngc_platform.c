/* ngc_platform.c - clock and allocator of the system; see ngc_platform.h. */
#if defined(__linux__)
#define _GNU_SOURCE /* madvise */
#elif !defined(_WIN32) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#include "ngc_platform.h"

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <time.h>
#endif
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

int64_t ngc_platform_clock_ns(void)
{
#if defined(_WIN32)
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    int64_t seconds = ticks.QuadPart / frequency.QuadPart;
    int64_t rest = ticks.QuadPart % frequency.QuadPart;
    return seconds * 1000000000 + rest * 1000000000 / frequency.QuadPart;
#else
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
#endif
}

void ngc_platform_trim(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}

void ngc_platform_prefer_big_pages(void *block, size_t bytes)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    enum { BIG_PAGE = 2 << 20 };
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    /* The whole of the pages it lies on: advice for a part would cut the mapping in pieces, and
     * realloc can move a mapping in one piece only; else it copies. */
    uintptr_t first = (uintptr_t)block & ~(page - 1);
    uintptr_t end = ((uintptr_t)block + bytes + page - 1) & ~(page - 1);
    if (bytes >= BIG_PAGE) {
        (void)madvise((void *)first, end - first, MADV_HUGEPAGE); /* advice: failing is fine */
    }
#else
    (void)block;
    (void)bytes;
#endif
}

#define NGC_TEXT_(x) #x
#define NGC_TEXT(x) NGC_TEXT_(x)

const char *ngc_platform_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__
#elif defined(__GNUC__)
    return "gcc " __VERSION__
#elif defined(_MSC_VER)
    return "msvc " NGC_TEXT(_MSC_VER)
#else
    return "unknown compiler"
#endif
#if defined(__SANITIZE_ADDRESS__)
        " with AddressSanitizer"
#endif
#if defined(__GNUC__) && !defined(__OPTIMIZE__)
        " not optimised"
#endif
        ;
}

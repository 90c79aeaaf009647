/* ngc_splitmix.h - a stream of 64-bit numbers from a seed.
 * Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014). */
#ifndef NGC_SPLITMIX_H
#define NGC_SPLITMIX_H

#include "ngc_platform.h"

NGC_INLINE uint64_t ngc_splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif

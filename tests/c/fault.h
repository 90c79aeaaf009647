/* fault.h - the malloc that the engine is compiled with in these tests.
 *
 * The Makefile compiles csrc with -Dmalloc=fault_malloc and so on: every allocation can be made
 * to fail, those of constructors too, which the engine's own counting allocator does not see.
 */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stdint.h>

/* The nth allocation from now on fails (1: the next), and with `lasting` all after it; 0: none. */
void fault_at(int64_t nth, bool lasting);

/* Whether it has, since fault_at. */
bool fault_happened(void);

/* Blocks that were given out and not freed. */
int64_t fault_live_blocks(void);

#endif

/* fault.c - see fault.h. The counters are atomic: one test drafts in two threads. */
#include "fault.h"

#include <stdatomic.h>
#include <stdlib.h>

void *fault_malloc(size_t bytes);
void *fault_calloc(size_t n, size_t bytes);
void *fault_realloc(void *block, size_t bytes);
void fault_free(void *block);

static atomic_int_least64_t live_blocks;
static atomic_int_least64_t fail_in;
static atomic_bool lasts, happened;

void fault_at(int64_t nth, bool lasting)
{
    fail_in = nth;
    lasts = lasting;
    happened = false;
}

bool fault_happened(void)
{
    return happened;
}

int64_t fault_live_blocks(void)
{
    return live_blocks;
}

static bool fails_now(void)
{
    bool now = fail_in > 0 && --fail_in == 0;
    happened = happened || now;
    return now || (happened && lasts);
}

void *fault_malloc(size_t bytes)
{
    void *block = fails_now() ? NULL : malloc(bytes);
    live_blocks += block != NULL;
    return block;
}

void *fault_calloc(size_t n, size_t bytes)
{
    void *block = fails_now() ? NULL : calloc(n, bytes);
    live_blocks += block != NULL;
    return block;
}

/* Only ever shrinks, and its failing is no error: so it is never the first to fail. */
void *fault_realloc(void *block, size_t bytes)
{
    return happened && lasts ? NULL : realloc(block, bytes);
}

void fault_free(void *block)
{
    live_blocks -= block != NULL;
    free(block);
}

/* ngc_inside.h - what the views of the inside share; the contract is in ngc.h.
 *
 * Each view asks the structure itself: the same text that looks up and searches runs with a recorder,
 * and what is shown besides is read from the structure where it lies.
 */
#ifndef NGC_INSIDE_H
#define NGC_INSIDE_H

#include "ngc_internal.h"
#include "ngc_sorting.h"

/* How far a table's measuring has come. A cache may have several tables: one after the other. */
struct ngc_measuring {
    const ngc_cache *cache;
    uint64_t changes; /* that the cache had seen at first */
    ngc_table_facts facts;
    ngc_sorting sorting; /* the hashes of the table at hand */
    size_t n_hashes;
    int32_t table; /* its number */
    bool measured;
    bool done;
    /* For the cache's kind; zeroed for each table. */
    const void *at;
    size_t place;
    size_t bucket;
    size_t in_chain;
    size_t n_used;
};

/* What a kind of cache can tell; what is NULL it does not have. */
typedef struct ngc_inside_operations {
    /* Looks the key up with the recorder and fills in all but found (it is -1, or set). */
    void (*around)(const ngc_cache *cache, const ngc_key *key, size_t n_before, size_t n_after,
                   ngc_around *around, ngc_place *places, size_t capacity,
                   ngc_recorder *recorder);
    /* A slice of measuring a table; `last` after its last. There are n_tables. */
    void (*measure_slice)(ngc_measuring *measuring, size_t n_grams, bool *last);
    int32_t n_tables;
    /* The count of a token among the followers of a key, 0 if it is absent. */
    int32_t (*search)(const ngc_cache *cache, const ngc_key *key, int32_t token, int32_t search,
                      size_t *length, ngc_recorder *recorder);
} ngc_inside_operations;

/* A draft call with a recorder, which begins anew; the drafted tokens stand behind the text
 * afterwards. `steps` may be NULL, or hold n_draft + 1. */
ngc_status ngc_drafter_draft_recorded(ngc_drafter *drafter, int32_t n_draft, ngc_step *steps,
                                      int32_t *n_steps, int32_t *n_drafted,
                                      ngc_recorder *recorder);

/* Adds up two probes, counter by counter. */
void ngc_probe_add(ngc_probe *sum, const ngc_probe *probe);

/* ---- for the tables ---- */

/* A slot where nothing stands. */
static inline ngc_place ngc_no_place(void)
{
    ngc_place place = {.entry = -1, .distance = -1};
    ngc_key none = ngc_key_of(NULL, 0);
    memcpy(place.tokens, none.tokens, sizeof place.tokens);
    return place;
}

static inline ngc_place ngc_place_of(const ngc_key *key, uint64_t hash, size_t n_followers)
{
    ngc_place place = ngc_no_place();
    memcpy(place.tokens, key->tokens, sizeof place.tokens);
    place.hash = hash;
    place.n_followers = (int32_t)n_followers;
    return place;
}

/* Of a table in lines: which of them to show, a row that may wrap around the table's end. */
typedef struct ngc_line_window {
    size_t first;
    size_t n_lines;
} ngc_line_window;

static inline ngc_line_window ngc_line_window_of(size_t home, size_t n_visited, size_t n_before,
                                                 size_t n_after, size_t n_lines)
{
    size_t wanted = n_visited + n_before + n_after;
    return (ngc_line_window){(home + n_lines - n_before % n_lines) % n_lines,
                             wanted < n_lines ? wanted : n_lines};
}

/* One more n-gram, for which a look-up visits so many nodes or slots, and its hash. */
static inline void ngc_measuring_add(ngc_measuring *measuring, const ngc_key *key, uint64_t hash,
                                     size_t n_visited)
{
    ngc_table_facts *facts = &measuring->facts;
    ((uint64_t *)(void *)measuring->sorting.items)[measuring->n_hashes++] = hash;
    facts->n_grams++;
    facts->sum_visited += (int64_t)n_visited;
    if ((int64_t)n_visited > facts->longest) {
        facts->longest = (int64_t)n_visited;
        memcpy(facts->longest_tokens, key->tokens, sizeof facts->longest_tokens);
    }
}

#endif

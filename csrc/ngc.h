/* ngc.h - n-gram caches and the draft rule of prompt lookup decoding: the contract.
 *
 * A *token* is an int32 id >= 0. An *n-gram* is 1 to 4 tokens in a row; a *follower* is a token
 * that came right after one, with the count of how often. Three caches map n-grams to
 * followers:
 *
 *     context   the current text, n = 1..4, grows with each token
 *     dynamic   the merged contexts of earlier texts, n = 1..4
 *     static    a big corpus, n = 2, read-only after loading
 *
 * The *draft rule* guesses the next token from them; a model checks several guesses in one
 * pass. Thresholds, order of look-ups and scores are those of llama.cpp (common/ngram-cache.cpp);
 * ngc_rule.h holds the rule's text, once. How followers are stored and found is chosen by
 * ngc_toggles: each choice is an optimisation that can be switched by itself, and none changes
 * what is drafted.
 *
 * Conventions
 *   - Every function that can fail returns an ngc_status, 0 when good; results come through the
 *     last parameters. On failure the object is as it was, except where a function says so.
 *   - _new gives an object that _free takes (NULL is fine). A constructor that fails leaves
 *     NULL. const pointers are borrowed: the lender must outlive the borrower.
 *   - Nothing prints, aborts or keeps global state. One object, one thread at a time; a cache
 *     that is only read may be shared by many threads.
 *   - Sizes and counts of bytes are in the unit their name ends with.
 *
 * What stands between the two CFFI marks is read by the Python build word for word.
 */
#ifndef NGC_H
#define NGC_H

#include <stddef.h>
#include <stdint.h>

/* CFFI-BEGIN */

typedef int32_t ngc_status;
enum {
    NGC_OK = 0,
    NGC_NO_MEMORY = 1,    /* an allocation failed */
    NGC_BAD_ARGUMENT = 2, /* out of range; nothing was done */
    NGC_BAD_TOKEN = 3,    /* a token id below 0 or equal to 2^31 - 1 */
    NGC_TRUNCATED = 4,    /* a file ends in the middle of a record */
    NGC_BAD_RECORD = 5,   /* a record that no writer produces */
    NGC_DUPLICATE = 6,    /* the same n-gram, or follower, twice in one file */
    NGC_UNSUPPORTED = 7,  /* a combination that this build does not have */
    NGC_CHANGED = 8,      /* the cache was changed in the middle of a walk */
    NGC_SMALL_BUFFER = 9, /* the caller's buffer cannot hold one record */
    NGC_BAD_SUM = 10      /* a checksum in a file does not match its bytes */
};

enum { NGC_N_MAX = 4, NGC_NO_TOKEN = -1, NGC_MAX_DRAFT = 4096 };

/* ---- toggles: how caches are stored and read ------------------------------------------- */

enum { NGC_OUTER_CHAINED = 0, NGC_OUTER_SEGMENTED = 1, NGC_OUTER_DENSE = 2 };
enum { NGC_FOLLOWERS_CHAINED = 0, NGC_FOLLOWERS_SORTED = 1 };
enum {
    NGC_SEARCH_FIXED = 0,
    NGC_SEARCH_LOWER_BOUND = 1,
    NGC_SEARCH_LINEAR = 2,
    NGC_SEARCH_SIMD = 3
};
enum { NGC_STATIC_SAME = 0, NGC_STATIC_CONSTMAP = 1 };
enum { NGC_HASH_XOR = 0, NGC_HASH_MIXED = 1 };
enum { NGC_TIES_LIBRARY = 0, NGC_TIES_TOKEN = 1 };
enum { NGC_SCORE_INT32 = 0, NGC_SCORE_EXACT = 1 };

typedef struct ngc_toggles {
    int32_t copy_followers; /* 1: copy the followers at each look-up, 0: read them in place */
    int32_t outer;          /* NGC_OUTER_...: the table from n-gram to followers */
    int32_t followers;      /* NGC_FOLLOWERS_...: what holds the followers of one n-gram */
    int32_t search;         /* NGC_SEARCH_... of a token in an array of followers */
    int32_t static_cache;   /* NGC_STATIC_...: how the static cache is held */
    int32_t precheck;       /* 1: rows whose largest count fails are not scored */
    int32_t hash;           /* NGC_HASH_... of an n-gram */
    int32_t ties;           /* NGC_TIES_...: who wins an equal score */
    int32_t score;          /* NGC_SCORE_...: 32-bit products that wrap, or exact ones */
} ngc_toggles;

/* ---- the numbers of the draft rule ------------------------------------------------------ */

typedef struct ngc_rule {
    int32_t n_min, n_max;       /* n-gram sizes tried, 1 <= n_min <= n_max <= 4 */
    int32_t context_sum[4];     /* a_n of the context cache, indexed by n - 1 */
    int32_t context_percent[4]; /* p_n */
    int32_t dynamic_sum[4];
    int32_t dynamic_percent[4];
    int32_t static_sum; /* of the fallback, n = 2 */
    int32_t static_percent;
    int32_t weight;      /* a follower's weight is this times its static count; 0: all weigh 1 */
    int32_t use_context; /* 0: the context cache is not asked */
    int32_t eos;         /* nothing is drafted past this token; NGC_NO_TOKEN: none */
} ngc_rule;

/* llama.cpp's numbers. */
void ngc_rule_default(ngc_rule *rule);

/* ---- caches ------------------------------------------------------------------------------ */

typedef struct ngc_cache ngc_cache;

/* Memory by what it holds, in bytes; live now, and the most that was ever live at once.
 * These are the bytes asked of malloc; its own headers are not in them. */
typedef struct ngc_memory {
    int64_t live_bytes;
    int64_t peak_bytes;
    int64_t ngrams_bytes;         /* n-grams and what stands beside them */
    int64_t index_bytes;          /* buckets or slots of the outer table */
    int64_t followers_bytes;      /* tokens with their counts, links included */
    int64_t follower_index_bytes; /* buckets of the inner tables */
    int64_t other_bytes;
    int64_t overhead_bytes;    /* model: what glibc's malloc adds in headers and rounding */
    int64_t total_bytes;       /* of all allocations ever made */
    int64_t allocations;       /* number of allocations ever made */
    int64_t live_allocations;
} ngc_memory;

typedef struct ngc_cache_facts {
    int64_t n_grams;
    int64_t n_grams_by_n[4];
    int64_t n_followers; /* pairs of an n-gram and a follower */
    int64_t n_buckets;   /* or slots, of the outer table */
} ngc_cache_facts;

/* An empty cache. n_min..n_max says which n-grams it counts and takes from files. */
ngc_status ngc_cache_new(const ngc_toggles *toggles, int32_t n_min, int32_t n_max,
                         ngc_cache **out);
void ngc_cache_free(ngc_cache *cache);

/* Empties it; the outer table keeps its number of buckets, as llama.cpp's does. */
ngc_status ngc_cache_clear(ngc_cache *cache);

/* Counts the last n_new tokens of the text as followers: for n = n_min..n_max, for each
 * position i among them with i >= n, text[i] after text[i-n..i-1]. */
ngc_status ngc_cache_update(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens);

/* Adds the counts of `added`; both must have the same toggles of structure. A sum that would
 * pass 2^31 - 1 stays there. */
ngc_status ngc_cache_merge(ngc_cache *cache, const ngc_cache *added);

/* The followers of one n-gram in the order the rule visits them (with library ties: list
 * order). Writes up to `capacity` pairs; *n_followers is how many there are, 0 if absent. */
ngc_status ngc_cache_followers(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                               int32_t *tokens, int32_t *counts, size_t capacity,
                               size_t *n_followers);

ngc_status ngc_cache_facts_of(const ngc_cache *cache, ngc_cache_facts *facts);
ngc_status ngc_cache_memory(const ngc_cache *cache, ngc_memory *memory);

/* Checks every invariant; NGC_BAD_RECORD and a reason in words if one is broken. */
ngc_status ngc_cache_validate(const ngc_cache *cache, const char **reason);

/* Fails the nth allocation from now on (1: the next), and none before; 0: never. For tests. */
void ngc_cache_fail_allocation(ngc_cache *cache, int64_t nth);

/* ---- walking a cache: for files and statistics ------------------------------------------- */

/* A place in a cache; it starts zeroed. Once the cache has changed it leads nowhere: NGC_CHANGED. */
typedef struct ngc_cursor {
    const void *at;
    int64_t n_done;   /* n-grams passed */
    uint64_t changes; /* that the cache had seen when the walk began */
} ngc_cursor;

typedef struct ngc_ngram_facts {
    int32_t tokens[4]; /* unused slots are NGC_NO_TOKEN */
    int32_t n;
    int32_t n_followers;
    int64_t sum;
} ngc_ngram_facts;

/* The next up to `capacity` n-grams in list order; *n_written is 0 at the end. */
ngc_status ngc_cache_walk(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                          size_t capacity, size_t *n_written);

/* ---- llama.cpp's cache file ---------------------------------------------------------------
 *
 *   for each n-gram   int32 tokens[4]      unused slots -1, trailing only
 *                     int32 n_followers    > 0
 *                     n_followers times    int32 token, int32 count > 0
 *
 * Little-endian, no header, no checksum. Files come in and go out in pieces of any size. */

typedef struct ngc_load_report {
    int64_t n_bytes;     /* taken so far */
    int64_t n_grams;     /* loaded so far */
    int64_t n_followers;
    int64_t n_left_out; /* n-grams of sizes that this cache does not hold */
} ngc_load_report;

/* Takes the whole records of a piece of the file; *n_used says how many bytes, the rest belongs
 * before the next piece. `file_left_bytes` is what the file still has from this piece's start
 * on: it bounds what a record can claim, and tells the last piece. A failure leaves the cache
 * with the records before the bad one, whose offset is report->n_bytes. */
ngc_status ngc_cache_load_legacy(ngc_cache *cache, const uint8_t *piece, size_t piece_bytes,
                                 uint64_t file_left_bytes, size_t *n_used,
                                 ngc_load_report *report);

/* Writes the next whole records; *n_written is 0 at the end. NGC_SMALL_BUFFER if the next record
 * alone is longer than the buffer. */
ngc_status ngc_cache_save_legacy(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                                 size_t capacity_bytes, size_t *n_written);

/* The same, n-grams ascending: shorter ones first, then by token. ngc_cache_sort fills `places`,
 * which has room for all n-grams, and starts the cursor. */
ngc_status ngc_cache_sort(const ngc_cache *cache, const void **places, ngc_cursor *cursor);
ngc_status ngc_cache_save_sorted(const ngc_cache *cache, const void **places, size_t n_places,
                                 ngc_cursor *cursor, uint8_t *buffer, size_t capacity_bytes,
                                 size_t *n_written);

/* ---- counting a big corpus -------------------------------------------------------------------
 *
 * Counts the 2-grams of a stream of any length in bounded memory: some 20 to 40 bytes for each pair
 * of a 2-gram and a follower, where a map of maps takes hundreds. Up to 2^32 - 1 tokens, up to
 * 2^21 - 1 different ones (NGC_UNSUPPORTED beyond). */

typedef struct ngc_counter ngc_counter;

ngc_status ngc_counter_new(ngc_counter **out);
void ngc_counter_free(ngc_counter *counter);

/* Counts more of the stream. On failure the tokens that ngc_counter_tokens tells are counted. */
ngc_status ngc_counter_add(ngc_counter *counter, const int32_t *tokens, size_t n_tokens);
int64_t ngc_counter_tokens(const ngc_counter *counter);

/* Groups what was counted; nothing can be added after it. On failure the counts are lost. */
ngc_status ngc_counter_finish(ngc_counter *counter);

/* Facts and memory of finished counts. */
ngc_status ngc_counter_facts(const ngc_counter *counter, ngc_cache_facts *facts);
ngc_status ngc_counter_memory(const ngc_counter *counter, ngc_memory *memory);

/* Puts n_grams of them, from first_gram on, into an empty cache that holds 2-grams. Done from 0 on
 * it has the order that counting the stream into it gives. */
ngc_status ngc_counter_fill(ngc_counter *counter, ngc_cache *cache, int64_t first_gram,
                            int64_t n_grams);

/* Works out the order of llama.cpp's file for finished counts, then writes it in pieces, as
 * ngc_cache_save_legacy does. */
ngc_status ngc_counter_begin_save(ngc_counter *counter);
ngc_status ngc_counter_save_legacy(ngc_counter *counter, ngc_cursor *cursor, uint8_t *buffer,
                                   size_t capacity_bytes, size_t *n_written);

void ngc_counter_fail_allocation(ngc_counter *counter, int64_t nth);

/* ---- the constmap file of the fork: a static cache in one piece; see ngc_constmap.h ---------- */

/* An unchecked constmap of a file's size; the caller fills *bytes, which the cache owns, with the
 * file, and then checks it. Until then nothing is found in it. */
ngc_status ngc_constmap_new(const ngc_toggles *toggles, size_t file_bytes, ngc_cache **out,
                            uint8_t **bytes);

/* One slice of checking sizes, geometry, checksum and followers; *done is 1 after the last. */
ngc_status ngc_constmap_check(ngc_cache *cache, int32_t *done);

/* A constmap of a static cache of another kind. Cost: linear; some 64 bytes a 2-gram on top. */
ngc_status ngc_constmap_build(const ngc_toggles *toggles, const ngc_cache *source,
                              ngc_cache **out);

/* The same from finished counts. */
ngc_status ngc_constmap_count(const ngc_toggles *toggles, const ngc_counter *counter,
                              ngc_cache **out);

/* The whole file of a constmap; NULL if it is none. */
const uint8_t *ngc_constmap_bytes_view(const ngc_cache *cache, size_t *n_bytes);

/* ---- drafting ------------------------------------------------------------------------------ */

enum { NGC_FROM_NONE = 0, NGC_FROM_CONTEXT = 1, NGC_FROM_DYNAMIC = 2, NGC_FROM_STATIC = 3 };

/* Why a row ended as it did. */
enum {
    NGC_ROW_TOO_SHORT = 1, /* the text has fewer than n tokens */
    NGC_ROW_NOT_SEEN = 2,
    NGC_ROW_TOO_RARE = 3,  /* F < a_n */
    NGC_ROW_TOO_SPLIT = 4, /* 100 * P[y*] < p_n * F */
    NGC_ROW_RARE_AND_SPLIT = 5,
    NGC_ROW_NO_SCORE = 6, /* no score above 0 */
    NGC_ROW_PASSES = 7
};

/* The record of one step. A row for each n-gram tried: context n = 4..1, dynamic n = 4..1, the
 * static fallback; rows that were not reached are absent. Shown candidates stand highest
 * score first, equal scores in the order the rule visits them. */
enum { NGC_SHOWN = 12, NGC_ROWS = 9 };

typedef struct ngc_candidate {
    int32_t token;
    int32_t count;
    int64_t weight;
    int64_t score;
} ngc_candidate;

typedef struct ngc_row {
    int32_t from;    /* NGC_FROM_... */
    int32_t n;
    int32_t verdict; /* NGC_ROW_... */
    int32_t best_token;
    int32_t best_count;
    int32_t min_sum;     /* a_n */
    int32_t min_percent; /* p_n */
    int32_t n_shown;
    int32_t prechecked; /* 1: failed by its largest count, best_count; nothing was scored */
    int32_t unused;
    int64_t sum;    /* F */
    int64_t share;  /* 100 * P[y*], as compared */
    int64_t needed; /* p_n * F */
    int64_t best_score;
    int64_t n_followers;
    int64_t rest_sum; /* of the followers not shown */
    ngc_candidate shown[12];
} ngc_row;

typedef struct ngc_step {
    int64_t length_tokens; /* of the text and what was drafted before */
    int32_t token;         /* NGC_NO_TOKEN: the rule stopped */
    int32_t from;
    int32_t n;
    int32_t n_rows;
    int32_t has_weights; /* 0: there is no static cache; the next row is empty */
    int32_t unused;
    ngc_row weights; /* static followers of the last two tokens: not seen, or passes */
    ngc_row rows[9];
} ngc_step;

/* What drafting did, counted only by draft calls that are asked to (ngc_drafter_trace). */
typedef struct ngc_probe {
    int64_t lookups[3]; /* of n-grams, by cache: context, dynamic, static */
    int64_t hits[3];
    int64_t lookups_by_n[4]; /* in context and dynamic */
    int64_t hits_by_n[4];
    int64_t visited_nodes;   /* nodes of chains or slots of tables, over all look-ups */
    int64_t scored;          /* candidates that were scored */
    int64_t static_searches; /* of a candidate in the static followers */
    int64_t search_steps;    /* pairs compared by searches in arrays */
    int64_t scanned;         /* followers read for sums and maxima: precheck, static fallback */
    int64_t prechecks;       /* rows checked before scoring */
    int64_t precheck_skips;  /* rows that failed it */
    int64_t copied;          /* followers copied */
    int64_t copied_bytes;    /* asked of malloc for it */
    int64_t allocations;
    int64_t cache_lines; /* distinct lines of 64 bytes read by all of this */
} ngc_probe;

typedef struct ngc_drafter ngc_drafter;

/* A drafter over an empty text. static_cache and dynamic_cache may be NULL; both are borrowed,
 * the static one is only read, the dynamic one is changed by ngc_drafter_end_text alone. */
ngc_status ngc_drafter_new(const ngc_toggles *toggles, const ngc_rule *rule,
                           const ngc_cache *static_cache, ngc_cache *dynamic_cache,
                           ngc_drafter **out);
void ngc_drafter_free(ngc_drafter *drafter);

/* Appends tokens and counts them one by one. On failure *n_done tokens were appended. */
ngc_status ngc_drafter_feed(ngc_drafter *drafter, const int32_t *tokens, size_t n_tokens,
                            size_t *n_done);

/* Drafts up to n_draft (0..NGC_MAX_DRAFT) tokens. The text is not changed. */
ngc_status ngc_drafter_draft(ngc_drafter *drafter, int32_t n_draft, int32_t *tokens,
                             int32_t *n_drafted);

/* The same, recorded: one step a drafted token, and the step that stopped if one did.
 * `steps` must hold n_draft + 1. */
ngc_status ngc_drafter_trace(ngc_drafter *drafter, int32_t n_draft, ngc_step *steps,
                             int32_t *n_steps, ngc_probe *probe);

/* Back to the state after the first length_tokens tokens of this text, order included. */
ngc_status ngc_drafter_rewind(ngc_drafter *drafter, size_t length_tokens);

/* Ends the text: merges the context cache into the dynamic one, if there is one, and empties
 * both context and text. */
ngc_status ngc_drafter_end_text(ngc_drafter *drafter);

size_t ngc_drafter_length(const ngc_drafter *drafter);
const int32_t *ngc_drafter_text_view(const ngc_drafter *drafter);
const ngc_cache *ngc_drafter_context_view(const ngc_drafter *drafter);

/* What copying at look-ups allocated and freed again. */
ngc_status ngc_drafter_scratch_memory(const ngc_drafter *drafter, ngc_memory *memory);

void ngc_drafter_fail_allocation(ngc_drafter *drafter, int64_t nth);

/* ---- replay: what llama-lookup-stats measures ---------------------------------------------
 *
 * Chunks of n_ctx tokens are treated as what a model would have said: draft, accept what
 * matches, take one token more, until the chunk ends; then its counts are merged into the
 * dynamic cache. Tail drop: chunks only while start + n_ctx < n_tokens, and drafts may run past
 * the chunk's end, as llama.cpp counts. Tail keep: the rest is replayed too, and drafts stop
 * at the end. */

enum { NGC_TAIL_KEEP = 0, NGC_TAIL_DROP = 1 };
enum { NGC_RECORD_DRAFTS = 1, NGC_RECORD_CALLS = 2 };

typedef struct ngc_replay_options {
    int64_t n_ctx;
    int32_t n_draft;
    int32_t tail;
    int32_t record; /* NGC_RECORD_... added up */
    int32_t unused;
} ngc_replay_options;

typedef struct ngc_sample {
    int64_t n_tokens;
    int64_t n_replayed;
    int64_t n_left_out;
    int64_t n_calls;
    int64_t n_drafted;
    int64_t n_accept;
    int64_t draft_ns;
    int64_t update_ns;
    int64_t merge_ns;
    int64_t copied_bytes; /* allocated by copying followers at look-ups */
    int64_t copied_allocations;
    int64_t context_bytes; /* live, of the caches */
    int64_t dynamic_bytes;
    int64_t static_bytes;
    uint64_t drafts_checksum; /* FNV-1a-64 over each call's length and tokens */
    int32_t done;
    int32_t unused;
} ngc_sample;

typedef struct ngc_call {
    int32_t draft_ns; /* saturated at 2^31 - 1 */
    int32_t update_ns;
    int32_t n_drafted;
    int32_t n_accept;
} ngc_call;

typedef struct ngc_replay ngc_replay;

/* `tokens` are borrowed for the life of the replay. dynamic_cache may be NULL: the replay then
 * starts with an empty one of its own. */
ngc_status ngc_replay_new(const ngc_toggles *toggles, const ngc_rule *rule,
                          const ngc_replay_options *options, const int32_t *tokens,
                          size_t n_tokens, const ngc_cache *static_cache,
                          ngc_cache *dynamic_cache, ngc_replay **out);
void ngc_replay_free(ngc_replay *replay);

/* Goes on until max_tokens more tokens are replayed or max_ns have passed (each < 0: no limit),
 * by whole draft calls; at least one call. */
ngc_status ngc_replay_advance(ngc_replay *replay, int64_t max_tokens, int64_t max_ns,
                              ngc_sample *sample);

/* Hands out what was recorded since the last time: draft calls as length, tokens, length, ...,
 * and one ngc_call a draft call. Only whole calls are written; *n_written is 0 when drained. */
ngc_status ngc_replay_take_drafts(ngc_replay *replay, int32_t *buffer, size_t capacity,
                                  size_t *n_written);
ngc_status ngc_replay_take_calls(ngc_replay *replay, ngc_call *buffer, size_t capacity,
                                 size_t *n_written);

const ngc_cache *ngc_replay_dynamic_view(const ngc_replay *replay);
void ngc_replay_fail_allocation(ngc_replay *replay, int64_t nth);

/* ---- the machine -------------------------------------------------------------------------- */

int64_t ngc_clock_ns(void);
int64_t ngc_clock_cost_ns(void); /* of one reading, the mean of a few thousand, measured now */
const char *ngc_compiler(void);

/* CFFI-END */

#endif

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
    NGC_BAD_SUM = 10,     /* a checksum in a file does not match its bytes */
    NGC_BAD_VERSION = 11, /* a file of a version that this build does not know */
    NGC_CROWDED = 12,     /* a file made so that its n-grams share few hashes */
    NGC_NOT_YET = 13      /* a table grows in slices: the same call again, nothing else before */
};

enum { NGC_N_MAX = 4, NGC_NO_TOKEN = -1, NGC_MAX_DRAFT = 4096 };

/* ---- toggles: how caches are stored and read ------------------------------------------- */

enum {
    NGC_OUTER_CHAINED = 0,
    NGC_OUTER_SEGMENTED = 1,
    NGC_OUTER_DENSE = 2,
    NGC_OUTER_PLACES = 3 /* with NGC_FOLLOWERS_SUMMED, and only with them */
};
enum { NGC_FOLLOWERS_CHAINED = 0, NGC_FOLLOWERS_SORTED = 1, NGC_FOLLOWERS_SUMMED = 2 };
enum {
    NGC_SEARCH_FIXED = 0,
    NGC_SEARCH_LOWER_BOUND = 1,
    NGC_SEARCH_LINEAR = 2,
    NGC_SEARCH_SIMD = 3
};
enum { NGC_STATIC_SAME = 0, NGC_STATIC_CONSTMAP = 1, NGC_STATIC_NGC = 2 };
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
    int32_t bound;          /* 1: a row that no static count can turn is decided without scores */
    int32_t late_static;    /* 1: the static cache is looked up when a row needs it, not before */
    int32_t prefetch;       /* 1: what a step may read later is asked for before */
    int32_t glance;         /* 1: what an index keeps ends rows that must fail, without their counts */
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
    int64_t slack_bytes;       /* of all these: room for n-grams and followers that are not there */
    int64_t overhead_bytes;    /* model: what glibc's malloc adds in headers and rounding */
    int64_t total_bytes;       /* of all allocations ever made */
    int64_t allocations;       /* number of allocations ever made */
    int64_t live_allocations;
    int64_t mapped_bytes; /* of a file that is read where it lies; not in the others */
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

/* Adds the counts of `added`; both must have the same toggles of structure, and `added` no n-grams
 * of sizes that the cache does not hold. A sum that would pass 2^31 - 1 stays there. */
ngc_status ngc_cache_merge(ngc_cache *cache, const ngc_cache *added);

/* Both in slices of some n_pairs, between which the caller may stop; *done is 1 after the last, and
 * all is added then. Turned back, or where memory runs out, the slices that follow take back what
 * was added, be it all, and the counts are as before when *done is 1. (A table that had to grow
 * stays grown, so the order of chained maps may be another.) The text or `added` are borrowed and do
 * not change; until it is done, nothing else may be done with the cache but to free it, after what
 * adds to it.
 * NGC_UNSUPPORTED: a cache of places counts a text in any parts alike, by ngc_cache_update. */
typedef struct ngc_adding ngc_adding;

ngc_status ngc_adding_begin_update(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                                   size_t n_new_tokens, ngc_adding **out);
ngc_status ngc_adding_begin_merge(ngc_cache *cache, const ngc_cache *added, ngc_adding **out);
ngc_status ngc_adding_step(ngc_adding *adding, size_t n_pairs, int32_t *done);
void ngc_adding_turn_back(ngc_adding *adding);
double ngc_adding_fraction(const ngc_adding *adding); /* of what is to be added */
void ngc_adding_free(ngc_adding *adding);

/* The followers of one n-gram in the order the rule visits them (with library ties: list
 * order). Writes up to `capacity` pairs; *n_followers is how many there are, 0 if absent. */
ngc_status ngc_cache_followers(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                               int32_t *tokens, int32_t *counts, size_t capacity,
                               size_t *n_followers);

ngc_status ngc_cache_facts_of(const ngc_cache *cache, ngc_cache_facts *facts);

/* Slack is what slots, buckets, arrays and blocks hold in reserve; in a map, buckets beyond one for
 * each entry, which is how many it takes before it grows. */
ngc_status ngc_cache_memory(const ngc_cache *cache, ngc_memory *memory);

/* Checks every invariant; NGC_BAD_RECORD and a reason in words if one is broken. */
ngc_status ngc_cache_validate(const ngc_cache *cache, const char **reason);

/* The same in slices of some n_grams. It starts zeroed; `done` is 1 after the last. NGC_CHANGED: the
 * cache was changed in between. */
typedef struct ngc_checking {
    const void *at;
    int64_t n_passed;
    int64_t n_used;
    int64_t n_grams_by_n[4]; /* seen so far */
    int64_t n_followers;
    uint64_t changes; /* that the cache had seen at first */
    int32_t phase;
    int32_t done;
} ngc_checking;

ngc_status ngc_cache_validate_slice(const ngc_cache *cache, ngc_checking *checking,
                                    size_t n_grams, const char **reason);

/* So many n-grams of a full table are moved in a slice. For tests: it is set so that a slice takes
 * some 10 to 40 ms. */
void ngc_cache_grow_at_once(ngc_cache *cache, size_t n_grams);

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

/* Puts up to n_grams of another cache's n-grams into this one, from the cursor on, in the order of
 * walking; *n_done is 0 at the end. This is how one structure becomes another. On failure those
 * before the bad one are in. NGC_NOT_YET: *n_done of them are, maybe none. */
ngc_status ngc_cache_take(ngc_cache *cache, const ngc_cache *source, ngc_cursor *cursor,
                          size_t n_grams, size_t *n_done);

/* The same, but n-grams whose counts add up to less are passed over. */
ngc_status ngc_cache_take_frequent(ngc_cache *cache, const ngc_cache *source, ngc_cursor *cursor,
                                   size_t n_grams, int64_t least_sum, size_t *n_done);

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
 * with the records before the bad one, whose offset is report->n_bytes. NGC_NOT_YET: *n_used bytes
 * were taken, maybe none, and the rest of the piece comes again. */
ngc_status ngc_cache_load_legacy(ngc_cache *cache, const uint8_t *piece, size_t piece_bytes,
                                 uint64_t file_left_bytes, size_t *n_used,
                                 ngc_load_report *report);

/* Writes the next whole records; *n_written is 0 at the end. NGC_SMALL_BUFFER if the next record
 * alone is longer than the buffer. */
ngc_status ngc_cache_save_legacy(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                                 size_t capacity_bytes, size_t *n_written);

/* The same, n-grams ascending: shorter ones first, then by token. They are sorted first, in slices of
 * some n_grams; *done is 1 after the last. The cache is borrowed; once it has changed: NGC_CHANGED.
 * Cost: 16 to 48 bytes an n-gram while it sorts. */
typedef struct ngc_sorter ngc_sorter;

ngc_status ngc_sorter_begin(const ngc_cache *cache, ngc_sorter **out);
ngc_status ngc_sorter_step(ngc_sorter *sorter, size_t n_grams, int32_t *done);
ngc_status ngc_sorter_save(ngc_sorter *sorter, uint8_t *buffer, size_t capacity_bytes,
                           size_t *n_written);
void ngc_sorter_free(ngc_sorter *sorter);

/* ---- counting a big corpus -------------------------------------------------------------------
 *
 * Counts the 2-grams of a stream of any length in bounded memory: some 20 to 26 bytes for each pair
 * of a 2-gram and a follower, where a map of maps takes hundreds. Up to 2^32 - 1 tokens, up to
 * 2^21 - 1 different ones (NGC_UNSUPPORTED beyond). */

typedef struct ngc_counter ngc_counter;

ngc_status ngc_counter_new(ngc_counter **out);
void ngc_counter_free(ngc_counter *counter);

/* Counts more of the stream. On failure the tokens that ngc_counter_tokens tells are counted. */
ngc_status ngc_counter_add(ngc_counter *counter, const int32_t *tokens, size_t n_tokens);
int64_t ngc_counter_tokens(const ngc_counter *counter);

/* The same, as far as one slice goes: *n_done tokens were counted, maybe none, while its table grows. */
ngc_status ngc_counter_add_slice(ngc_counter *counter, const int32_t *tokens, size_t n_tokens,
                                 size_t *n_done);

/* Before the first token: keeps no order, for what does not depend on one, as a packed static cache.
 * Takes some 5 to 9 bytes a pair then, and up to 80 MB beside them. Such counts fill no other cache and
 * save no llama.cpp file (NGC_UNSUPPORTED). */
ngc_status ngc_counter_in_any_order(ngc_counter *counter);

/* What is added from here on is another text: no 2-gram and no follower spans the border. */
ngc_status ngc_counter_end_text(ngc_counter *counter);

/* Groups what was counted; nothing can be added after it. On failure the counts are lost. The
 * slices do the same in pieces of some n_pairs, *done is 1 after the last. */
ngc_status ngc_counter_finish(ngc_counter *counter);
ngc_status ngc_counter_finish_slice(ngc_counter *counter, size_t n_pairs, int32_t *done);
double ngc_counter_fraction(const ngc_counter *counter); /* of grouping that is done */

/* Facts and memory of finished counts. */
ngc_status ngc_counter_facts(const ngc_counter *counter, ngc_cache_facts *facts);
ngc_status ngc_counter_memory(const ngc_counter *counter, ngc_memory *memory);

/* Puts n_grams of them, from first_gram on, into an empty cache that holds 2-grams. Done from 0 on
 * it has the order that counting the stream into it gives. *n_done of them are in afterwards, on
 * failure those before the bad one. NGC_NOT_YET: maybe none; it goes on with those behind them. */
ngc_status ngc_counter_fill(ngc_counter *counter, ngc_cache *cache, int64_t first_gram,
                            int64_t n_grams, int64_t *n_done);

/* Works out the order of llama.cpp's file for finished counts, then writes it in pieces, as
 * ngc_cache_save_legacy does. */
ngc_status ngc_counter_begin_save(ngc_counter *counter);
ngc_status ngc_counter_begin_save_slice(ngc_counter *counter, size_t n_grams, int32_t *done);
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

/* Makes one in slices of some n_grams each, from a cache of 2-grams that can be walked, or from
 * finished counts; both are borrowed. Cost: linear; some 64 bytes a 2-gram on top. NGC_CHANGED: the
 * source does not hold what it said at first. After a failure the builder can only be freed. */
typedef struct ngc_constmap_builder ngc_constmap_builder;

ngc_status ngc_constmap_begin(const ngc_toggles *toggles, const ngc_cache *source,
                              ngc_constmap_builder **out);
ngc_status ngc_constmap_begin_counts(const ngc_toggles *toggles, const ngc_counter *counter,
                                     ngc_constmap_builder **out);
ngc_status ngc_constmap_step(ngc_constmap_builder *builder, size_t n_grams, int32_t *done);
double ngc_constmap_fraction(const ngc_constmap_builder *builder);
ngc_status ngc_constmap_take(ngc_constmap_builder *builder, ngc_cache **out);
void ngc_constmap_builder_free(ngc_constmap_builder *builder);
void ngc_constmap_builder_fail_allocation(ngc_constmap_builder *builder, int64_t nth);

/* All of it in one go. */
ngc_status ngc_constmap_build(const ngc_toggles *toggles, const ngc_cache *source,
                              ngc_cache **out);
ngc_status ngc_constmap_count(const ngc_toggles *toggles, const ngc_counter *counter,
                              ngc_cache **out);

/* The whole file of a constmap; NULL if it is none. */
const uint8_t *ngc_constmap_bytes_view(const ngc_cache *cache, size_t *n_bytes);

/* ---- our own static file: made to be mapped; see ngc_packed.h -------------------------------- */

/* Where in a file something is wrong. */
typedef struct ngc_fault {
    const char *part; /* of the file; a constant */
    uint64_t at_byte;
} ngc_fault;

/* What a file says of itself. Texts are UTF-8; those read from a file live as long as its cache. */
typedef struct ngc_packed_about {
    int64_t n_vocab;         /* all tokens are below it; 0 when building: one above the greatest */
    uint8_t fingerprint[32]; /* of the tokenizer, SHA-256; zeros: not known */
    const char *tokenizer;   /* NULL: empty */
    const char *corpus;
    const char *built_by;
} ngc_packed_about;

/* A static cache over a file's bytes, which are borrowed for its life. The head is checked, the
 * rest is not read; no look-up leaves the bytes, whatever they are. */
ngc_status ngc_packed_open(const ngc_toggles *toggles, const uint8_t *bytes, size_t n_bytes,
                           ngc_cache **out, ngc_fault *fault);

/* One slice of checking every checksum, record and follower; *done is 1 after the last. */
ngc_status ngc_packed_check(ngc_cache *cache, int32_t *done, ngc_fault *fault);

ngc_status ngc_packed_about_of(const ngc_cache *cache, ngc_packed_about *about);

/* The whole file; NULL if the cache is none. */
const uint8_t *ngc_packed_bytes_view(const ngc_cache *cache, size_t *n_bytes);

/* Makes one in slices of some n_grams each, from a cache of 2-grams that can be walked, or from
 * finished counts; both are borrowed. Cost: linear; 12 bytes a 2-gram on top, from a cache the
 * arrays of its pairs, too. NGC_BAD_TOKEN: a token is not below n_vocab. After a failure the
 * builder can only be freed. */
typedef struct ngc_packed_builder ngc_packed_builder;

ngc_status ngc_packed_begin(const ngc_toggles *toggles, const ngc_cache *source,
                            const ngc_packed_about *about, ngc_packed_builder **out);
ngc_status ngc_packed_begin_counts(const ngc_toggles *toggles, const ngc_counter *counter,
                                   const ngc_packed_about *about, ngc_packed_builder **out);

/* The same from two caches, whose counts are added; a sum that would pass 2^31 - 1 stays there. The
 * bytes are those that counting both texts apart, in one go, would give. */
ngc_status ngc_packed_begin_merge(const ngc_toggles *toggles, const ngc_cache *source,
                                  const ngc_cache *added, const ngc_packed_about *about,
                                  ngc_packed_builder **out);

ngc_status ngc_packed_step(ngc_packed_builder *builder, size_t n_grams, int32_t *done);
double ngc_packed_fraction(const ngc_packed_builder *builder);
ngc_status ngc_packed_take(ngc_packed_builder *builder, ngc_cache **out);
void ngc_packed_builder_free(ngc_packed_builder *builder);
void ngc_packed_builder_fail_allocation(ngc_packed_builder *builder, int64_t nth);

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
    int32_t bounded;    /* 1: decided by a bound of the scores; those shown were not needed */
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

/* What drafting did, counted only by draft calls that are asked to: ngc_drafter_trace, and
 * replays that record probes. */
typedef struct ngc_probe {
    int64_t n_drafted;
    int64_t n_accept;        /* of a replay's call; 0 in other calls */
    int64_t lookups[3][4];   /* of n-grams, by cache (context, dynamic, static) and by n - 1 */
    int64_t hits[3][4];
    int64_t visited_nodes;   /* nodes of chains, slots of tables or cells of maps, in look-ups */
    int64_t scored;          /* candidates that were scored */
    int64_t static_searches; /* of a candidate in the static followers */
    int64_t search_steps;    /* pairs compared in arrays, or nodes visited in maps, by those */
    int64_t scanned;         /* followers read for sums and maxima: precheck, static fallback */
    int64_t prechecks;       /* rows checked before scoring */
    int64_t precheck_skips;  /* rows that failed it */
    int64_t bounded;         /* rows decided by a bound, without scores */
    int64_t copied;          /* followers copied */
    int64_t copied_bytes;    /* asked of malloc for it */
    int64_t allocations;
    int64_t cache_lines; /* distinct lines of 64 bytes touched by all of this */
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

/* The same in slices of n_tokens; *done is 1 after the last, and the text is as it was until then.
 * The leftover is the context cache before, or, where it was stopped, what was counted until then:
 * handed out to be freed, as that takes time (NULL: there is none). Any other call that changes the
 * text frees it, too. */
ngc_status ngc_drafter_rewind_slice(ngc_drafter *drafter, size_t length_tokens, size_t n_tokens,
                                    int32_t *done);
ngc_cache *ngc_drafter_leftover(ngc_drafter *drafter);

/* Ends the text: merges the context cache into the dynamic one, if there is one, and empties
 * both context and text. */
ngc_status ngc_drafter_end_text(ngc_drafter *drafter);

/* The same in slices; *done is 1 after the last, and what was the context is a leftover then. Stopped,
 * or where it has failed, it is settled in slices as well, which take back what was merged. Until
 * then nothing else may be done with the drafter and the dynamic cache but to free them, the drafter
 * first. */
ngc_status ngc_drafter_end_text_slice(ngc_drafter *drafter, size_t n_pairs, int32_t *done);
void ngc_drafter_settle_slice(ngc_drafter *drafter, size_t n_pairs, int32_t *done);

/* Another dynamic cache, of the same structure, from here on; the one before is given back. */
ngc_status ngc_drafter_use_dynamic(ngc_drafter *drafter, ngc_cache *dynamic_cache);

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
/* With probes, drafts are the same and times are those of the recorded form, which is slower. */
enum { NGC_RECORD_DRAFTS = 1, NGC_RECORD_CALLS = 2, NGC_RECORD_PROBES = 4 };

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
    int64_t static_bytes; /* mapped ones, too */
    uint64_t drafts_checksum; /* FNV-1a-64 over each call's length and tokens */
    int32_t done;
    int32_t closing; /* 1: a chunk's end is not whole yet */
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
 * by whole draft calls; at least one call. While sample->closing is set, the end of a chunk is half
 * done, as ngc_drafter_end_text_slice leaves it; the next call goes on with it, or it is settled. */
ngc_status ngc_replay_advance(ngc_replay *replay, int64_t max_tokens, int64_t max_ns,
                              ngc_sample *sample);
void ngc_replay_settle_slice(ngc_replay *replay, size_t n_pairs, int32_t *done);

/* Where a long chunk has ended, its context cache; see ngc_drafter_leftover. */
ngc_cache *ngc_replay_leftover(ngc_replay *replay);

/* Hands out what was recorded since the last time: draft calls as length, tokens, length, ...,
 * and one ngc_call and one ngc_probe a draft call. Only whole calls are written; *n_written is 0
 * when drained. */
ngc_status ngc_replay_take_drafts(ngc_replay *replay, int32_t *buffer, size_t capacity,
                                  size_t *n_written);
ngc_status ngc_replay_take_calls(ngc_replay *replay, ngc_call *buffer, size_t capacity,
                                 size_t *n_written);
ngc_status ngc_replay_take_probes(ngc_replay *replay, ngc_probe *buffer, size_t capacity,
                                  size_t *n_written);

/* The sums of all calls' probes so far. */
ngc_status ngc_replay_probe(const ngc_replay *replay, ngc_probe *sum);

/* Another dynamic cache from here on, as for a drafter. */
ngc_status ngc_replay_use_dynamic(ngc_replay *replay, ngc_cache *dynamic_cache);

const ngc_cache *ngc_replay_dynamic_view(const ngc_replay *replay);
void ngc_replay_fail_allocation(ngc_replay *replay, int64_t nth);

/* ---- views of the inside: what the engine does where ----------------------------------------
 *
 * A touch is one cache line of one thing that a recorded call reads, or writes where it copies.
 * `index` and `value` tell which thing of its array it is, and what stands there. */

enum {
    NGC_TOUCH_BUCKET = 1,     /* of a chained table: its number; 1 if it has nodes */
    NGC_TOUCH_NODE = 2,       /* of a chain: -1; its full hash */
    NGC_TOUCH_SLOT = 3,       /* of a flat table: its number; distance + 1 from home << 8 | fingerprint
                               * of its n-gram, 0 if it is empty */
    NGC_TOUCH_ENTRY = 4,      /* of a flat table: its number; 1 if it is the n-gram wanted */
    NGC_TOUCH_CELL = 5,       /* of a fuse map: its number; its bits */
    NGC_TOUCH_CHECK = 6,      /* the same of the second array */
    NGC_TOUCH_ORDER = 7,      /* of a constmap: 64 bits that tell where tokens do not ascend */
    NGC_TOUCH_COPIED = 8,     /* a follower that is copied: position, -1 in a map; token */
    NGC_TOUCH_COPY = 9,       /* the copy of it */
    NGC_TOUCH_COPY_INDEX = 10, /* the copy's buckets: 0; how many */
    NGC_TOUCH_SCANNED = 11,   /* a follower read for sum and maximum: position; token */
    NGC_TOUCH_SCORED = 12,    /* a candidate: position; token */
    NGC_TOUCH_SEARCHED = 13,  /* pairs compared by a search: position and token of the first */
    NGC_TOUCH_FINAL = 14,     /* the pair where a search ended, compared once more */
    NGC_TOUCH_MAP_BUCKET = 15, /* of a map of followers that is searched: number; 1: has nodes */
    NGC_TOUCH_MAP_NODE = 16,  /* -1; token */
    NGC_TOUCH_LINE = 17,      /* of our own file, or a table of places: its number; lines from home */
    NGC_TOUCH_TEXT = 18,      /* an n-gram where it stands in a text, with the token after it: its
                               * place; that token */
    NGC_TOUCH_TOTALS = 19,    /* sum and most frequent follower, kept with the followers: 0; token */
    NGC_TOUCH_FILTER = 20     /* a word of a filter: its number; 1 if the n-gram may be in it */
};

typedef struct ngc_touch {
    int64_t index;
    int64_t value;
    int64_t array_line; /* lines from the start of its array on; -1: it stands in none */
    int32_t what;       /* NGC_TOUCH_... */
    int32_t cache;      /* NGC_FROM_...: of whose n-gram; a copy has its original's */
    int32_t n;          /* of that n-gram */
    int32_t step;       /* of the draft call: tokens drafted before */
    int32_t line;       /* numbered by first touch in this call, from 0 */
    int32_t is_first;   /* 1: of this line */
    int32_t part;       /* 0; 1 and on: further lines of the same thing */
    int32_t n_items;    /* pairs compared at once */
    int32_t n_below;    /* of them, those below the token that is searched for */
    int32_t unused;
} ngc_touch;

/* A look-up in a constmap's fuse map, whole. */
enum {
    NGC_FUSE_FOUND = 1,
    NGC_FUSE_ABSENT = 2,  /* the three checks do not give the key's: it was never put in */
    NGC_FUSE_NO_PLACE = 3 /* they do, but there are no such followers: a broken file */
};

typedef struct ngc_fuse_lookup {
    uint64_t key_hash;  /* of the 2-gram */
    uint64_t h;         /* spread with the map's seed */
    uint64_t data[3];   /* what the three cells hold */
    uint64_t checks[3];
    uint64_t value;     /* the three data, xored: position << 24 | length */
    uint64_t check;     /* the three checks, xored */
    uint64_t needed;    /* what that must be */
    int64_t position;   /* of the first follower */
    int64_t length;
    uint32_t cells[3];
    int32_t verdict;    /* NGC_FUSE_..., 0: the map is empty */
} ngc_fuse_lookup;

ngc_status ngc_constmap_look_up(const ngc_cache *cache, const int32_t *ngram,
                                ngc_fuse_lookup *lookup);

/* A part of a table around a key: the chain of its bucket, or slots around its home. Some tables
 * have their slots in lines, read as a whole: a table of places, and our own static file. */
typedef struct ngc_place {
    int64_t index;       /* of the slot; of the node in its chain */
    int64_t entry;       /* a slot's entry, its place in a text, or where its followers lie, in bytes;
                          * -1: none, or a node */
    uint64_t hash;       /* of the n-gram, whole; in our own file: the mixed key */
    int64_t fingerprint; /* slots: the bits of the hash that stand there */
    int32_t tokens[4];   /* NGC_NO_TOKEN where there is none */
    int32_t n_followers;
    int32_t distance;    /* slots or lines from home, or nodes from the chain's start; -1: empty */
} ngc_place;

typedef struct ngc_around {
    uint64_t hash;       /* of the key */
    int64_t n_buckets;   /* of the table, or slots */
    int64_t home;        /* the key's bucket, slot or line; -1: the table has none yet */
    int64_t found;       /* index of the place where it stands; -1: it is absent */
    int64_t n_visited;   /* nodes, slots or lines that the look-up visited */
    int64_t n_places;    /* to show */
    int64_t fingerprint; /* slots: of the key */
    int64_t slots_a_line; /* 0: slots do not stand in lines */
} ngc_around;

/* Looks an n-gram up, recorded, and shows what stands around: the whole chain, or slots (or all
 * slots of lines) from n_before before its home to n_after behind the last visited. Writes the first of *n_touches
 * touches and of around->n_places places. NGC_UNSUPPORTED: not such a table. */
ngc_status ngc_cache_table_around(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                                  int32_t n_before, int32_t n_after, ngc_around *around,
                                  ngc_place *places, size_t places_capacity, ngc_touch *touches,
                                  size_t touches_capacity, size_t *n_touches);

/* How well a table's hash spreads. */
typedef struct ngc_table_facts {
    int64_t n_grams;
    int64_t n_buckets;         /* or slots */
    int64_t n_empty;           /* of them */
    int64_t longest;           /* the most nodes, slots or lines visited to find one n-gram */
    int64_t sum_visited;       /* to find each once */
    int64_t n_sharing;         /* n-grams whose full hash another one in their table has as well */
    int64_t most_sharing;      /* the most n-grams with one full hash */
    uint64_t shared_hash;      /* which one */
    int32_t longest_tokens[4]; /* the n-gram that takes the longest */
} ngc_table_facts;

/* Cost: a walk and a sort; 16 bytes an n-gram while it runs. NGC_UNSUPPORTED as above. */
ngc_status ngc_cache_table_facts(const ngc_cache *cache, ngc_table_facts *facts);

/* The same in slices of some n_grams; *done is 1 after the last, and the facts are whole then. The
 * cache is borrowed; once it has changed: NGC_CHANGED. */
typedef struct ngc_measuring ngc_measuring;

ngc_status ngc_measuring_begin(const ngc_cache *cache, ngc_measuring **out);
ngc_status ngc_measuring_step(ngc_measuring *measuring, size_t n_grams, ngc_table_facts *facts,
                              int32_t *done);
void ngc_measuring_free(ngc_measuring *measuring);

/* What a search compares, in order, in pairs (token, count, token, count, ...) that ascend by
 * token; *count is the token's, 0 if it is absent. */
ngc_status ngc_search_path(const int32_t *pairs, size_t length, int32_t token, int32_t search,
                           int32_t *count, ngc_touch *touches, size_t capacity,
                           size_t *n_touches);

/* The same in the followers of an n-gram, where they lie; a map of followers is not searched so,
 * and shows its buckets and nodes. */
ngc_status ngc_cache_search_path(const ngc_cache *cache, const int32_t *ngram, int32_t n,
                                 int32_t token, int32_t search, int32_t *count, size_t *length,
                                 ngc_touch *touches, size_t capacity, size_t *n_touches);

/* How long searches take: each of these tokens is searched for, one after the other, `rounds`
 * times; *ns of the clock in all, *n_found of the tokens found. Nothing is recorded meanwhile. */
ngc_status ngc_time_searches(const int32_t *pairs, size_t length, const int32_t *tokens,
                             size_t n_tokens, size_t rounds, int32_t search, int64_t *n_found,
                             int64_t *ns);

/* The XXH3-64 hash of a 2-gram by which a constmap knows it. */
uint64_t ngc_constmap_key_hash(int32_t first, int32_t second);

/* How the fuse map of a few 2-grams is built. A key is peeled where it is alone in a cell; then
 * cells are filled in the reverse order. */
enum { NGC_MOST_PEELED = 4096 };

typedef struct ngc_peeling {
    uint64_t seed;           /* with which all keys could be peeled */
    uint32_t segment_length; /* cells */
    uint32_t segment_count;  /* two fewer than there are segments */
    uint32_t n_cells;
    int32_t n_attempts; /* seeds tried */
} ngc_peeling;

typedef struct ngc_peel_step {
    int32_t key;       /* its number */
    int32_t cell;      /* in which it was alone */
    int32_t n_waiting; /* further cells on the list of those with one key */
    int32_t unused;
} ngc_peel_step;

typedef struct ngc_assign_step {
    int32_t key;
    int32_t cell;
    uint64_t data; /* written there, so that the three cells xor to the key's value */
    uint64_t check;
} ngc_assign_step;

/* n_keys 2-grams, two tokens each, with a value each. `cells` holds three for each key, `peeled` and
 * `assigned` a step for each; data and checks hold peeling->n_cells: NGC_SMALL_BUFFER, and
 * nothing else is done, if n_cells is fewer. NGC_DUPLICATE if a key stands twice. */
ngc_status ngc_fuse_peeling(const int32_t *ngrams, const uint64_t *values, size_t n_keys,
                            ngc_peeling *peeling, uint32_t *cells, ngc_peel_step *peeled,
                            ngc_assign_step *assigned, uint64_t *data, uint64_t *checks,
                            size_t n_cells);

/* The three cells of each of n_keys 2-grams in a map of so many with the seed of the nth attempt,
 * from 1 on, whether or not all could be peeled with it. */
ngc_status ngc_fuse_attempt(const int32_t *ngrams, size_t n_keys, int32_t nth,
                            ngc_peeling *peeling, uint32_t *cells);

/* What the bytes of a file mean: one span a number. */
enum {
    NGC_SPAN_TOKEN = 1,       /* llama.cpp's file: of an n-gram; index is its place, -1 an unused one */
    NGC_SPAN_N_FOLLOWERS = 2, /* that come next */
    NGC_SPAN_FOLLOWER = 3,    /* index: of the follower in its n-gram; constmap: in the file */
    NGC_SPAN_COUNT = 4,       /* of the follower before it */
    NGC_SPAN_MAGIC = 5,       /* constmap: first bytes of the file, then in this order */
    NGC_SPAN_N_ENTRIES = 6,
    NGC_SPAN_MAP_BYTES = 7,
    NGC_SPAN_MAP_MAGIC = 8, /* first bytes of the map, then in this order */
    NGC_SPAN_SEED = 9,
    NGC_SPAN_SEGMENT_LENGTH = 10,
    NGC_SPAN_SEGMENT_COUNT = 11,
    NGC_SPAN_DATA_LEN = 12,
    NGC_SPAN_N_KEYS = 13,
    NGC_SPAN_DATA = 14, /* index: number of the cell */
    NGC_SPAN_CHECK = 15,
    NGC_SPAN_SUM = 16,
    /* Our own file; see ngc_packed_format.h. */
    NGC_SPAN_VERSION = 17,
    NGC_SPAN_HEAD_BYTES = 18,
    NGC_SPAN_FILE_BYTES = 19,
    NGC_SPAN_N_GRAMS = 20,
    NGC_SPAN_N_PAIRS = 21, /* of a 2-gram and a follower */
    NGC_SPAN_N_COUNTED = 22,
    NGC_SPAN_N_VOCAB = 23,
    NGC_SPAN_N_SECTIONS = 24,
    NGC_SPAN_N_HOMES = 25,
    NGC_SPAN_WIDTH = 26,       /* of a record's field; index: which one */
    NGC_SPAN_FINGERPRINT = 27, /* index: its place in it */
    NGC_SPAN_SECTION_KIND = 28, /* index: of the section, as with the next three */
    NGC_SPAN_SECTION_OFFSET = 29,
    NGC_SPAN_SECTION_BYTES = 30,
    NGC_SPAN_SECTION_SUM = 31,
    NGC_SPAN_RECORD = 32, /* index: its number; the most frequent follower; detail: the 2-gram, lines
                           * from home, followers, sum of counts, top count, place of the block,
                           * 1 if that has a head */
    NGC_SPAN_FREE_RECORD = 33,
    NGC_SPAN_REACH = 34, /* index: of the line */
    NGC_SPAN_ENTRY = 35, /* index: in its block; value: a follower, which its bytes hold spread (see
                            ngc_packed.h); detail: the 2-gram, the count */
    NGC_SPAN_TOP_COUNT = 36, /* a block's head is the number of followers, this, and the sum */
    NGC_SPAN_COUNTS = 37,
    NGC_SPAN_TEXT = 38, /* index: tokenizer, corpus, built by */
    NGC_SPAN_SPARE = 39,
    NGC_SPAN_MOST_COUNT = 40,
    NGC_SPAN_FILTER_LINES = 41,
    NGC_SPAN_FILTER = 42
};

enum { NGC_SPAN_DETAILS = 8 };

typedef struct ngc_span {
    int64_t offset; /* in the file */
    int64_t value;  /* what stands there */
    int64_t gram;   /* number of the n-gram in the file, from 0; -1: the format does not say */
    int64_t index;
    int32_t n_bytes;
    int32_t meaning;   /* NGC_SPAN_... */
    int64_t detail[8]; /* of some meanings; else zeros */
} ngc_span;

/* How far a file was walked; it starts zeroed. */
typedef struct ngc_file_place {
    int64_t offset;
    int64_t gram;
} ngc_file_place;

/* Walks the whole records of a piece of llama.cpp's file, as ngc_cache_load_legacy takes them, and
 * writes the first `capacity` of *n_spans spans that have a byte in from..to - 1. *n_used bytes
 * were walked; it stops at `to`. */
ngc_status ngc_legacy_spans(const uint8_t *piece, size_t piece_bytes, uint64_t file_left_bytes,
                            int64_t from, int64_t to, ngc_file_place *place, ngc_span *spans,
                            size_t capacity, size_t *n_spans, size_t *n_used);

/* The same of a constmap that was checked; its place is known at once. */
ngc_status ngc_constmap_spans(const ngc_cache *cache, int64_t from, int64_t to, ngc_span *spans,
                              size_t capacity, size_t *n_spans);

/* The same of our own file, as far as it is not damaged. `capacity` must be to - from + 2 or more:
 * NGC_SMALL_BUFFER. Cost: among the followers, a walk over all records. */
ngc_status ngc_packed_spans(const ngc_cache *cache, int64_t from, int64_t to, ngc_span *spans,
                            size_t capacity, size_t *n_spans);

/* The same draft as ngc_drafter_draft; writes the first `capacity` of *n_touches touches, in order. */
ngc_status ngc_drafter_touches(ngc_drafter *drafter, int32_t n_draft, ngc_touch *touches,
                               size_t capacity, size_t *n_touches, ngc_probe *probe);

/* ---- the machine -------------------------------------------------------------------------- */

int64_t ngc_clock_ns(void);
int64_t ngc_clock_cost_ns(void); /* of one reading, the mean of a few thousand, measured now */
const char *ngc_compiler(void);

/* CFFI-END */

#endif

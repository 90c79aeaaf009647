/* ngc_hash.h - n-grams as keys, and two hashes of them.
 *
 * A key is four token slots; those an n-gram does not use hold NGC_NO_TOKEN. The hash is the xor
 * over the slots of token * 11400714819323198485 (2^64 / golden ratio), each token sign-extended.
 * It is symmetric: (a, b) and (b, a) collide, and every (a, a) hashes to the same value.
 * Source: llama.cpp, common/ngram-cache.h. The mixed hash knows the order: each half of the key
 * goes through a multiplication of its own.
 */
#ifndef NGC_HASH_H
#define NGC_HASH_H

#include <stdbool.h>
#include <string.h>

#include "ngc.h"
#include "ngc_platform.h"

typedef struct ngc_key {
    int32_t tokens[NGC_N_MAX];
} ngc_key;

NGC_INLINE ngc_key ngc_key_of(const int32_t *tokens, int32_t n)
{
    ngc_key key = {{NGC_NO_TOKEN, NGC_NO_TOKEN, NGC_NO_TOKEN, NGC_NO_TOKEN}};
    for (int32_t i = 0; i < n; i++) {
        key.tokens[i] = tokens[i];
    }
    return key;
}

/* How many slots are used: they stand first. */
NGC_INLINE int32_t ngc_key_length(const ngc_key *key)
{
    int32_t n = 0;
    while (n < NGC_N_MAX && key->tokens[n] != NGC_NO_TOKEN) {
        n++;
    }
    return n;
}

NGC_INLINE bool ngc_key_equal(const ngc_key *a, const ngc_key *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

/* Below, equal or above 0: shorter n-grams before longer ones, then by token, the first one first. */
static inline int ngc_key_compare(const ngc_key *a, const ngc_key *b)
{
    int32_t n_a = ngc_key_length(a);
    int32_t n_b = ngc_key_length(b);
    for (int32_t i = 0; n_a == n_b && i < n_a; i++) {
        if (a->tokens[i] != b->tokens[i]) {
            return a->tokens[i] < b->tokens[i] ? -1 : 1;
        }
    }
    return (n_a > n_b) - (n_a < n_b);
}

NGC_INLINE uint64_t ngc_hash_token(int32_t token)
{
    return (uint64_t)(int64_t)token * UINT64_C(11400714819323198485);
}

NGC_INLINE uint64_t ngc_hash_xor(const ngc_key *key)
{
    return ngc_hash_token(key->tokens[0]) ^ ngc_hash_token(key->tokens[1]) ^
           ngc_hash_token(key->tokens[2]) ^ ngc_hash_token(key->tokens[3]);
}

NGC_INLINE uint64_t ngc_hash_mixed(const ngc_key *key)
{
    uint64_t low = (uint64_t)(uint32_t)key->tokens[0] | (uint64_t)(uint32_t)key->tokens[1] << 32;
    uint64_t high = (uint64_t)(uint32_t)key->tokens[2] | (uint64_t)(uint32_t)key->tokens[3] << 32;
    uint64_t h = low * UINT64_C(0x9E3779B97F4A7C15);
    h = ((h ^ (h >> 29)) + high) * UINT64_C(0xBF58476D1CE4E5B9);
    return h ^ (h >> 32);
}

/* Hashes of a text's last 1, 2, 3 and 4 tokens, each made from the one before; all their bits
 * are spread. */
typedef struct ngc_hashes {
    uint64_t of[NGC_N_MAX];
} ngc_hashes;

NGC_INLINE uint64_t ngc_hash_spread(uint64_t hash)
{
    hash *= UINT64_C(0xD6E8FEB86659FD93);
    return hash ^ (hash >> 32);
}

NGC_INLINE uint64_t ngc_hash_longer(uint64_t hash, int32_t token, int32_t kind)
{
    if (kind == NGC_HASH_XOR) {
        return hash ^ ngc_hash_token(token);
    }
    hash = (hash + (uint32_t)token + 1) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ (hash >> 32);
}

/* `end` is behind the last token. Written in place: a copy of eight bytes twice that is read as
 * sixteen at once would wait for the writes. */
NGC_INLINE void ngc_hash_last(const int32_t *end, size_t length_tokens, int32_t kind,
                              ngc_hashes *hashes)
{
    uint64_t hash = 0;
    for (size_t n = 1; n <= NGC_N_MAX && n <= length_tokens; n++) {
        hash = ngc_hash_longer(hash, end[-(ptrdiff_t)n], kind);
        hashes->of[n - 1] = kind == NGC_HASH_XOR ? ngc_hash_spread(hash) : hash;
    }
}

/* The same of the last n alone. */
NGC_INLINE uint64_t ngc_hash_run(const int32_t *end, size_t n, int32_t kind)
{
    uint64_t hash = 0;
    for (size_t i = 1; i <= n; i++) {
        hash = ngc_hash_longer(hash, end[-(ptrdiff_t)i], kind);
    }
    return kind == NGC_HASH_XOR ? ngc_hash_spread(hash) : hash;
}

NGC_INLINE uint64_t ngc_hash_key(const ngc_key *key, int32_t hash)
{
    return hash == NGC_HASH_XOR ? ngc_hash_xor(key) : ngc_hash_mixed(key);
}

#endif

/* ngc_cache_template.h - template: the operations of a cache over T(...) and F(...).
 *
 * Included with OUTER and FOLLOWERS set, after their own headers; see ngc_names.h. Where a
 * failed allocation interrupts counting or merging, what was added is taken out again. (Tables
 * that had to grow stay grown: counts are as before, the order of a saved file may not be.)
 */

typedef struct CACHE_T {
    ngc_cache head;
    TABLE_T table;
} CACHE_T;

/* for (each entry of a table) */
#define C_EACH(e, table)                                                                           \
    (T(cursor) at_##e = T(first)(table); (e = T(entry)(table, at_##e)) != NULL;                    \
     at_##e = T(next)(table, at_##e))

static void C(destroy)(ngc_cache *cache)
{
    CACHE_T *self = (CACHE_T *)cache;
    ngc_allocator allocator = cache->allocator;
    T(destroy)(&allocator, &self->table);
    free(self);
}

static void C(clear)(ngc_cache *cache)
{
    T(clear)(&cache->allocator, &((CACHE_T *)cache)->table);
}

static ngc_status C(set_buckets)(ngc_cache *cache, size_t n_buckets)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    if (table->length != 0 || n_buckets <= 1) {
        return NGC_BAD_ARGUMENT;
    }
    return T(rebucket)(&cache->allocator, table, n_buckets);
}

/* ---- counting ---- */

/* The part of llama.cpp's update that counts one follower of one n-gram. A new n-gram's
 * followers are built outside and put in, as there. */
NGC_INLINE ngc_status C(count)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                               int32_t token, int32_t search, ngc_lost *lost)
{
    ENTRY_T *entry = T(find)(table, key, NULL);
    if (entry != NULL) {
        int32_t *count = F(find)(&entry->followers, token, search);
        if (count == NULL) {
            return F(add)(allocator, &entry->followers, token, 1);
        }
        return ngc_count_up(allocator, count, 1, lost);
    }
    FOLLOWERS_T followers;
    F(init)(&followers);
    ngc_status status = F(add)(allocator, &followers, token, 1);
    if (status == NGC_OK) {
        status = T(insert)(allocator, table, key, &followers);
    }
    F(destroy)(allocator, &followers);
    return status;
}

/* Takes `count` of one follower back, less what its addition lost: a full count has a note. */
static void C(discount)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                        int32_t token, int32_t count, ngc_lost *lost, bool newest_first)
{
    ENTRY_T *entry = T(find)(table, key, NULL);
    int32_t *kept = F(find)(&entry->followers, token, NGC_SEARCH_FIXED);
    if (*kept == INT32_MAX) {
        count -= lost->amounts[newest_first ? --lost->length : lost->first++];
    }
    if (*kept > count) {
        *kept -= count;
    } else if (entry->followers.length > 1) {
        F(remove)(allocator, &entry->followers, token);
    } else {
        T(remove)(allocator, table, entry);
    }
}

NGC_INLINE size_t C(first_counted)(size_t length_tokens, size_t n_new_tokens, int32_t n)
{
    size_t from = length_tokens - n_new_tokens;
    return from < (size_t)n ? (size_t)n : from;
}

/* Takes back what an update counted before it failed at size n, position end: newest first. */
static void C(undo_update)(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                           size_t n_new_tokens, int32_t n, size_t end, ngc_lost *lost)
{
    for (; n >= cache->n_min; n--, end = length_tokens) {
        size_t start = C(first_counted)(length_tokens, n_new_tokens, n);
        for (size_t i = end; i > start; i--) {
            ngc_key key = ngc_key_of(text + i - 1 - n, n);
            C(discount)(&cache->allocator, &((CACHE_T *)cache)->table, &key, text[i - 1], 1, lost,
                        true);
        }
    }
}

static ngc_status C(update)(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    int32_t search = cache->toggles.search;
    ngc_lost lost = {0};
    ngc_status status = NGC_OK;
    for (int32_t n = cache->n_min; n <= cache->n_max && status == NGC_OK; n++) {
        for (size_t i = C(first_counted)(length_tokens, n_new_tokens, n); i < length_tokens; i++) {
            ngc_key key = ngc_key_of(text + i - n, n);
            status = C(count)(&cache->allocator, table, &key, text[i], search, &lost);
            if (status != NGC_OK) {
                C(undo_update)(cache, text, length_tokens, n_new_tokens, n, i, &lost);
                break;
            }
        }
    }
    ngc_lost_free(&cache->allocator, &lost);
    return status;
}

/* ---- merging ---- */

/* Full counts that come in new lose nothing. */
static ngc_status C(note_full)(ngc_allocator *allocator, const FOLLOWERS_T *followers,
                               ngc_lost *lost)
{
    ngc_status status = NGC_OK;
    for (F(cursor) c = F(first)(followers); F(more)(followers, c) && status == NGC_OK;
         c = F(next)(c)) {
        if (c->count == INT32_MAX) {
            status = ngc_lost_note(allocator, lost, 0);
        }
    }
    return status;
}

/* Puts a copy in. llama.cpp's loop over pairs copies each map twice before it is inserted.
 * Nothing is gained by it, but where malloc puts the map that stays depends on what was freed
 * before, and with it how far apart the entries of the merged cache lie; so the structure that
 * stands for llama.cpp's does the same (C_COPIES_LIKE_LLAMA_CPP). */
static ngc_status C(insert_copy)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                                 const FOLLOWERS_T *followers, ngc_lost *lost)
{
    FOLLOWERS_T pair, part;
    ngc_status status = C(note_full)(allocator, followers, lost);
    if (status == NGC_OK) {
        status = F(copy)(allocator, &part, followers);
    }
    if (status != NGC_OK) {
        return status;
    }
    if (C_COPIES_LIKE_LLAMA_CPP) {
        status = F(copy)(allocator, &pair, &part);
    }
    if (status == NGC_OK) {
        status = T(insert)(allocator, table, key, &part);
        if (C_COPIES_LIKE_LLAMA_CPP) {
            F(destroy)(allocator, &pair);
        }
    }
    F(destroy)(allocator, &part);
    return status;
}

NGC_INLINE ngc_status C(merge_one)(ngc_allocator *allocator, ENTRY_T *entry, int32_t token,
                                   int32_t added, ngc_lost *lost)
{
    int32_t *count = F(find)(&entry->followers, token, NGC_SEARCH_FIXED);
    if (count != NULL) {
        return ngc_count_up(allocator, count, added, lost);
    }
    ngc_status status = added == INT32_MAX ? ngc_lost_note(allocator, lost, 0) : NGC_OK;
    return status == NGC_OK ? F(add)(allocator, &entry->followers, token, added) : status;
}

/* Adds one n-gram's followers; on failure takes back those already added. */
static ngc_status C(merge_entry)(ngc_allocator *allocator, TABLE_T *table, const ENTRY_T *added,
                                 ngc_lost *lost)
{
    ENTRY_T *entry = T(find)(table, &added->key, NULL);
    if (entry == NULL) {
        return C(insert_copy)(allocator, table, &added->key, &added->followers, lost);
    }
    lost->first = lost->length;
    F(cursor) failed = F(first)(&added->followers);
    for (; F(more)(&added->followers, failed); failed = F(next)(failed)) {
        if (C(merge_one)(allocator, entry, failed->token, failed->count, lost) != NGC_OK) {
            break;
        }
    }
    if (!F(more)(&added->followers, failed)) {
        return NGC_OK;
    }
    for (F(cursor) done = F(first)(&added->followers); done != failed; done = F(next)(done)) {
        C(discount)(allocator, table, &added->key, done->token, done->count, lost, false);
    }
    return NGC_NO_MEMORY;
}

/* Takes back what a merge added before it failed at an entry: oldest first. */
static void C(undo_merge)(ngc_cache *cache, const TABLE_T *from, const ENTRY_T *failed,
                          ngc_lost *lost)
{
    lost->first = 0;
    const ENTRY_T *done;
    for C_EACH(done, from) {
        if (done == failed) {
            break;
        }
        for (F(cursor) c = F(first)(&done->followers); F(more)(&done->followers, c);
             c = F(next)(c)) {
            C(discount)(&cache->allocator, &((CACHE_T *)cache)->table, &done->key, c->token,
                        c->count, lost, false);
        }
    }
}

static ngc_status C(merge)(ngc_cache *cache, const ngc_cache *added)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    const TABLE_T *from = &((const CACHE_T *)added)->table;
    ngc_lost lost = {0};
    const ENTRY_T *failed;
    for C_EACH(failed, from) {
        if (C(merge_entry)(&cache->allocator, table, failed, &lost) != NGC_OK) {
            C(undo_merge)(cache, from, failed, &lost);
            break;
        }
    }
    ngc_lost_free(&cache->allocator, &lost);
    return failed == NULL ? NGC_OK : NGC_NO_MEMORY;
}

/* ---- files ---- */

/* Adds an n-gram with its followers as a file lists them. As in llama.cpp they are gathered
 * outside and put in, and nothing else is allocated: that decides where entries lie. */
static ngc_status C(insert)(ngc_cache *cache, const ngc_key *key, const uint8_t *pairs,
                            size_t n_pairs)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    cache->passed += T(crowd)(table, key);
    if (T(find)(table, key, NULL) != NULL) {
        return NGC_DUPLICATE;
    }
    FOLLOWERS_T followers;
    F(init)(&followers);
    ngc_status status = F(take)(&cache->allocator, &followers, pairs, n_pairs);
    if (status == NGC_OK) {
        status = T(insert)(&cache->allocator, table, key, &followers);
    }
    F(destroy)(&cache->allocator, &followers);
    return status;
}

NGC_INLINE size_t C(record_bytes)(const ENTRY_T *entry)
{
    return 20 + NGC_PAIR_BYTES * (size_t)entry->followers.length;
}

static uint8_t *C(put_record)(uint8_t *out, const ENTRY_T *entry)
{
    int32_t n_followers = (int32_t)entry->followers.length;
    out = ngc_put_int32s(out, entry->key.tokens, NGC_N_MAX);
    out = ngc_put_int32s(out, &n_followers, 1);
    for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
         c = F(next)(c)) {
        int32_t pair[2] = {c->token, c->count};
        out = ngc_put_int32s(out, pair, 2);
    }
    return out;
}

/* In list order, or in the order of insertion. */
static ngc_status C(save)(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                          size_t capacity_bytes, size_t *n_written)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    T(cursor) at = T(resume)(table, cursor);
    int64_t n_done = cursor->n_done;
    uint8_t *out = buffer;
    const ENTRY_T *entry;
    for (; (entry = T(entry)(table, at)) != NULL; at = T(next)(table, at), n_done++) {
        if (C(record_bytes)(entry) > capacity_bytes - (size_t)(out - buffer)) {
            break;
        }
        out = C(put_record)(out, entry);
    }
    if (entry != NULL && out == buffer) {
        return NGC_SMALL_BUFFER;
    }
    cursor->n_done = n_done;
    T(suspend)(cursor, at);
    *n_written = (size_t)(out - buffer);
    return NGC_OK;
}

static int C(compare_entries)(const void *a, const void *b)
{
    return ngc_key_compare(&(*(const ENTRY_T *const *)a)->key, &(*(const ENTRY_T *const *)b)->key);
}

/* Its entries, ascending by key; `places` has room for all. */
static ngc_status C(sort)(const ngc_cache *cache, const void **places)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    size_t n = 0;
    const ENTRY_T *entry;
    for C_EACH(entry, table) {
        places[n++] = entry;
    }
    qsort(places, n, sizeof *places, C(compare_entries));
    return NGC_OK;
}

static ngc_status C(save_sorted)(const ngc_cache *cache, const void *const *places,
                                 size_t n_places, ngc_cursor *cursor, uint8_t *buffer,
                                 size_t capacity_bytes, size_t *n_written)
{
    (void)cache;
    uint8_t *out = buffer;
    size_t at = (size_t)cursor->n_done;
    for (; at < n_places; at++) {
        const ENTRY_T *entry = places[at];
        if (C(record_bytes)(entry) > capacity_bytes - (size_t)(out - buffer)) {
            break;
        }
        out = C(put_record)(out, entry);
    }
    if (at < n_places && out == buffer) {
        return NGC_SMALL_BUFFER;
    }
    cursor->n_done = (int64_t)at;
    *n_written = (size_t)(out - buffer);
    return NGC_OK;
}

/* ---- looking ---- */

static void C(followers)(const ngc_cache *cache, const ngc_key *key, int32_t *tokens,
                         int32_t *counts, size_t capacity, size_t *n_followers)
{
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, NULL);
    size_t i = 0;
    if (entry != NULL) {
        for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
             c = F(next)(c), i++) {
            if (i < capacity) {
                tokens[i] = c->token;
                counts[i] = c->count;
            }
        }
    }
    *n_followers = i;
}

static void C(facts)(const ngc_cache *cache, ngc_cache_facts *facts)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    facts->n_buckets = (int64_t)T(n_buckets)(table);
    const ENTRY_T *entry;
    for C_EACH(entry, table) {
        facts->n_grams++;
        facts->n_grams_by_n[ngc_key_length(&entry->key) - 1]++;
        facts->n_followers += (int64_t)entry->followers.length;
    }
}

static void C(walk)(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                    size_t capacity, size_t *n_written)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    T(cursor) at = T(resume)(table, cursor);
    size_t i = 0;
    const ENTRY_T *entry;
    for (; i < capacity && (entry = T(entry)(table, at)) != NULL; i++, at = T(next)(table, at)) {
        memcpy(facts[i].tokens, entry->key.tokens, sizeof facts[i].tokens);
        facts[i].n = ngc_key_length(&entry->key);
        facts[i].n_followers = (int32_t)entry->followers.length;
        facts[i].sum = 0;
        for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
             c = F(next)(c)) {
            facts[i].sum += c->count;
        }
    }
    cursor->n_done += (int64_t)i;
    T(suspend)(cursor, at);
    *n_written = i;
}

static const char *C(broken)(const ngc_cache *cache)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    const char *reason = T(broken)(table);
    const ENTRY_T *entry;
    for C_EACH(entry, table) {
        if (reason == NULL) {
            reason = F(broken)(&entry->followers);
        }
        if (entry->followers.length == 0) {
            reason = "an n-gram has no followers";
        }
    }
    return reason;
}

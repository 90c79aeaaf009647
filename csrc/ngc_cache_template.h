/* ngc_cache_template.h - template: the operations of a cache over T(...) and F(...).
 *
 * Included with OUTER and FOLLOWERS set, after their own headers; see ngc_names.h. Where a
 * failed allocation interrupts counting or merging, what was added is taken out again, newest
 * first. (Tables that had to grow stay grown: counts are as before, the order of a saved file
 * may not be.)
 */

typedef struct CACHE_T {
    ngc_cache head;
    TABLE_T table;
} CACHE_T;

static void C(destroy)(ngc_cache *cache)
{
    CACHE_T *self = (CACHE_T *)cache;
    ngc_allocator allocator = cache->allocator;
    T(clear)(&allocator, &self->table);
    T(free_buckets)(&allocator, &self->table);
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

/* The part of llama.cpp's update that counts one follower of one n-gram. A new n-gram's map is
 * built outside and copied in, as there: the requests to malloc are to be the same. */
NGC_INLINE ngc_status C(count)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                               int32_t token)
{
    int64_t visited = 0;
    ENTRY_T *entry = T(find)(table, key, &visited);
    if (entry != NULL) {
        int32_t *count = F(find)(&entry->followers, token);
        if (count == NULL) {
            return F(add)(allocator, &entry->followers, token, 1);
        }
        *count += *count < INT32_MAX;
        return NGC_OK;
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

/* Takes `count` of one follower back. */
static void C(discount)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                        int32_t token, int32_t count)
{
    int64_t visited = 0;
    ENTRY_T *entry = T(find)(table, key, &visited);
    int32_t *kept = F(find)(&entry->followers, token);
    if (*kept > count) {
        *kept -= count;
        return;
    }
    if (entry->followers.length > 1) {
        F(remove)(allocator, &entry->followers, token);
    } else {
        T(remove)(allocator, table, entry);
    }
}

static ngc_status C(update)(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    size_t from = length_tokens - n_new_tokens;
    for (int32_t n = cache->n_min; n <= cache->n_max; n++) {
        size_t start = from < (size_t)n ? (size_t)n : from;
        for (size_t i = start; i < length_tokens; i++) {
            ngc_key key = ngc_key_of(text + i - n, n);
            if (C(count)(&cache->allocator, table, &key, text[i]) == NGC_OK) {
                continue;
            }
            for (; n >= cache->n_min; n--) {
                start = from < (size_t)n ? (size_t)n : from;
                while (i > start) {
                    i--;
                    key = ngc_key_of(text + i - n, n);
                    C(discount)(&cache->allocator, table, &key, text[i], 1);
                }
                i = length_tokens;
            }
            return NGC_NO_MEMORY;
        }
    }
    return NGC_OK;
}

/* ---- merging ---- */

NGC_INLINE ngc_status C(merge_one)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                                   int32_t token, int32_t added)
{
    int64_t visited = 0;
    ENTRY_T *entry = T(find)(table, key, &visited);
    int32_t *count = F(find)(&entry->followers, token);
    if (count == NULL) {
        return F(add)(allocator, &entry->followers, token, added);
    }
    *count = *count > INT32_MAX - added ? INT32_MAX : *count + added;
    return NGC_OK;
}

/* llama.cpp's loop over pairs copies each map twice before it is inserted. Nothing is gained
 * here by it, but what malloc hands out for the map that stays depends on what was freed before,
 * and with it how far apart the entries of the merged cache lie. */
static ngc_status C(insert_merged)(ngc_allocator *allocator, TABLE_T *table,
                                   const ENTRY_T *entry)
{
    FOLLOWERS_T pair, part;
    ngc_status status = F(copy)(allocator, &pair, &entry->followers);
    if (status != NGC_OK) {
        return status;
    }
    status = F(copy)(allocator, &part, &pair);
    if (status == NGC_OK) {
        status = T(insert)(allocator, table, &entry->key, &part);
        F(destroy)(allocator, &part);
    }
    F(destroy)(allocator, &pair);
    return status;
}

/* Adds one n-gram's followers; on failure takes back those already added. */
static ngc_status C(merge_entry)(ngc_allocator *allocator, TABLE_T *table, const ENTRY_T *entry)
{
    int64_t visited = 0;
    if (T(find)(table, &entry->key, &visited) == NULL) {
        return C(insert_merged)(allocator, table, entry);
    }
    F(cursor) failed = F(first)(&entry->followers);
    for (; F(more)(&entry->followers, failed); failed = F(next)(failed)) {
        if (C(merge_one)(allocator, table, &entry->key, failed->token, failed->count) != NGC_OK) {
            break;
        }
    }
    if (!F(more)(&entry->followers, failed)) {
        return NGC_OK;
    }
    for (F(cursor) done = F(first)(&entry->followers); done != failed; done = F(next)(done)) {
        C(discount)(allocator, table, &entry->key, done->token, done->count);
    }
    return NGC_NO_MEMORY;
}

static ngc_status C(merge)(ngc_cache *cache, const ngc_cache *added)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    const TABLE_T *from = &((const CACHE_T *)added)->table;
    const ENTRY_T *failed = T(first)(from);
    for (; failed != NULL; failed = T(next)(failed)) {
        if (C(merge_entry)(&cache->allocator, table, failed) != NGC_OK) {
            break;
        }
    }
    if (failed == NULL) {
        return NGC_OK;
    }
    for (const ENTRY_T *done = T(first)(from); done != failed; done = T(next)(done)) {
        for (F(cursor) c = F(first)(&done->followers); F(more)(&done->followers, c);
             c = F(next)(c)) {
            C(discount)(&cache->allocator, table, &done->key, c->token, c->count);
        }
    }
    return NGC_NO_MEMORY;
}

/* ---- files ---- */

/* Adds an n-gram with its followers as a file lists them. As in llama.cpp the map is built
 * outside and copied in, and nothing else is allocated: that decides where its entries lie. */
static ngc_status C(insert)(ngc_cache *cache, const ngc_key *key, const uint8_t *pairs,
                            size_t n_pairs)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    int64_t visited = 0;
    if (T(find)(table, key, &visited) != NULL) {
        return NGC_DUPLICATE;
    }
    FOLLOWERS_T followers;
    F(init)(&followers);
    ngc_status status = NGC_OK;
    for (size_t i = 0; i < n_pairs && status == NGC_OK; i++) {
        int32_t token = ngc_get_int32(pairs + NGC_PAIR_BYTES * i);
        int32_t count = ngc_get_int32(pairs + NGC_PAIR_BYTES * i + 4);
        status = F(find)(&followers, token) != NULL
                     ? NGC_DUPLICATE
                     : F(add)(&cache->allocator, &followers, token, count);
    }
    if (status == NGC_OK) {
        status = T(insert)(&cache->allocator, table, key, &followers);
    }
    F(destroy)(&cache->allocator, &followers);
    return status;
}

static const ENTRY_T *C(cursor_entry)(const ngc_cache *cache, const ngc_cursor *cursor)
{
    if (cursor->at == NULL && cursor->n_done == 0) {
        return T(first)(&((const CACHE_T *)cache)->table);
    }
    return cursor->at;
}

static ngc_status C(save)(const ngc_cache *cache, ngc_cursor *cursor, uint8_t *buffer,
                          size_t capacity_bytes, size_t *n_written)
{
    const ENTRY_T *entry = C(cursor_entry)(cache, cursor);
    uint8_t *out = buffer;
    for (; entry != NULL; entry = T(next)(entry)) {
        size_t record_bytes = 20 + 8 * entry->followers.length;
        if (record_bytes > capacity_bytes - (size_t)(out - buffer)) {
            break;
        }
        out = ngc_put_int32s(out, entry->key.tokens, NGC_N_MAX);
        int32_t n_followers = (int32_t)entry->followers.length;
        out = ngc_put_int32s(out, &n_followers, 1);
        for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
             c = F(next)(c)) {
            int32_t pair[2] = {c->token, c->count};
            out = ngc_put_int32s(out, pair, 2);
        }
        cursor->n_done++;
    }
    if (entry != NULL && out == buffer) {
        return NGC_SMALL_BUFFER;
    }
    cursor->at = entry;
    *n_written = (size_t)(out - buffer);
    return NGC_OK;
}

/* ---- looking ---- */

static void C(followers)(const ngc_cache *cache, const ngc_key *key, int32_t *tokens,
                         int32_t *counts, size_t capacity, size_t *n_followers)
{
    int64_t visited = 0;
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, &visited);
    *n_followers = 0;
    if (entry == NULL) {
        return;
    }
    size_t i = 0;
    for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
             c = F(next)(c), i++) {
        if (i < capacity) {
            tokens[i] = c->token;
            counts[i] = c->count;
        }
    }
    *n_followers = i;
}

static void C(facts)(const ngc_cache *cache, ngc_cache_facts *facts)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    facts->n_buckets = (int64_t)table->n_buckets;
    for (const ENTRY_T *entry = T(first)(table); entry != NULL; entry = T(next)(entry)) {
        facts->n_grams++;
        facts->n_grams_by_n[ngc_key_length(&entry->key) - 1]++;
        facts->n_followers += (int64_t)entry->followers.length;
    }
}

static void C(walk)(const ngc_cache *cache, ngc_cursor *cursor, ngc_ngram_facts *facts,
                    size_t capacity, size_t *n_written)
{
    const ENTRY_T *entry = C(cursor_entry)(cache, cursor);
    size_t i = 0;
    for (; i < capacity && entry != NULL; i++, entry = T(next)(entry)) {
        memcpy(facts[i].tokens, entry->key.tokens, sizeof facts[i].tokens);
        facts[i].n = ngc_key_length(&entry->key);
        facts[i].n_followers = (int32_t)entry->followers.length;
        facts[i].sum = 0;
        for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
             c = F(next)(c)) {
            facts[i].sum += c->count;
        }
    }
    cursor->at = entry;
    cursor->n_done += (int64_t)i;
    *n_written = i;
}

static const char *C(broken)(const ngc_cache *cache)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    const char *reason = T(broken)(table);
    for (const ENTRY_T *entry = T(first)(table); reason == NULL && entry != NULL;
         entry = T(next)(entry)) {
        reason = F(broken)(&entry->followers);
        if (entry->followers.length == 0) {
            reason = "an n-gram has no followers";
        }
    }
    return reason;
}

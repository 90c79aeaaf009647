/* ngc_cache_template.h - template: the operations of a cache over T(...) and F(...).
 *
 * Included with OUTER and FOLLOWERS set, after their own headers; see ngc_names.h. Where a
 * failed allocation interrupts counting or merging, what was added is taken out again. (Tables
 * that had to grow stay grown: counts are as before, the order of a saved file may not be.)
 */

typedef struct CACHE_T {
    ngc_cache head;
    TABLE_T table;
    int64_t n_grams_by_n[NGC_N_MAX]; /* kept, so that nobody has to walk for them */
    int64_t n_followers;
} CACHE_T;

static void C(destroy)(ngc_cache *cache)
{
    CACHE_T *self = (CACHE_T *)cache;
    ngc_allocator allocator = cache->allocator;
    T(destroy)(&allocator, &self->table);
    free(self);
}

static void C(clear)(ngc_cache *cache)
{
    CACHE_T *self = (CACHE_T *)cache;
    T(clear)(&cache->allocator, &self->table);
    memset(self->n_grams_by_n, 0, sizeof self->n_grams_by_n);
    self->n_followers = 0;
}

static bool C(grow_on)(ngc_cache *cache, size_t n)
{
    return T(grow_on)(&((CACHE_T *)cache)->table, n);
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

/* Puts an n-gram in that is absent, with its followers, which stay the caller's. In a slice,
 * NGC_NOT_YET: nothing is put in, and what comes next is the same once more, or going on growing. */
NGC_INLINE ngc_status C(put_in)(CACHE_T *self, const ngc_key *key, FOLLOWERS_T *followers)
{
    size_t length = followers->length;
    size_t grown_at_once = self->head.in_slices ? self->head.grown_at_once : SIZE_MAX;
    ngc_status status =
        T(insert)(&self->head.allocator, &self->table, key, followers, grown_at_once);
    if (status == NGC_OK) {
        self->n_grams_by_n[ngc_key_length(key) - 1]++;
        self->n_followers += (int64_t)length;
    }
    return status;
}

NGC_INLINE ngc_status C(add_follower)(CACHE_T *self, FOLLOWERS_T *followers, int32_t token,
                                      int32_t count)
{
    ngc_status status = F(add)(&self->head.allocator, followers, token, count);
    self->n_followers += status == NGC_OK;
    return status;
}

/* The part of llama.cpp's update that counts one follower of one n-gram. A new n-gram's
 * followers are built outside and put in, as there. */
NGC_INLINE ngc_status C(count)(CACHE_T *self, const ngc_key *key, int32_t token, int32_t search,
                               ngc_lost *lost)
{
    ngc_allocator *allocator = &self->head.allocator;
    ENTRY_T *entry = T(find)(&self->table, key, NULL);
    if (entry != NULL) {
        int32_t *count = F(find)(&entry->followers, token, search);
        return count == NULL ? C(add_follower)(self, &entry->followers, token, 1)
                             : ngc_count_up(allocator, count, 1, lost);
    }
    FOLLOWERS_T followers;
    F(init)(&followers);
    ngc_status status = F(add)(allocator, &followers, token, 1);
    if (status == NGC_OK) {
        status = C(put_in)(self, key, &followers);
    }
    F(destroy)(allocator, &followers);
    return status;
}

/* Takes `count` of one follower back, less what its addition lost: a full count has a note. */
static void C(discount)(CACHE_T *self, const ngc_key *key, int32_t token, int32_t count,
                        ngc_lost *lost, bool newest_first)
{
    ngc_allocator *allocator = &self->head.allocator;
    ENTRY_T *entry = T(find)(&self->table, key, NULL);
    int32_t *kept = F(find)(&entry->followers, token, NGC_SEARCH_FIXED);
    if (*kept == INT32_MAX) {
        count -= lost->amounts[newest_first ? --lost->length : lost->first++];
    }
    if (*kept > count) {
        *kept -= count;
        return;
    }
    self->n_followers--;
    if (entry->followers.length > 1) {
        F(remove)(allocator, &entry->followers, token);
    } else {
        self->n_grams_by_n[ngc_key_length(key) - 1]--;
        T(remove)(allocator, &self->table, entry);
    }
}

NGC_INLINE size_t C(first_counted)(size_t length_tokens, size_t n_new_tokens, int32_t n)
{
    size_t from = length_tokens - n_new_tokens;
    return from < (size_t)n ? (size_t)n : from;
}

/* Goes on with counting a text, all of it for one size of n-gram, then for the next. */
static ngc_status C(count_slice)(ngc_adding *adding, size_t n_tokens)
{
    CACHE_T *self = (CACHE_T *)adding->cache;
    int32_t search = self->head.toggles.search;
    const int32_t *text = adding->text;
    while (adding->n <= self->head.n_max) {
        int32_t n = adding->n;
        for (; adding->place < adding->length_tokens; adding->place++) {
            if (n_tokens-- == 0) {
                return NGC_OK;
            }
            ngc_key key = ngc_key_of(text + adding->place - n, n);
            ngc_status status =
                C(count)(self, &key, text[adding->place], search, &adding->lost);
            if (status != NGC_OK) {
                return status == NGC_NOT_YET ? NGC_OK : status;
            }
        }
        adding->n++;
        adding->place =
            C(first_counted)(adding->length_tokens, adding->n_new_tokens, adding->n);
    }
    adding->done = true;
    return NGC_OK;
}

/* Takes back what was counted of a text: newest first. */
static void C(uncount_slice)(ngc_adding *adding, size_t n_tokens)
{
    CACHE_T *self = (CACHE_T *)adding->cache;
    const int32_t *text = adding->text;
    while (adding->n >= self->head.n_min) {
        int32_t n = adding->n;
        size_t first = C(first_counted)(adding->length_tokens, adding->n_new_tokens, n);
        for (; adding->place > first; adding->place--) {
            if (n_tokens-- == 0) {
                return;
            }
            ngc_key key = ngc_key_of(text + adding->place - 1 - n, n);
            C(discount)(self, &key, text[adding->place - 1], 1, &adding->lost, true);
        }
        adding->n--;
        adding->place = adding->length_tokens;
    }
    adding->done = true;
}

static ngc_status C(update)(ngc_cache *cache, const int32_t *text, size_t length_tokens,
                            size_t n_new_tokens)
{
    ngc_adding adding = {.cache = cache, .text = text, .length_tokens = length_tokens,
                         .n_new_tokens = n_new_tokens, .n = cache->n_min};
    adding.place = C(first_counted)(length_tokens, n_new_tokens, adding.n);
    ngc_status status = C(count_slice)(&adding, SIZE_MAX);
    if (status != NGC_OK) {
        C(uncount_slice)(&adding, SIZE_MAX);
    }
    ngc_lost_free(&cache->allocator, &adding.lost);
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
static ngc_status C(insert_copy)(CACHE_T *self, const ngc_key *key,
                                 const FOLLOWERS_T *followers, ngc_lost *lost)
{
    ngc_allocator *allocator = &self->head.allocator;
    FOLLOWERS_T pair, part;
    size_t n_lost = lost->length;
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
        status = C(put_in)(self, key, &part);
        if (C_COPIES_LIKE_LLAMA_CPP) {
            F(destroy)(allocator, &pair);
        }
    }
    F(destroy)(allocator, &part);
    lost->length = status == NGC_NOT_YET ? n_lost : lost->length;
    return status;
}

NGC_INLINE ngc_status C(merge_one)(CACHE_T *self, ENTRY_T *entry, int32_t token, int32_t added,
                                   ngc_lost *lost)
{
    ngc_allocator *allocator = &self->head.allocator;
    int32_t *count = F(find)(&entry->followers, token, NGC_SEARCH_FIXED);
    if (count != NULL) {
        return ngc_count_up(allocator, count, added, lost);
    }
    ngc_status status = added == INT32_MAX ? ngc_lost_note(allocator, lost, 0) : NGC_OK;
    return status == NGC_OK ? C(add_follower)(self, &entry->followers, token, added) : status;
}

/* Adds one n-gram's followers; on failure takes back those already added. */
static ngc_status C(merge_entry)(CACHE_T *self, const ENTRY_T *added, ngc_lost *lost)
{
    ENTRY_T *entry = T(find)(&self->table, &added->key, NULL);
    if (entry == NULL) {
        return C(insert_copy)(self, &added->key, &added->followers, lost);
    }
    lost->first = lost->length;
    F(cursor) failed = F(first)(&added->followers);
    for (; F(more)(&added->followers, failed); failed = F(next)(failed)) {
        if (C(merge_one)(self, entry, failed->token, failed->count, lost) != NGC_OK) {
            break;
        }
    }
    if (!F(more)(&added->followers, failed)) {
        return NGC_OK;
    }
    for (F(cursor) done = F(first)(&added->followers); done != failed; done = F(next)(done)) {
        C(discount)(self, &added->key, done->token, done->count, lost, false);
    }
    return NGC_NO_MEMORY;
}

/* Goes on with adding another cache, in the order of its list. */
static ngc_status C(merge_slice)(ngc_adding *adding, size_t n_pairs)
{
    CACHE_T *self = (CACHE_T *)adding->cache;
    const TABLE_T *from = &((const CACHE_T *)adding->added)->table;
    T(cursor) at = T(resume)(from, &adding->added_to);
    int64_t n_done = adding->added_to.n_done;
    ngc_status status = NGC_OK;
    const ENTRY_T *entry;
    for (size_t n = 0; n < n_pairs && (entry = T(entry)(from, at)) != NULL;
         n += 1 + (size_t)entry->followers.length, at = T(next)(from, at), n_done++) {
        status = C(merge_entry)(self, entry, &adding->lost);
        if (status != NGC_OK) {
            break;
        }
    }
    adding->done = T(entry)(from, at) == NULL;
    adding->added_to.n_done = n_done;
    T(suspend)(&adding->added_to, at);
    return status == NGC_NOT_YET ? NGC_OK : status;
}

/* Takes back what a merge added: oldest first. */
static void C(unmerge_slice)(ngc_adding *adding, size_t n_pairs)
{
    CACHE_T *self = (CACHE_T *)adding->cache;
    const TABLE_T *from = &((const CACHE_T *)adding->added)->table;
    T(cursor) at = T(resume)(from, &adding->taken_back_to);
    int64_t n_done = adding->taken_back_to.n_done;
    for (size_t n = 0; n < n_pairs && n_done < adding->added_to.n_done;
         at = T(next)(from, at), n_done++) {
        const ENTRY_T *entry = T(entry)(from, at);
        for (F(cursor) c = F(first)(&entry->followers); F(more)(&entry->followers, c);
             c = F(next)(c), n++) {
            C(discount)(self, &entry->key, c->token, c->count, &adding->lost, false);
        }
    }
    adding->taken_back_to.n_done = n_done;
    T(suspend)(&adding->taken_back_to, at);
    adding->done = n_done == adding->added_to.n_done;
}

/* ---- files ---- */

/* Adds an n-gram with its followers as a file lists them. As in llama.cpp they are gathered
 * outside and put in, and nothing else is allocated: that decides where entries lie. */
static ngc_status C(insert)(ngc_cache *cache, const ngc_key *key, const uint8_t *pairs,
                            size_t n_pairs)
{
    TABLE_T *table = &((CACHE_T *)cache)->table;
    uint64_t passed = T(crowd)(table, key);
    if (T(find)(table, key, NULL) != NULL) {
        return NGC_DUPLICATE;
    }
    FOLLOWERS_T followers;
    F(init)(&followers);
    ngc_status status = F(take)(&cache->allocator, &followers, pairs, n_pairs);
    if (status == NGC_OK) {
        status = C(put_in)((CACHE_T *)cache, key, &followers);
    }
    F(destroy)(&cache->allocator, &followers);
    cache->passed += status == NGC_NOT_YET ? 0 : passed;
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

/* Where the next entries stand. */
static size_t C(gather_items)(const ngc_cache *cache, ngc_cursor *cursor, void *items,
                              size_t capacity, size_t n_grams, bool *last)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    const ENTRY_T **places = items;
    T(cursor) at = T(resume)(table, cursor);
    size_t n = 0;
    const ENTRY_T *entry;
    for (; n < n_grams && n < capacity && (entry = T(entry)(table, at)) != NULL;
         at = T(next)(table, at)) {
        places[n++] = entry;
    }
    *last = T(entry)(table, at) == NULL;
    cursor->n_done += (int64_t)n;
    T(suspend)(cursor, at);
    return n;
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
    const CACHE_T *self = (const CACHE_T *)cache;
    facts->n_buckets = (int64_t)T(n_buckets)(&self->table);
    for (int i = 0; i < NGC_N_MAX; i++) {
        facts->n_grams_by_n[i] = self->n_grams_by_n[i];
        facts->n_grams += self->n_grams_by_n[i];
    }
    facts->n_followers = self->n_followers;
}

static int64_t C(slack_bytes)(const ngc_cache *cache)
{
    const CACHE_T *self = (const CACHE_T *)cache;
    return T(slack_bytes)(&cache->allocator, &self->table) +
           F(slack_bytes)(&cache->allocator, self->n_followers);
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

/* First the table, then what stands in it. */
static const char *C(check_slice)(const ngc_cache *cache, ngc_checking *checking, size_t n_grams)
{
    const CACHE_T *self = (const CACHE_T *)cache;
    ngc_cursor cursor = {.at = checking->at, .n_done = checking->n_passed};
    if (checking->phase == 0) {
        bool last = false;
        const char *reason = T(check_slice)(&self->table, &cursor, &checking->n_used, n_grams, &last);
        checking->at = last ? NULL : cursor.at;
        checking->n_passed = last ? 0 : cursor.n_done;
        checking->phase = last;
        return reason;
    }
    T(cursor) at = T(resume)(&self->table, &cursor);
    const ENTRY_T *entry;
    for (size_t n = 0; n < n_grams && (entry = T(entry)(&self->table, at)) != NULL;
         at = T(next)(&self->table, at), cursor.n_done++) {
        const char *reason = F(broken)(&entry->followers);
        if (reason != NULL || entry->followers.length == 0) {
            return reason != NULL ? reason : "an n-gram has no followers";
        }
        checking->n_grams_by_n[ngc_key_length(&entry->key) - 1]++;
        checking->n_followers += (int64_t)entry->followers.length;
        n += 1 + (size_t)entry->followers.length;
    }
    checking->n_passed = cursor.n_done;
    T(suspend)(&cursor, at);
    checking->at = cursor.at;
    checking->done = T(entry)(&self->table, at) == NULL;
    bool counted = memcmp(checking->n_grams_by_n, self->n_grams_by_n,
                          sizeof self->n_grams_by_n) == 0 &&
                   checking->n_followers == self->n_followers;
    return !checking->done || counted ? NULL : "the kept number of n-grams or followers is wrong";
}

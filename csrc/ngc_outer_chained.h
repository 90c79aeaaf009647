/* ngc_outer_chained.h - template: the outer table from n-gram to followers as a hash map that
 * costs and orders as GNU libstdc++'s unordered_map<common_ngram, ...> does.
 *
 * The same list and buckets as in ngc_followers_chained.h, with two differences: a node carries
 * its whole hash (libstdc++ does so when the hash may throw), and its followers stand inside it:
 *
 *     node   next 8 | key 16 | followers 56 | hash 8   = 88 bytes, one malloc
 *
 * Included with OUTER = chained and FOLLOWERS set; see ngc_names.h.
 */

typedef struct ENTRY_T {
    struct ENTRY_T *next;
    ngc_key key;
    FOLLOWERS_T followers;
    uint64_t hash;
} ENTRY_T;

typedef struct TABLE_T {
    ENTRY_T ***buckets;
    size_t n_buckets;
    ENTRY_T *head;
    ENTRY_T *unlinked; /* the rest of the list, while it gets other buckets in slices */
    size_t length;     /* of both */
    size_t grow_past;
    ENTRY_T **single_bucket;
    int32_t hash;
} TABLE_T;

NGC_INLINE void T(init)(TABLE_T *table, int32_t hash)
{
    table->hash = hash;
    table->buckets = &table->single_bucket;
    table->n_buckets = 1;
    table->head = NULL;
    table->unlinked = NULL;
    table->length = 0;
    table->grow_past = 0;
    table->single_bucket = NULL;
}

/* ---- walking: in list order ---- */

typedef ENTRY_T *T(cursor);

NGC_INLINE T(cursor) T(first)(const TABLE_T *table)
{
    return table->head;
}

/* The entry at a cursor, NULL at the end. */
NGC_INLINE ENTRY_T *T(entry)(const TABLE_T *table, T(cursor) c)
{
    (void)table;
    return c;
}

NGC_INLINE T(cursor) T(next)(const TABLE_T *table, T(cursor) c)
{
    (void)table;
    return c->next;
}

NGC_INLINE T(cursor) T(resume)(const TABLE_T *table, const ngc_cursor *cursor)
{
    return cursor->n_done == 0 ? table->head : (ENTRY_T *)(uintptr_t)cursor->at;
}

NGC_INLINE void T(suspend)(ngc_cursor *cursor, T(cursor) c)
{
    cursor->at = c;
}

static inline int64_t T(slack_bytes)(const ngc_allocator *allocator, const TABLE_T *table)
{
    int64_t filled_bytes = (int64_t)(table->length * sizeof *table->buckets);
    return allocator->kind_bytes[NGC_KIND_INDEX] - filled_bytes;
}

NGC_INLINE size_t T(n_buckets)(const TABLE_T *table)
{
    return table->n_buckets;
}

/* ---- looking up ---- */

/* The entry of a key, or NULL. */
NGC_INLINE ENTRY_T *T(find)(const TABLE_T *table, const ngc_key *key, ngc_recorder *recorder)
{
    if (table->length == 0) {
        return NULL;
    }
    uint64_t hash = ngc_hash_key(key, table->hash);
    size_t bucket = (size_t)(hash % table->n_buckets);
    ENTRY_T **link = table->buckets[bucket];
    ngc_record(recorder, NGC_TOUCH_BUCKET, table->buckets, &table->buckets[bucket], sizeof link,
               (int64_t)bucket, link != NULL);
    if (link == NULL) {
        return NULL;
    }
    for (ENTRY_T *entry = *link;; entry = entry->next) {
        ngc_record(recorder, NGC_TOUCH_NODE, NULL, entry, sizeof *entry, -1, (int64_t)entry->hash);
        if (entry->hash == hash && ngc_key_equal(&entry->key, key)) {
            return entry;
        }
        if (entry->next == NULL || entry->next->hash % table->n_buckets != bucket) {
            return NULL;
        }
    }
}

/* How many entries one passes in looking for a key that is absent. */
NGC_INLINE uint64_t T(crowd)(const TABLE_T *table, const ngc_key *key)
{
    uint64_t hash = ngc_hash_key(key, table->hash);
    size_t bucket = (size_t)(hash % table->n_buckets);
    ENTRY_T **link = table->buckets[bucket];
    const ENTRY_T *entry = link == NULL ? NULL : *link;
    uint64_t n = 0;
    for (; entry != NULL && (entry->hash == hash || entry->hash % table->n_buckets == bucket);
         entry = entry->next) {
        n++;
    }
    return n;
}

NGC_INLINE void T(link)(TABLE_T *table, ENTRY_T *entry)
{
    size_t bucket = (size_t)(entry->hash % table->n_buckets);
    if (table->buckets[bucket] != NULL) {
        entry->next = *table->buckets[bucket];
        *table->buckets[bucket] = entry;
        return;
    }
    entry->next = table->head;
    table->head = entry;
    if (entry->next != NULL) {
        table->buckets[entry->next->hash % table->n_buckets] = &entry->next;
    }
    table->buckets[bucket] = &table->head;
}

NGC_INLINE void T(free_buckets)(ngc_allocator *allocator, TABLE_T *table)
{
    if (table->buckets != &table->single_bucket) {
        ngc_free(allocator, table->buckets, table->n_buckets * sizeof *table->buckets,
                 NGC_KIND_INDEX);
    }
}

/* ---- growing: other buckets for the same list, which is linked anew, front to back ---- */

static inline ngc_status T(new_buckets)(ngc_allocator *allocator, TABLE_T *table, size_t n_buckets)
{
    size_t bytes = n_buckets * sizeof *table->buckets;
    ENTRY_T ***buckets = ngc_alloc(allocator, bytes, NGC_KIND_INDEX);
    if (buckets == NULL) {
        return NGC_NO_MEMORY;
    }
    memset(buckets, 0, bytes);
    T(free_buckets)(allocator, table);
    table->buckets = buckets;
    table->n_buckets = n_buckets;
    table->grow_past = table->head == NULL ? n_buckets : table->grow_past;
    table->unlinked = table->head;
    table->head = NULL;
    return NGC_OK;
}

/* Goes on with growing, if it has begun, by up to n entries; true when all are linked. */
static inline bool T(grow_on)(TABLE_T *table, size_t n)
{
    ENTRY_T *entry = table->unlinked;
    if (entry == NULL) {
        return true;
    }
    for (; n > 0 && entry != NULL; n--) {
        ENTRY_T *next = entry->next;
        T(link)(table, entry);
        entry = next;
    }
    table->unlinked = entry;
    if (entry == NULL) {
        table->grow_past = table->n_buckets;
    }
    return entry == NULL;
}

static NGC_NOINLINE ngc_status T(rebucket)(ngc_allocator *allocator, TABLE_T *table,
                                           size_t n_buckets)
{
    ngc_status status = T(new_buckets)(allocator, table, n_buckets);
    if (status == NGC_OK) {
        T(grow_on)(table, SIZE_MAX);
    }
    return status;
}

/* Makes room for one entry more in a full table, n entries at once. NGC_NOT_YET: there is none yet,
 * and until there is, only what is linked is found. */
static NGC_NOINLINE ngc_status T(grow)(ngc_allocator *allocator, TABLE_T *table, size_t n)
{
    if (table->unlinked == NULL) {
        ngc_status status = T(new_buckets)(allocator, table, ngc_next_buckets(table->n_buckets));
        if (status != NGC_OK) {
            return status;
        }
    }
    return T(grow_on)(table, n) ? NGC_OK : NGC_NOT_YET;
}

/* Adds a key that is absent; a full table grows by grown_at_once. The followers are copied in, as
 * emplace(key, followers) does; the caller still owns its own. */
NGC_INLINE ngc_status T(insert)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                                FOLLOWERS_T *followers, size_t grown_at_once)
{
    ENTRY_T *entry = ngc_alloc(allocator, sizeof *entry, NGC_KIND_NGRAMS);
    if (entry == NULL) {
        return NGC_NO_MEMORY;
    }
    if (F(copy)(allocator, &entry->followers, followers) != NGC_OK) {
        ngc_free(allocator, entry, sizeof *entry, NGC_KIND_NGRAMS);
        return NGC_NO_MEMORY;
    }
    entry->key = *key;
    entry->hash = ngc_hash_key(key, table->hash);
    if (table->length + 1 > table->grow_past) {
        ngc_status status = T(grow)(allocator, table, grown_at_once);
        if (status != NGC_OK) {
            F(destroy)(allocator, &entry->followers);
            ngc_free(allocator, entry, sizeof *entry, NGC_KIND_NGRAMS);
            return status;
        }
    }
    T(link)(table, entry);
    table->length++;
    return NGC_OK;
}

/* Takes an entry out that is there, leaving the others in their order. */
static inline void T(remove)(ngc_allocator *allocator, TABLE_T *table, ENTRY_T *entry)
{
    size_t bucket = (size_t)(entry->hash % table->n_buckets);
    ENTRY_T **first = table->buckets[bucket];
    ENTRY_T **link = first;
    while (*link != entry) {
        link = &(*link)->next;
    }
    ENTRY_T *next = entry->next;
    *link = next;
    size_t next_bucket = next == NULL ? bucket : (size_t)(next->hash % table->n_buckets);
    if (next_bucket != bucket) {
        table->buckets[next_bucket] = link;
    }
    if (link == first && (next == NULL || next_bucket != bucket)) {
        table->buckets[bucket] = NULL;
    }
    table->length--;
    F(destroy)(allocator, &entry->followers);
    ngc_free(allocator, entry, sizeof *entry, NGC_KIND_NGRAMS);
}

/* Frees all entries and keeps the buckets. */
static inline void T(clear)(ngc_allocator *allocator, TABLE_T *table)
{
    T(grow_on)(table, SIZE_MAX); /* where it was growing */
    for (ENTRY_T *entry = table->head; entry != NULL;) {
        ENTRY_T *next = entry->next;
        F(destroy)(allocator, &entry->followers);
        ngc_free(allocator, entry, sizeof *entry, NGC_KIND_NGRAMS);
        entry = next;
    }
    memset(table->buckets, 0, table->n_buckets * sizeof *table->buckets);
    table->head = NULL;
    table->length = 0;
}

static inline void T(destroy)(ngc_allocator *allocator, TABLE_T *table)
{
    T(clear)(allocator, table);
    T(free_buckets)(allocator, table);
}

/* ---- looking inside (ngc_inside.h) ---- */

/* The chain of a key's bucket, in order; the first `capacity` nodes are written. */
static inline void T(around)(const TABLE_T *table, const ngc_key *key, size_t n_before,
                             size_t n_after, ngc_around *around, ngc_place *places,
                             size_t capacity)
{
    (void)n_before;
    (void)n_after;
    size_t bucket = (size_t)(around->hash % table->n_buckets);
    around->home = (int64_t)bucket;
    ENTRY_T *const *link = table->buckets[bucket];
    for (const ENTRY_T *entry = link == NULL ? NULL : *link;
         entry != NULL && entry->hash % table->n_buckets == bucket; entry = entry->next) {
        size_t i = (size_t)around->n_places++;
        if (ngc_key_equal(&entry->key, key)) {
            around->found = (int64_t)i;
        }
        if (i < capacity) {
            places[i] = ngc_place_of(&entry->key, entry->hash, entry->followers.length);
            places[i].index = (int64_t)i;
            places[i].distance = (int32_t)i;
        }
    }
}

/* A slice of every n-gram's full hash, and how far a look-up goes for it; true after the last. */
static inline bool T(measure_slice)(const TABLE_T *table, ngc_measuring *measuring, size_t n_grams)
{
    const ENTRY_T *entry = measuring->place == 0 ? table->head : measuring->at;
    for (; n_grams > 0 && entry != NULL; n_grams--, entry = entry->next) {
        size_t here = (size_t)(entry->hash % table->n_buckets);
        bool starts = measuring->place++ == 0 || here != measuring->bucket;
        measuring->n_used += starts;
        measuring->in_chain = starts ? 1 : measuring->in_chain + 1;
        measuring->bucket = here;
        ngc_measuring_add(measuring, &entry->key, entry->hash, measuring->in_chain);
    }
    measuring->at = entry;
    measuring->facts.n_empty = (int64_t)(table->n_buckets - measuring->n_used);
    return entry == NULL;
}

/* A slice of checking the table: cursor->at is the last n-gram that was checked. */
static inline const char *T(check_slice)(const TABLE_T *table, ngc_cursor *cursor, int64_t *n_used,
                                         size_t n_grams, bool *last)
{
    (void)n_used;
    const ENTRY_T *before = cursor->at;
    ENTRY_T *const *link = before == NULL ? &table->head : (ENTRY_T *const *)&before->next;
    size_t bucket = before == NULL ? 0 : (size_t)(before->hash % table->n_buckets);
    for (; n_grams > 0 && *link != NULL; n_grams--, link = &(*link)->next) {
        const ENTRY_T *entry = *link;
        if (entry->hash != ngc_hash_key(&entry->key, table->hash)) {
            return "an n-gram carries a wrong hash";
        }
        size_t here = (size_t)(entry->hash % table->n_buckets);
        if ((cursor->n_done == 0 || here != bucket) &&
            (const void *)table->buckets[here] != link) {
            return "a bucket does not start where its first n-gram stands";
        }
        if (T(find)(table, &entry->key, NULL) != entry) {
            return "an n-gram is not found where it stands, or stands twice";
        }
        bucket = here;
        cursor->at = entry;
        cursor->n_done++;
    }
    *last = *link == NULL;
    return !*last || (size_t)cursor->n_done == table->length ? NULL
                                                             : "the number of n-grams is wrong";
}

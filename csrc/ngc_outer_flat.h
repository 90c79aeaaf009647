/* ngc_outer_flat.h - template: the outer table from n-gram to followers as a flat,
 * open-addressing table over entries that stand densely in memory.
 *
 *     slots     | distance,fingerprint  entry | ...      8 bytes each, a power of two of them
 *                          |
 *     entries   segmented: 4096-byte segments, never moved; or
 *               dense: one array that doubles and moves, old and new alive at once
 *
 * Robin hood hashing with backward-shift deletion: a slot holds how far it stands from its home
 * (distance + 1 in the upper 24 bits; 0: empty) and 8 bits of the hash. Slots on the way from a
 * home have distances that never fall by more than the steps taken, so a look-up stops as
 * soon as it stands farther from home than the slot it looks at. The key itself is read only
 * where distance and fingerprint agree. The distance has 24 bits since llama.cpp's symmetric
 * hash gives thousands of keys one home.
 * Source: Celis, "Robin Hood Hashing" (1986); layout after Martin Ankerl's unordered_dense.
 *
 * Included with OUTER (segmented or dense), OUTER_SEGMENTED (1 or 0) and FOLLOWERS set.
 */

typedef struct ENTRY_T {
    ngc_key key;
    FOLLOWERS_T followers;
} ENTRY_T;

typedef struct T(slot) {
    uint32_t distance_and_fingerprint;
    uint32_t entry;
} T(slot);

typedef struct TABLE_T {
    T(slot) *slots;
    size_t n_slots; /* 0 or a power of two */
    uint32_t shift; /* the home of a hash is its upper 64 - shift bits */
    int32_t hash;
    size_t length;
    size_t grow_past;
#if OUTER_SEGMENTED
    ENTRY_T **segments;
    size_t n_segments;
    size_t segments_capacity;
#else
    ENTRY_T *entries;
    size_t entries_capacity;
#endif
} TABLE_T;

enum { T(DISTANCE_ONE) = 1 << 8, T(FIRST_SLOTS) = 16 };

/* ---- entries ---- */

#if OUTER_SEGMENTED

/* As many entries as fit 4096 bytes, rounded down to a power of two. */
#define T_SEGMENT_BITS                                                                             \
    (sizeof(ENTRY_T) > 64 ? 5u : sizeof(ENTRY_T) > 32 ? 6u : 7u)

NGC_INLINE ENTRY_T *T(entry_at)(const TABLE_T *table, size_t i)
{
    return &table->segments[i >> T_SEGMENT_BITS][i & (((size_t)1 << T_SEGMENT_BITS) - 1)];
}

static NGC_NOINLINE ngc_status T(more_entries)(ngc_allocator *allocator, TABLE_T *table)
{
    if (table->n_segments == table->segments_capacity) {
        size_t capacity = table->segments_capacity == 0 ? 8 : 2 * table->segments_capacity;
        ENTRY_T **segments = ngc_grow(allocator, table->segments,
                                      table->segments_capacity * sizeof *segments,
                                      capacity * sizeof *segments, NGC_KIND_INDEX);
        if (segments == NULL) {
            return NGC_NO_MEMORY;
        }
        table->segments = segments;
        table->segments_capacity = capacity;
    }
    ENTRY_T *segment =
        ngc_alloc(allocator, sizeof *segment << T_SEGMENT_BITS, NGC_KIND_NGRAMS);
    if (segment == NULL) {
        return NGC_NO_MEMORY;
    }
    table->segments[table->n_segments++] = segment;
    return NGC_OK;
}

NGC_INLINE bool T(entries_full)(const TABLE_T *table)
{
    return table->length == table->n_segments << T_SEGMENT_BITS;
}

static inline void T(free_entries)(ngc_allocator *allocator, TABLE_T *table)
{
    for (size_t i = 0; i < table->n_segments; i++) {
        ngc_free(allocator, table->segments[i], sizeof(ENTRY_T) << T_SEGMENT_BITS,
                 NGC_KIND_NGRAMS);
    }
    ngc_free(allocator, table->segments, table->segments_capacity * sizeof *table->segments,
             NGC_KIND_INDEX);
    table->segments = NULL;
    table->n_segments = 0;
    table->segments_capacity = 0;
}

/* What leads to the entries, without what it has room for. */
NGC_INLINE size_t T(pointer_bytes)(const TABLE_T *table)
{
    return table->n_segments * sizeof *table->segments;
}

#else

NGC_INLINE ENTRY_T *T(entry_at)(const TABLE_T *table, size_t i)
{
    return &table->entries[i];
}

static NGC_NOINLINE ngc_status T(more_entries)(ngc_allocator *allocator, TABLE_T *table)
{
    size_t capacity = table->entries_capacity == 0 ? 8 : 2 * table->entries_capacity;
    ENTRY_T *entries =
        ngc_grow(allocator, table->entries, table->entries_capacity * sizeof *entries,
                 capacity * sizeof *entries, NGC_KIND_NGRAMS);
    if (entries == NULL) {
        return NGC_NO_MEMORY;
    }
    table->entries = entries;
    table->entries_capacity = capacity;
    for (size_t i = 0; i < table->length; i++) {
        F(moved)(&entries[i].followers);
    }
    return NGC_OK;
}

NGC_INLINE bool T(entries_full)(const TABLE_T *table)
{
    return table->length == table->entries_capacity;
}

static inline void T(free_entries)(ngc_allocator *allocator, TABLE_T *table)
{
    ngc_free(allocator, table->entries, table->entries_capacity * sizeof *table->entries,
             NGC_KIND_NGRAMS);
    table->entries = NULL;
    table->entries_capacity = 0;
}

NGC_INLINE size_t T(pointer_bytes)(const TABLE_T *table)
{
    (void)table;
    return 0;
}

#endif

static inline int64_t T(slack_bytes)(const ngc_allocator *allocator, const TABLE_T *table)
{
    size_t filled_bytes =
        table->length * (sizeof(ENTRY_T) + sizeof *table->slots) + T(pointer_bytes)(table);
    return allocator->kind_bytes[NGC_KIND_NGRAMS] + allocator->kind_bytes[NGC_KIND_INDEX] -
           (int64_t)filled_bytes;
}

/* ---- walking: in the order of insertion ---- */

typedef size_t T(cursor);

NGC_INLINE T(cursor) T(first)(const TABLE_T *table)
{
    (void)table;
    return 0;
}

/* The entry at a cursor, NULL at the end. */
NGC_INLINE ENTRY_T *T(entry)(const TABLE_T *table, T(cursor) c)
{
    return c < table->length ? T(entry_at)(table, c) : NULL;
}

NGC_INLINE T(cursor) T(next)(const TABLE_T *table, T(cursor) c)
{
    (void)table;
    return c + 1;
}

NGC_INLINE T(cursor) T(resume)(const TABLE_T *table, const ngc_cursor *cursor)
{
    (void)table;
    return (size_t)cursor->n_done;
}

NGC_INLINE void T(suspend)(ngc_cursor *cursor, T(cursor) c)
{
    cursor->n_done = (int64_t)c;
}

/* ---- slots ---- */

NGC_INLINE void T(init)(TABLE_T *table, int32_t hash)
{
    memset(table, 0, sizeof *table);
    table->hash = hash;
}

/* llama.cpp's hash leaves its entropy where the tokens had it; one more multiplication spreads it
 * over the upper bits, which choose the home. */
NGC_INLINE uint64_t T(spread)(uint64_t hash)
{
    hash *= UINT64_C(0x9FB21C651E98DF25);
    return hash ^ (hash >> 32);
}

NGC_INLINE uint32_t T(home_mark)(uint64_t spread)
{
    return (uint32_t)T(DISTANCE_ONE) | (uint32_t)(spread & 0xff);
}

NGC_INLINE size_t T(after)(const TABLE_T *table, size_t slot)
{
    return (slot + 1) & (table->n_slots - 1);
}

/* The slot of a key, n_slots if it is absent. */
NGC_INLINE size_t T(find_slot)(const TABLE_T *table, const ngc_key *key, ngc_recorder *recorder)
{
    if (table->length == 0) {
        return table->n_slots;
    }
    uint64_t spread = T(spread)(ngc_hash_key(key, table->hash));
    size_t at = (size_t)(spread >> table->shift);
    for (uint32_t mark = T(home_mark)(spread);; mark += T(DISTANCE_ONE)) {
        const T(slot) *slot = &table->slots[at];
        ngc_record(recorder, NGC_TOUCH_SLOT, table->slots, slot, sizeof *slot, (int64_t)at,
                   slot->distance_and_fingerprint);
        if (slot->distance_and_fingerprint == mark) {
            const ENTRY_T *entry = T(entry_at)(table, slot->entry);
            ngc_record(recorder, NGC_TOUCH_ENTRY, NULL, entry, sizeof *entry, slot->entry,
                       ngc_key_equal(&entry->key, key));
            if (ngc_key_equal(&entry->key, key)) {
                return at;
            }
        } else if (slot->distance_and_fingerprint < mark) {
            return table->n_slots;
        }
        at = T(after)(table, at);
    }
}

NGC_INLINE ENTRY_T *T(find)(const TABLE_T *table, const ngc_key *key, ngc_recorder *recorder)
{
    size_t at = T(find_slot)(table, key, recorder);
    return at == table->n_slots ? NULL : T(entry_at)(table, table->slots[at].entry);
}

/* How many slots one passes in looking for a key that is absent. */
NGC_INLINE uint64_t T(crowd)(const TABLE_T *table, const ngc_key *key)
{
    if (table->length == 0) {
        return 0;
    }
    uint64_t spread = T(spread)(ngc_hash_key(key, table->hash));
    size_t at = (size_t)(spread >> table->shift);
    uint64_t n = 0;
    for (uint32_t mark = T(home_mark)(spread);
         table->slots[at].distance_and_fingerprint >= mark; mark += T(DISTANCE_ONE)) {
        at = T(after)(table, at);
        n++;
    }
    return n;
}

/* Puts a mark for an entry in, moving richer ones on. */
NGC_INLINE void T(place)(TABLE_T *table, uint64_t spread, uint32_t entry)
{
    T(slot) held = {T(home_mark)(spread), entry};
    size_t at = (size_t)(spread >> table->shift);
    while (table->slots[at].distance_and_fingerprint != 0) {
        T(slot) here = table->slots[at];
        if (here.distance_and_fingerprint < held.distance_and_fingerprint) {
            table->slots[at] = held;
            held = here;
        }
        held.distance_and_fingerprint += T(DISTANCE_ONE);
        at = T(after)(table, at);
    }
    table->slots[at] = held;
}

/* The entries stand in memory already; only the slots are made anew, and only they exist twice. */
static NGC_NOINLINE ngc_status T(rebucket)(ngc_allocator *allocator, TABLE_T *table,
                                           size_t n_slots)
{
    T(slot) *slots = ngc_alloc(allocator, n_slots * sizeof *slots, NGC_KIND_INDEX);
    if (slots == NULL) {
        return NGC_NO_MEMORY;
    }
    ngc_free(allocator, table->slots, table->n_slots * sizeof *slots, NGC_KIND_INDEX);
    memset(slots, 0, n_slots * sizeof *slots);
    table->slots = slots;
    table->n_slots = n_slots;
    table->grow_past = n_slots / 5 * 4 + n_slots % 5 * 4 / 5; /* four fifths */
    table->shift = 64;
    for (size_t n = n_slots; n > 1; n /= 2) {
        table->shift--;
    }
    for (size_t i = 0; i < table->length; i++) {
        const ENTRY_T *entry = T(entry_at)(table, i);
        T(place)(table, T(spread)(ngc_hash_key(&entry->key, table->hash)), (uint32_t)i);
    }
    return NGC_OK;
}

/* It grows in one go. */
static inline bool T(grow_on)(TABLE_T *table, size_t n)
{
    (void)table;
    (void)n;
    return true;
}

NGC_INLINE size_t T(n_buckets)(const TABLE_T *table)
{
    return table->n_slots;
}

/* Adds a key that is absent; it takes the followers over. */
NGC_INLINE ngc_status T(insert)(ngc_allocator *allocator, TABLE_T *table, const ngc_key *key,
                                FOLLOWERS_T *followers, size_t grown_at_once)
{
    (void)grown_at_once;
    if (table->length + 1 > table->grow_past) {
        size_t n_slots = table->n_slots == 0 ? (size_t)T(FIRST_SLOTS) : 2 * table->n_slots;
        if (table->length >= UINT32_MAX || T(rebucket)(allocator, table, n_slots) != NGC_OK) {
            return NGC_NO_MEMORY;
        }
    }
    if (T(entries_full)(table) && T(more_entries)(allocator, table) != NGC_OK) {
        return NGC_NO_MEMORY;
    }
    ENTRY_T *entry = T(entry_at)(table, table->length);
    entry->key = *key;
    entry->followers = *followers;
    F(moved)(&entry->followers);
    F(init)(followers);
    T(place)(table, T(spread)(ngc_hash_key(key, table->hash)), (uint32_t)table->length);
    table->length++;
    return NGC_OK;
}

/* Takes an entry out that is there; the last one takes its place. */
static inline void T(remove)(ngc_allocator *allocator, TABLE_T *table, ENTRY_T *entry)
{
    size_t at = T(find_slot)(table, &entry->key, NULL);
    uint32_t removed = table->slots[at].entry;
    for (size_t next = T(after)(table, at);
         table->slots[next].distance_and_fingerprint >= 2 * (uint32_t)T(DISTANCE_ONE);
         next = T(after)(table, next)) {
        table->slots[at] = table->slots[next];
        table->slots[at].distance_and_fingerprint -= T(DISTANCE_ONE);
        at = next;
    }
    table->slots[at].distance_and_fingerprint = 0;
    F(destroy)(allocator, &entry->followers);
    table->length--;
    if (removed < table->length) {
        ENTRY_T *last = T(entry_at)(table, table->length);
        table->slots[T(find_slot)(table, &last->key, NULL)].entry = removed;
        *entry = *last;
        F(moved)(&entry->followers);
    }
}

/* Frees all entries and keeps the slots. */
static inline void T(clear)(ngc_allocator *allocator, TABLE_T *table)
{
    for (size_t i = 0; i < table->length; i++) {
        F(destroy)(allocator, &T(entry_at)(table, i)->followers);
    }
    T(free_entries)(allocator, table);
    if (table->n_slots > 0) {
        memset(table->slots, 0, table->n_slots * sizeof *table->slots);
    }
    table->length = 0;
}

static inline void T(destroy)(ngc_allocator *allocator, TABLE_T *table)
{
    T(clear)(allocator, table);
    ngc_free(allocator, table->slots, table->n_slots * sizeof *table->slots, NGC_KIND_INDEX);
}

/* ---- looking inside (ngc_inside.h) ---- */

static inline ngc_place T(place_at)(const TABLE_T *table, size_t at)
{
    const T(slot) *slot = &table->slots[at];
    ngc_place place = ngc_no_place();
    if (slot->distance_and_fingerprint != 0) {
        const ENTRY_T *entry = T(entry_at)(table, slot->entry);
        place = ngc_place_of(&entry->key, ngc_hash_key(&entry->key, table->hash),
                             entry->followers.length);
        place.entry = slot->entry;
        place.distance = (int32_t)(slot->distance_and_fingerprint / T(DISTANCE_ONE)) - 1;
        place.fingerprint = (int32_t)(slot->distance_and_fingerprint % T(DISTANCE_ONE));
    }
    place.index = (int64_t)at;
    return place;
}

/* Slots from n_before before a key's home to n_after behind the last that a look-up visits. */
static inline void T(around)(const TABLE_T *table, const ngc_key *key, size_t n_before,
                             size_t n_after, ngc_around *around, ngc_place *places,
                             size_t capacity)
{
    uint64_t spread = T(spread)(around->hash);
    around->fingerprint = (int64_t)(T(home_mark)(spread) % T(DISTANCE_ONE));
    if (table->n_slots == 0) {
        return;
    }
    size_t home = (size_t)(spread >> table->shift);
    size_t found = T(find_slot)(table, key, NULL);
    size_t n_slots = (size_t)around->n_visited + n_before + n_after;
    n_slots = n_slots < table->n_slots ? n_slots : table->n_slots;
    around->home = (int64_t)home;
    around->found = found == table->n_slots ? -1 : (int64_t)found;
    around->n_places = (int64_t)n_slots;
    for (size_t i = 0; i < n_slots && i < capacity; i++) {
        places[i] = T(place_at)(table, (home + table->n_slots - n_before % table->n_slots + i) &
                                           (table->n_slots - 1));
    }
}

/* A slice of every n-gram's full hash, and how far a look-up goes for it; true after the last. */
static inline bool T(measure_slice)(const TABLE_T *table, ngc_measuring *measuring, size_t n_slots)
{
    for (; n_slots > 0 && measuring->place < table->n_slots; n_slots--, measuring->place++) {
        ngc_place place = T(place_at)(table, measuring->place);
        if (place.distance < 0) {
            measuring->facts.n_empty++;
            continue;
        }
        ngc_key key;
        memcpy(key.tokens, place.tokens, sizeof key.tokens);
        ngc_measuring_add(measuring, &key, place.hash, (size_t)place.distance + 1);
    }
    return measuring->place == table->n_slots;
}

static inline const char *T(check_slot)(const TABLE_T *table, size_t at, int64_t *n_used)
{
    uint32_t mark = table->slots[at].distance_and_fingerprint;
    if (mark == 0) {
        return NULL;
    }
    ++*n_used;
    if (table->slots[at].entry >= table->length) {
        return "a slot names an entry that does not exist";
    }
    uint32_t before = table->slots[(at + table->n_slots - 1) & (table->n_slots - 1)]
                          .distance_and_fingerprint;
    return (mark >> 8) > (before >> 8) + 1
               ? "a slot stands farther from home than the one before it allows"
               : NULL;
}

/* A slice of checking the table: first all slots, then all entries. */
static inline const char *T(check_slice)(const TABLE_T *table, ngc_cursor *cursor, int64_t *n_used,
                                         size_t n_grams, bool *last)
{
    size_t end = table->n_slots + table->length;
    for (; n_grams > 0 && (size_t)cursor->n_done < end; n_grams--, cursor->n_done++) {
        size_t at = (size_t)cursor->n_done;
        if (at < table->n_slots) {
            const char *reason = T(check_slot)(table, at, n_used);
            if (reason != NULL) {
                return reason;
            }
            continue;
        }
        const ENTRY_T *entry = T(entry_at)(table, at - table->n_slots);
        if (T(find)(table, &entry->key, NULL) != entry) {
            return "an n-gram is not found where it stands, or stands twice";
        }
    }
    *last = (size_t)cursor->n_done == end;
    return !*last || (size_t)*n_used == table->length ? NULL : "the number of n-grams is wrong";
}

#undef T_SEGMENT_BITS

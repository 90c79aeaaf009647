/* ngc_inside_template.h - template: a cache's answers to the views of the inside.
 *
 * Included with OUTER, FOLLOWERS and VIEW set, after ngc_cache_template.h.
 */

static void C(around)(const ngc_cache *cache, const ngc_key *key, size_t n_before, size_t n_after,
                      ngc_around *around, ngc_place *places, size_t capacity,
                      ngc_recorder *recorder)
{
    const TABLE_T *table = &((const CACHE_T *)cache)->table;
    around->hash = ngc_hash_key(key, table->hash);
    around->n_buckets = (int64_t)T(n_buckets)(table);
    T(find)(table, key, recorder);
    around->n_visited = recorder->probe->visited_nodes;
    T(around)(table, key, n_before, n_after, around, places, capacity);
}

static void C(measure_slice)(ngc_measuring *measuring, size_t n_grams, bool *last)
{
    const TABLE_T *table = &((const CACHE_T *)measuring->cache)->table;
    measuring->facts.n_buckets = (int64_t)T(n_buckets)(table);
    *last = T(measure_slice)(table, measuring, n_grams);
}

static int32_t C(search)(const ngc_cache *cache, const ngc_key *key, int32_t token,
                         int32_t search, size_t *length, ngc_recorder *recorder)
{
    const ENTRY_T *entry = T(find)(&((const CACHE_T *)cache)->table, key, NULL);
    *length = 0;
    if (entry == NULL) {
        return 0;
    }
    NGC_PAIR(VIEW, view) view = F(view)(&entry->followers);
    *length = NGC_PASTE(VIEW, _view, _, length)(view);
    return NGC_PASTE(VIEW, _view, _, count)(view, token, search, recorder);
}

static const ngc_inside_operations C(inside) = {
    .around = C(around),
    .measure_slice = C(measure_slice),
    .n_tables = 1,
    .search = C(search),
};

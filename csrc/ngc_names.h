/* ngc_names.h - how the templates of this engine get their names.
 *
 * A structure is a set of static functions named STRUCTURE_followers_find and so on. A file that
 * builds an instance defines OUTER and FOLLOWERS as the names of two structures and includes the
 * templates; inside them
 *
 *     F(find)   is a function of the followers,        e.g. chained_followers_find
 *     T(find)   of the outer table over such followers, e.g. chained_chained_table_find
 *     C(update) of the cache,                           e.g. chained_chained_cache_update
 *
 * so that every choice is compiled as if it had been written by hand.
 */
#ifndef NGC_NAMES_H
#define NGC_NAMES_H

#define NGC_PASTE_(a, b, c, d) a##b##c##d
#define NGC_PASTE(a, b, c, d) NGC_PASTE_(a, b, c, d)
#define NGC_PAIR_(a, b) a##_##b
#define NGC_PAIR(a, b) NGC_PAIR_(a, b)

#define F(name) NGC_PASTE(FOLLOWERS, _followers, _, name)
#define FOLLOWERS_T NGC_PAIR(FOLLOWERS, followers)
#define T(name) NGC_PASTE(NGC_PAIR(OUTER, FOLLOWERS), _table, _, name)
#define TABLE_T NGC_PAIR(NGC_PAIR(OUTER, FOLLOWERS), table)
#define ENTRY_T NGC_PAIR(NGC_PAIR(OUTER, FOLLOWERS), entry)
#define C(name) NGC_PASTE(NGC_PAIR(OUTER, FOLLOWERS), _cache, _, name)
#define CACHE_T NGC_PAIR(NGC_PAIR(OUTER, FOLLOWERS), cache)

#endif

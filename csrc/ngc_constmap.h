/* ngc_constmap.h - a static cache that never changes: one packed array of followers, and a
 * verified binary fuse map from a 2-gram to its place in it. In memory it is its file:
 *
 *     u64 "ggngcmap" | u64 n_entries | u64 map_bytes                            24 bytes
 *     n_entries times int32 token, int32 count                                  the followers
 *     "VCMP0002" | u64 seed | u32 segment_length, segment_count, data_len, n_keys
 *     u64 data[data_len] | u64 checks[data_len] | u64 FNV-1a-64 of the map so far
 *
 * A value is position << 24 | length, in pairs; the followers of one 2-gram stand together,
 * ascending by token. Keys are not stored, so it cannot be listed or turned into anything else.
 * Source: the constmap stage of Hayder Tirmazi's fork of llama.cpp; fastconstmap.
 */
#ifndef NGC_CONSTMAP_H
#define NGC_CONSTMAP_H

#include "ngc_slice.h"

bool ngc_is_constmap(const ngc_cache *cache);

/* The followers of a 2-gram; none if it was not put in, or if what the file says of it cannot be
 * (no such place, or followers that do not ascend there). */
slice_view ngc_constmap_find_plain(const ngc_cache *cache, const ngc_key *key);
slice_view ngc_constmap_find_recorded(const ngc_cache *cache, const ngc_key *key,
                                      ngc_recorder *recorder);

/* Where nothing is recorded, the recorder is the constant NULL, and this is the plain one. */
NGC_INLINE slice_view ngc_constmap_find(const ngc_cache *cache, const ngc_key *key,
                                        ngc_recorder *recorder)
{
    return recorder == NULL ? ngc_constmap_find_plain(cache, key)
                            : ngc_constmap_find_recorded(cache, key, recorder);
}

#endif

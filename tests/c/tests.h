/* tests.h - the list of all tests. TEST is run once, EACH once with every kind of toggles. */
#ifndef TESTS_H
#define TESTS_H

#define ALL_TESTS(TEST, EACH) \
    EACH(recipe_totals) \
    TEST(recipe_steps) \
    TEST(recipe_steps_without_weights) \
    TEST(short_texts) \
    TEST(products_wrap_as_in_llama_cpp) \
    EACH(recording_changes_nothing) \
    TEST(toggles_change_no_draft) \
    TEST(followers_order_by_hand) \
    TEST(followers_order_as_the_model) \
    TEST(copies_keep_the_order) \
    TEST(ngrams_order_as_the_model) \
    TEST(one_hash_for_all) \
    EACH(updates_of_any_size) \
    EACH(counts_are_those_of_the_text) \
    EACH(sizes_are_kept_apart) \
    EACH(merge_adds_counts) \
    EACH(counts_stay_at_the_largest) \
    EACH(rewind_is_as_if_never_fed) \
    EACH(end_of_text_merges) \
    EACH(save_in_pieces_of_any_size) \
    EACH(save_goes_on_after_a_small_buffer) \
    EACH(load_in_pieces_of_any_size) \
    EACH(load_leaves_other_sizes_out) \
    EACH(load_cut_at_any_byte) \
    EACH(load_refuses_bad_records) \
    EACH(load_adds) \
    EACH(empty_file) \
    EACH(no_walk_goes_on_after_a_change) \
    EACH(walk_in_pieces_of_any_size) \
    EACH(slices_of_any_size) \
    TEST(replay_as_by_hand) \
    TEST(replay_of_the_recipe) \
    EACH(no_draft_past_the_end_of_sequence) \
    TEST(recorded_calls_are_taken_whole) \
    TEST(constmap_holds_what_it_was_built_from) \
    TEST(constmap_refuses_what_it_cannot) \
    TEST(constmap_as_a_static_cache) \
    TEST(constmap_with_any_byte_changed) \
    TEST(constmap_cut_at_any_byte) \
    TEST(packed_holds_what_it_was_built_from) \
    TEST(packed_bytes_do_not_depend_on_order) \
    TEST(packed_merges_exactly) \
    TEST(packed_takes_crowds_and_giants) \
    TEST(packed_says_what_it_was_told) \
    TEST(packed_refuses_what_it_cannot) \
    TEST(packed_as_a_static_cache) \
    TEST(packed_becomes_any_structure) \
    TEST(packed_with_any_byte_changed) \
    TEST(packed_cut_at_any_byte) \
    TEST(counter_counts_as_a_cache_does) \
    TEST(counter_groups_in_slices_of_any_size) \
    TEST(counter_fills_a_constmap) \
    TEST(counter_refuses_what_it_cannot) \
    EACH(table_around_fits_its_room) \
    EACH(table_facts_are_those_of_all_lookups) \
    TEST(searches_of_every_length) \
    EACH(touches_change_nothing) \
    TEST(views_refuse_what_they_cannot_show) \
    TEST(no_memory_for_caches) \
    TEST(no_memory_for_constmaps_and_counters) \
    TEST(no_memory_for_packed_caches) \
    TEST(no_memory_for_drafting) \
    TEST(no_memory_for_replays) \
    TEST(no_memory_for_views) \
    TEST(only_copies_allocate_in_a_draft) \
    TEST(the_engine_s_own_fault_switch) \
    TEST(bad_toggles) \
    TEST(bad_sizes) \
    TEST(bad_updates) \
    TEST(bad_lookups) \
    TEST(bad_merges) \
    TEST(bad_rules) \
    TEST(bad_drafts) \
    TEST(bad_replays) \
    TEST(freeing_nothing) \
    TEST(two_threads_share_a_static_cache)

#define DECLARE(name) void test_##name(void);
ALL_TESTS(DECLARE, DECLARE)
#undef DECLARE

#endif

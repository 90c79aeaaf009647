/* tests.h - the list of all tests. */
#ifndef TESTS_H
#define TESTS_H

#define ALL_TESTS(TEST) \
    TEST(recipe_totals) \
    TEST(recipe_steps) \
    TEST(recipe_steps_without_weights) \
    TEST(short_texts) \
    TEST(products_wrap_as_in_llama_cpp) \
    TEST(recording_changes_nothing) \
    TEST(toggles_change_no_draft) \
    TEST(followers_order_by_hand) \
    TEST(followers_order_as_the_model) \
    TEST(copies_keep_the_order) \
    TEST(ngrams_order_as_the_model) \
    TEST(one_hash_for_all) \
    TEST(updates_of_any_size) \
    TEST(counts_are_those_of_the_text) \
    TEST(sizes_are_kept_apart) \
    TEST(merge_adds_counts) \
    TEST(counts_stay_at_the_largest) \
    TEST(rewind_is_as_if_never_fed) \
    TEST(end_of_text_merges) \
    TEST(save_in_pieces_of_any_size) \
    TEST(save_goes_on_after_a_small_buffer) \
    TEST(load_in_pieces_of_any_size) \
    TEST(load_leaves_other_sizes_out) \
    TEST(load_cut_at_any_byte) \
    TEST(load_refuses_bad_records) \
    TEST(load_adds) \
    TEST(empty_file) \
    TEST(no_walk_goes_on_after_a_change) \
    TEST(walk_in_pieces_of_any_size) \
    TEST(slices_of_any_size) \
    TEST(replay_as_by_hand) \
    TEST(replay_of_the_recipe) \
    TEST(no_draft_past_the_end_of_sequence) \
    TEST(recorded_calls_are_taken_whole) \
    TEST(no_memory_for_caches) \
    TEST(no_memory_for_drafting) \
    TEST(no_memory_for_replays) \
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
ALL_TESTS(DECLARE)
#undef DECLARE

#endif

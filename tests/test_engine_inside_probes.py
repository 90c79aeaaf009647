"""Probes: what a draft call does, counted by the engine, changes nothing and counts right.

What is counted is held against the recorded steps (which rows were tried, how many followers each
had), against the allocator, and against what is known of each search.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from running import Running
from test_engine_random import (
    World,
    engine_caches,
    engine_drafter,
    examples,
    lengths,
    replays,
    seeds,
    stream,
    worlds,
)

import ngram_core as ng

CACHES = ("context", "dynamic", "static")


def replayed(
    world: World, toggles: ng.Toggles, tokens: list[int], options: dict[str, Any], probes: bool
) -> tuple[ng.Sample, list[list[int]], Any, Any]:
    with (
        engine_caches(world, toggles) as caches,
        ng.Replay(
            tokens,
            toggles,
            world.rule,
            *caches,
            record_drafts=True,
            record_probes=probes,
            **options,
        ) as replay,
    ):
        sample = replay.run()
        drafts = [draft.tolist() for draft in replay.drafts()]
        return sample, drafts, replay.probes(), replay.probe_sum()


@examples(100)
@given(worlds(), replays(), seeds, st.integers(2, 150))
def test_probes_change_no_draft_and_add_up(
    world: World, options: dict[str, Any], seed: int, length: int
) -> None:
    tokens = stream(world.vocabulary, seed, length)
    if options["tail"] == "drop":
        tokens += stream(world.vocabulary, seed + 1, options["n_ctx"] + 1)
    for toggles in world.engines:
        plain, drafts, none, nothing = replayed(world, toggles, tokens, options, False)
        sample, same, probes, total = replayed(world, toggles, tokens, options, True)
        assert same == drafts
        assert sample.drafts_checksum == plain.drafts_checksum
        assert len(none) == 0
        assert nothing["n_drafted"] == 0
        assert len(probes) == sample.n_calls
        assert probes["n_drafted"].tolist() == [len(draft) for draft in drafts]
        assert probes["n_accept"].sum() == sample.n_accept
        for name in probes.dtype.names:
            assert np.array_equal(probes[name].sum(axis=0), total[name]), name
        assert total["copied_bytes"] == sample.copied_bytes == plain.copied_bytes
        assert total["allocations"] == sample.copied_allocations


def steps_of_a_search(toggles: ng.Toggles, length: int) -> int | None:
    """How many pairs the search compares in a list of this length; None: it depends on what it
    finds there."""
    if toggles.static == "ngc" or (toggles.static == "same" and toggles.followers != "sorted"):
        return None
    if toggles.search == "fixed":  # halves, rounded up, until one is left; that one, too
        return math.ceil(math.log2(length)) + 1
    return None


def keeps_sums(toggles: ng.Toggles, cache: str = "context") -> bool:
    """Whether sums and most frequent followers are kept, so that none is read for them."""
    like_the_others = cache != "static" or toggles.static == "same"
    return toggles.followers == "summed" if like_the_others else toggles.static == "ngc"


def assert_less_is_done(probe: Any, steps: Any, toggles: ng.Toggles) -> None:
    """What a bound or a late look-up leaves out is shown all the same, and not counted."""
    rows = [row for step in steps for row in step.rows if row.cache != "static"]
    found = [row for row in rows if row.verdict not in ("too short", "not seen")]
    bounded = [row for row in found if row.bounded]
    assert probe["bounded"] == len(bounded) == len(bounded) * toggles.bound
    assert probe["hits"][:2].sum() == len(found)
    with_static = [step for step in steps if step.weights is not None]
    looked_up = int(probe["lookups"][2, 1])
    if toggles.late_static:
        filtered = toggles.static == "ngc" and toggles.glance  # it may know that nothing passes
        fallen_back = [
            step
            for step in with_static
            if any(row.cache == "static" and (row.passes or not filtered) for row in step.rows)
        ]
        assert len(fallen_back) <= looked_up <= len(with_static)
    else:
        assert looked_up == len(with_static)
    whole = sum(row.n_followers for row in found if not row.bounded and not row.prechecked)
    parts = sum(row.n_followers for row in found if not row.prechecked)
    assert whole <= probe["scored"] <= whole + parts


@examples(100)
@given(worlds(), seeds, lengths, st.integers(1, 12))
def test_a_probe_counts_what_the_steps_show(
    world: World, seed: int, length: int, n_draft: int
) -> None:
    text = stream(world.vocabulary, seed, length)
    for toggles in world.engines:
        with engine_drafter(world, toggles) as drafter:
            drafter.feed(text)
            steps, probe = drafter.trace(n_draft)
            again = drafter.probe(n_draft)  # copies may come to lie on other lines
            moving = {"cache_lines"} if toggles.copy_followers else set()
            for name in set(probe.dtype.names) - moving:
                assert np.array_equal(probe[name], again[name]), name
            assert len(drafter.draft(n_draft)) == probe["n_drafted"]
        if toggles.bound or toggles.late_static:  # not all that is shown was needed
            assert_less_is_done(probe, steps, toggles)
            continue
        lookups, hits = np.zeros((3, 4), int), np.zeros((3, 4), int)
        scored = scanned = searches = search_steps = copied = skips = skipped = 0
        for step in steps:
            weights = step.weights
            if weights is not None:
                lookups[2, 1] += 1
                hits[2, 1] += weights.verdict != "not seen"
                copied += weights.n_followers
            for row in step.rows:
                if row.cache == "static":  # was looked up for the weights already
                    copied += row.n_followers
                    scanned += row.n_followers * (not keeps_sums(toggles, "static"))
                    continue
                if row.verdict == "too short":
                    continue
                at = CACHES.index(row.cache), row.n - 1
                lookups[at] += 1
                if row.verdict == "not seen":
                    continue
                hits[at] += 1
                copied += row.n_followers
                scanned += row.n_followers * toggles.precheck * (not keeps_sums(toggles))
                skips += row.prechecked
                if row.prechecked:
                    skipped += row.n_followers
                    continue
                scored += row.n_followers
                if weights is not None and weights.n_followers and world.rule.weight:
                    searches += row.n_followers
                    per_search = steps_of_a_search(toggles, weights.n_followers)
                    search_steps += row.n_followers * (per_search or 0)
        assert probe["lookups"].tolist() == lookups.tolist()
        assert probe["hits"].tolist() == hits.tolist()
        assert probe["scored"] == scored
        assert probe["scanned"] == scanned
        assert probe["static_searches"] == searches
        if steps_of_a_search(toggles, 1) is not None:
            assert probe["search_steps"] == search_steps
        assert probe["precheck_skips"] == skips
        assert probe["prechecks"] == (hits[:2].sum() if toggles.precheck else skips)
        assert skips == 0 or toggles.precheck or toggles.glance
        if toggles.copy_followers:  # at a glance some rows of places are known to fail
            least = copied - (skipped if toggles.outer == "places" else 0)
            assert least <= probe["copied"] <= copied
        else:
            assert probe["copied"] == 0
        if not toggles.copy_followers:
            assert probe["allocations"] == probe["copied_bytes"] == 0


def test_the_recipe_s_copies_are_known() -> None:
    """450 followers are copied for the running text by `upstream`; each is a node of 16 bytes,
    and 13 buckets go with each map."""
    running = Running()
    for stage, copied in ((ng.UPSTREAM, 450), (ng.NOCOPY, 0)):
        toggles = stage.toggles.set(ties="token", score="exact")
        dynamic = ng.NgramCache(toggles)
        dynamic.update(running.b)
        static = ng.NgramCache.build_static(running.b, toggles)
        with ng.Replay(
            running.a, toggles, static=static, dynamic=dynamic, n_draft=4, record_probes=True
        ) as replay:
            replay.run()
            probes, total = replay.probes(), replay.probe_sum()
        assert (len(probes), total["n_drafted"], total["n_accept"]) == (79, 64, 37)
        assert total["copied"] == copied
        maps_copied = total["allocations"] - total["copied"]
        assert maps_copied >= total["hits"].sum() if copied else maps_copied == 0
        assert total["copied_bytes"] == 16 * copied + 104 * maps_copied


@pytest.mark.parametrize("stage", ng.STAGES)
def test_cache_lines_are_at_least_what_was_found(stage: str) -> None:
    """Each n-gram that was found lies on a line of its own table; scanned pairs stand 8 to a line,
    nodes of 16 bytes in blocks of 32."""
    toggles = ng.STAGES[stage].toggles
    text = stream(list(range(20)), 5, 400)
    static = ng.NgramCache.build_static(stream(list(range(20)), 6, 4000), toggles)
    with ng.Drafter(toggles, static=static) as drafter:
        drafter.feed(text)
        probe = drafter.probe(8)
    assert probe["n_drafted"] > 0
    followers = probe["scored"] + probe["scanned"]
    touches = probe["visited_nodes"] + followers + probe["search_steps"] + probe["copied"]
    assert 1 + followers // 500 < probe["cache_lines"] < 4 * touches + 200

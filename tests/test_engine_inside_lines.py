"""What a draft call touches, in order: it adds up to the probe, and follows the rule's way."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_engine_random import World, engine_drafter, examples, lengths, seeds, stream, worlds

import ngram_core as ng
from ngram_core import inside

VISITED = ("line", "node", "slot", "cell")


@examples(100)
@given(worlds(), seeds, lengths, st.integers(1, 12))
def test_touches_add_up_to_the_probe(world: World, seed: int, length: int, n_draft: int) -> None:
    text = stream(world.vocabulary, seed, length)
    for toggles in world.engines:
        with engine_drafter(world, toggles) as drafter:
            drafter.feed(text)
            lines = inside.cache_lines(drafter, n_draft)
            steps, _ = drafter.trace(n_draft)
        touches, probe = lines.touches, lines.probe
        whole = touches["part"] == 0
        what = Counter(np.array(lines.what)[whole].tolist()) if len(touches) else Counter()
        assert sum(what[name] for name in VISITED) == probe["visited_nodes"]
        assert what["scored"] == probe["scored"]
        assert what["scanned"] == probe["scanned"]
        assert what["searched"] + what["map_node"] == probe["search_steps"]
        assert what["copied"] == what["copy"] == probe["copied"]
        check_lines(touches, lines.n_lines)
        if len(touches):
            assert touches["step"].max() <= len(steps) - 1
            assert (np.diff(touches["step"]) >= 0).all()
        if world.static is None:
            assert "static" not in {touch.cache for touch in lines.read()}


def check_lines(touches: Any, n_lines: int) -> None:
    """Numbered by first touch, without gaps; later parts of a thing lie on other lines."""
    seen: set[int] = set()
    for touch in touches:
        line = int(touch["line"])
        assert touch["is_first"] == (line not in seen)
        assert line <= len(seen)
        seen.add(line)
    assert len(seen) == n_lines


@pytest.mark.parametrize("stage", ng.STAGES)
def test_the_way_of_one_guess(stage: str) -> None:
    """Static followers first; then the context's 4-gram, and so on down, as the steps say."""
    toggles = ng.STAGES[stage].toggles
    with (
        ng.NgramCache.build_static([1, 2, 3, 1, 2, 3, 1, 2, 4], toggles) as static,
        ng.Drafter(toggles, static=static) as drafter,
    ):
        drafter.feed([1, 2, 3, 9, 5, 1, 2, 3, 8, 7, 1, 2])
        step = drafter.step(1)[0]
        lines = inside.cache_lines(drafter, 1)
    looked_up = [touch for touch in lines.read() if touch.what in (*VISITED, "bucket")]
    places = list(dict.fromkeys((touch.cache, touch.n) for touch in looked_up))
    assert [(row.cache, row.n, row.passes) for row in step.rows] == [
        ("context", 4, False),
        ("context", 3, False),
        ("context", 2, True),
    ]
    rows = [(row.cache, row.n) for row in step.rows]
    glanced = [("context", 1)] if toggles.outer == "places" else []  # with those above it
    first = [] if toggles.late_static else [("static", 2)]  # else a bound decided
    assert places == [*first, *rows, *glanced]
    whats = set(lines.what)
    assert ("bucket" in whats) == (toggles.outer == "chained")
    assert ("slot" in whats) == (toggles.outer in ("segmented", "dense"))
    assert ("text" in whats) == (toggles.outer == "places")
    assert ("cell" in whats) == ("check" in whats) == (toggles.static == "constmap")
    assert ("copy" in whats) == toggles.copy_followers
    assert ("searched" in whats) == (toggles.followers == "sorted")
    assert ("map_node" in whats) == (toggles.followers == "chained")
    assert {touch.cache for touch in lines.read() if touch.what == "searched"} <= {"static"}
    firsts = lines.first_touches()
    assert [touch.line for touch in firsts] == list(range(lines.n_lines))


def test_pairs_stand_eight_to_a_line() -> None:
    """Scanning a static list touches its lines one after another, each eight times but the ends."""
    text = [token for follower in range(2, 400) for token in (0, 1, follower)] * 2
    toggles = ng.INNERVECTOR.toggles
    with (
        ng.NgramCache.build_static(text, toggles) as static,
        ng.Drafter(toggles, static=static) as drafter,
    ):
        drafter.feed([0, 1])
        lines = inside.cache_lines(drafter, 1)
    scanned = [touch for touch in lines.read() if touch.what == "scanned"]
    assert [touch.index for touch in scanned] == list(range(398))
    per_line = Counter(touch.array_line for touch in scanned)
    assert set(per_line) == set(range(len(per_line)))
    assert all(per_line[line] == 8 for line in range(1, len(per_line) - 1))
    assert lines.probe["scanned"] == 398
    assert {touch.cache for touch in scanned} == {"static"}


def test_a_long_static_list_fits_the_record() -> None:
    """20,000 nodes on lines of their own: the engine's table of lines grows with them."""
    text = [token for follower in range(2, 20_002) for token in (0, 1, follower)]
    with ng.NgramCache.build_static(text) as static, ng.Drafter(static=static) as drafter:
        drafter.feed([0, 1])
        probe = drafter.probe(1)
        assert probe["scanned"] == 20_000
        assert 20_000 // 4 <= probe["cache_lines"] <= 20_000 + 50
        lines = inside.cache_lines(drafter, 1)
        assert len(lines.touches) >= 20_000
        assert lines.n_lines == probe["cache_lines"] == int(lines.touches["is_first"].sum())


def test_a_closed_drafter_says_so() -> None:
    drafter = ng.Drafter()
    drafter.close()
    with pytest.raises(ng.StateError, match="closed"):
        inside.cache_lines(drafter, 1)
    with pytest.raises(ng.InputError):
        inside.cache_lines(ng.Drafter(), -1)

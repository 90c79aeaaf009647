"""The engine against the plain Python reference, on random texts, caches, rules and histories.

Quick: a fixed sample of examples. With NGRAM_SOAK=1: many more, new ones each time. With
NGRAM_BRIEF=1, for other builds and other Pythons: a fifth of the sample.
"""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import golden
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from libstdcpp_order import LibraryCache, library_ties
from libstdcpp_order import merge as library_merge
from running import by_count, prechecked, scored

import ngram_core as ng
from ngram_core import reference
from ngram_core.toggles import Toggles
from ngram_core.trace import Step

STRUCTURES = {
    "outer": ["chained", "segmented", "dense", "places"],
    "followers": ["chained", "sorted"],
    "static": ["same", "constmap", "ngc"],
    "hash": ["xor", "mixed"],
    "copy_followers": [False, True],
    "precheck": [False, True],
    "search": ["fixed", "lower_bound", "linear", "simd"],
    "bound": [False, True],
    "late_static": [False, True],
    "prefetch": [False, True],
    "glance": [False, True],
}
"""All that may change without changing a draft, as long as ties go by token."""

UPSTREAM, PRECHECK, PLACES = (ng.stage(name).toggles for name in ("upstream", "precheck", "places"))
SCORES = ["int32", "exact"]


BUSY = [HealthCheck.too_slow]
"""A busy machine draws slowly, and that is no fault of what is drawn."""


def examples(quick: int) -> Any:
    if golden.SOAK:
        return settings(max_examples=25 * quick, deadline=None, print_blob=True)
    return settings(
        max_examples=quick // 5 if os.environ.get("NGRAM_BRIEF") else quick,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=BUSY,
    )


# ---- what is drawn --------------------------------------------------------------------

BIGGEST = 2**31 - 2

token_ids = st.one_of(
    st.integers(0, 3),
    st.integers(0, 40),
    st.integers(0, 6).map(lambda i: 13 * i),  # one bucket of a small map
    st.integers(BIGGEST - 2, BIGGEST),
    st.integers(0, BIGGEST),
)
vocabularies = st.sampled_from([1, 2, 3, 5, 8, 12]).flatmap(
    lambda size: st.lists(token_ids, min_size=size, max_size=size, unique=True)
)
seeds = st.integers(0, 2**32 - 1)
lengths = st.sampled_from([0, 1, 2, 3, 5, 10, 20, 40, 80])
HUGE = [20, 21_474_836, 21_474_837, 2**30, 1_100_000, 2**31 - 2, 2**31 - 1]


def stream(vocabulary: list[int], seed: int, length: int) -> list[int]:
    """Random tokens, with earlier stretches said again now and then."""
    rng = random.Random(seed)
    text: list[int] = []
    while len(text) < length:
        if text and rng.random() < 0.3:
            start = rng.randrange(len(text))
            text += text[start : start + rng.randrange(1, 12)]
        else:
            text.append(rng.choice(vocabulary))
    return text[:length]


def table_by_hand(vocabulary: list[int], seed: int, sizes: tuple[int, ...]) -> golden.Table:
    """What a cache file could hold, with counts that no text of ours would reach."""
    rng = random.Random(seed)
    often_huge = rng.random()
    table: golden.Table = {}
    for _ in range(rng.randrange(1, 60)):
        ngram = tuple(rng.choice(vocabulary) for _ in range(rng.choice(sizes)))
        table[ngram] = {
            token: rng.choice(HUGE) if rng.random() < often_huge else rng.randrange(1, 5)
            for token in rng.sample(vocabulary, rng.randrange(1, len(vocabulary) + 1))
        }
    return table


@st.composite
def structures(draw: Any, ties: str = "token") -> Toggles:
    """Any combination of toggles; with library ties, any that has maps of followers."""
    drawn = {name: draw(st.sampled_from(values)) for name, values in STRUCTURES.items()}
    if ties == "library":
        drawn.update(followers="chained", static="same")
        if drawn["outer"] == "places":
            drawn["outer"] = "chained"
    elif drawn["outer"] == "places":
        drawn["followers"] = "summed"
    return Toggles(ties=ties, **drawn)  # type: ignore[arg-type]


def keeps_order(toggles: Toggles) -> bool:
    """Whether a cache holds its n-grams, too, in the order in which llama.cpp's would."""
    return (toggles.outer, toggles.followers, toggles.hash) == ("chained", "chained", "xor")


percents = st.integers(0, 100)
sums = st.integers(0, 5)


@st.composite
def rules(draw: Any, vocabulary: list[int]) -> ng.Rule:
    if draw(st.integers(0, 2)) == 0:
        return ng.LLAMA_CPP
    n_min, n_max = sorted(draw(st.tuples(st.integers(1, 4), st.integers(1, 4))))
    return ng.Rule(
        n_min=n_min,
        n_max=n_max,
        context_sum=draw(st.tuples(sums, sums, sums, sums)),
        context_percent=draw(st.tuples(percents, percents, percents, percents)),
        dynamic_sum=draw(st.tuples(sums, sums, sums, sums)),
        dynamic_percent=draw(st.tuples(percents, percents, percents, percents)),
        static_sum=draw(sums),
        static_percent=draw(percents),
        weight=draw(st.sampled_from([0, 1, 100, 1_000_000])),
        use_context=draw(st.integers(0, 2)) > 0,
        eos=draw(st.none() | st.sampled_from(vocabulary)),
    )


@dataclass(frozen=True)
class World:
    """Everything that decides what is drafted, but for the text; and engines to try."""

    vocabulary: list[int]
    rule: ng.Rule
    static: golden.Table | None
    dynamic: golden.Table | None
    ties: str
    score: Any
    engines: list[Toggles]


@st.composite
def worlds(draw: Any) -> World:
    vocabulary = draw(vocabularies)
    counted = stream(vocabulary, draw(seeds), draw(lengths))
    earlier: reference.Cache = {}
    reference.update(earlier, counted, len(counted))
    kinds = st.sampled_from(["none", "counted", "by hand"])
    static = {
        "none": None,
        "counted": reference.count_bigrams(counted),
        "by hand": table_by_hand(vocabulary, draw(seeds), (2,)),
    }
    dynamic = {
        "none": None,
        "counted": earlier,
        "by hand": table_by_hand(vocabulary, draw(seeds), (1, 2, 3, 4)),
    }
    ties, score = draw(st.sampled_from(["token", "library"])), draw(st.sampled_from(SCORES))
    stages = [UPSTREAM] if ties == "library" else [UPSTREAM, PRECHECK]
    drawn = [*stages, *draw(st.lists(structures(ties), min_size=2, max_size=3))]
    return World(
        vocabulary,
        draw(rules(vocabulary)),
        static[draw(kinds)],
        dynamic[draw(kinds)],
        ties,
        score,
        [toggles.set(ties=ties, score=score) for toggles in drawn],
    )


# ---- both sides -----------------------------------------------------------------------


def engine_cache(table: golden.Table, toggles: Toggles, static: bool = False) -> ng.NgramCache:
    """The engine's cache of a table: through a file, the way in that there is."""
    if not table:  # there are no empty files
        return ng.NgramCache.build_static([], toggles) if static else ng.NgramCache(toggles)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.cache"
        path.write_bytes(golden.write_table(table))
        return ng.NgramCache.open(path, toggles, static=static)


def saved(cache: ng.NgramCache) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "saved.cache"
        cache.save(path)
        return path.read_bytes()


def reference_cache(table: golden.Table, ties: str) -> reference.Cache:
    if ties == "library":
        return LibraryCache.load(table)
    return {ngram: dict(followers) for ngram, followers in table.items()}


def in_world(world: World) -> Any:
    return library_ties() if world.ties == "library" else nullcontext()


def reference_drafter(world: World) -> reference.Drafter:
    static, dynamic = world.static, world.dynamic
    return reference.Drafter(  # inside in_world(), a library drafter
        world.rule,
        static=None if static is None else reference_cache(static, world.ties),
        dynamic=None if dynamic is None else reference_cache(dynamic, world.ties),
        score=world.score,
    )


@contextmanager
def engine_caches(
    world: World, toggles: Toggles
) -> Iterator[tuple[ng.NgramCache | None, ng.NgramCache | None]]:
    """Static and dynamic cache of the engine, for as long as it lasts."""
    with ExitStack() as stack:
        static = dynamic = None
        if world.static is not None:
            static = stack.enter_context(engine_cache(world.static, toggles, static=True))
        if world.dynamic is not None:
            dynamic = stack.enter_context(engine_cache(world.dynamic, toggles))
        yield static, dynamic


@contextmanager
def engine_drafter(world: World, toggles: Toggles) -> Iterator[ng.Drafter]:
    with (
        engine_caches(world, toggles) as caches,
        ng.Drafter(toggles, world.rule, *caches) as drafter,
    ):
        yield drafter


def as_recorded(
    steps: tuple[Step, ...], toggles: Toggles, recorded: tuple[Step, ...]
) -> tuple[Step, ...]:
    """The reference's steps as an engine with these toggles records them. A glance ends rows that
    must fail as a check does; which of them, a filter's bits decide."""
    if not toggles.precheck and not toggles.glance:
        return steps
    checked = tuple(map(prechecked, steps))
    return checked if toggles.precheck else tuple(map(glanced, steps, checked, recorded))


def glanced(plain: Step, checked: Step, recorded: Step) -> Step:
    rows = zip(plain.rows, checked.rows, recorded.rows, strict=True)
    return replace(plain, rows=tuple(b if row.prechecked else a for a, b, row in rows))


def pairs(cache: ng.NgramCache | ng.Drafter, ngram: tuple[int, ...]) -> list[tuple[int, int]]:
    """Followers with counts in the engine's order."""
    tokens, counts = cache.followers(list(ngram))
    return list(zip(tokens.tolist(), counts.tolist(), strict=True))


def assert_same_counts(drafter: ng.Drafter, expected: reference.Drafter) -> None:
    """The context caches hold the same, in the order in which ties go."""
    for ngram, followers in expected.context.items():
        if drafter.toggles.ties == "library":
            assert pairs(drafter, ngram) == list(followers.items())
        else:
            assert sorted(pairs(drafter, ngram)) == sorted(followers.items())


# ---- a drafter through its life -------------------------------------------------------

operations = st.one_of(
    st.tuples(st.just("feed"), seeds, lengths),
    st.tuples(st.just("feed"), seeds, lengths),
    st.tuples(st.just("follow"), st.integers(1, 16), st.just(0)),
    st.tuples(st.just("rewind"), st.integers(0, 100), st.just(0)),
    st.tuples(st.just("reset"), st.just(0), st.just(0)),
)


def apply(drafter: Any, world: World, operation: tuple[str, int, int]) -> None:
    """One event in a drafter's life, the same for the engine's and the reference's."""
    what, number, length = operation
    if what == "feed":
        drafter.feed(stream(world.vocabulary, number, length))
    elif what == "follow":  # the model says what was drafted
        drafter.feed([int(token) for token in drafter.draft(number)])
    elif what == "rewind":
        drafter.rewind(drafter.length * number // 100)
    else:
        drafter.reset()


@examples(200)
@given(worlds(), st.lists(operations, min_size=3, max_size=12), st.integers(1, 16))
def test_steps_and_drafts_are_the_reference_s(
    world: World, history: list[tuple[str, int, int]], n_draft: int
) -> None:
    with in_world(world), ExitStack() as stack:
        expected = reference_drafter(world)
        drafters = [stack.enter_context(engine_drafter(world, each)) for each in world.engines]
        for operation in history:
            note(f"{operation}")
            apply(expected, world, operation)
            steps = expected.step(n_draft)
            drafted = [step.token for step in steps if step.token is not None]
            for drafter in drafters:
                apply(drafter, world, operation)
                assert drafter.text.tolist() == expected.text
                recorded = tuple(by_count(scored(step)) for step in drafter.step(n_draft))
                assert recorded == as_recorded(steps, drafter.toggles, recorded)
                assert drafter.draft(n_draft).tolist() == drafted
        for drafter in drafters:
            assert_same_counts(drafter, expected)
        if expected.dynamic is None:
            return
        expected.reset()
        for drafter in drafters:
            assert drafter.dynamic is not None
            drafter.reset()
            drafter.dynamic.validate()
            table = saved(drafter.dynamic)
            assert golden.parse_table(table) == expected.dynamic
            if world.ties == "library" and keeps_order(drafter.toggles):
                assert table == golden.write_table(expected.dynamic)


@examples(60)
@given(vocabularies, seeds, st.tuples(lengths, lengths, lengths), structures())
def test_rewinding_equals_never_having_fed(
    vocabulary: list[int], seed: int, of_each: tuple[int, int, int], toggles: Toggles
) -> None:
    """Also after an earlier text, and also the order in which things are then merged."""
    if toggles.followers == "chained":
        toggles = toggles.set(ties="library", static="same")
    first, kept, undone = (stream(vocabulary, seed + i, length) for i, length in enumerate(of_each))
    after = stream(vocabulary, seed + 3, 60)
    results = []
    for with_rewind in (False, True):
        with ng.NgramCache(toggles) as dynamic, ng.Drafter(toggles, dynamic=dynamic) as drafter:
            drafter.feed(first)
            drafter.reset()
            drafter.feed(kept)
            if with_rewind:
                drafter.feed(undone)
                drafter.rewind(len(kept))
            steps = drafter.step(8)
            drafter.feed(after)
            steps += drafter.step(8)
            # A table of places keeps its room from text to text, and begins anew in a rewind.
            kept_room = toggles.outer == "places"
            memory = None if kept_room else drafter.context_memory().live_bytes
            drafter.reset()
            results.append((steps, memory, saved(dynamic)))
    assert results[0] == results[1]


# ---- replays --------------------------------------------------------------------------


@st.composite
def replays(draw: Any) -> dict[str, Any]:
    n_ctx = draw(st.sampled_from([2, 3, 4, 5, 16, 50, 100]) | st.integers(1, 150))
    return {
        "n_ctx": n_ctx,
        "n_draft": draw(st.integers(1, 16)),
        "tail": draw(st.sampled_from(["keep", "drop"])),
    }


def fnv1a(drafts: list[Any]) -> int:
    """The checksum of a replay: over each call's length and tokens, as little-endian int32."""
    checksum = 0xCBF29CE484222325
    for draft in drafts:
        for value in (len(draft), *draft):
            for byte in int(value).to_bytes(4, "little"):
                checksum = (checksum ^ byte) * 0x100000001B3 % 2**64
    return checksum


@examples(150)
@given(worlds(), replays(), seeds, st.integers(2, 150), st.integers(1, 40))
def test_replays_are_the_reference_s(
    world: World, options: dict[str, Any], seed: int, length: int, slice_tokens: int
) -> None:
    tokens = stream(world.vocabulary, seed, length)
    if options["tail"] == "drop":
        tokens += stream(world.vocabulary, seed + 1, options["n_ctx"] + 1)
    with in_world(world):
        expected = reference.replay(
            tokens,
            world.rule,
            None if world.static is None else reference_cache(world.static, world.ties),
            reference_cache(world.dynamic or {}, world.ties),
            score=world.score,
            **options,
        )
    for toggles in world.engines:
        with (
            engine_caches(world, toggles) as caches,
            ng.Replay(
                tokens,
                toggles,
                world.rule,
                *caches,
                record_drafts=True,
                record_calls=True,
                **options,
            ) as replay,
        ):
            drafts = replay.drafts()
            before = replay.sample.n_replayed
            while not replay.sample.done:
                sample = replay.advance(tokens=slice_tokens)
                assert sample.n_replayed > before or sample.done
                before = sample.n_replayed
                drafts += replay.drafts()
            sample = replay.sample
            calls = replay.calls()
        assert [draft.tolist() for draft in drafts] == expected.drafts
        assert (sample.n_calls, sample.n_drafted, sample.n_accept) == (
            expected.n_calls,
            expected.n_drafted,
            expected.n_accept,
        )
        assert (sample.n_replayed, sample.n_left_out) == (
            expected.n_replayed,
            expected.n_left_out,
        )
        assert sample.drafts_checksum == fnv1a(expected.drafts)
        assert calls["n_drafted"].tolist() == [len(draft) for draft in expected.drafts]
        assert calls["n_accept"].sum() == expected.n_accept


# ---- caches: counts and order ---------------------------------------------------------


@examples(50)
@given(
    vocabularies,
    seeds,
    st.integers(0, 300),
    st.lists(st.integers(1, 60), max_size=4),
    structures(),
)
def test_counts_do_not_depend_on_how_a_text_was_appended(
    vocabulary: list[int], seed: int, length: int, sizes: list[int], toggles: Toggles
) -> None:
    text = stream(vocabulary, seed, length)
    table: reference.Cache = {}
    reference.update(table, text, length)
    for size in (1, 2, 7, max(length, 1), *sizes):
        with ng.NgramCache(toggles) as cache:
            for start in range(0, length, size):
                end = min(start + size, length)
                cache.update(text[:end], end - start)
            assert cache.n_grams == len(table)
            for ngram, followers in table.items():
                assert dict(pairs(cache, ngram)) == followers


@st.composite
def cache_programs(draw: Any) -> list[tuple[Any, ...]]:
    """A history of two caches, 0 and 1."""
    which = st.integers(0, 1)
    return draw(
        st.lists(
            st.one_of(
                st.tuples(st.just("update"), which, seeds, st.integers(0, 200)),
                st.tuples(st.just("update"), which, seeds, st.integers(0, 30)),
                st.tuples(st.just("merge"), which),
                st.tuples(st.just("clear"), which),
                st.tuples(st.just("reload"), which),
            ),
            min_size=1,
            max_size=8,
        )
    )


wide_vocabularies = st.one_of(
    vocabularies,
    st.integers(20, 200).map(lambda n: list(range(n))),
    st.tuples(st.integers(20, 200), seeds).map(
        lambda drawn: [random.Random(drawn[1] + i).randrange(BIGGEST) for i in range(drawn[0])]
    ),
)


@examples(100)
@given(wide_vocabularies, cache_programs(), structures("library"), st.sampled_from([1, 2]))
def test_the_order_is_that_of_libstdcpp(
    vocabulary: list[int], program: list[tuple[Any, ...]], toggles: Toggles, n_min: int
) -> None:
    """Followers, and with an outer hash map walks and saved bytes, too, after any history of
    counting, merging and clearing."""
    n_max = 4 if n_min == 1 else 2
    caches = [ng.NgramCache(toggles, n_min, n_max) for _ in range(2)]
    models = [LibraryCache(), LibraryCache()]
    for operation, which, *rest in program:
        note(f"{operation} {which} {rest}")
        if operation == "update":
            text = stream(vocabulary, *rest)
            caches[which].update(text)
            reference.update(models[which], text, len(text), n_min, n_max)
        elif operation == "merge":
            caches[which].merge(caches[1 - which])
            library_merge(models[which], models[1 - which])
        elif operation == "clear":
            caches[which].clear()
            models[which].clear()
        elif models[which]:
            table = {ngram: dict(f.items()) for ngram, f in models[which].items()}
            caches[which].close()
            caches[which] = engine_cache(table, toggles, static=n_min == 2)
            models[which] = LibraryCache.load(table)
    for cache, model in zip(caches, models, strict=True):
        cache.validate()
        walked = [tuple(int(t) for t in row["tokens"] if t >= 0) for row in cache.ngrams()]
        assert sorted(walked) == sorted(model)
        for ngram in walked:
            assert pairs(cache, ngram) == model[ngram].items()
        if keeps_order(toggles):
            assert walked == list(model)
            assert saved(cache) == golden.write_table(model)
            assert cache.facts()["n_buckets"] == model.n_buckets
        cache.close()


@pytest.mark.parametrize("n_tokens", [300_000 if golden.SOAK else 6_000])
def test_the_order_of_a_map_that_grew_through_many_sizes(n_tokens: int) -> None:
    """One n-gram with thousands of followers, and thousands of n-grams."""
    rng = random.Random(7)
    text = [token for _ in range(n_tokens) for token in (5, rng.randrange(BIGGEST))]
    model = LibraryCache()
    reference.update(model, text, len(text), 1, 2)
    with ng.NgramCache(ng.NOCOPY.toggles, 1, 2) as cache:
        cache.update(text)
        assert saved(cache) == golden.write_table(model)


# ---- counts at their limit ------------------------------------------------------------


@examples(60)
@given(vocabularies, seeds, structures())
def test_counts_that_would_pass_their_limit_stay_there(
    vocabulary: list[int], seed: int, toggles: Toggles
) -> None:
    first, second = (table_by_hand(vocabulary, seed + i, (1, 2, 3, 4)) for i in range(2))
    text = stream(vocabulary, seed + 2, 40)
    expected = {ngram: dict(followers) for ngram, followers in first.items()}
    reference.merge(expected, second)
    reference.update(expected, text, len(text))
    with (
        engine_cache(first, toggles) as cache,
        engine_cache(second, toggles) as added,
    ):
        cache.merge(added)
        cache.update(text)
        found = {}
        for row in cache.ngrams():
            ngram = tuple(int(token) for token in row["tokens"] if token >= 0)
            found[ngram] = dict(pairs(cache, ngram))
            assert row["sum"] == sum(found[ngram].values())
    assert found == expected


@pytest.mark.parametrize(
    "toggles", [UPSTREAM, PRECHECK, PLACES], ids=["upstream", "precheck", "places"]
)
def test_an_exact_score_stays_at_the_end_of_64_bits(toggles: Toggles) -> None:
    """Counts and weights of a hostile file; two scores that reach the end are a tie."""
    most = 2**31 - 1
    world = World(
        [1, 2, 3, 4],
        ng.Rule(dynamic_percent=(50, 40, 50, 50)),
        static={(1, 2): {3: most - 1, 4: most}},
        dynamic={(1, 2): {3: most - 1, 4: most}},
        ties="token",
        score="exact",
        engines=[toggles.set(ties="token", score="exact")],
    )
    expected = reference_drafter(world)
    expected.feed([1, 2])
    with engine_drafter(world, world.engines[0]) as drafter:
        drafter.feed([1, 2])
        steps = drafter.step(1)
    assert steps == expected.step(1)
    row = steps[0].rows[-1]
    assert [candidate.score for candidate in row.candidates] == [2**63 - 1] * 2
    assert (row.cache, row.n, row.verdict, row.best) == ("dynamic", 2, "passes", 3)

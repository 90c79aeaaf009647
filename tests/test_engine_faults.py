"""What happens when things go wrong: errors by code, life and lending of handles, memory that runs
out, threads, Ctrl-C, hostile files. Nothing may be lost, and nothing may take the process down.
"""

from __future__ import annotations

import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from golden import read_table, write_table
from tools import REPO

import ngram_core as ng
from ngram_core import _native
from ngram_core.errors import EngineMemoryError, FormatError, InputError, NgramError, StateError

STAGES = list(ng.STAGES)
TEXT = [1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 5, 1, 2, 3]
SEEDS = REPO / "tests" / "fuzz" / "corpus"

Stream = np.ndarray[Any, np.dtype[np.int32]]


def stream(length: int, n_vocab: int = 50, seed: int = 1) -> Stream:
    """Random tokens in which runs come back, so that there is something to draft."""
    random = np.random.default_rng(seed)
    fresh = random.integers(0, n_vocab, length, dtype=np.int32)
    for start in range(100, length - 40, 60):
        at = int(random.integers(0, start - 40))
        fresh[start : start + 30] = fresh[at : at + 30]
    return fresh


def counts(cache: ng.NgramCache) -> dict[tuple[int, ...], dict[int, int]]:
    table = {}
    for gram in cache.ngrams():
        key = tuple(int(token) for token in gram["tokens"][: gram["n"]])
        tokens, numbers = cache.followers(key)
        table[key] = dict(zip(tokens.tolist(), numbers.tolist(), strict=True))
    return table


def counted(tokens: Any = TEXT, toggles: ng.Toggles = ng.NOCOPY.toggles) -> ng.NgramCache:
    cache = ng.NgramCache(toggles)
    cache.update(tokens)
    return cache


def static_cache(toggles: ng.Toggles = ng.NOCOPY.toggles) -> ng.NgramCache:
    return ng.NgramCache.build_static(TEXT, toggles)


# ---- errors ---------------------------------------------------------------------------


def test_every_status_of_the_engine_has_an_exception() -> None:
    header = REPO / "csrc" / "ngc.h"
    if not header.is_file():
        pytest.skip("the engine's header is not here")
    enum = re.search(r"ngc_status;\s*enum \{(.*?)\};", header.read_text(encoding="utf-8"), re.S)
    assert enum is not None
    codes = {name: int(code) for name, code in re.findall(r"(NGC_\w+) = (\d+)", enum[1])}
    assert codes.pop("NGC_OK") == 0
    assert len(codes) >= 9
    builtin = {FormatError: ValueError, InputError: ValueError, StateError: RuntimeError}
    for name, code in codes.items():
        error = _native.error_of(code, "reading x")
        assert type(error) is not NgramError, f"{name} has no exception of its own"
        assert isinstance(error, builtin.get(type(error), MemoryError))
        assert str(error).startswith("reading x: ")
    unknown = max(codes.values()) + 1
    assert type(_native.error_of(unknown, "x")) is NgramError


# ---- arrays ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "tokens",
    [
        [1.0, 2.0],
        np.array([1.5]),
        np.array([True, False]),
        ["one"],
        "one",
        None,
        7,
        [[1, 2], [3, 4]],
        [[1], [2, 3]],
        np.zeros((2, 2), dtype=np.int32),
        [-1],
        [2**31 - 1],
        [2**31],
        [2**63],
        [2**70],
        [-(2**70)],
        np.array([2**32 + 1], dtype=np.uint64),
        np.array([1 + 2j]),
        np.array(["2026-01-01"], dtype="datetime64[D]"),
        [None],
        [object()],
    ],
    ids=lambda tokens: re.sub(" at 0x[0-9a-f]+", "", repr(tokens)),  # the same in every process
)
def test_what_is_no_token_array_is_refused(tokens: Any) -> None:
    cache = counted()
    before = counts(cache)
    drafter = ng.Drafter()
    for call in (cache.update, drafter.feed, ng.Replay, ng.NgramCache.build_static):
        with pytest.raises(InputError, match=r"token id|ids"):
            call(tokens)
    assert counts(cache) == before
    assert drafter.length == 0


@pytest.mark.parametrize(
    "dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64]
)
def test_integers_of_any_kind_are_the_same_tokens(dtype: type) -> None:
    plain = np.array(TEXT, dtype=dtype)
    twice = np.repeat(plain, 2)
    for array in (plain, twice[::2], plain[::-1][::-1], plain.astype(plain.dtype.newbyteorder())):
        assert counts(counted(array)) == counts(counted(TEXT))


def test_an_empty_array_counts_nothing() -> None:
    for nothing in ([], np.zeros(0), np.zeros((0, 3), dtype=np.int32), ()):
        cache = counted(nothing)
        assert cache.n_grams == 0
        assert counts(cache) == {}
        drafter = ng.Drafter()
        drafter.feed(nothing)
        assert drafter.draft(4).tolist() == []
        assert drafter.text.tolist() == []


def test_the_largest_token_is_one() -> None:
    largest = 2**31 - 2
    cache = counted([largest, 0, largest, 0])
    assert cache.followers([largest])[0].tolist() == [0]


@pytest.mark.parametrize("n", [-1, 10**6, 2**40, -(2**70), 1.5, float("nan"), "4", None, [1]])
def test_what_is_no_length_is_refused(n: Any) -> None:
    with ng.Drafter() as drafter:
        drafter.feed(TEXT)
        for call in (drafter.draft, drafter.step, drafter.probe, drafter.trace, drafter.rewind):
            with pytest.raises(InputError):
                call(n)
        assert drafter.text.tolist() == TEXT
    for what in ("n_ctx", "n_draft"):
        with pytest.raises(InputError, match=what):
            ng.Replay(TEXT, **{what: n if n not in (10**6, 2**40) else 0})
    if n is not None:  # there it means all
        with pytest.raises(InputError):
            counted().update(TEXT, n)


@pytest.mark.parametrize("sizes", [(0, 4), (1, 5), (3, 2), (-1, 2), (1.5, 2), ("1", 2), (None, 4)])
def test_what_is_no_size_of_n_grams_is_refused(sizes: Any) -> None:
    with pytest.raises(InputError):
        ng.NgramCache(n_min=sizes[0], n_max=sizes[1])


# ---- life -----------------------------------------------------------------------------

USES: dict[str, tuple[Callable[[], Any], list[Callable[[Any], Any]]]] = {
    "cache": (
        counted,
        [
            lambda cache: cache.update(TEXT),
            lambda cache: cache.merge(counted()),
            lambda cache: counted().merge(cache),
            lambda cache: cache.clear(),
            lambda cache: cache.followers([1]),
            lambda cache: cache.facts(),
            lambda cache: cache.memory(),
            lambda cache: cache.n_grams,
            lambda cache: cache.n_followers,
            lambda cache: cache.ngrams(),
            lambda cache: cache.validate(),
            lambda cache: cache.save(os.devnull),
            lambda cache: cache.table_around([1]),
            lambda cache: ng.inside.table_report(cache),
            lambda cache: ng.inside.search_path(cache, 1, ngram=[1]),
            lambda cache: ng.Drafter(static=cache),
            lambda cache: ng.Drafter(dynamic=cache),
            lambda cache: ng.Replay(TEXT, static=cache),
        ],
    ),
    "drafter": (
        ng.Drafter,
        [
            lambda drafter: drafter.feed([1]),
            lambda drafter: drafter.draft(1),
            lambda drafter: drafter.step(1),
            lambda drafter: drafter.probe(1),
            lambda drafter: drafter.trace(1),
            lambda drafter: ng.inside.cache_lines(drafter, 1),
            lambda drafter: ng.inside.table_around(drafter, [1]),
            lambda drafter: drafter.rewind(0),
            lambda drafter: drafter.reset(),
            lambda drafter: drafter.length,
            lambda drafter: drafter.text,
            lambda drafter: drafter.followers([1]),
            lambda drafter: drafter.context_memory(),
            lambda drafter: drafter.copied(),
        ],
    ),
    "replay": (
        lambda: ng.Replay(TEXT),
        [
            lambda replay: replay.advance(),
            lambda replay: replay.run(),
            lambda replay: replay.drafts(),
            lambda replay: replay.calls(),
            lambda replay: replay.probes(),
            lambda replay: replay.probe_sum(),
        ],
    ),
}


@pytest.mark.parametrize("kind", USES)
def test_nothing_works_after_closing(kind: str) -> None:
    make, uses = USES[kind]
    thing = make()
    thing.close()
    thing.close()
    for use in uses:
        with pytest.raises(StateError, match="closed"):
            use(thing)


def test_a_walk_ends_when_its_cache_is_closed_or_changed() -> None:
    changes: list[Callable[[ng.NgramCache], object]] = [
        ng.NgramCache.clear,
        ng.NgramCache.close,
        lambda cache: cache.update([9, 9]),
        lambda cache: cache.merge(counted([9, 9])),
    ]
    for change in changes:
        cache = counted()
        walk = cache._handle.walk(chunk=1)
        next(walk)
        pieces = cache._handle.save_legacy(chunk=64)
        next(pieces)
        change(cache)
        for iterator in (walk, pieces):
            with pytest.raises(StateError):
                next(iterator)


@pytest.mark.parametrize("name", STAGES)
def test_a_walk_ends_when_a_drafter_changes_its_cache(name: str) -> None:
    toggles = ng.STAGES[name].toggles
    dynamic = counted(TEXT, toggles)
    walk = dynamic._handle.walk(chunk=1)
    next(walk)
    with ng.Drafter(toggles, dynamic=dynamic) as drafter:
        drafter.feed(range(200))
        drafter.reset()
        with pytest.raises(StateError, match="changed"):
            next(walk)


# ---- lending --------------------------------------------------------------------------


def test_sizes_that_a_cache_does_not_hold_are_not_merged_into_it() -> None:
    static, dynamic = static_cache(), counted()
    wanted = static.facts()
    with pytest.raises(InputError, match="1- to 4-grams does not fit one of 2- to 2-grams"):
        static.merge(dynamic)
    assert static.facts() == wanted
    dynamic.merge(static)
    with pytest.raises(InputError, match="holds 2- to 2-grams; a dynamic one holds 1- to 4-grams"):
        ng.Drafter(static.toggles, dynamic=static)


def test_a_static_cache_is_shared_and_stays_as_it_is() -> None:
    static = static_cache()
    first, second = ng.Drafter(static=static), ng.Replay(TEXT, static=static)
    for change in (
        static.close,
        static.clear,
        lambda: static.update(TEXT),
        lambda: static.merge(static_cache()),
    ):
        with pytest.raises(StateError, match="in use"):
            change()
    assert static.followers([1, 2])[0].size == 2, "reading it is fine"
    first.close()
    with pytest.raises(StateError, match="in use"):
        static.close()
    second.close()
    static.update(TEXT)
    static.close()


def test_a_dynamic_cache_has_one_user() -> None:
    dynamic = counted()
    for lend in (lambda: ng.Drafter(dynamic=dynamic), lambda: ng.Replay(TEXT, dynamic=dynamic)):
        borrower = lend()
        for other in (
            lambda: ng.Drafter(dynamic=dynamic),
            lambda: ng.Drafter(static=dynamic),
            lambda: ng.Replay(TEXT, dynamic=dynamic),
            lambda: dynamic.update(TEXT),
            dynamic.close,
        ):
            with pytest.raises(StateError, match="in use"):
                other()
        assert dynamic.followers([1])[0].size == 1, "looking is fine, between its user's calls"
        borrower.close()
    dynamic.close()


def test_one_cache_is_not_static_and_dynamic_at_once() -> None:
    cache = counted()
    with pytest.raises(StateError, match="in use"):
        ng.Drafter(static=cache, dynamic=cache)
    cache.update(TEXT)  # nothing is still lent
    cache.close()


def test_a_borrower_that_could_not_be_made_has_nothing() -> None:
    static, dynamic = static_cache(), counted()
    sorted_followers = ng.NOCOPY.toggles.set(followers="sorted", ties="token")
    for make in (
        lambda: ng.Drafter(sorted_followers, static=static, dynamic=dynamic),
        lambda: ng.Replay([], static=static, dynamic=dynamic),
        lambda: ng.Replay(TEXT, static=static, dynamic=dynamic, n_ctx=0),
    ):
        with pytest.raises(InputError):
            make()
    static.close()
    dynamic.close()


def test_a_dropped_borrower_gives_back() -> None:
    static, dynamic = static_cache(), counted()
    for make in (
        lambda: ng.Drafter(static=static, dynamic=dynamic),
        lambda: ng.Replay(TEXT, static=static, dynamic=dynamic),
    ):
        borrower = make()
        borrower.itself = borrower  # type: ignore[attr-defined]
        del borrower
        gc.collect()
        static.update(TEXT)
        dynamic.update(TEXT)
    static.close()
    dynamic.close()


def test_a_lender_that_is_dropped_lives_on_for_its_borrower() -> None:
    drafter = ng.Drafter(static=static_cache(), dynamic=counted())
    gc.collect()
    drafter.feed([3, 4, 1, 2])
    assert drafter.draft(3).size > 0
    drafter.reset()
    drafter.close()


# ---- memory that runs out -------------------------------------------------------------


def each_failure(fail: Callable[[int], object], act: Callable[[], object]) -> Iterator[int]:
    """Lets the nth allocation of an action fail, for n = 1, 2, ..., until it succeeds."""
    for nth in range(1, 5000):
        fail(nth)
        try:
            act()
        except EngineMemoryError:
            yield nth
        else:
            fail(0)
            return


@pytest.mark.parametrize("name", STAGES)
def test_counting_that_fails_changes_nothing(name: str) -> None:
    toggles = ng.STAGES[name].toggles
    fresh = stream(30, 12)
    cache, added = counted(TEXT, toggles), counted(fresh, toggles)
    before = counts(cache)
    n_failures = 0
    for _ in each_failure(cache._handle.fail_allocation, lambda: cache.update(fresh)):
        assert counts(cache) == before
        n_failures += 1
    cache.validate()
    # A table of places asks for memory a few times, not once an n-gram.
    assert n_failures > (2 if toggles.outer == "places" else 20)
    cache.clear()
    cache.update(TEXT)
    before = counts(cache)
    for _ in each_failure(cache._handle.fail_allocation, lambda: cache.merge(added)):
        assert counts(cache) == before
    cache.validate()
    both = counts(counted(TEXT, toggles))
    for key, followers in counts(added).items():
        mine = both.setdefault(key, {})
        for token, count in followers.items():
            mine[token] = mine.get(token, 0) + count
    assert counts(cache) == both


@pytest.mark.parametrize("name", STAGES)
def test_full_counts_come_back_exactly(name: str, tmp_path: Path) -> None:
    """A count stops at 2^31 - 1; what it did not take must not be taken from it again."""
    full = 2**31 - 1
    # Token 2 follows 1 four times in TEXT and six in what is added: near, at and beyond the end.
    own = {(1,): {2: full - 3, 9: full}, (2,): {3: full}, (7,): {8: 5}}
    others = {(1,): {2: 5, 9: 1}, (2,): {3: full, 4: full}, (7,): {8: full - 5}, (6,): {1: full}}
    (tmp_path / "own").write_bytes(write_table(own))
    (tmp_path / "others").write_bytes(write_table(others))
    toggles = ng.stage(name).toggles
    with ng.NgramCache.open(tmp_path / "own", toggles) as cache:
        added = ng.NgramCache.open(tmp_path / "others", toggles)
        before = counts(cache)
        fails = cache._handle.fail_allocation
        n_updates = 0
        for _ in each_failure(fails, lambda: cache.update(TEXT)):
            n_updates += 1
            assert counts(cache) == before
        assert n_updates > (1 if toggles.outer == "places" else 5)
        updated = counts(cache)
        assert updated[1,][2] == updated[2,][3] == updated[1,][9] == full
        n_merges = 0
        for _ in each_failure(fails, lambda: cache.merge(added)):
            n_merges += 1
            assert counts(cache) == updated
        assert n_merges >= 1
        assert counts(cache)[7,] == {8: full}
        cache.validate()


@pytest.mark.parametrize("name", STAGES)
def test_drafting_that_fails_changes_nothing(name: str) -> None:
    toggles = ng.STAGES[name].toggles
    with ng.Drafter(
        toggles, static=static_cache(toggles), dynamic=counted(TEXT, toggles)
    ) as drafter:
        drafter.feed(TEXT)
        wanted, steps = drafter.draft(8).tolist(), drafter.step(8)
        for act in (lambda: drafter.draft(8), lambda: drafter.step(8)):
            for _ in each_failure(drafter._handle.fail_allocation, act):
                assert drafter.text.tolist() == TEXT
        assert drafter.draft(8).tolist() == wanted
        assert drafter.step(8) == steps
        for _ in each_failure(drafter._handle.fail_allocation, lambda: drafter.rewind(5)):
            assert drafter.text.tolist() == TEXT
        assert drafter.text.tolist() == TEXT[:5]


@pytest.mark.parametrize("name", STAGES)
def test_a_replay_that_ran_out_of_memory_goes_on(name: str) -> None:
    toggles = ng.STAGES[name].toggles.set(ties="token")
    tokens = stream(150, 12)
    with ng.Replay(tokens, toggles, n_ctx=60, record_drafts=True) as replay:
        wanted = replay.run()
        drafts = [draft.tolist() for draft in replay.drafts()]
    with ng.Replay(tokens, toggles, n_ctx=60, record_drafts=True) as replay:
        # Each failure is answered by going on, which meets the next one further along.
        n_failures = sum(1 for _ in each_failure(replay._handle.fail_allocation, replay.run))
        assert n_failures > 5
        got = replay.sample
        assert (got.n_replayed, got.n_calls, got.n_drafted, got.n_accept, got.drafts_checksum) == (
            wanted.n_replayed,
            wanted.n_calls,
            wanted.n_drafted,
            wanted.n_accept,
            wanted.drafts_checksum,
        )
        assert [draft.tolist() for draft in replay.drafts()] == drafts


# ---- threads --------------------------------------------------------------------------


def in_threads(*jobs: Callable[[], object]) -> None:
    """Runs each in a thread of its own, switched as often as can be; raises what they raise."""
    errors: list[BaseException] = []

    def guarded(job: Callable[[], object]) -> None:
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,), daemon=True) for job in jobs]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive(), "two threads wait for each other"
    finally:
        sys.setswitchinterval(interval)
    if errors:
        raise errors[0]


@pytest.mark.parametrize("stage", [ng.UPSTREAM, ng.PLACES], ids=lambda stage: stage.name)
def test_two_threads_on_one_drafter_take_turns(stage: ng.Stage) -> None:
    toggles = stage.toggles
    dynamic = counted(toggles=toggles)
    static = static_cache(toggles)
    drafter = ng.Drafter(toggles, static=static, dynamic=dynamic)
    n_rounds, n_tokens = 100, 1_000  # long enough for both to be in the engine at once

    def fed(token: int) -> tuple[int, ...]:
        return tuple(token + i % 3 for i in range(n_tokens))

    def work(token: int) -> None:
        for _ in range(n_rounds):
            drafter.feed(fed(token))
            assert len(drafter.draft(4)) <= 4
            dynamic.followers([1])

    in_threads(lambda: work(1), lambda: work(11))
    text = drafter.text.tolist()
    # Each feed went in whole, in whatever turn.
    feeds = [tuple(text[i : i + n_tokens]) for i in range(0, len(text), n_tokens)]
    assert sorted(feeds) == [fed(1)] * n_rounds + [fed(11)] * n_rounds
    again = counted(text)
    assert [x.tolist() for x in drafter.followers([1, 2])] == [
        x.tolist() for x in again.followers([1, 2])
    ]
    drafter.close()


def test_merging_both_ways_in_two_threads_does_not_stop() -> None:
    a, b = counted(TEXT), counted(TEXT[::-1])

    def merge(into: ng.NgramCache, added: ng.NgramCache) -> None:
        for _ in range(3000):
            into.merge(added)

    in_threads(lambda: merge(a, b), lambda: merge(b, a))
    a.validate()
    b.validate()


def test_loans_that_two_threads_take_and_give_back_are_all_given_back() -> None:
    static = static_cache()

    def lend() -> None:
        for i in range(400):
            drafter = ng.Drafter(static=static)
            if i % 2:
                drafter.close()
            del drafter

    in_threads(lend, lend, lend)
    gc.collect()
    static.close()


def test_closing_in_one_thread_while_another_drafts() -> None:
    drafter = ng.Drafter()
    drafter.feed(stream(500))

    def draft_on() -> None:
        while True:
            drafter.draft(8)

    def work() -> None:
        with pytest.raises(StateError, match="closed"):
            draft_on()

    in_threads(work, lambda: (time.sleep(0.05), drafter.close()))


# ---- Ctrl-C ---------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="there Ctrl-C is no signal one can send")
def test_ctrl_c_stops_a_replay_that_can_go_on(measured: Callable[[str], None]) -> None:
    tokens = stream(100_000, 5000)
    toggles = ng.UPSTREAM.toggles
    wanted = ng.Replay(tokens, toggles).run()
    sent: list[float] = []

    def interrupt(fraction: float) -> None:
        if fraction > 0.2 and not sent:
            threading.Timer(0.01, send).start()
            sent.append(0.0)

    def send() -> None:
        sent[0] = time.perf_counter()
        os.kill(os.getpid(), signal.SIGINT)

    with ng.Replay(tokens, toggles) as replay:
        with pytest.raises(KeyboardInterrupt):
            replay.run(interrupt)
        waited = time.perf_counter() - sent[0]
        assert 0 < replay.advance(0).n_replayed < wanted.n_replayed
        got = replay.run()
    assert (got.n_calls, got.drafts_checksum) == (wanted.n_calls, wanted.drafts_checksum)
    measured(f"Ctrl-C stopped a replay after {1000 * waited:.0f} ms")
    assert waited < 2, "a slice lasts 50 ms; the rest is a busy machine"


@pytest.mark.parametrize("stage", ["outermap", "places"])  # chained maps keep one call's order
def test_counting_a_long_text_is_told_and_can_be_stopped(stage: str) -> None:
    """What was counted before is that of a shorter text, and counting goes on from there."""
    text = stream(30_000, 500)
    said: list[float] = []

    def stop(fraction: float) -> None:
        said.append(fraction)
        if fraction > 0.5:
            raise KeyboardInterrupt

    toggles = ng.STAGES[stage].toggles
    with ng.NgramCache(toggles) as cache:
        with pytest.raises(KeyboardInterrupt):
            cache.update(text, progress=stop)
        done = round(said[-1] * len(text))
        assert 0 < done < len(text)
        for end in (done, len(text)):
            with ng.NgramCache(toggles) as wanted:  # in other pieces
                for start in range(0, end, 1_000):
                    stop_at = min(start + 1_000, end)
                    wanted.update(text[:stop_at], stop_at - start)
                assert same_counts(cache, wanted)
            if end == done:
                cache.update(text, len(text) - done)
        cache.validate()


def same_counts(a: ng.NgramCache, b: ng.NgramCache) -> bool:
    rows = []
    for cache in (a, b):
        grams = [tuple(row["tokens"].tolist()) for row in cache.ngrams()]
        rows.append({g: dict(zip(*(x.tolist() for x in cache.followers([t for t in g if t >= 0])),
                                 strict=True)) for g in grams})  # fmt: skip
    return rows[0] == rows[1]


@pytest.mark.parametrize("source", ["counts", "ngc", "innervector"])
def test_building_a_constmap_is_told_and_can_be_stopped(source: str) -> None:
    """What it is made of is whole afterwards, and gives the same bytes when it is asked again."""
    with ng.BigramCounter() as counter:
        counter.add(stream(100_000, 5000))
        ours = ng.CONSTMAP.toggles.set(static="ngc")
        other = counter.cache(ours if source == "ngc" else ng.INNERVECTOR.toggles)

        def build(progress: Callable[[float], None] | None = None) -> ng.NgramCache:
            if source == "counts":
                return counter.cache(ng.CONSTMAP.toggles, progress=progress)
            return other.converted(ng.CONSTMAP.toggles, progress)

        said: list[float] = []

        def stop(fraction: float) -> None:
            said.append(fraction)
            if fraction > 0.5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build(stop)
        n_said = len(said)
        with other, build() as wanted, build(said.append) as got:
            assert bytes(got._handle.constmap_bytes_view()) == bytes(
                wanted._handle.constmap_bytes_view()
            )
            got.validate()
    assert n_said > 3
    again = said[n_said:]
    assert again == sorted(again)
    assert again[-1] <= 1
    assert len(set(again)) > 5, "it moves"


# ---- files ----------------------------------------------------------------------------


def open_all_ways(path: Path) -> int:
    """Opens a file in every way there is; how many of them did."""
    n_opened = 0
    messages: list[str] = []
    for stage in ng.STAGES.values():
        for static in (False, True):
            try:
                cache = ng.NgramCache.open(path, stage.toggles, static=static)
            except (FormatError, InputError) as error:
                messages.append(str(error))
            else:
                with cache:
                    cache.followers([1, 2])
                    try:
                        cache.validate()
                    except FormatError as error:  # our own file is read whole only now
                        assert cache.kind == "ngc"
                        messages.append(str(error))
                n_opened += 1
    assert all(path.name in message and "\n" not in message for message in messages)
    return n_opened


@pytest.mark.parametrize("folder", ["legacy_file", "constmap_file", "packed_file"])
def test_hostile_files_are_refused_in_one_line(folder: str, tmp_path: Path) -> None:
    seeds = sorted((SEEDS / folder).glob("*"))
    if not seeds:
        pytest.skip("the fuzzers' corpus is not here")
    n_settings = {"legacy_file": 6, "constmap_file": 3, "packed_file": 3}[
        folder
    ]  # bytes for the fuzzer itself
    path = tmp_path / "a.cache"
    for seed in seeds:
        path.write_bytes(seed.read_bytes()[n_settings:])
        open_all_ways(path)


def test_files_cut_at_any_byte(tmp_path: Path) -> None:
    whole = tmp_path / "whole.cache"
    static_cache(ng.UPSTREAM.toggles).save(whole)
    data = whole.read_bytes()
    table = list(read_table(whole).items())
    ends = {len(write_table(dict(table[:n]))) for n in range(1, len(table) + 1)}
    cut = tmp_path / "cut.cache"
    for size in range(len(data) + 1):
        cut.write_bytes(data[:size])
        assert open_all_ways(cut) == (2 * len(STAGES) if size in ends else 0), size


def test_a_static_constmap_that_is_none_is_saved_as_what_it_is(tmp_path: Path) -> None:
    """Toggles alone do not make a cache a constmap."""
    toggles = ng.STAGES["constmap"].toggles
    with ng.NgramCache(toggles, n_min=2, n_max=2) as cache:
        cache.update(TEXT)
        cache.save(tmp_path / "a.cache")
        assert read_table(tmp_path / "a.cache") == counts(cache)


def test_what_progress_raises_stops_the_work(tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(fraction: float) -> None:
        assert 0 < fraction <= 1
        raise Stop

    cache = counted()
    path = tmp_path / "a.cache"
    cache.save(path)
    old = path.read_bytes()
    cache.update(stream(1000))
    for work in (
        lambda: cache.save(path, progress=stop),
        lambda: ng.NgramCache.open(path, progress=stop),
        lambda: ng.NgramCache.build_static(TEXT, progress=stop),
        lambda: ng.Replay(stream(100)).run(progress=stop),
    ):
        with pytest.raises(Stop):
            work()
    assert path.read_bytes() == old
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.cache"]
    cache.validate()


# ---- leaving --------------------------------------------------------------------------

LEAVINGS = {
    "open handles": """
        cache = ng.NgramCache(); cache.update(range(100))
        drafter = ng.Drafter(dynamic=cache); drafter.feed(range(50))
        replay = ng.Replay(list(range(50)) * 4, static=ng.NgramCache.build_static(range(50)))
        replay.advance(10)
    """,
    "a walk half way": """
        cache = ng.NgramCache(); cache.update(range(100))
        walk = cache._handle.walk(chunk=1); next(walk)
    """,
    "circles": """
        cache = ng.NgramCache()
        drafter = ng.Drafter(dynamic=cache)
        drafter.me, cache.user = drafter, drafter
    """,
    "a thread that drafts": """
        import threading
        drafter = ng.Drafter(); drafter.feed([1, 2, 3] * 100)
        def work():
            while True:
                drafter.draft(100)
        threading.Thread(target=work, daemon=True).start()
    """,
    "an exception": """
        drafter = ng.Drafter(dynamic=ng.NgramCache())
        import sys
        sys.excepthook = lambda *error: None
        raise SystemExit(0)
    """,
}


@pytest.mark.parametrize("how", LEAVINGS)
def test_python_ends_quietly(how: str) -> None:
    lines = LEAVINGS[how].strip("\n").splitlines()
    code = "import ngram_core as ng\n" + "\n".join(line[8:] for line in lines)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=REPO,
        env={**os.environ, "PYTHONPATH": str(Path(ng.__file__).parent.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["nocopy", "outermap", "innervector"])
def test_a_file_whose_ngrams_share_one_hash(
    name: str, tmp_path: Path, measured: Callable[[str], None]
) -> None:
    """llama.cpp's hash gives every (a, a, b, b) the same value; all would stand in one chain."""
    n = 250
    keys = [(a, a, b, b) for a in range(n) for b in range(n) if a != b]
    few, many = tmp_path / "few", tmp_path / "many"
    few.write_bytes(write_table({key: {1: 1} for key in keys[:2000]}))
    many.write_bytes(write_table({key: {1: 1} for key in keys}))
    toggles = ng.stage(name).toggles
    with ng.NgramCache.open(few, toggles) as cache:  # more than 541 MB of text have
        assert cache.n_grams == 2_000
    began = time.perf_counter()
    with pytest.raises(FormatError, match="share a hash") as raised:
        ng.NgramCache.open(many, toggles)
    measured(f"{name}: a crowded file refused in {time.perf_counter() - began:.2f} s")
    at = int(str(raised.value).split("byte ")[1].split(":")[0])
    assert 10_000 < at / 28 < 30_000
    with ng.NgramCache.open(many, toggles.set(hash="mixed")) as cache:  # which knows the order
        assert cache.n_grams == len(keys)

"""Ctrl-C in every long call: heard at once, and everything as it was.

Most calls last about a second on an idle machine. A real signal comes at several moments of each;
how long it waits is printed, and bounded generously: other work may take the processor meanwhile.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ngram_core as ng
from ngram_core import _native
from ngram_core.counting import BigramCounter
from ngram_core.errors import StateError

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="there Ctrl-C is no signal one can send"
)

Stream = np.ndarray[Any, np.dtype[np.int32]]
N_TOKENS = 300_000
MOMENTS = (0.1, 0.35, 0.6, 0.85)  # of the call's time
STAGES = ["nocopy", "outermap", "innervector", "places"]


def stream(seed: int, length: int = N_TOKENS) -> Stream:
    """Like text: few tokens are frequent, most n-grams are new."""
    random = np.random.default_rng(seed)
    return (random.zipf(1.3, length) % 50_000).astype(np.int32)


def cache_of(stage: str, seed: int) -> ng.NgramCache:
    cache = ng.NgramCache(ng.STAGES[stage].toggles)
    tokens = stream(seed)
    for start in range(0, len(tokens), 1 << 13):
        cache.update(tokens[: start + (1 << 13)], len(tokens[start : start + (1 << 13)]))
    return cache


def waits(
    call: Callable[[], object], seconds: float, anew: Callable[[], object] = lambda: None
) -> Iterator[float]:
    """Calls it again and again, each time with Ctrl-C at another moment of the time that it takes;
    how long each had to wait. Where it came to its end before that, all begins `anew`."""
    for moment in MOMENTS:
        sent: list[float] = []

        def send(sent: list[float] = sent) -> None:
            sent.append(time.perf_counter())
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(moment * seconds, send)
        begun = done = False
        try:
            timer.start()  # a short time may be over before it returns
            begun = True
            call()
            done = True
            timer.cancel()
            timer.join()  # where it was sent just now, it is heard here
        except KeyboardInterrupt:
            if begun and not done:
                yield time.perf_counter() - sent[0]
        if done:
            anew()


def check(name: str, waited: list[float], measured: Callable[[str], None]) -> None:
    assert waited, f"{name} was never interrupted"
    worst = 1000 * max(waited)
    measured(f"Ctrl-C in {name}: {len(waited)} times, the longest wait {worst:.0f} ms")
    assert worst < 1000, "a slice lasts 40 ms at most; the rest is a busy machine"


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def digest(cache: ng.NgramCache) -> tuple[object, ...]:
    """What it holds, whatever the order."""
    sums = [0, 0, 0]
    for piece in cache.walk():
        keys = piece["tokens"].astype(np.uint64) @ np.array([3, 5, 17, 257], dtype=np.uint64)
        mixed = keys * np.uint64(0x9E3779B97F4A7C15)
        sums[0] ^= int(np.bitwise_xor.reduce(mixed))
        sums[1] += int((piece["sum"] * (keys % np.uint64(1009)).astype(np.int64)).sum())
        sums[2] += int(piece["n_followers"].sum())
    facts = cache.facts()
    return (*sums, facts["n_grams"], facts["n_followers"])


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_a_merge_is_stopped_at_once_and_taken_back(
    stage: str, measured: Callable[[str], None]
) -> None:
    with (
        cache_of(stage, 1) as first,
        cache_of(stage, 2) as added,
        ng.NgramCache(first.toggles) as cache,
    ):
        before = digest(first)

        def anew() -> None:
            cache.clear()
            cache.merge(first)

        anew()
        seconds = timed(lambda: cache.merge(added))
        wanted = digest(cache)
        anew()
        waited = []
        for wait in waits(lambda: cache.merge(added), seconds, anew):
            waited.append(wait)
            if digest(cache) == wanted:  # all was done, but for the way back
                anew()
            assert digest(cache) == before
        check(f"a merge, {stage}", waited, measured)
        cache.validate()
        cache.merge(added)
        cache.validate()
        assert digest(cache) == wanted


@pytest.mark.slow
@pytest.mark.parametrize("stage", STAGES)
def test_counting_is_stopped_at_once(stage: str, measured: Callable[[str], None]) -> None:
    tokens = stream(3)
    toggles = ng.STAGES[stage].toggles
    with ng.NgramCache(toggles) as whole, ng.NgramCache(toggles) as cache:
        seconds = timed(lambda: whole.update(tokens))
        waited = []
        for wait in waits(lambda: cache.update(tokens), seconds, cache.clear):
            waited.append(wait)
            if toggles.outer == "chained":
                assert cache.n_grams in (0, whole.n_grams)
            cache.clear()
        check(f"counting, {stage}", waited, measured)


LOOKS: dict[str, Callable[[ng.NgramCache, Path], object]] = {
    "checking": lambda cache, path: cache.validate(),
    "saving": lambda cache, path: cache.save(path),
    "measuring the table": lambda cache, path: ng.inside.table_report(cache),
    "converting": lambda cache, path: cache.converted(ng.STAGES["innervector"].toggles).close(),
}


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["nocopy", "outermap", "places"])
def test_looking_over_a_whole_cache_is_stopped_at_once(
    stage: str, tmp_path: Path, measured: Callable[[str], None]
) -> None:
    path = tmp_path / "saved.cache"
    with cache_of(stage, 1) as cache:
        before = digest(cache)
        for name, look in LOOKS.items():
            seconds = timed(lambda look=look: look(cache, path))  # type: ignore[misc]
            path.unlink(missing_ok=True)
            waited = list(waits(lambda look=look: look(cache, path), seconds))  # type: ignore[misc]
            check(f"{name}, {stage}", waited, measured)
            assert not list(tmp_path.glob("*.tmp*")), "half a file is left"
        assert digest(cache) == before
        cache.validate()


@pytest.mark.slow
def test_counting_a_corpus_is_stopped_at_once(
    tmp_path: Path, measured: Callable[[str], None]
) -> None:
    """Stopped, the counter knows how far it is; what it has counted is what another one counts."""
    tokens = stream(8, 3_000_000)
    path, wanted = tmp_path / "counts.cache", tmp_path / "wanted.cache"
    with BigramCounter() as whole:
        seconds = timed(lambda: whole.add(tokens))
        whole.save(wanted, "legacy")
    with BigramCounter() as counter:
        waited = list(waits(lambda: counter.add(tokens[counter.n_tokens :]), seconds))
        check("counting a corpus", waited, measured)
        counter.add(tokens[counter.n_tokens :])
        assert counter.n_tokens == len(tokens)
        waited = list(waits(counter.group, seconds))
        check("grouping", waited, measured)
        ours, constmap = ng.PLACES.toggles.set(static="ngc"), ng.CONSTMAP.toggles
        for name, call in {
            "packing": lambda: counter.cache(ours).close(),
            "building a constmap": lambda: counter.cache(constmap).close(),
            "filling a table": lambda: counter.cache(ng.NOCOPY.toggles).close(),
            "saving counts": lambda: counter.save(path, "legacy"),
        }.items():
            seconds = timed(call)
            waited = list(waits(call, seconds))
            check(name, waited, measured)
        counter.save(path, "legacy")
    assert path.read_bytes() == wanted.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["nocopy", "places"])
def test_a_long_text_of_a_drafter_is_stopped_at_once(
    stage: str, measured: Callable[[str], None]
) -> None:
    tokens = stream(9)
    with ng.Drafter(ng.STAGES[stage].toggles) as drafter:
        seconds = timed(lambda: drafter.feed(tokens))
        drafter.reset()
        waited = list(waits(lambda: drafter.feed(tokens[drafter.length :]), seconds, drafter.reset))
        check(f"feeding, {stage}", waited, measured)
        drafter.feed(tokens[drafter.length :])
        assert (drafter.text == tokens).all()
        memory = [drafter.context_memory().live_bytes]
        drafts = drafter.draft(8).tolist()

        def whole_again() -> None:
            drafter.feed(tokens[drafter.length :])
            memory.append(drafter.context_memory().live_bytes)

        waited = []
        for wait in waits(lambda: drafter.rewind(N_TOKENS - 50_000), seconds, whole_again):
            waited.append(wait)
            if drafter.length == N_TOKENS - 50_000:  # all was done, but for the way back
                whole_again()
            assert drafter.length == len(tokens)
            assert drafter.context_memory().live_bytes == memory[-1]
            assert drafter.draft(8).tolist() == drafts
        check(f"rewinding, {stage}", waited, measured)


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["nocopy", "innervector", "places"])
def test_the_end_of_a_long_text_is_stopped_at_once(
    stage: str, measured: Callable[[str], None]
) -> None:
    """Its counts are in the dynamic cache, all of them, or in the context."""
    tokens = stream(10)
    toggles = ng.STAGES[stage].toggles
    with cache_of(stage, 11) as dynamic, cache_of(stage, 11) as wanted:
        before = digest(dynamic)
        with ng.Drafter(toggles, dynamic=wanted) as drafter:
            drafter.feed(tokens)
            seconds = timed(drafter.reset)
        after, waited = digest(wanted), []
        with ng.Drafter(toggles, dynamic=dynamic) as drafter:
            drafter.feed(tokens)
            drafts = drafter.draft(8).tolist()

            def anew() -> None:
                dynamic._handle._writer = None  # what is lent to a drafter does not change
                dynamic.clear()
                with cache_of(stage, 11) as copy:
                    dynamic.merge(copy)
                dynamic._handle._writer = writer
                drafter.feed(tokens)

            writer = dynamic._handle._writer
            for wait in waits(drafter.reset, seconds, anew):
                waited.append(wait)
                if drafter.length == 0:
                    assert digest(dynamic) == after
                    anew()
                assert digest(dynamic) == before
                assert drafter.draft(8).tolist() == drafts
            check(f"ending a text, {stage}", waited, measured)
            drafter.reset()
            assert drafter.length == 0
        assert digest(dynamic) == after
        dynamic.validate()


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["nocopy", "innervector", "places"])
def test_a_replay_of_long_chunks_is_stopped_at_once(
    stage: str, measured: Callable[[str], None]
) -> None:
    # Chained followers are walked from end to end: the time grows with the square of the length.
    length = 80_000 if stage == "nocopy" else N_TOKENS
    tokens = np.concatenate([stream(12, length), stream(13, length)])
    options: dict[str, Any] = {"toggles": ng.STAGES[stage].toggles, "n_ctx": length}
    with ng.Replay(tokens, **options) as replay:
        seconds = timed(replay.run)
        wanted = replay.sample
        counts = digest(replay.dynamic)
    with ng.Replay(tokens, **options) as replay:
        # Each goes on where the one before was stopped: together they come half the way.
        waited = list(waits(replay.run, 0.15 * seconds))
        waited += waits(lambda: replay.advance(tokens=len(tokens)), 0.15 * seconds)
        check(f"replaying, {stage}", waited, measured)
        for _ in range(40):  # among them in the end of a chunk, which is done once more then
            if replay.sample.done:
                break
            timer = threading.Timer(seconds / 30, os.kill, (os.getpid(), signal.SIGINT))
            with suppress(KeyboardInterrupt):
                timer.start()
                replay.run()
                timer.cancel()
                timer.join()
            assert replay.dynamic.n_grams >= 0  # what is half done there is settled
        sample = replay.run()
        assert sample.drafts_checksum == wanted.drafts_checksum
        assert sample.n_accept == wanted.n_accept
        assert digest(replay.dynamic) == counts
        replay.dynamic.validate()


@pytest.mark.slow
@pytest.mark.parametrize("stage", ["nocopy", "outermap", "innervector"])
def test_freeing_is_stopped_at_once(stage: str, measured: Callable[[str], None]) -> None:
    caches = [cache_of(stage, 14) for _ in range(4)]
    seconds = timed(caches.pop().close)
    waited: list[float] = []
    for cache in caches:
        waited += waits(cache.close, 0.6 * seconds)
        assert cache._handle.closed
    if waited:  # it is quick where the followers of an n-gram are one block
        check(f"freeing, {stage}", waited, measured)


# ---- what a stopped merge owes ----------------------------------------------------------------


def stop_at(fraction: float) -> Callable[[float], None]:
    def stop(done: float) -> None:
        if done > fraction:
            raise KeyboardInterrupt

    return stop


def stopped(stage: str = "nocopy") -> tuple[ng.NgramCache, ng.NgramCache, tuple[object, ...]]:
    """A cache that has still to take back what it was adding of another; and how it was."""
    toggles = ng.STAGES[stage].toggles
    cache, added = ng.NgramCache(toggles), ng.NgramCache(toggles)
    cache.update(stream(4, 8_000))
    added.update(stream(5, 8_000))
    before = digest(cache)
    with pytest.raises(KeyboardInterrupt):
        cache.merge(added, progress=stop_at(0.4))
    assert cache._handle._stopped is not None
    return cache, added, before


USES: dict[str, Callable[[ng.NgramCache, ng.NgramCache], object]] = {
    "looking": lambda cache, added: cache.followers([1]),
    "drafting": lambda cache, added: ng.Drafter(cache.toggles, dynamic=cache).close(),
    "changing what is added": lambda cache, added: added.update([1, 2, 3]),
    "clearing what is added": lambda cache, added: added.clear(),
    "closing what is added": lambda cache, added: added.close(),
    "lending what is added": lambda cache, added: ng.Drafter(added.toggles, dynamic=added).close(),
    "merging the other way": lambda cache, added: added.merge(cache),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("stage", ["nocopy", "places"])
def test_what_a_stopped_merge_added_is_taken_back_before_anything_else(
    stage: str, use: str
) -> None:
    cache, added, before = stopped(stage)
    USES[use](cache, added)
    assert cache._handle._stopped is None
    assert digest(cache) == before
    cache.validate()
    cache.close()
    added.close()


def test_a_stopped_merge_may_be_forgotten() -> None:
    cache, added, _ = stopped()
    cache.close()
    cache.close()
    added.update([1, 2, 3])  # nothing is owed any more
    added.close()
    cache, added, _ = stopped()
    del cache
    added.update([1, 2, 3])
    cache, added, _ = stopped()
    del added
    cache.validate()


def test_taking_back_can_be_interrupted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    cache, _, before = stopped()
    assert cache._handle._stopped is not None
    real, calls = type(cache._handle._stopped)._step, []

    def step(self: Any, n_pairs: int) -> bool:
        calls.append(n_pairs)
        if len(calls) in (1, 3):
            raise KeyboardInterrupt
        return real(self, 64)

    monkeypatch.setattr(type(cache._handle._stopped), "_step", step)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            cache.facts()
    assert digest(cache) == before
    assert len(calls) > 10


def test_a_cache_that_is_being_written_is_given_back_at_once() -> None:
    toggles = ng.NOCOPY.toggles
    with ng.NgramCache(toggles) as cache, ng.NgramCache(toggles) as dynamic:
        dynamic.update(stream(6, 5_000))
        with ng.Drafter(toggles, dynamic=dynamic) as drafter:
            with pytest.raises(KeyboardInterrupt):
                cache.merge(dynamic, progress=stop_at(0.3))
            assert cache._handle._stopped is None
            assert cache.n_grams == 0
            drafter.feed([1, 2, 3])
            drafter.reset()
        closed = ng.NgramCache(toggles)
        closed.close()
        with pytest.raises(StateError, match="closed"):
            cache.merge(closed)


def test_memory_that_runs_out_in_a_long_merge_is_taken_back_as_well() -> None:
    cache, added, before = stopped()
    cache._handle.fail_allocation(5_000)
    with pytest.raises(MemoryError):
        cache.merge(added)
    assert digest(cache) == before
    cache._handle.fail_allocation(0)
    cache.merge(added)
    cache.validate()
    assert isinstance(cache._handle, _native.NativeCache)


def test_a_merge_says_how_far_it_is(tmp_path: Path) -> None:
    for stage in STAGES:
        toggles = ng.STAGES[stage].toggles
        said: list[float] = []
        with ng.NgramCache(toggles) as cache, ng.NgramCache(toggles) as added:
            added.update(stream(7, 20_000))
            cache.merge(added, progress=said.append)
            assert len(said) > 3
            assert said == sorted(said)
            assert 0 <= said[0] < 0.5 < said[-1] <= 1
            assert digest(cache) == digest(added)


# ---- what a stopped end of a text owes --------------------------------------------------------


def half_ended(
    stage: str, fraction: float, monkeypatch: pytest.MonkeyPatch
) -> tuple[ng.Drafter, ng.NgramCache]:
    """A drafter whose text has gone into the dynamic cache in part."""
    dynamic = ng.NgramCache(ng.STAGES[stage].toggles)
    dynamic.update(stream(15, 9_000))
    drafter = ng.Drafter(dynamic.toggles, dynamic=dynamic)
    drafter.feed(stream(16, 9_000))
    real = _native.drafting.lib
    slices = 0

    class Lib:
        """The engine, and Ctrl-C in the middle."""

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

        def ngc_drafter_end_text_slice(self, pointer: Any, _n_pairs: int, done: Any) -> int:
            nonlocal slices
            slices += 1
            if slices > 100 * fraction:
                raise KeyboardInterrupt
            return int(real.ngc_drafter_end_text_slice(pointer, 512, done))

    monkeypatch.setattr(_native.drafting, "lib", Lib())
    with pytest.raises(KeyboardInterrupt):
        drafter.reset()
    monkeypatch.undo()
    return drafter, dynamic


AFTERWARDS: dict[str, Callable[[ng.Drafter, ng.NgramCache], object]] = {
    "looking at the dynamic cache": lambda drafter, dynamic: dynamic.followers([1]),
    "drafting": lambda drafter, dynamic: drafter.draft(4),
    "closing the drafter": lambda drafter, dynamic: drafter.close(),
}


@pytest.mark.parametrize("use", AFTERWARDS)
@pytest.mark.parametrize("stage", ["nocopy", "innervector", "places"])
def test_what_a_stopped_end_of_text_merged_is_taken_back_before_anything_else(
    stage: str, use: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ng.NgramCache(ng.STAGES[stage].toggles) as untouched:
        untouched.update(stream(15, 9_000))
        before = digest(untouched)
        with ng.Drafter(untouched.toggles, dynamic=untouched) as other:
            other.feed(stream(16, 9_000))
            other.reset()
        after = digest(untouched)
    seen = set()
    for fraction in (0.02, 0.1, 0.4, 0.6):
        drafter, dynamic = half_ended(stage, fraction, monkeypatch)
        assert dynamic._handle._stopped is not None
        AFTERWARDS[use](drafter, dynamic)
        assert dynamic._handle._stopped is None
        assert digest(dynamic) in (before, after)
        if use != "closing the drafter":
            ended = drafter.length == 0
            seen.add(ended)
            assert digest(dynamic) == (after if ended else before)
            drafter.reset()
            assert digest(dynamic) == after
        drafter.close()
        dynamic.validate()
        dynamic.close()
    assert seen != {True}


def test_a_drafter_in_the_end_of_its_text_may_be_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for first in ("drafter", "both", "dynamic"):
        drafter, dynamic = half_ended("nocopy", 0.1, monkeypatch)
        if first == "dynamic":
            with pytest.raises(StateError, match="in use"):
                dynamic.close()
            del dynamic
            assert drafter.length in (0, 9_000)
            continue
        del drafter
        gc.collect()
        if first == "drafter":
            dynamic.validate()
            dynamic.update([1, 2, 3])
        dynamic.close()


def test_memory_that_runs_out_in_the_end_of_a_text_is_taken_back() -> None:
    toggles = ng.NOCOPY.toggles
    with ng.NgramCache(toggles) as dynamic, ng.Drafter(toggles, dynamic=dynamic) as drafter:
        drafter.feed(stream(17, 9_000))
        dynamic._handle.fail_allocation(5_000)
        with pytest.raises(MemoryError):
            drafter.reset()
        dynamic._handle.fail_allocation(0)
        assert dynamic.n_grams == 0
        assert drafter.length in (0, 9_000)
        drafter.reset()
        assert dynamic.n_grams > 5_000
        dynamic.validate()

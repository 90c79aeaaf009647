"""A dynamic cache within bounds, and a file that several kernels add to."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import ngram_core as ng
from ngram_core import reference
from ngram_core.errors import InputError, StateError
from ngram_core.files import locked

SECONDS = 120
STAGES = pytest.mark.parametrize("stage", ["upstream", "outermap", "innervector", "places"])


def text_of(seed: int, length: int = 400) -> list[int]:
    """Some phrases that come back in every text, and much that does not."""
    rng, common = random.Random(seed), random.Random(0)
    phrases = [[common.randrange(300) for _ in range(6)] for _ in range(12)]
    text: list[int] = []
    while len(text) < length:
        text += rng.choice(phrases)
        text += [rng.randrange(1_000, 100_000) for _ in range(rng.randrange(4))]
    return text[:length]


def counts(cache: ng.NgramCache) -> reference.Cache:
    table: reference.Cache = {}
    for row in cache.ngrams():
        ngram = tuple(row["tokens"][: row["n"]].tolist())
        table[ngram] = dict(zip(*(x.tolist() for x in cache.followers(ngram)), strict=True))
    return table


def filled(toggles: ng.Toggles, n_texts: int = 6) -> ng.NgramCache:
    cache = ng.NgramCache(toggles)
    for seed in range(n_texts):
        cache.update(text_of(seed))
    return cache


@STAGES
@pytest.mark.parametrize("by", ["most_followers", "most_bytes"])
@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
def test_the_rarest_go_and_the_rest_is_as_it_was(stage: str, by: str, share: float) -> None:
    with filled(ng.STAGES[stage].toggles) as cache:
        before = counts(cache)
        size = cache.n_followers if by == "most_followers" else cache.memory().live_bytes
        most = int(share * size)
        gone = cache.keep_within(ng.Bound(**{by: most}))
        cache.validate()
        after = counts(cache)
        held = cache.n_followers if by == "most_followers" else cache.memory().live_bytes
        assert gone is not None
        assert cache.keep_within(ng.Bound(most_followers=10**9)) is None
    kept = {k: row for k, row in before.items() if sum(row.values()) >= gone.least_sum}
    assert after == kept
    assert held <= most / 2 or not kept
    assert gone.n_grams_gone == len(before) - len(kept) > 0
    lost = sum(len(row) for k, row in before.items() if k not in kept)
    assert gone.n_followers_gone == lost


def test_no_more_goes_than_must() -> None:
    """With the next lower sum, too many would stay."""
    with filled(ng.PLACES.toggles) as cache:
        before = counts(cache)
        most = cache.n_followers // 3
        gone = cache.keep_within(ng.Bound(most_followers=most))
    assert gone is not None
    one_less = [row for row in before.values() if sum(row.values()) >= gone.least_sum - 1]
    assert sum(map(len, one_less)) > most // 2


@STAGES
def test_what_was_seen_once_drafts_nothing(stage: str) -> None:
    """So nothing is lost with it: the strict thresholds want more."""
    toggles = ng.STAGES[stage].toggles.set(static="same", ties="token")
    drafts = []
    for bound in (None, "once"):
        with filled(toggles) as dynamic:
            if bound is not None:
                twice = sum(len(r) for r in counts(dynamic).values() if sum(r.values()) > 1)
                gone = dynamic.keep_within(ng.Bound(most_followers=2 * twice))
                assert gone is not None
                assert gone.least_sum == 2
            with ng.Replay(
                text_of(99, 900), toggles, dynamic=dynamic, record_drafts=True
            ) as replay:
                replay.run()
                drafts.append([draft.tolist() for draft in replay.drafts()])
    assert drafts[0] == drafts[1]
    assert sum(map(len, drafts[0])) > 100


@STAGES
def test_a_drafter_keeps_its_dynamic_cache_within_bounds(stage: str) -> None:
    toggles = ng.STAGES[stage].toggles.set(static="same")
    bytes_free: list[int] = []
    most = 200_000
    for bound in (None, ng.Bound(most_bytes=most)):
        with (
            ng.NgramCache(toggles) as dynamic,
            ng.Drafter(toggles, dynamic=dynamic, bound=bound) as drafter,
        ):
            for seed in range(40):
                drafter.feed(text_of(seed))
                drafter.reset()
                assert drafter.length == 0
                if bound is not None:
                    assert dynamic.memory().live_bytes <= most
            growth = drafter.growth
            assert [grown.n_texts for grown in growth] == list(range(1, 41))
            assert growth[-1].live_bytes == dynamic.memory().live_bytes
            assert any(grown.n_grams_gone for grown in growth) == (bound is not None)
            bytes_free.append(growth[-1].live_bytes)
            # It still drafts, from what comes back in every text.
            n_drafted = 0
            for token in text_of(1_000, 200):
                drafter.feed([token])
                n_drafted += len(drafter.draft(1))
            assert n_drafted > 50
            drafter.rewind(10)
            assert drafter.length == 10
    assert bytes_free[0] > 2 * most


@STAGES
def test_a_replay_keeps_its_dynamic_cache_within_bounds(stage: str) -> None:
    """The same drafts as where each chunk is replayed by itself, and the cache made smaller after
    it; in slices of any size."""
    toggles = ng.STAGES[stage].toggles.set(static="same", ties="token")
    text, n_ctx = [token for seed in range(30) for token in text_of(seed, 250)], 250
    bound = ng.Bound(most_followers=3_000)
    wanted: list[list[int]] = []
    n_gone = 0
    with ng.NgramCache(toggles) as dynamic:
        for start in range(0, len(text), n_ctx):
            with ng.Replay(
                text[start : start + n_ctx],
                toggles,
                dynamic=dynamic,
                n_ctx=n_ctx,
                record_drafts=True,
            ) as one:
                one.run()
                wanted += [draft.tolist() for draft in one.drafts()]
            gone = dynamic.keep_within(bound)
            n_gone += 0 if gone is None else gone.n_grams_gone
        last = counts(dynamic)
    assert n_gone > 1_000
    steps = {"all": {}, "tokens": {"tokens": 37}, "seconds": {"seconds": 0.0}}
    for how in steps.values():
        with (
            ng.NgramCache(toggles) as dynamic,
            ng.Replay(
                text, toggles, dynamic=dynamic, n_ctx=n_ctx, record_drafts=True, bound=bound
            ) as replay,
        ):
            while not replay.sample.done:
                before = replay.sample.n_replayed
                replay.advance(**how)  # type: ignore[arg-type]
                assert dynamic.n_followers <= 3_000
                if "tokens" in how:
                    assert replay.sample.n_replayed - before <= 37 + 9
            assert replay.sample.dynamic_bytes == dynamic.memory().live_bytes
            assert replay.n_grams_gone == n_gone
            assert [draft.tolist() for draft in replay.drafts()] == wanted
            assert counts(dynamic) == last
            with pytest.raises(StateError, match="in use"):
                dynamic.clear()  # it is lent, the smaller one as well
            replay.close()
            dynamic.clear()


def test_a_replay_stopped_while_it_makes_room_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from ngram_core import replay as module

    text = [token for seed in range(12) for token in text_of(seed, 250)]
    bound = ng.Bound(most_bytes=400_000)
    with ng.Replay(text, n_ctx=250, bound=bound) as whole:
        wanted = whole.run()
    real, n_calls = module.thinned, 0

    def stop_once(*arguments: object) -> object:
        nonlocal n_calls
        n_calls += 1
        if n_calls == 7:
            raise KeyboardInterrupt
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(module, "thinned", stop_once)
    with ng.Replay(text, n_ctx=250, bound=bound) as replay:
        with pytest.raises(KeyboardInterrupt):
            replay.run()
        assert 0 < replay.sample.n_replayed < len(text)
        got = replay.run()
    assert (got.drafts_checksum, got.dynamic_bytes) == (
        wanted.drafts_checksum,
        wanted.dynamic_bytes,
    )


def test_bounds_that_are_none() -> None:
    with pytest.raises(InputError, match="needs most_followers or most_bytes"):
        ng.Bound()
    for wrong in (0, -1):
        with pytest.raises(InputError, match="most_bytes"):
            ng.Bound(most_bytes=wrong)
    with pytest.raises(InputError, match="a bound is for a dynamic cache"):
        ng.Drafter(bound=ng.Bound(most_bytes=1))
    with ng.NgramCache.build_static([1, 2, 3], ng.CONSTMAP.toggles) as cache:
        with pytest.raises(InputError, match="never changes"):
            cache.keep_within(ng.Bound(most_bytes=1))
        with pytest.raises(InputError, match="no dynamic one"):
            cache.add_to_file("nowhere")
    with ng.NgramCache() as dynamic:
        dynamic.update(text_of(1))
        with ng.Drafter(dynamic=dynamic), pytest.raises(StateError, match="in use by a drafter"):
            dynamic.keep_within(ng.Bound(most_followers=1))


def test_stopped_in_the_middle_it_is_as_it_was() -> None:
    def stop(_fraction: float) -> None:
        raise KeyboardInterrupt

    with filled(ng.NOCOPY.toggles) as cache:
        before = counts(cache)
        with pytest.raises(KeyboardInterrupt):
            cache.keep_within(ng.Bound(most_followers=10), stop)
        assert counts(cache) == before


# ---- one file, several kernels ------------------------------------------------------------

KERNEL = """
import sys
import numpy as np
import ngram_core as ng
path, seed = sys.argv[1], int(sys.argv[2])
for nth in range(6):
    with ng.NgramCache(ng.STAGES[sys.argv[3]].toggles) as own:
        own.update(np.random.default_rng(100 * seed + nth).integers(0, 9, 60))
        own.add_to_file(path)
"""


@pytest.mark.parametrize("stage", ["nocopy", "places"])
def test_kernels_that_add_to_one_file_lose_nothing(tmp_path: Path, stage: str) -> None:
    path = tmp_path / "dynamic.cache"
    kernels = [
        subprocess.Popen([sys.executable, "-c", KERNEL, str(path), str(seed), stage])
        for seed in range(3)
    ]
    assert [kernel.wait(SECONDS) for kernel in kernels] == [0, 0, 0]
    wanted: reference.Cache = {}
    for seed in range(3):
        for nth in range(6):
            text = np.random.default_rng(100 * seed + nth).integers(0, 9, 60).tolist()
            reference.update(wanted, text, len(text))
    with ng.NgramCache.open(path) as cache:
        assert counts(cache) == wanted
    assert sorted(p.name for p in tmp_path.iterdir()) == [".dynamic.cache.lock", path.name]


HOLDER = """
import sys, time
from ngram_core.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_a_lock_ends_with_who_held_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        waiter = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True
        )
        time.sleep(0.3)
        waiter.send_signal(signal.SIGINT)  # who waits can be stopped
        assert waiter.wait(SECONDS) != 0
        assert waiter.stdout is not None
        assert waiter.stdout.read() == ""
        waiter.stdout.close()
        os.kill(holder.pid, signal.SIGKILL)
    with locked(path):
        pass

"""What one process of a race does: count a corpus, load a file, or run a stage.

It gets its job as JSON in its first argument, writes lines of JSON on its standard output, and
ends: {"fraction": 0.5} while it works, then {"result": ...} or {"error": ..., "kind": ...}.

Each run has a process of its own, so that no stage finds the heap that another left behind, the
system's count of resident memory is the stage's alone, and a kernel is never kept waiting.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import machine
from .._native import Tokens
from ..caches import NgramCache
from ..counting import BigramCounter
from ..errors import InputError, NgramError
from ..files import explain, open_file
from ..replay import Replay
from ..rule import Rule
from ..toggles import Toggles
from ..token_files import read_tokens
from .entrants import LEGACY
from .lap import Counted, Lap, Loaded
from .records import from_plain, to_plain
from .results import Bin, Resident, Structures

_SLICE_SECONDS = 0.05
_BLOCK_BYTES = 1 << 20
_BINS_PER_OCTAVE = 4
_TRIES, _SPOTS = 5, 16


def main() -> None:
    """Does the job of the first argument."""
    job = json.loads(sys.argv[1])
    try:
        result = _TASKS[job["task"]](job)
    except BrokenPipeError:  # nobody listens any more
        return
    except OSError as error:
        _say(error=explain(error), kind="OSError")
    except NgramError as error:
        _say(error=str(error), kind=type(error).__name__)
    except MemoryError:
        _say(error="there is not enough memory", kind="EngineMemoryError")
    else:
        _say(result=to_plain(result))


def _say(**message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def _tell(low: float, high: float) -> Callable[[float], None]:
    """Progress of a part of the job, told as progress of all of it, not too often."""
    last = time.monotonic()

    def tell(fraction: float) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SLICE_SECONDS:
            last = now
            _say(fraction=low + (high - low) * fraction)

    return tell


# ---- counting ---------------------------------------------------------------------------------


def _count(job: dict[str, Any]) -> Counted:
    """Counts the token ids on the standard input, and writes a file of each format wanted."""
    with BigramCounter() as counter:
        for block in _blocks():
            counter.add(block)
        n_tokens = counter.n_tokens
        facts = counter.facts()
        if not facts["n_grams"]:
            raise InputError(
                f"too few tokens ({n_tokens}): a 2-gram with a follower takes 3; take more corpus"
            )
        for i, (path, toggles) in enumerate(job["files"].items()):
            share = 1 / len(job["files"])
            tell = _tell(i * share, (i + 1) * share)
            _write(counter, Path(path), Toggles(**toggles), tell)
    sizes = {path: os.path.getsize(path) for path in job["files"]}
    return Counted(n_tokens, facts["n_grams"], facts["n_followers"], sizes)


def _blocks() -> Iterator[Tokens]:
    while block := sys.stdin.buffer.read(_BLOCK_BYTES):  # whole ids: short only at the end
        yield np.frombuffer(block, "<i4").astype(np.int32, copy=False)


def _write(
    counter: BigramCounter, path: Path, toggles: Toggles, tell: Callable[[float], None]
) -> None:
    if toggles.static == "same":
        counter.save(path, LEGACY, progress=tell)
        return
    with counter.cache(toggles) as cache:
        cache.save(path, progress=tell)


# ---- loading ----------------------------------------------------------------------------------


def _load_cold(job: dict[str, Any]) -> Loaded:
    path = Path(job["static"])
    if not _forgotten(path):
        return Loaded(None)
    started = time.perf_counter_ns()
    with NgramCache.open(path, Toggles(**job["toggles"]), static=True, progress=_tell(0, 1)):
        return Loaded(time.perf_counter_ns() - started)


def _forgotten(path: Path) -> bool:
    """Asks the system to drop a file from its memory; whether it is seen to have done so."""
    if not (hasattr(os, "posix_fadvise") and hasattr(os, "RWF_NOWAIT")):
        return False
    with open_file(path) as (file, size):
        for _ in range(_TRIES):  # pages that were just used stay the first time
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            spots = range(0, size, size // _SPOTS + 1)
            if not any(_in_memory(file.fileno(), spot) for spot in spots):
                return True
    return False


def _in_memory(descriptor: int, offset: int) -> bool:
    """Whether a byte of a file can be had without the disk, or the system does not tell."""
    try:
        os.preadv(descriptor, [bytearray(1)], offset, os.RWF_NOWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True


# ---- running ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Run:
    """A replay that is over."""

    replay: Replay
    calls: npt.NDArray[np.void]


def _lap(job: dict[str, Any]) -> Lap:
    """Loads the static cache, replays the text once to warm up, and once more."""
    toggles = Toggles(**job["toggles"])
    text = read_tokens(job["text"])
    before = machine.resident_bytes()
    with contextlib.ExitStack() as stack:
        static = None
        load_ns = None
        if job["static"] is not None:
            started = time.perf_counter_ns()
            static = NgramCache.open(job["static"], toggles, static=True, progress=_tell(0, 0.2))
            load_ns = time.perf_counter_ns() - started
            stack.enter_context(static)
        loaded = machine.resident_bytes()
        with _replayed(job, text, toggles, static, 0.2) as first:
            first_ns = first.replay.sample.draft_ns + first.replay.sample.update_ns
        with _replayed(job, text, toggles, static, 0.6) as run:
            resident = Resident(
                before, loaded, machine.resident_bytes(), machine.peak_resident_bytes()
            )
            memory = Structures(
                _context_memory(text, toggles, job["n_ctx"]),
                run.replay.dynamic.memory(),
                None if static is None else static.memory(),
            )
            return _lap_of(run, load_ns, first_ns, memory, resident)


@contextlib.contextmanager
def _replayed(
    job: dict[str, Any], text: Tokens, toggles: Toggles, static: NgramCache | None, low: float
) -> Iterator[_Run]:
    tell = _tell(low, low + 0.4)
    with (
        NgramCache(toggles) as dynamic,
        Replay(
            text,
            toggles,
            from_plain(Rule, job["rule"]),
            static,
            dynamic,
            job["n_ctx"],
            job["n_draft"],
            job["tail"],
            record_calls=True,
        ) as replay,
    ):
        while not replay.sample.done:
            sample = replay.advance(seconds=_SLICE_SECONDS)
            tell(sample.n_replayed / sample.n_tokens)
        yield _Run(replay, replay.calls())


def _context_memory(text: Tokens, toggles: Toggles, n_ctx: int) -> Any:
    """Of a context cache with one full chunk, counted token by token as the replay does."""
    with NgramCache(toggles) as context:
        for n in range(1, min(n_ctx, len(text)) + 1):
            context.update(text[max(0, n - 5) : n], 1)
        return context.memory()


def _lap_of(
    run: _Run, load_ns: int | None, first_ns: int, memory: Structures, resident: Resident
) -> Lap:
    sample = run.replay.sample
    ns = run.calls["draft_ns"].astype(np.int64) + run.calls["update_ns"]
    p50, p99, most = (float(np.percentile(ns, q)) for q in (50, 99, 100))
    return Lap(
        load_ns=load_ns,
        first_ns=first_ns,
        draft_ns=sample.draft_ns,
        update_ns=sample.update_ns,
        n_replayed=sample.n_replayed,
        n_calls=sample.n_calls,
        n_drafted=sample.n_drafted,
        n_accept=sample.n_accept,
        checksum=f"{sample.drafts_checksum:016x}",
        p50_ns=p50,
        p99_ns=p99,
        max_ns=most,
        histogram=_histogram(ns),
        memory=memory,
        resident=resident,
    )


def _histogram(ns: npt.NDArray[np.int64]) -> tuple[Bin, ...]:
    """Counts in bins whose upper ends are powers of 2^(1/4) ns, those with calls in them."""
    bins = 1 + np.floor(np.log2(np.maximum(ns, 1)) * _BINS_PER_OCTAVE).astype(int)
    which, counts = np.unique(bins, return_counts=True)
    return tuple(
        Bin(float(2 ** (b / _BINS_PER_OCTAVE)), int(n)) for b, n in zip(which, counts, strict=True)
    )


_TASKS: dict[str, Callable[[dict[str, Any]], Counted | Loaded | Lap]] = {
    "count": _count,
    "load": _load_cold,
    "lap": _lap,
}

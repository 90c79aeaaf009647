"""Drafters and replays of the engine, and their records."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..rule import Rule
from ..toggles import Toggles
from ..trace import CacheName, Candidate, Row, Step, Verdict
from .caches import NativeCache, memory_of
from .engine import ffi, lib
from .handles import LARGE_BYTES, SLICE_PAIRS, Handle, Loans, Rest
from .values import (
    CALL_DTYPE,
    PROBE_DTYPE,
    TOUCH_DTYPE,
    Tokens,
    address_of,
    c_rule,
    c_toggles,
    check,
)


class Records:
    """Room for structures of the engine, as a numpy array and as a pointer to it."""

    def __init__(self, dtype: np.dtype[np.void], struct: str, length: int = 1) -> None:
        self.array = np.zeros(length, dtype=dtype)
        self.pointer = ffi.cast(f"{struct} *", self.array.ctypes.data)

    def one(self) -> np.void:
        record: np.void = self.array[0]
        return record


def all_touches(record: Any) -> npt.NDArray[np.void]:
    """Calls what writes touches, a second time with more room if the first was not enough."""
    n_touches = ffi.new("size_t *")
    capacity = 1024
    while True:
        touches = Records(TOUCH_DTYPE, "ngc_touch", capacity)
        check(record(touches.pointer, capacity, n_touches), "recording what is touched")
        if n_touches[0] <= capacity:
            return touches.array[: n_touches[0]].copy()
        capacity = int(n_touches[0])


_CACHES: dict[int, CacheName] = {
    lib.NGC_FROM_CONTEXT: "context",
    lib.NGC_FROM_DYNAMIC: "dynamic",
    lib.NGC_FROM_STATIC: "static",
}
_VERDICTS: dict[int, Verdict] = {
    lib.NGC_ROW_TOO_SHORT: "too short",
    lib.NGC_ROW_NOT_SEEN: "not seen",
    lib.NGC_ROW_TOO_RARE: "too rare",
    lib.NGC_ROW_TOO_SPLIT: "too split",
    lib.NGC_ROW_RARE_AND_SPLIT: "too rare and too split",
    lib.NGC_ROW_NO_SCORE: "no score",
    lib.NGC_ROW_PASSES: "passes",
}


def _row(c: Any) -> Row:
    shown = tuple(
        Candidate(int(x.token), int(x.count), int(x.weight), int(x.score))
        for x in c.shown[0 : c.n_shown]
    )
    return Row(
        cache=_CACHES[getattr(c, "from")],
        n=c.n,
        verdict=_VERDICTS[c.verdict],
        sum=c.sum,
        min_sum=c.min_sum,
        share=c.share,
        needed=c.needed,
        min_percent=c.min_percent,
        best=None if c.best_token == -1 else c.best_token,
        best_count=c.best_count,
        best_score=c.best_score,
        n_followers=c.n_followers,
        prechecked=bool(c.prechecked),
        bounded=bool(c.bounded),
        candidates=shown,
        rest_followers=c.n_followers - len(shown),
        rest_sum=c.rest_sum,
    )


def _step(c: Any) -> Step:
    drafted = c.token != -1
    return Step(
        length=c.length_tokens,
        token=c.token if drafted else None,
        source=_CACHES[getattr(c, "from")] if drafted else None,
        n=c.n if drafted else None,
        rows=tuple(_row(row) for row in c.rows[0 : c.n_rows]),
        weights=_row(c.weights) if c.has_weights else None,
    )


def leave_half_ended(
    borrower: Handle, dynamic: NativeCache | None, pointer: Any, settle: Any
) -> None:
    """Some of a text's counts may be in the dynamic cache: whoever uses that settles it first, with
    the engine's object, as the handle may be dropped until then, and its loans be given back."""
    if dynamic is None:
        borrower._stopped = Rest(pointer, settle)
    else:
        dynamic._stopped = Rest(pointer, settle, owned=True)


def free_leftover(pointer: Any) -> None:
    """A context cache that a drafter does not need any more, if it has one; nobody waits for it."""
    if pointer == ffi.NULL:
        return
    leftover = NativeCache(pointer)
    if leftover._size_bytes() > LARGE_BYTES:
        leftover.drop()
    else:
        leftover.close()


def _free(free: Any, borrowed: tuple[Any, ...]) -> Any:
    """The function that frees a borrower of caches, which live as long as it."""
    return lambda pointer, _borrowed=borrowed: free(pointer)


class NativeDrafter(Handle):
    """A drafter of the engine; borrows its static and dynamic cache until it is closed."""

    def __init__(
        self,
        toggles: Toggles,
        rule: Rule,
        static: NativeCache | None,
        dynamic: NativeCache | None,
    ) -> None:
        out = ffi.new("ngc_drafter **")
        with Loans() as loans:
            borrowed = loans.reader(static), loans.writer(dynamic)
            status = lib.ngc_drafter_new(c_toggles(toggles), c_rule(rule), *borrowed, out)
            check(status, "new drafter")
        super().__init__("drafter", out[0], _free(lib.ngc_drafter_free, borrowed), loans)
        self._dynamic = dynamic

    def feed(self, tokens: Tokens) -> None:
        n_done = ffi.new("size_t *")
        with self.use() as pointer:
            check(lib.ngc_drafter_feed(pointer, address_of(tokens), len(tokens), n_done), "feeding")

    def draft(self, n_draft: int) -> Tokens:
        tokens = np.empty(n_draft, dtype=np.int32)
        n_drafted = ffi.new("int32_t *")
        with self.use() as pointer:
            status = lib.ngc_drafter_draft(pointer, n_draft, address_of(tokens), n_drafted)
            check(status, "drafting")
        return tokens[: n_drafted[0]].copy()

    def trace(self, n_draft: int) -> tuple[tuple[Step, ...], np.void]:
        steps = ffi.new("ngc_step[]", n_draft + 1)
        n_steps = ffi.new("int32_t *")
        probe = Records(PROBE_DTYPE, "ngc_probe")
        with self.use() as pointer:
            status = lib.ngc_drafter_trace(pointer, n_draft, steps, n_steps, probe.pointer)
            check(status, "drafting")
        return tuple(_step(steps[i]) for i in range(n_steps[0])), probe.one()

    def touches(self, n_draft: int) -> tuple[npt.NDArray[np.void], np.void]:
        """What a draft call touches, in order, and its probe."""
        probe = Records(PROBE_DTYPE, "ngc_probe")
        with self.use() as pointer:
            touches = all_touches(
                lambda *room: lib.ngc_drafter_touches(pointer, n_draft, *room, probe.pointer)
            )
        return touches, probe.one()

    def rewind(self, length: int, n_at_once: int) -> None:
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            try:
                while not done[0]:
                    status = lib.ngc_drafter_rewind_slice(pointer, length, n_at_once, done)
                    check(status, "rewinding")
            finally:
                free_leftover(lib.ngc_drafter_leftover(pointer))

    def end_text(self) -> None:
        """Of a long text in slices; interrupted, it is as it was, or ended if all was merged."""
        done = ffi.new("int32_t *")
        with self.use() as pointer:
            if lib.ngc_drafter_length(pointer) <= SLICE_PAIRS:
                check(lib.ngc_drafter_end_text(pointer), "ending the text")
                return
            try:
                while not done[0]:
                    status = lib.ngc_drafter_end_text_slice(pointer, SLICE_PAIRS, done)
                    check(status, "ending the text")
            except BaseException:
                leave_half_ended(self, self._dynamic, pointer, lib.ngc_drafter_settle_slice)
                raise
            finally:
                if done[0]:
                    free_leftover(lib.ngc_drafter_leftover(pointer))

    def _size_bytes(self) -> int:
        context = lib.ngc_drafter_context_view(self._pointer)
        return memory_of(lib.ngc_cache_memory, context)["live_bytes"]

    def length(self) -> int:
        with self.use() as pointer:
            return int(lib.ngc_drafter_length(pointer))

    def text(self) -> Tokens:
        with self.use() as pointer:
            length = int(lib.ngc_drafter_length(pointer))
            if length == 0:
                return np.zeros(0, dtype=np.int32)
            view = ffi.buffer(lib.ngc_drafter_text_view(pointer), 4 * length)
            return np.frombuffer(view, dtype=np.int32).copy()

    def context_followers(self, ngram: Tokens) -> tuple[Tokens, Tokens]:
        n_followers = ffi.new("size_t *")
        with self.use() as pointer:
            context = lib.ngc_drafter_context_view(pointer)
            args = (context, address_of(ngram), len(ngram))
            check(lib.ngc_cache_followers(*args, ffi.NULL, ffi.NULL, 0, n_followers), "followers")
            tokens = np.empty(n_followers[0], dtype=np.int32)
            counts = np.empty(n_followers[0], dtype=np.int32)
            status = lib.ngc_cache_followers(
                *args, address_of(tokens), address_of(counts), len(tokens), n_followers
            )
            check(status, "followers")
        return tokens, counts

    def context_memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return memory_of(lib.ngc_cache_memory, lib.ngc_drafter_context_view(pointer))

    def scratch_memory(self) -> dict[str, int]:
        with self.use() as pointer:
            return memory_of(lib.ngc_drafter_scratch_memory, pointer)

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation of each of its allocators fails."""
        with self.use() as pointer:
            lib.ngc_drafter_fail_allocation(pointer, nth)


class NativeReplay(Handle):
    """A replay of the engine; borrows tokens, static and dynamic cache until it is closed."""

    def __init__(
        self,
        toggles: Toggles,
        rule: Rule,
        tokens: Tokens,
        static: NativeCache | None,
        dynamic: NativeCache | None,
        n_ctx: int,
        n_draft: int,
        keep_tail: bool,
        record_drafts: bool,
        record_calls: bool,
        record_probes: bool,
    ) -> None:
        options = ffi.new("ngc_replay_options *")
        options.n_ctx = n_ctx
        options.n_draft = n_draft
        options.tail = lib.NGC_TAIL_KEEP if keep_tail else lib.NGC_TAIL_DROP
        options.record = (
            record_drafts * lib.NGC_RECORD_DRAFTS
            + record_calls * lib.NGC_RECORD_CALLS
            + record_probes * lib.NGC_RECORD_PROBES
        )
        out = ffi.new("ngc_replay **")
        with Loans() as loans:
            borrowed = loans.reader(static), loans.writer(dynamic)
            settings = c_toggles(toggles), c_rule(rule), options
            text = address_of(tokens), len(tokens)
            check(lib.ngc_replay_new(*settings, *text, *borrowed, out), "new replay")
        super().__init__("replay", out[0], _free(lib.ngc_replay_free, borrowed), loans)
        self._dynamic = dynamic
        self._sample = ffi.new("ngc_sample *")
        self._tokens = tokens  # the engine reads them where they lie
        self._n_draft = n_draft

    @property
    def n_replayed(self) -> int:
        """Tokens, also where a call was interrupted."""
        return int(self._sample.n_replayed)

    def advance(self, max_tokens: int, max_ns: int) -> dict[str, int]:
        """At a chunk's end on until that is whole; interrupted there, it is done once more."""
        sample = self._sample
        with self.use() as pointer:
            try:
                while True:
                    check(lib.ngc_replay_advance(pointer, max_tokens, max_ns, sample), "replaying")
                    if not sample.closing:
                        break
                    max_tokens, max_ns = 0, 0
            except BaseException:
                if sample.closing:
                    leave_half_ended(self, self._dynamic, pointer, lib.ngc_replay_settle_slice)
                raise
            free_leftover(lib.ngc_replay_leftover(pointer))
        return {name: int(getattr(sample, name)) for name, _ in ffi.typeof("ngc_sample").fields}

    def _size_bytes(self) -> int:
        return int(self._sample.context_bytes)

    def use_dynamic(self, old: NativeCache, new: NativeCache) -> None:
        """Another dynamic cache from here on; the old one is given back."""
        with self.use() as pointer, new.change() as cache:
            check(lib.ngc_replay_use_dynamic(pointer, cache), "changing the dynamic cache")
            assert self._loans is not None
            self._loans.swap_written(old, new)
            self._dynamic = new

    def take_drafts(self) -> list[Tokens]:
        buffer = np.empty(65536 + self._n_draft, dtype=np.int32)
        n_written = ffi.new("size_t *")
        drafts: list[Tokens] = []
        while True:
            with self.use() as pointer:
                status = lib.ngc_replay_take_drafts(
                    pointer, address_of(buffer), len(buffer), n_written
                )
                check(status, "taking drafts")
            if n_written[0] == 0:
                return drafts
            piece = buffer[: n_written[0]].copy()
            numbers = piece.tolist()  # read faster than an array's, one by one
            at = 0
            while at < len(numbers):
                end = at + 1 + numbers[at]
                drafts.append(piece[at + 1 : end])
                at = end

    def take_calls(self) -> npt.NDArray[np.void]:
        return self._take(lib.ngc_replay_take_calls, CALL_DTYPE, "ngc_call")

    def take_probes(self) -> npt.NDArray[np.void]:
        return self._take(lib.ngc_replay_take_probes, PROBE_DTYPE, "ngc_probe")

    def _take(self, take: Any, dtype: np.dtype[np.void], struct: str) -> npt.NDArray[np.void]:
        n_written = ffi.new("size_t *")
        pieces: list[npt.NDArray[np.void]] = []
        while True:
            piece = Records(dtype, struct, 65536)
            with self.use() as pointer:
                check(take(pointer, piece.pointer, 65536, n_written), "taking records")
            if n_written[0] == 0:
                return np.concatenate(pieces) if pieces else piece.array[:0]
            pieces.append(piece.array[: n_written[0]])

    def probe(self) -> np.void:
        sum = Records(PROBE_DTYPE, "ngc_probe")
        with self.use() as pointer:
            check(lib.ngc_replay_probe(pointer, sum.pointer), "adding up probes")
        return sum.one()

    def fail_allocation(self, nth: int) -> None:
        """For tests: the nth allocation of each of its allocators fails."""
        with self.use() as pointer:
            lib.ngc_replay_fail_allocation(pointer, nth)

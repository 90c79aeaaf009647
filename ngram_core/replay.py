"""Replaying a text as llama.cpp's llama-lookup-stats does: what drafting would have done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from . import _native
from ._native import MAX_DRAFT, Tokens, as_count, as_tokens
from .bounding import Bound, thinned
from .caches import NgramCache, TokensLike
from .closing import Closing
from .drafter import check_structures
from .errors import InputError
from .rule import LLAMA_CPP, Rule
from .toggles import NOCOPY, Toggles

_SLICE_NS = 50_000_000


@dataclass(frozen=True)
class Sample:
    """The state of a replay. Times are ns from the engine's clock, in draft and update alone;
    bytes are live ones from its allocators, except `copied_bytes`, which sums all copies made."""

    n_tokens: int
    n_replayed: int
    n_left_out: int
    n_calls: int
    n_drafted: int
    n_accept: int
    draft_ns: int
    update_ns: int
    merge_ns: int
    copied_bytes: int
    copied_allocations: int
    context_bytes: int
    dynamic_bytes: int
    static_bytes: int
    drafts_checksum: int
    done: bool

    @property
    def accept_pct(self) -> float | None:
        """Accepted of drafted tokens, in per cent; None if nothing was drafted."""
        return 100.0 * self.n_accept / self.n_drafted if self.n_drafted else None

    @property
    def ns_per_drafted(self) -> float | None:
        """Drafting time (draft and update) per drafted token; None if nothing was drafted."""
        return (self.draft_ns + self.update_ns) / self.n_drafted if self.n_drafted else None

    @property
    def ns_per_replayed(self) -> float | None:
        """Drafting time per replayed token."""
        return (self.draft_ns + self.update_ns) / self.n_replayed if self.n_replayed else None

    @property
    def tokens_per_pass(self) -> float | None:
        """Tokens gained per draft call, which stands for one pass of the model."""
        gained = self.n_accept + self.n_calls
        return gained / self.n_calls if self.n_calls else None


class Replay(Closing):
    """Treats the tokens of a text as what a model would have said, and drafts along.

    Args:
        tokens: int ids, shape (n,); copied if they are not contiguous int32.
        n_ctx: chunk length in tokens; at a chunk's end its counts go into the dynamic cache.
        n_draft: most tokens a draft.
        tail: "drop" replays whole chunks only, as llama.cpp does; "keep" the rest, too, and ends
            drafts at the end of the text.
        static, dynamic: as for Drafter; without `dynamic` it starts with an empty one.
        record_drafts: keep each call's drafted tokens for `drafts()`.
        record_calls: keep each call's times for `calls()`.
        record_probes: count what each call does, for `probes()`. The drafts are the same; the
            times are then those of the engine's recorded form, which is many times slower.
        bound: the most that the dynamic cache may hold. Where a chunk makes it grow beyond, the
            n-grams seen least often are left out, see `NgramCache.keep_within`; this is in no time.

    Raises:
        InputError: also if not one token of the text would be replayed.

    >>> with Replay([1, 2, 3, 4] * 5, n_ctx=100) as replay:
    ...     sample = replay.run()
    >>> sample.n_replayed, sample.n_drafted, sample.n_accept
    (20, 12, 12)
    """

    def __init__(
        self,
        tokens: TokensLike,
        toggles: Toggles = NOCOPY.toggles,
        rule: Rule = LLAMA_CPP,
        static: NgramCache | None = None,
        dynamic: NgramCache | None = None,
        n_ctx: int = 4096,
        n_draft: int = 8,
        tail: Literal["keep", "drop"] = "keep",
        record_drafts: bool = False,
        record_calls: bool = False,
        record_probes: bool = False,
        bound: Bound | None = None,
    ) -> None:
        array = as_tokens(tokens)
        n_ctx = as_count(n_ctx, "n_ctx", 1, 2**31 - 1)
        n_draft = as_count(n_draft, "n_draft", 1, MAX_DRAFT)
        if tail not in ("keep", "drop"):
            raise InputError(f"tail={tail!r}: choose keep or drop")
        check_structures(toggles, static, dynamic)
        _refuse_nothing_to_replay(len(array), n_ctx, tail)
        self.toggles = toggles
        self.rule = rule
        self.static = static
        self.dynamic = NgramCache(toggles) if dynamic is None else dynamic
        self.n_ctx = n_ctx
        self.n_draft = n_draft
        self.tail = tail
        self.bound = bound
        self._handle = _native.NativeReplay(
            toggles,
            rule,
            array,
            None if static is None else static._handle,
            self.dynamic._handle,
            n_ctx,
            n_draft,
            tail == "keep",
            record_drafts,
            record_calls,
            record_probes,
        )
        self.n_grams_gone = 0  #: left out of the dynamic cache so far, to stay within the bound
        self.sample = self._advance(0, 0)

    def _go_on(self, max_tokens: int, max_ns: int) -> Sample:
        fields = self._handle.advance(max_tokens, max_ns)
        del fields["closing"]
        self.sample = Sample(**{**fields, "done": bool(fields["done"])})  # type: ignore[arg-type]
        return self.sample

    @property
    def _n_replayed(self) -> int:
        return self._handle.n_replayed

    def _advance(self, max_tokens: int, max_ns: int) -> Sample:
        """In slices, between which Ctrl-C is heard; with a bound, none goes past a chunk's end."""
        started, first = time.perf_counter_ns(), self._n_replayed
        while True:
            left, left_ns = 2**62, _SLICE_NS
            if max_tokens >= 0:
                left = max(0, first + max_tokens - self._n_replayed)
            if max_ns >= 0:
                left_ns = min(left_ns, max(0, started + max_ns - time.perf_counter_ns()))
            if self.bound is not None:
                if self._n_replayed % self.n_ctx == 0:  # a look was interrupted here, or it begins
                    self._keep_within(self.bound)
                left = min(left, self.n_ctx - self._n_replayed % self.n_ctx)
            sample = self._go_on(left, left_ns)
            if self.bound is not None and (sample.done or sample.n_replayed % self.n_ctx == 0):
                self._keep_within(self.bound)
            if (
                sample.done
                or 0 <= max_tokens <= sample.n_replayed - first
                or 0 <= max_ns <= time.perf_counter_ns() - started
            ):
                return self.sample

    def _keep_within(self, bound: Bound) -> None:
        """At a chunk's end, a smaller dynamic cache takes the place of one that grew beyond."""
        old = self.dynamic._handle
        made = thinned(old, self.toggles, (self.dynamic.n_min, self.dynamic.n_max), bound)
        if made is None:
            return
        self._handle.use_dynamic(old, made[0])
        self.dynamic._handle = made[0]
        old.close()
        self.n_grams_gone += made[1].n_grams_gone
        live_bytes = made[0].memory()["live_bytes"]
        self.sample = replace(self.sample, dynamic_bytes=live_bytes)

    def advance(self, tokens: int | None = None, seconds: float | None = None) -> Sample:
        """Goes on for about that many tokens or seconds, by whole draft calls, at least one. Ctrl-C
        is heard in between; `sample` is from before it then, and the next call goes on."""
        max_tokens = -1 if tokens is None else as_count(tokens, "tokens", 0, 2**62)
        max_ns = -1
        if seconds is not None:
            if not 0 <= seconds < 1e9:
                raise InputError(f"seconds={seconds!r}: need a number from 0 up")
            max_ns = int(seconds * 1e9)
        return self._advance(max_tokens, max_ns)

    def run(self, progress: Callable[[float], None] | None = None) -> Sample:
        """To the end, in slices of 50 ms, between which Ctrl-C is heard and `progress` called
        with the fraction done. What was replayed so far is kept."""
        total = replayed_tokens(self.sample.n_tokens, self.n_ctx, self.tail)
        while not self.sample.done:
            self._advance(-1, _SLICE_NS)
            if progress is not None:
                progress(self.sample.n_replayed / total)
        return self.sample

    def drafts(self) -> list[Tokens]:
        """Drafted tokens of each call since the last time (needs record_drafts)."""
        return self._handle.take_drafts()

    def calls(self) -> npt.NDArray[np.void]:
        """draft_ns, update_ns, n_drafted, n_accept of each call since the last time (needs
        record_calls)."""
        return self._handle.take_calls()

    def probes(self) -> npt.NDArray[np.void]:
        """What each call since the last time did (needs record_probes): an array of
        `ng.inside.PROBE_DTYPE`, as Drafter.probe explains it, with `n_accept` as well."""
        return self._handle.take_probes()

    def probe_sum(self) -> np.void:
        """The probes of all calls so far, added up by the engine (needs record_probes, else 0)."""
        return self._handle.probe()

    def close(self) -> None:
        """Frees it and gives its caches back; twice is fine."""
        self._handle.close()


def replayed_tokens(n_tokens: int, n_ctx: int, tail: str) -> int:
    """How many tokens of a text a replay goes through."""
    if tail == "keep" or n_tokens == 0:
        return n_tokens
    return (n_tokens - 1) // n_ctx * n_ctx


def _refuse_nothing_to_replay(n_tokens: int, n_ctx: int, tail: str) -> None:
    if n_tokens == 0:
        raise InputError("the text has no tokens: there is nothing to replay")
    if replayed_tokens(n_tokens, n_ctx, tail) == 0:
        raise InputError(
            f"a text of {n_tokens} tokens has no whole chunk of {n_ctx} with one more token after "
            f"it: nothing would be replayed; take a smaller context or tail keep"
        )

"""Drafting the next tokens of one text."""

from __future__ import annotations

from collections import deque

import numpy as np

from . import _native
from ._native import MAX_DRAFT, Tokens, as_count, as_tokens
from .bounding import Bound, Grown, Thinned
from .caches import Memory, NgramCache, TokensLike
from .closing import Closing
from .errors import InputError
from .rule import LLAMA_CPP, Rule
from .toggles import NOCOPY, Toggles
from .trace import Step

_MOST_GROWN = 1000
_SLICE_TOKENS = 1 << 12  # some 10 to 40 ms of counting, four n-grams each


class Drafter(Closing):
    """A text, its context cache, and the draft rule over context, dynamic and static cache.

    Args:
        toggles: how the caches are stored and read.
        rule: thresholds and weight.
        static: 2-grams of a big corpus; read, never changed; many drafters may share it.
        dynamic: counts of earlier texts; `reset()` merges this text into it. It belongs to this
            drafter until `close()`.
        bound: the most that the dynamic cache may hold; where a text makes it grow beyond, the
            n-grams seen least often are left out, see `NgramCache.keep_within`.

    >>> drafter = Drafter()
    >>> drafter.feed([1, 2, 3, 4, 1, 2, 3])
    >>> drafter.draft(4).tolist()
    [4, 1, 2, 3]
    """

    def __init__(
        self,
        toggles: Toggles = NOCOPY.toggles,
        rule: Rule = LLAMA_CPP,
        static: NgramCache | None = None,
        dynamic: NgramCache | None = None,
        bound: Bound | None = None,
    ) -> None:
        check_structures(toggles, static, dynamic)
        if bound is not None and dynamic is None:
            raise InputError("a bound is for a dynamic cache; give one")
        self.toggles = toggles
        self.rule = rule
        self.static = static
        self.dynamic = dynamic
        self.bound = bound
        self._growth: deque[Grown] = deque(maxlen=_MOST_GROWN)
        self._n_texts = 0
        self._handle = self._new_handle()

    def _new_handle(self) -> _native.NativeDrafter:
        return _native.NativeDrafter(
            self.toggles,
            self.rule,
            None if self.static is None else self.static._handle,
            None if self.dynamic is None else self.dynamic._handle,
        )

    def feed(self, tokens: TokensLike) -> None:
        """Appends tokens to the text and counts them, one by one. Ctrl-C is heard in between;
        `length` says how many are in the text then.

        Cost: four look-ups a token. The token at which a table is full waits until a larger one is
        filled, and Ctrl-C with it: 0.4 s with chained maps of 1.4 million n-grams, those of a text
        of about a million tokens.
        """
        array = as_tokens(tokens)
        for start in range(0, len(array), _SLICE_TOKENS):
            self._handle.feed(array[start : start + _SLICE_TOKENS])

    def draft(self, n: int) -> Tokens:
        """Guesses up to n next tokens; int32, shape (0..n,). The text is not changed."""
        return self._handle.draft(as_count(n, "n", 0, MAX_DRAFT))

    def step(self, n: int) -> tuple[Step, ...]:
        """The same draft, recorded whole by the engine: one step a run of the rule.

        The last step has token None if the rule stopped before n tokens were drafted. Nothing is
        recorded while the text has fewer than 2 tokens: the rule is not run.
        """
        return self._handle.trace(as_count(n, "n", 0, MAX_DRAFT))[0]

    def trace(self, n: int) -> tuple[tuple[Step, ...], np.void]:
        """The steps of a draft, as `step`, and what it did, as `probe`, of one call."""
        return self._handle.trace(as_count(n, "n", 0, MAX_DRAFT))

    def probe(self, n: int) -> np.void:
        """What the same draft does, counted by the engine while it runs.

        Returns:
            A record of `ng.inside.PROBE_DTYPE`, all int64: `lookups` and `hits` by cache (context,
            dynamic, static) and n - 1, shape (3, 4); `visited_nodes` of chains or slots; candidates
            `scored`, `static_searches` for them and their `search_steps`; followers `scanned` for
            sums, and `copied`; `copied_bytes` and `allocations` for that; rows prechecked and
            skipped by it; distinct `cache_lines` of 64 bytes; `n_drafted`.

        >>> drafter = Drafter()
        >>> drafter.feed([1, 2, 3, 4, 1, 2, 3])
        >>> drafter.probe(1)["lookups"][0].tolist()  # the 4-gram is new, the 3-gram is not
        [0, 0, 1, 1]
        """
        return self.trace(n)[1]

    def rewind(self, length: int) -> None:
        """Back to the state after the first `length` tokens. Cost: counts them again; Ctrl-C is
        heard in between, and the text is as it was."""
        self._handle.rewind(as_count(length, "length", 0, self.length), _SLICE_TOKENS)

    def reset(self) -> None:
        """Ends the text: merges its counts into the dynamic cache, if any, and starts empty. Ctrl-C
        is heard in between: the text is as it was, or ended if all of it was merged."""
        self._handle.end_text()
        if self.dynamic is None:
            return
        self._n_texts += 1
        gone = self._thin(self.dynamic, self.bound) if self.bound is not None else None
        n_gone = 0 if gone is None else gone.n_grams_gone
        self._growth.append(Grown(self._n_texts, self.dynamic.memory().live_bytes, n_gone))

    def _thin(self, dynamic: NgramCache, bound: Bound) -> Thinned | None:
        """The text is empty, so that a drafter around the smaller cache is the same one."""
        if not bound.passed_by(dynamic.n_followers, dynamic.memory().live_bytes):
            return None
        self._handle.close()
        try:
            return dynamic.keep_within(bound)
        finally:
            self._handle = self._new_handle()

    @property
    def growth(self) -> tuple[Grown, ...]:
        """How big the dynamic cache was after each of the last thousand texts.

        >>> dynamic = NgramCache()
        >>> with Drafter(dynamic=dynamic) as drafter:
        ...     for text in ([1, 2, 3], [1, 2, 3], [4, 5, 6]):
        ...         drafter.feed(text)
        ...         drafter.reset()
        ...     sizes = [grown.live_bytes for grown in drafter.growth]
        >>> sizes[0] == sizes[1] < sizes[2]
        True
        """
        return tuple(self._growth)

    @property
    def length(self) -> int:
        """Tokens in the text."""
        return self._handle.length()

    @property
    def text(self) -> Tokens:
        """A copy of the text; int32, shape (length,)."""
        return self._handle.text()

    def followers(self, ngram: TokensLike) -> tuple[Tokens, Tokens]:
        """What followed an n-gram in this text; as NgramCache.followers."""
        array = as_tokens(ngram)
        if not 1 <= len(array) <= 4:
            raise InputError(f"an n-gram has 1 to 4 tokens, not {len(array)}")
        return self._handle.context_followers(array)

    def context_memory(self) -> Memory:
        """Bytes of the context cache."""
        return Memory(**self._handle.context_memory())

    def copied(self) -> Memory:
        """What copying followers at look-ups has allocated: total_bytes and allocations."""
        return Memory(**self._handle.scratch_memory())

    def close(self) -> None:
        """Frees it and gives its caches back; twice is fine."""
        self._handle.close()


def check_structures(
    toggles: Toggles, static: NgramCache | None, dynamic: NgramCache | None
) -> None:
    """Refuses caches whose structure the rule's instance cannot read."""
    if static is not None and static.kind != toggles.static:
        raise InputError(
            f"the toggles say static={toggles.static!r}, the static cache is {static.kind!r}; open "
            "it with the same toggles"
        )
    if toggles.static != "same":
        static = None  # it goes with any structure
    if dynamic is not None and dynamic.kind != "same":
        raise InputError(
            f"the dynamic cache is a static one, {dynamic.kind!r}, which never changes; open a "
            "dynamic cache of llama.cpp, or give it as the static one"
        )
    if dynamic is not None and (dynamic.n_min, dynamic.n_max) != (1, 4):
        raise InputError(
            f"the dynamic cache holds {dynamic.n_min}- to {dynamic.n_max}-grams; a dynamic one "
            "holds 1- to 4-grams"
        )
    for name, cache in (("static", static), ("dynamic", dynamic)):
        if cache is None:
            continue
        for toggle in ("outer", "followers", "hash"):
            ours, theirs = getattr(toggles, toggle), getattr(cache.toggles, toggle)
            if ours != theirs:
                raise InputError(
                    f"the {name} cache has {toggle}={theirs!r}, the drafter {ours!r}; "
                    f"open the cache with toggles={toggle}={ours!r}"
                )

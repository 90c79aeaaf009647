"""The way of one search through a list of followers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .. import _native
from .._native import TOUCHED, as_count, as_tokens
from ..caches import NgramCache, TokensLike
from ..drafter import Drafter
from ..errors import InputError
from ..toggles import Search
from .arguments import as_ngram, handle_of

SEARCHES: tuple[Search, ...] = ("fixed", "lower_bound", "linear", "simd")


@dataclass(frozen=True)
class Compared:
    """One comparison: `token`, read at `position`, with the one searched for.

    The simd search compares up to four pairs at once, from `position` on. In a map of followers
    a node has no position.
    """

    position: int | None
    token: int
    n_pairs: int
    n_below: int  #: of them, those below the token searched for: 1 means "go right"
    lines: tuple[int, ...]  #: cache lines read; 0 is the one in which the list begins


@dataclass(frozen=True)
class SearchPath:
    """What one search compared, in order."""

    search: Search
    token: int
    length: int  #: pairs in the list
    compared: tuple[Compared, ...]
    final: int | None  #: position compared for equality at the end; None: past the list's end
    count: int  #: of the token; 0: it is absent
    lines: tuple[int, ...]  #: distinct cache lines, in the order of first touch
    touches: npt.NDArray[np.void]  #: all of it, see `TOUCH_DTYPE`

    @property
    def found(self) -> bool:
        return self.count > 0


def search_path(
    followers: TokensLike | NgramCache | Drafter,
    token: int,
    search: Search = "fixed",
    ngram: TokensLike | None = None,
) -> SearchPath:
    """Runs one of the engine's searches for a token, recorded.

    Args:
        followers: token ids in ascending order, shape (n,), which are given the count 1 and laid
            out at the start of a cache line; or a cache, or a drafter for its context cache.
        ngram: with a cache: whose followers, where they lie in memory.

    >>> import ngram_core as ng
    >>> ng.inside.search_path(range(0, 200, 2), 31, "lower_bound").final
    16
    """
    token = as_count(token, "token", 0, _native.MAX_TOKEN)
    if search not in SEARCHES:
        raise InputError(f"search={search!r} does not exist; choose one of: {', '.join(SEARCHES)}")
    if isinstance(followers, NgramCache | Drafter):
        if ngram is None:
            raise InputError("say with ngram= whose followers are to be searched")
        place = handle_of(followers), as_ngram(ngram)
        count, length, touches = _native.cache_search_path(*place, token, search)
    else:
        pairs = _aligned_pairs(_ascending(followers))
        length = len(pairs)
        count, touches = _native.search_path(pairs, token, search)
    return _path(search, token, length, count, touches)


def search_ns(
    followers: TokensLike, tokens: TokensLike, search: Search = "fixed", rounds: int = 1
) -> float:
    """How long one search takes, ns: the mean over tokens that are searched for one after the
    other, `rounds` times, with nothing recorded.

    Args:
        followers: as for `search_path`, token ids in ascending order, shape (n,).
        tokens: what to search for, shape (m,), at least one.

    >>> import ngram_core as ng
    >>> ng.inside.search_ns(range(0, 200, 2), [31, 32], rounds=100) > 0
    True
    """
    if search not in SEARCHES:
        raise InputError(f"search={search!r} does not exist; choose one of: {', '.join(SEARCHES)}")
    wanted = as_tokens(tokens)
    rounds = as_count(rounds, "rounds", 1, 2**40)
    if not len(wanted):
        raise InputError("no tokens to search for; give at least one")
    pairs = _aligned_pairs(_ascending(followers))
    _found, ns = _native.time_searches(pairs, wanted, rounds, search)
    return ns / (rounds * len(wanted))


def _ascending(followers: TokensLike) -> _native.Tokens:
    tokens = as_tokens(list(followers) if isinstance(followers, range) else followers)
    if (tokens[1:] <= tokens[:-1]).any():
        raise InputError("followers stand in ascending order, each token once; sort them")
    return tokens


def _aligned_pairs(tokens: _native.Tokens) -> _native.Tokens:
    """(token, 1) pairs, int32, shape (n, 2), the first of which begins a cache line."""
    room = np.zeros(2 * len(tokens) + 16, dtype=np.int32)
    start = -room.ctypes.data % 64 // 4
    pairs = room[start : start + 2 * len(tokens)].reshape(-1, 2)
    pairs[:, 0] = tokens
    pairs[:, 1] = 1
    return pairs


def _path(
    search: Search, token: int, length: int, count: int, touches: npt.NDArray[np.void]
) -> SearchPath:
    compared: list[Compared] = []
    final = None
    for touch in touches:
        what = TOUCHED[int(touch["what"])]
        index, line = int(touch["index"]), int(touch["array_line"])
        if what in ("searched", "map_node") and touch["part"] > 0:
            last = compared[-1]
            compared[-1] = Compared(
                last.position, last.token, last.n_pairs, last.n_below, (*last.lines, line)
            )
        elif what == "searched":
            below = int(touch["n_below"])
            compared.append(
                Compared(index, int(touch["value"]), int(touch["n_items"]), below, (line,))
            )
        elif what == "map_node":
            value = int(touch["value"])
            compared.append(Compared(None, value, 1, int(value < token), ()))
        elif what == "final":
            final = index
    in_list = touches[touches["array_line"] >= 0]
    lines = tuple(dict.fromkeys(int(line) for line in in_list["array_line"]))
    return SearchPath(search, token, length, tuple(compared), final, count, lines, touches)

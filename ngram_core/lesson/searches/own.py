"""A search that the reader wrote, compared with the engine's, and watched while it reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import SupportsIndex, overload

import numpy as np

from ...inside import search_path
from ..asking import TooSlow, short, time_limit

Searching = Callable[[Sequence[int], int], int]

LENGTHS = (1, 2, 3, 4, 7, 8, 9, 12, 33, 100)
SECONDS = 10.0


class Watched(Sequence[int]):
    """A list that counts how often it is read."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._tokens = list(tokens)
        self.reads = 0

    def __len__(self) -> int:
        return len(self._tokens)

    @overload
    def __getitem__(self, index: SupportsIndex) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            part = self._tokens[index]
            self.reads += len(part)
            return part
        self.reads += 1
        return self._tokens[index]


@dataclass(frozen=True)
class Report:
    """What became of it: right or not, and one line that says why."""

    right: bool
    line: str

    def __repr__(self) -> str:
        return self.line


def compare(search: Searching) -> Report:
    """Asks it for each key of ten lists, absent and outer ones too; says where it first differs."""
    try:
        with time_limit(SECONDS):
            return _compare(search)
    except TooSlow:
        return Report(False, f"not done after {SECONDS:.0f} s: does its loop always end?")


def _compare(search: Searching) -> Report:
    most: list[tuple[int, int]] = []
    for tokens, key, right in _cases():
        watched = Watched(tokens)
        where = f"for {key} in {short(str(tokens), 60)}"
        try:
            answer = search(watched, key)
        except Exception as error:
            return Report(False, f"{where} it raised {type(error).__name__}: {short(str(error))}")
        if answer is None:
            return Report(False, "not yet: it returns nothing")
        if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
            return Report(False, f"{where} it returned {short(repr(answer))}; return a position")
        if answer != right:
            kind = "absent" if key not in tokens else "there"
            return Report(
                False, f"{where} (which is {kind}) it says {answer}; the engine says {right}"
            )
        most.append((len(tokens), watched.reads))
    for length in LENGTHS:
        reads = sorted({n for size, n in most if size == length})
        if len(reads) > 1:
            return Report(
                False,
                f"all positions are right, but in a list of {length} it reads {reads[0]} to"
                f" {reads[-1]} tokens: let the number of turns depend on the length alone",
            )
    last = max(n for size, n in most if size == LENGTHS[-1])
    needed = len(search_path(range(LENGTHS[-1]), 0, "fixed").compared)
    told = (
        f"right for all {len(most)} keys; a list of {LENGTHS[-1]} is read {last} times, whatever"
        " the key"
    )
    if last > 2 * needed:
        return Report(False, f"{told}. The engine reads {needed}: halve the list")
    return Report(True, f"✓ {told}")


def _cases() -> Iterator[tuple[list[int], int, int]]:
    """Lists, keys, and the position that the engine's fixed search finds."""
    random = np.random.default_rng(1)
    for length in LENGTHS:
        tokens = np.sort(random.choice(400, length, replace=False) + 5).tolist()
        for key in sorted({0, *tokens, *(t + 1 for t in tokens), *(t - 1 for t in tokens), 1000}):
            final = search_path(tokens, key, "fixed").final
            yield tokens, key, length if final is None else final

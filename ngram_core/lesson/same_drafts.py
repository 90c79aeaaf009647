"""Whether two replays drafted the same tokens: compared token by token, call by call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..tokenizers import Tokens


class DraftLog:
    """What one replay drafted, as one array: for each call its length, then its tokens."""

    def __init__(self) -> None:
        self._flat = np.empty(1 << 12, dtype=np.int32)
        self._used = 0
        self.n_calls = 0

    def add(self, drafts: Sequence[Tokens]) -> None:
        """Appends the drafts of some calls, in order."""
        if not drafts:
            return
        lengths = [np.array([len(draft)], dtype=np.int32) for draft in drafts]
        new = np.concatenate([part for pair in zip(lengths, drafts, strict=True) for part in pair])
        while self._used + len(new) > len(self._flat):
            self._flat = np.concatenate([self._flat, np.empty_like(self._flat)])
        self._flat[self._used : self._used + len(new)] = new
        self._used += len(new)
        self.n_calls += len(drafts)

    @property
    def flat(self) -> npt.NDArray[np.int32]:
        """All of it so far, a view."""
        return self._flat[: self._used]


@dataclass(frozen=True)
class Difference:
    """The first call in which two replays drafted other tokens; calls are counted from 1."""

    call: int
    left: tuple[int, ...]
    right: tuple[int, ...]


class Comparison:
    """Compares two logs as far as both go; `update` goes on where it stopped.

    After the first difference the two replays stand at different places of the text, so
    nothing behind it is compared.
    """

    def __init__(self, left: DraftLog, right: DraftLog) -> None:
        self.left = left
        self.right = right
        self.n_calls = 0  #: calls found equal
        self.n_tokens = 0  #: drafted tokens found equal
        self.difference: Difference | None = None
        self._at = 0

    def update(self) -> None:
        """Compares what has come since the last time."""
        if self.difference is not None:
            return
        left, right = self.left.flat, self.right.flat
        end = min(len(left), len(right))
        unequal = np.flatnonzero(left[self._at : end] != right[self._at : end])
        equal_end = end if len(unequal) == 0 else self._at + int(unequal[0])
        while self._at < equal_end:  # whole calls alone are counted
            after = self._at + 1 + int(left[self._at])
            if after > equal_end:
                break
            self.n_calls += 1
            self.n_tokens += after - self._at - 1
            self._at = after
        if len(unequal):
            here = _call(left, self._at), _call(right, self._at)
            self.difference = Difference(self.n_calls + 1, *here)


def _call(flat: npt.NDArray[np.int32], at: int) -> tuple[int, ...]:
    return tuple(int(token) for token in flat[at + 1 : at + 1 + int(flat[at])])

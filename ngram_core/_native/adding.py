"""Adding to a cache in slices, wholly or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .engine import ffi, lib
from .handles import SLICE_PAIRS, Loans
from .values import check

_MOST = 2**62


class Adding:
    """What the engine adds to a cache; the pointer is what a function that begins it has made.

    Stopped anywhere, it takes back what it has added when it is asked to, which may take as long as
    adding did: so a caller that is interrupted does not wait for it.

    Args:
        cache: the engine's pointer to the cache, which lives as long as this.
        kept: what is read meanwhile.
    """

    def __init__(self, pointer: Any, cache: Any, doing: str, kept: object) -> None:
        self._pointer = ffi.gc(pointer, lambda adding, _cache=cache: lib.ngc_adding_free(adding))
        self._doing = doing
        self._kept = kept
        self.loans = Loans()

    def _step(self, n_pairs: int) -> bool:
        done = ffi.new("int32_t *")
        check(lib.ngc_adding_step(self._pointer, n_pairs, done), self._doing)
        return bool(done[0])

    def run(self, progress: Callable[[float], None] | None) -> None:
        """To the end; Ctrl-C is heard between slices."""
        while not self._step(SLICE_PAIRS):
            if progress is not None:
                progress(lib.ngc_adding_fraction(self._pointer))

    def settle(self) -> None:
        """The same backwards; interrupted, it can be called again."""
        lib.ngc_adding_turn_back(self._pointer)
        while not self._step(SLICE_PAIRS):
            pass
        self.close()

    def take_back_at_once(self) -> None:
        """The same, whatever comes in between."""
        lib.ngc_adding_turn_back(self._pointer)
        done = False
        while not done:
            try:
                done = self._step(_MOST)
            except KeyboardInterrupt:  # one is on its way already
                continue
        self.close()

    def close(self) -> None:
        ffi.release(self._pointer)
        self.loans.give_back()

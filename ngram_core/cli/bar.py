"""A progress bar on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_WIDTH = 30
_EVERY_SECONDS = 0.1


class Bar:
    """Called with the fraction done; shows it, and how long the rest may take.

    `what` may change while it works. Gone again when the `with` block ends, so that an error's
    line stands alone.
    """

    def __init__(self, what: str) -> None:
        self.what = what
        self._shown = sys.stderr.isatty()
        self._started = self._last = time.monotonic()

    def __enter__(self) -> Bar:
        return self

    def __call__(self, fraction: float) -> None:
        now = time.monotonic()
        if not self._shown or now - self._last < _EVERY_SECONDS:
            return
        self._last = now
        done = round(_WIDTH * fraction)
        left = (now - self._started) * (1 - fraction) / fraction if fraction else 0.0
        bar = "#" * done + "." * (_WIDTH - done)
        print(
            f"\r{self.what} [{bar}] {fraction:4.0%}, {left:.0f} s left \033[K",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)

"""A long call in a thread of its own, which can be watched, paused and given up.

The engine lets other threads run while it works, so that a notebook's kernel still hears the
page while it counts a corpus or frees a big cache.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from ..closing import Closing

T = TypeVar("T")

Tell = Callable[[float], None]
"""Called by the work with the fraction done; it raises `GivenUp` once nobody wants the result."""


class GivenUp(Exception):
    """Ends work whose result nobody wants any more."""


class Job(Closing, Generic[T]):
    """Calls `work(tell)` once, in the background.

    Args:
        work: does it, and calls `tell` with the fraction done as often as it can.
        discard: frees a result that came too late.

    Where there are no threads, as in a browser's own Python, the first `wait` does all of it.
    """

    def __init__(self, work: Callable[[Tell], T], discard: Callable[[T], None]) -> None:
        self.fraction = 0.0
        self.seconds = 0.0  #: that it took, pauses left out
        self._work = work
        self._discard = discard
        self._result: list[T] = []
        self._error: BaseException | None = None
        self._ended = threading.Event()
        self._may_go = threading.Event()
        self._may_go.set()
        self._lock = threading.Lock()
        self._given_up = False
        self._thread: threading.Thread | None = None

    @property
    def over(self) -> bool:
        return self._ended.is_set()

    def wait(self, seconds: float | None = None) -> bool:
        """Starts it or lets it go on, waits so long at most; True once it is over."""
        self._may_go.set()
        if self._thread is None and not self.over:
            self._start()
        return self._ended.wait(seconds)

    def result(self) -> T:
        """What the work has returned, once it is over.

        Raises: what the work has raised.
        """
        if self._error is not None:
            raise self._error
        return self._result[0]

    def pause(self) -> None:
        """It rests where it next tells how far it is, until `wait` is called again."""
        self._may_go.clear()

    def give_up(self) -> None:
        """Ends it soon, from anywhere, without waiting; a result is discarded. Twice is fine."""
        with self._lock:
            self._given_up = True
            unwanted, self._result = self._result, []
        self._may_go.set()
        if self._thread is None:
            self._ended.set()
        for result in unwanted:
            self._discard(result)

    def close(self) -> None:
        """Gives it up and waits until it is over."""
        self.give_up()
        self._ended.wait()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._run, name="ngram-core", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:
            self._run()

    def _run(self) -> None:
        begun = time.monotonic()
        try:
            result = self._work(self._tell)
            self.seconds += time.monotonic() - begun
            with self._lock:
                wanted = not self._given_up
                if wanted:
                    self._result.append(result)
            if not wanted:
                self._discard(result)
        except BaseException as error:
            self._error = error
        finally:
            self._ended.set()

    def _tell(self, fraction: float) -> None:
        self.fraction = fraction
        if not self._may_go.is_set():
            rested = time.monotonic()
            self._may_go.wait()
            self.seconds -= time.monotonic() - rested
        if self._given_up:
            raise GivenUp


class Sweeper:
    """Closes what is no longer needed in the background, one after the other: a big cache of
    many small blocks takes a third of a second to free."""

    def __init__(self) -> None:
        self._last: Job[None] | None = None

    @property
    def busy(self) -> bool:
        return self._last is not None and not self._last.over

    def sweep(self, things: Iterable[Closing]) -> None:
        """Closes these in their order, after what was given earlier."""
        now = list(things)
        if not now:
            return
        before = self._last

        def work(_tell: Tell) -> None:
            if before is not None:
                before.wait()
            for thing in now:
                thing.close()

        self._last = Job(work, lambda _nothing: None)
        self._last.wait(0)

    def wait(self, seconds: float | None = None) -> bool:
        """Waits so long at most; True once everything is closed."""
        if self._last is None:
            return True
        if not self._last.wait(seconds):
            return False
        self._last.result()
        self._last = None
        return True

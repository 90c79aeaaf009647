"""Drives work in slices on the event loop that a notebook's kernel has, and shows it.

Between two slices the kernel handles what the page sends, so a press on Pause waits for one
slice only. While a cell runs, the pump waits. What is shown is limited twice: so many times a
second, and never ahead of the page, which says what it has drawn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ..errors import StateError


class Pump:
    """Calls `work` until it returns False, and `show` now and then and at the end.

    Args:
        work: one short slice; True while there is more.
        show: brings the view up to date; gets True at the end.
        keeps_up: whether the page has drawn what it was sent.
        per_second: `show` is called at most so often.
        patience: seconds to wait for a page that does not keep up, then it is shown anyway.
    """

    def __init__(
        self,
        work: Callable[[], bool],
        show: Callable[[bool], None],
        keeps_up: Callable[[], bool] = lambda: True,
        per_second: float = 5,
        patience: float = 2.0,
    ) -> None:
        self._work = work
        self._show = show
        self._keeps_up = keeps_up
        self._interval = 1 / per_second
        self._patience = patience
        self._task: asyncio.Task[None] | None = None

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        """Begins, if it is not at work already.

        Raises:
            StateError: there is no event loop here, as in a plain Python program.
        """
        if self.running:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise StateError(
                "there is no event loop here to work in the background; call run_to_end()"
            ) from None
        self._task = loop.create_task(self._run())

    def stop(self) -> None:
        """Ends after the slice in work."""
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self) -> None:
        shown = time.monotonic()
        while self._work():
            waited = time.monotonic() - shown
            late = waited >= self._patience
            if waited >= self._interval and (late or self._keeps_up()):
                self._show(False)
                shown = time.monotonic()
            await asyncio.sleep(0.001)  # messages from the page take more than one turn of the loop
        self._show(True)

"""How far a race is, by time: from what its tasks took so far, and guesses of the rest."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

Kind = tuple[str, float, str]
"""What is done, with which size of corpus, by whom. Tasks of one kind take about as long."""


@dataclass
class _Task:
    kind: Kind
    guess: float
    seconds: float | None = None


class Pace:
    """Tasks to be done, and how long those took that are.

    Args:
        tasks: kind and guess of each; guesses, in seconds, serve to compare tasks.

    >>> pace = Pace([(("count", 1.0, ""), 1.0), (("lap", 1.0, "nocopy"), 3.0)])
    >>> pace.begin(("count", 1.0, ""))
    >>> pace.end(seconds=2.0)
    >>> pace.fraction()
    0.25
    """

    def __init__(self, tasks: Iterable[tuple[Kind, float]]) -> None:
        self._tasks = [_Task(kind, guess) for kind, guess in tasks]
        self._current: _Task | None = None
        self._began = 0.0

    def begin(self, kind: Kind) -> None:
        """Says that a planned task is at work."""
        self._current = next(t for t in self._tasks if t.kind == kind and t.seconds is None)
        self._began = time.monotonic()

    def rest(self, seconds: float) -> None:
        """Says that so long nobody worked: the task in work takes no longer for it."""
        self._began += seconds

    def end(self, seconds: float | None = None) -> None:
        """Says that it is done, and what it took, if not the time since it began."""
        assert self._current is not None, "something was begun"
        self._current.seconds = time.monotonic() - self._began if seconds is None else seconds
        self._current = None

    def drop(self, size_mb: float, who: str | None = None) -> None:
        """Says that what is left of this size, or of one stage in it, will not be done."""
        self._current = None
        self._tasks = [
            task
            for task in self._tasks
            if task.seconds is not None
            or task.kind[1] != size_mb
            or (who is not None and task.kind[2] != who)
        ]

    def count(self, what: str) -> int:
        """How many tasks of that name there are, done and to be done."""
        return sum(1 for task in self._tasks if task.kind[0] == what)

    def fraction(self, of_current: float = 0.0) -> float:
        """Done of all, 0.0 to 1.0; of the task at work so much is done."""
        done = sum(task.seconds or 0.0 for task in self._tasks)
        left = sum(self._expected(task) for task in self._tasks if task.seconds is None)
        if self._current is not None:
            part = of_current * self._expected(self._current)
            done, left = done + part, left - part
        return done / (done + left) if done + left else 1.0

    def _expected(self, task: _Task) -> float:
        alike = [t.seconds for t in self._tasks if t.kind == task.kind and t.seconds is not None]
        if alike:
            return sum(alike) / len(alike)
        finished = [t for t in self._tasks if t.seconds is not None]
        guessed = sum(t.guess for t in finished)
        factor = sum(t.seconds or 0.0 for t in finished) / guessed if guessed else 1.0
        return task.guess * factor

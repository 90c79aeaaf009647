"""What a workload is, and the dice that all of them throw."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Task:
    """One request and its answer, as a model would give it.

    Args:
        prompt: known before the first pass: nothing of it is guessed.
        output: what the model writes.
    """

    prompt: str
    output: str


class Dice:
    """Chances by seed, the same in every version of Python.

    `random.Random` promises that for `random()` alone, so everything here is made of it.
    """

    def __init__(self, seed: str) -> None:
        self._random = random.Random(seed).random

    def chance(self, share: float) -> bool:
        return self._random() < share

    def number(self, low: int, high: int) -> int:
        """A whole number from low to high, both included."""
        return low + int(self._random() * (high - low + 1))

    def one_of(self, things: Sequence[T]) -> T:
        return things[self.number(0, len(things) - 1)]

    def some_of(self, things: Sequence[T], n: int) -> list[T]:
        """n different ones in any order (all of them if there are fewer)."""
        left = list(things)
        return [left.pop(self.number(0, len(left) - 1)) for _ in range(min(n, len(left)))]

    def hex(self, digits: int) -> str:
        return "".join(self.one_of("0123456789abcdef") for _ in range(digits))


@dataclass(frozen=True)
class Workload:
    """A kind of task.

    Args:
        name: what to ask for.
        about: what it stands for, in one line.
        make: makes one task of some thousand tokens.
    """

    name: str
    about: str
    make: Callable[[Dice], Task]

    def task(self, seed: int = 1) -> Task:
        """The task of that seed, always the same."""
        return self.make(Dice(f"{self.name} {seed}"))

    def tasks(self, seed: int = 1) -> Iterator[Task]:
        """Tasks without end: those of this seed, the next one, and so on."""
        while True:
            yield self.task(seed)
            seed += 1

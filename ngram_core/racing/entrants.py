"""Who takes part in a race, and in which order they run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..errors import InputError
from ..toggles import STAGES, Score, Stage, Toggles, stage

LEGACY = "legacy"


@dataclass(frozen=True)
class Entrant:
    """A stage that takes part; `again` if it is the first one a second time."""

    stage: str
    toggles: Toggles
    again: bool = False

    @property
    def name(self) -> str:
        return f"{self.stage} again" if self.again else self.stage

    @property
    def file_format(self) -> str:
        """Of its static cache: llama.cpp's own, unless the stage brings another structure."""
        return LEGACY if self.toggles.static == "same" else self.toggles.static

    @property
    def holds_maps(self) -> bool:
        """Whether its static cache is hash maps inside, which take most memory by far."""
        return self.toggles.static == "same" and self.toggles.followers == "chained"


def entrants(
    stages: str | Iterable[str | Stage] = "all", score: Score | None = "int32"
) -> tuple[Entrant, ...]:
    """The stages with one score and ties by token, and the first one again at the end.

    Args:
        stages: "all", or names and stages.
        score: of all; None leaves each stage its own, and then drafts may differ.

    Raises:
        InputError: no stage, an unknown one, or one twice.
    """
    if isinstance(stages, str):
        stages = STAGES if stages == "all" else [stages]
    named = [stage(one) if isinstance(one, str) else one for one in stages]
    names = [one.name for one in named]
    if not names:
        raise InputError(f"a race needs a stage; there are: {', '.join(STAGES)}")
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise InputError(f"{', '.join(sorted(twice))} is in the race twice; name each stage once")
    same = {"ties": "token"} if score is None else {"ties": "token", "score": score}
    runners = [Entrant(one.name, one.toggles.set(**same)) for one in named]
    return (*runners, Entrant(runners[0].stage, runners[0].toggles, again=True))


def in_turn(runners: tuple[Entrant, ...], run: int, seed: int) -> tuple[Entrant, ...]:
    """The order of one round: everyone once, another one first each time.

    >>> a, b, c = (Entrant(name, Toggles()) for name in "abc")
    >>> ["".join(one.stage for one in in_turn((a, b, c), run, seed=1)) for run in range(3)]
    ['bca', 'cab', 'abc']
    """
    first = (seed + run) % len(runners)
    return runners[first:] + runners[:first]

"""A race that a reader steers: corpus, sizes, text and runs are chosen, then it runs in slices.

The work is `racing`'s; here it is begun in the background (a corpus is found and its end cut
into tokens first), paused, stopped and kept. No widget is known here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..closing import Closing
from ..corpora import CORPORA
from ..errors import InputError, NgramError
from ..racing import RaceResult
from ..racing.fitting import counting_refusal, free_bytes
from ..racing.running import Race
from ..toggles import STAGES
from .background import Job, Tell

State = Literal["ready", "preparing", "running", "paused", "stopped", "done", "failed"]

SIZES = (0, 1, 5, 25, 100)
"""Megabytes of corpus, in steps; a race takes all up to the largest that is chosen."""

TEXTS = (1_000, 20_000, 100_000)
RUNS = (1, 3, 5, 9)

MOST_LETTERS = 1_000
"""Of a corpus's name: a longer one is a text that was put into the wrong field."""

_SLICE_SECONDS = 0.03


@dataclass(frozen=True)
class Choice:
    """What is raced: a corpus by name or path, its largest size in MB, how many tokens of text,
    how many runs, and the stages."""

    corpus: str = "python"
    largest_mb: int = 1
    text_tokens: int = 20_000
    runs: int = 3
    stages: tuple[str, ...] = tuple(STAGES)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(size for size in SIZES if size <= self.largest_mb)


class LiveRace(Closing):
    """One race after the other, each in slices.

    Args:
        choice: what is in hand at first.
        corpora: names or paths to choose from.
        free_bytes: memory to stay below; by default three quarters of what is free.

    `result` is of the latest race, as far as it went; `results` has all that measured something,
    the latest last. `close` ends a race at work; the results stay.
    """

    def __init__(
        self,
        choice: Choice | None = None,
        corpora: tuple[str, ...] = ("python", "prose", "code-edit"),
        free_bytes: int | None = None,
    ) -> None:
        self.choice = choice or Choice()
        self.corpora = tuple(dict.fromkeys((*corpora, self.choice.corpus)))
        self.state: State = "ready"
        self.error = ""  #: in words, while the state is "failed"
        self.results: list[RaceResult] = []
        self.raced: Choice | None = None  #: what `result` is of
        self._free_bytes = free_bytes
        self._race: Race | None = None
        self._opening: Job[Race] | None = None
        self._what = ""
        self._worked = 0.0
        self._kept = False  # whether results[-1] is of the race that was begun last
        self._closed = False

    @classmethod
    def over(cls, result: RaceResult, choice: Choice) -> LiveRace:
        """A race that was run before, as a report's JSON keeps it, with what was chosen then."""
        race = cls(choice)
        race.results, race.raced, race._kept = [result], choice, True
        race.state = "done"
        return race

    # ---- what the reader does -----------------------------------------------------------------

    def choose(self, **changes: Any) -> None:
        """Takes something else in hand; a race at work goes on as it was begun.

        Raises:
            InputError: there is no such corpus, size, text or stage, or no stage is left.
        """
        chosen = replace(self.choice, **changes)
        if chosen.largest_mb not in SIZES:
            raise InputError(f"a size of {chosen.largest_mb!r} MB; choose one of {SIZES}")
        if chosen.text_tokens not in TEXTS or chosen.runs not in RUNS:
            raise InputError(f"choose a text of {TEXTS} tokens and one of {RUNS} runs")
        unknown = [name for name in chosen.stages if name not in STAGES]
        if unknown or not chosen.stages:
            raise InputError(f"a race needs a stage of these: {', '.join(STAGES)}")
        if not chosen.corpus.strip():
            raise InputError("no corpus is named; type a file or a folder with text in it")
        if len(chosen.corpus) > MOST_LETTERS:
            raise InputError(
                f"{len(chosen.corpus):,} characters are no name; put the text into a file, and"
                " type its name"
            )
        refusal = self.refusal(chosen.largest_mb)
        if refusal is not None:
            raise InputError(refusal)
        self.choice = replace(chosen, stages=tuple(s for s in STAGES if s in chosen.stages))
        self.corpora = tuple(dict.fromkeys((*self.corpora, chosen.corpus)))

    def refusal(self, size_mb: int) -> str | None:
        """Why a corpus of that size cannot be counted here, or None."""
        return counting_refusal(size_mb, free_bytes(self._free_bytes)) if size_mb else None

    def start(self) -> None:
        """Begins the race in hand anew; what an earlier one measured stays in `results`."""
        self._end()
        self.error, self._what, self._worked, self._kept = "", "", 0.0, False
        self.raced, self.state = self.choice, "preparing"
        choice, free = self.choice, self._free_bytes

        def build(tell: Tell) -> Race:
            return Race(
                choice.stages,
                choice.corpus,
                sizes=choice.sizes,
                runs=choice.runs,
                text_tokens=choice.text_tokens,
                free_bytes=free,
                download=tell if choice.corpus in CORPORA else None,
            )

        self._opening = Job(build, Race.close)

    def pause(self) -> None:
        """No further run begins; the process at work ends its own."""
        if self.working:
            self.state = "paused"

    def resume(self) -> None:
        """Goes on after a pause."""
        if self.state == "paused":
            self.state = "running" if self._race is not None else "preparing"

    def stop(self) -> None:
        """Ends the race; what it measured is kept."""
        if self.working or self.state == "paused":
            self._end()
            self.state = "stopped"

    # ---- at work ------------------------------------------------------------------------------

    @property
    def working(self) -> bool:
        return self.state in ("preparing", "running")

    @property
    def result(self) -> RaceResult | None:
        """Of the latest race that was begun; None before its first run."""
        return self.results[-1] if self._kept else None

    def work(self) -> bool:
        """Does one short slice; True while there is more to do."""
        if not self.working or self._closed:
            return False
        begun = time.monotonic()
        try:
            self._slice()
        except (NgramError, OSError) as error:
            self._end()
            self.state, self.error = "failed", str(error)
        except BaseException:
            self._end()
            self.state = "stopped"
            raise
        finally:
            self._worked += time.monotonic() - begun
        return self.working

    def run_to_end(self) -> None:
        """All that is left of it, here and now.

        Raises:
            NgramError: it could not be done.
        """
        while self.work():
            pass
        if self.state == "failed":
            raise InputError(self.error)

    def progress(self) -> tuple[float, float | None]:
        """Done of all, 0.0 to 1.0, and the seconds left; None where there is no telling."""
        if self.state == "done":
            return 1.0, 0.0
        fraction = self._race.fraction if self._race is not None else 0.0
        known = fraction > 0.02 and self._worked > 1.0
        return fraction, self._worked * (1 - fraction) / fraction if known else None

    @property
    def what(self) -> str:
        """What is done at the moment: "1 MB, nocopy 2/3"."""
        return self._race.what if self._race is not None else "finding the corpus"

    @property
    def n_planned(self) -> int:
        """How many runs there are to be, of all stages and sizes."""
        if self._race is not None:
            return self._race.n_planned
        return len(self.choice.sizes) * (len(self.choice.stages) + 1) * self.choice.runs

    def close(self) -> None:
        """Ends a race at work; the results stay. Twice is fine."""
        self._closed = True
        self._end()

    # ---- inside -------------------------------------------------------------------------------

    def _slice(self) -> None:
        if self._race is None:
            assert self._opening is not None, "start() was called"
            if not self._opening.wait(_SLICE_SECONDS):
                return
            self._race, self._opening = self._opening.result(), None
            self.state = "running"
        more = self._race.step(_SLICE_SECONDS)
        if not more or self._race.what != self._what:  # another run has ended
            self._what = self._race.what
            self._keep()
        if not more:
            self._end()
            self.state = "done"

    def _keep(self) -> None:
        assert self._race is not None
        result = self._race.result()
        if not result.sizes:
            return
        if self._kept:
            self.results[-1] = result
        else:
            self.results.append(result)
            self._kept = True

    def _end(self) -> None:
        """Of a race that ended in the middle, what it has is kept."""
        if self._opening is not None:
            self._opening.give_up()
            self._opening = None
        if self._race is not None:
            self._keep()
            self._race.close()
            self._race = None

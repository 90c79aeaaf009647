"""A measurement that the reader steers: corpus and switches, start, pause, resume, stop.

It knows no widget and no event loop. `work()` does one short slice and says whether there is
more; whoever drives it (a task in the notebook's kernel, a loop, a test) calls it again and
reads the figures in between. Nothing happens between two slices.

    ready --start--> preparing --> running --> done        start again: the run begins anew
                         |            |
                     pause / resume, stop: what was measured is kept

Each setting of corpus size and switches has one run. A change of the switches in the middle
goes on with the other setting's run, on the same text; the first one is kept where it is and
goes on when the reader comes back. Where the static cache must be another (other corpus,
other structure), the runs on the old one end; their figures stay. The corpus is counted once
for its size: another structure is made of the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .. import machine
from ..closing import Closing
from ..errors import InputError, NgramError, StateError
from ..replay import Replay
from ..rule import LLAMA_CPP, Rule
from ..toggles import STAGES, stage
from .background import Sweeper
from .material import Material, python_material
from .measured import Line
from .runs import Run, Setting
from .same_drafts import Comparison
from .static_cache import StaticStore
from .switches import (
    REFERENCE,
    Switch,
    different_choices,
    fitted,
    is_reference,
    moved_words,
    same_choices,
)

State = Literal["ready", "preparing", "running", "paused", "stopped", "done", "failed"]

SLICE_SECONDS = 0.03
"""How long one slice of work takes, about: a press on Stop waits no longer."""

OPEN_RUNS = 3
"""So many runs are kept in the middle of the text; the oldest ends for one more."""

_COUNTS_SHARE = 0.25  # of free memory: bigger counts are not kept for other structures


@dataclass(frozen=True)
class Light:
    """Whether the run in hand drafts what its partner drafted, as far as both went."""

    kind: Literal["none", "same", "other"]
    partner: Run | None = None
    comparison: Comparison | None = None
    differing: tuple[Switch, ...] = ()  #: what they differ in of all that may change the drafts

    @property
    def expected(self) -> bool:
        """Whether other drafts would be no surprise."""
        return bool(self.differing)


class Experiment(Closing):
    """Replays a text with different switches and corpora, and keeps what was measured.

    Args:
        material: text and corpus; by default Python's own library source.
        sizes: megabytes of corpus that the reader can choose; 0 is no static cache.
        stages: the stages that the reader can choose, by name; the first is in hand at first.
        rule: thresholds and weight.
        n_ctx, n_draft: as for `Replay`.
        free_bytes: memory it may take; by default three quarters of what is free here.

    A context manager; `close()` ends all runs and frees their memory.
    """

    def __init__(
        self,
        material: Material | None = None,
        sizes: tuple[int, ...] = (0, 1, 5, 25),
        stages: tuple[str, ...] = tuple(STAGES),
        rule: Rule = LLAMA_CPP,
        n_ctx: int = 4096,
        n_draft: int = 8,
        free_bytes: int | None = None,
    ) -> None:
        self.material = material or python_material()
        self.sizes = sizes
        self.rule = rule
        self.n_ctx = n_ctx
        self.n_draft = n_draft
        self.state: State = "ready"
        self.error = ""  #: in words, while the state is "failed"
        self.stages = {name: stage(name).toggles for name in stages}
        self.setting = Setting(sizes[0], self.stages[stages[0]])
        self.runs: dict[Setting, Run] = {}  #: latest last
        self.moved = ""  #: what the latest choice has moved along, in words
        self._free_bytes = free_bytes
        self._sweeper = Sweeper()
        self.static = StaticStore(self.material, self._sweeper, self._may_keep)
        self._comparisons: dict[tuple[Setting, Setting], Comparison] = {}
        self._closed = False

    # ---- what the reader does -------------------------------------------------------------

    def choose(self, size_mb: int | None = None, **toggles: Any) -> None:
        """Takes another corpus size or other switches in hand, at any time.

        Switches that cannot go with these are moved along; `moved` then says which and why.

        Raises:
            InputError: no such size or switch, or the corpus does not fit into memory.
        """
        size_mb = self.setting.size_mb if size_mb is None else size_mb
        if size_mb not in self.sizes:
            raise InputError(f"there is no corpus of {size_mb} MB here; choose one of {self.sizes}")
        chosen, moves = fitted(self.setting.toggles, **toggles)
        setting = Setting(size_mb, chosen)
        self._refuse_too_big(setting)
        self.moved = moved_words(chosen, moves)
        if setting != self.setting:
            self._take(setting)

    def _take(self, setting: Setting) -> None:
        if setting.static_cache != self.setting.static_cache:
            self._end_runs()
            self.static.drop_cache()
        self.setting = setting
        run = self.run
        if self.working and run is not None and not run.unfinished and not run.done:
            self._forget(run)  # it was ended in the middle, and begins anew
        if run is not None and run.done and self.state != "paused":
            self.state = "done"
        elif self.working:
            self.state = "running" if self._is_ready() else "preparing"
        elif self.state in ("done", "stopped", "failed"):
            self.state = "ready"

    def start(self) -> None:
        """Begins the run in hand; one that is over begins anew, one left in the middle goes on.

        Raises:
            InputError: the corpus does not fit into memory.
            StateError: it is running, or closed.
        """
        self._refuse_closed()
        if self.state in ("running", "preparing"):
            raise StateError("it is running; pause or stop it first")
        self._refuse_too_big(self.setting)
        run = self.run
        if run is not None and not run.unfinished:
            self._forget(run)
        self.error = ""
        self.state = "preparing"

    def pause(self) -> None:
        """Rests until `resume`; nothing is lost."""
        if self.state in ("running", "preparing"):
            self.state = "paused"
            self.static.pause()

    def resume(self) -> None:
        """Goes on after a pause."""
        self._refuse_closed()
        if self.state == "paused":
            self.state = "preparing"

    def stop(self) -> None:
        """Ends the run in hand; what was measured so far is kept."""
        if self.state in ("running", "preparing", "paused"):
            self.state = "stopped"
            self.static.pause()
            if self.run is not None:
                self._sweeper.sweep(self.run.give_back())

    def close(self, wait: bool = True) -> None:
        """Ends all runs and frees their memory; twice is fine. The figures stay.

        Args:
            wait: until the memory is free; else that goes on in the background.
        """
        self.stop()
        self._end_runs()
        self.static.drop()
        self._closed = True
        if wait:
            self._sweeper.wait()

    # ---- work -----------------------------------------------------------------------------

    @property
    def working(self) -> bool:
        return self.state in ("preparing", "running")

    def work(self, seconds: float = SLICE_SECONDS) -> bool:
        """Does one slice of what is to be done; True while there is more.

        What goes wrong ends the run: the state is then "failed" and `error` says why.
        """
        if not self.working:
            return False
        try:
            self._work(seconds)
        except (NgramError, OSError, MemoryError) as error:
            self._fail(str(error) or "there is not enough memory")
        except BaseException:
            self._fail("it was interrupted")
            raise
        return self.working

    def run_to_end(self) -> None:
        """Starts, or goes on, and works until the run in hand is over (Ctrl-C stops it)."""
        if self.state == "paused":
            self.resume()
        if not self.working:
            self.start()
        while self.work():
            pass

    def _work(self, seconds: float) -> None:
        run = self.run
        if run is None:
            self._make_room()
        if not self._is_ready():
            self._prepare(seconds)
            return
        self.state = "running"
        run = run or self._open()
        run.work(seconds)
        if run.done:
            self.state = "done"
            self._sweeper.sweep(run.give_back())

    def _is_ready(self) -> bool:
        """Whether nothing but the replay is left to do: freeing memory would disturb it."""
        return self.static.has(self.setting) and not self._sweeper.busy

    def _prepare(self, seconds: float) -> None:
        self.state = "preparing"
        if self._sweeper.wait(seconds) and not self.static.has(self.setting):
            self.static.work(self.setting, seconds)

    def _open(self) -> Run:
        setting = self.setting
        static = self.static.cache if setting.size_mb else None
        replay = Replay(
            self.material.text,
            setting.toggles,
            self.rule,
            static=static,
            n_ctx=self.n_ctx,
            n_draft=self.n_draft,
            record_drafts=True,
        )
        run = Run(setting, Line(len(self.material.text)), replay=replay)
        run.line.begin(replay.sample)
        if static is not None:
            run.line.memory["static"] = static.memory()
        self.runs[setting] = run
        return run

    def _make_room(self) -> None:
        """Ends the oldest runs in the middle of the text, so that one more can begin."""
        unfinished = [run for run in self.runs.values() if run.unfinished]
        for run in unfinished[: len(unfinished) + 1 - OPEN_RUNS]:
            self._sweeper.sweep(run.give_back())

    def _fail(self, why: str) -> None:
        self.state = "failed"
        self.error = why
        self._end_runs()
        self.static.drop()

    def _forget(self, run: Run) -> None:
        self._sweeper.sweep(run.give_back())
        del self.runs[run.setting]
        self._comparisons = {
            pair: known for pair, known in self._comparisons.items() if run.setting not in pair
        }

    def _end_runs(self) -> None:
        """Frees what the replays hold."""
        for run in self.runs.values():
            self._sweeper.sweep(run.give_back())

    # ---- refusals -------------------------------------------------------------------------

    def free_bytes(self) -> int | None:
        """Memory that may be taken now; None if the system does not tell."""
        if self._free_bytes is not None:
            return self._free_bytes
        free = machine.memory_free_bytes()
        return None if free is None else 3 * free // 4

    def _may_keep(self, counts_bytes: int) -> bool:
        free = self.free_bytes()
        return free is None or counts_bytes <= _COUNTS_SHARE * free

    def refusal(self, setting: Setting) -> str | None:
        """Why that setting cannot be taken here, or None."""
        if self.static.has(setting):
            return None
        free = self.free_bytes()
        if free is not None:
            free += self.static.held_bytes(setting)
            free += sum(run.held_bytes() for run in self.runs.values())
        return self.material.refusal(setting, free, self.static.has_counted(setting.size_mb))

    def _refuse_too_big(self, setting: Setting) -> None:
        why = self.refusal(setting)
        if why is not None and self._sweeper.busy:  # more will be free in a moment
            self._sweeper.wait(1.0)
            why = self.refusal(setting)
        if why is not None:
            raise InputError(f"a corpus of {setting.size_mb} MB cannot be taken here: {why}")

    def _refuse_closed(self) -> None:
        if self._closed:
            raise StateError("this experiment was closed; make a new one")

    # ---- figures --------------------------------------------------------------------------

    @property
    def run(self) -> Run | None:
        """The run in hand; None before it has begun."""
        return self.runs.get(self.setting)

    def of_size(self, size_mb: int) -> list[Run]:
        """All runs with this corpus, in the order in which they began."""
        return [run for run in self.runs.values() if run.setting.size_mb == size_mb]

    def _others(self, setting: Setting) -> list[Run]:
        return [run for run in self.of_size(setting.size_mb) if run.setting != setting]

    def baseline(self, setting: Setting | None = None) -> Run | None:
        """The run whose time to compare with: the reference's on the same corpus, if there are
        two the one with the same ties and score; else the latest of the others."""
        setting = setting or self.setting
        others = self._others(setting)
        for wanted in (same_choices(REFERENCE, setting.toggles), REFERENCE):
            for run in others:
                if run.setting.toggles == wanted:
                    return run
        found = [run for run in others if is_reference(run.setting.toggles)] or others
        return found[-1] if found else None

    def partner(self, setting: Setting | None = None) -> Run | None:
        """The run whose drafts to compare with: one that must draft the same if there is any,
        among those the reference's before the latest; else the baseline."""
        setting = setting or self.setting
        same = [
            run
            for run in self._others(setting)
            if not different_choices(run.setting.toggles, setting.toggles)
        ]
        for run in same:
            if is_reference(run.setting.toggles):
                return run
        return same[-1] if same else self.baseline(setting)

    def light(self) -> Light:
        """Compares the drafts of the run in hand and its partner, token by token."""
        run, partner = self.run, self.partner()
        if run is None or partner is None:
            return Light("none", partner)
        pair = (partner.setting, run.setting)
        if pair not in self._comparisons:
            self._comparisons[pair] = Comparison(partner.log, run.log)
        comparison = self._comparisons[pair]
        comparison.update()
        differing = tuple(different_choices(run.setting.toggles, partner.setting.toggles))
        if comparison.difference is not None:
            return Light("other", partner, comparison, differing)
        return Light("same" if comparison.n_tokens else "none", partner, comparison, differing)

    def progress(self) -> tuple[float, float | None]:
        """Fraction done of the work in hand, and seconds left by its own pace so far."""
        if not self.static.has(self.setting) and self.state in ("preparing", "paused"):
            fraction, worked = self.static.fraction, self.static.seconds
        else:
            run = self.run
            fraction = run.line.fraction if run else 0.0
            worked = run.worked_seconds if run else 0.0
        if fraction < 0.02 or worked < 0.1:
            return fraction, None
        return fraction, worked * (1 - fraction) / fraction

    @property
    def what(self) -> str:
        """The work in hand, in a few words."""
        if not self.static.has(self.setting):
            return self.static.what(self.setting)
        return "giving memory back" if self._sweeper.busy else "replaying"

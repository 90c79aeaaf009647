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
other structure), the runs on the old one end; their figures stay.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

from .. import machine
from ..closing import Closing
from ..errors import InputError, NgramError, StateError
from ..replay import Replay
from ..rule import LLAMA_CPP, Rule
from ..toggles import stage
from .material import Material, python_material
from .measured import Line
from .runs import Run, Setting
from .same_drafts import Comparison
from .static_cache import StaticBuild
from .switches import REFERENCE, expected_difference

State = Literal["ready", "preparing", "running", "paused", "stopped", "done", "failed"]

SLICE_SECONDS = 0.03
"""How long one slice of work takes, about: a press on Stop waits no longer."""


@dataclass(frozen=True)
class Light:
    """Whether the run in hand drafts what its partner drafted, as far as both went."""

    kind: Literal["none", "same", "other"]
    partner: Run | None = None
    comparison: Comparison | None = None
    expected: bool = False  #: the settings differ in a switch that may change the drafts


class Experiment(Closing):
    """Replays a text with different switches and corpora, and keeps what was measured.

    Args:
        material: text and corpus; by default Python's own library source.
        sizes: megabytes of corpus that the reader can choose; 0 is no static cache.
        stages: the stages that the reader can choose, by name; the first is in hand at first.
        rule: thresholds and weight.
        n_ctx, n_draft: as for `Replay`.
        free_bytes: memory it may take; by default half of what is free here.

    A context manager; `close()` ends all runs and frees their memory.
    """

    def __init__(
        self,
        material: Material | None = None,
        sizes: tuple[int, ...] = (0, 1, 5, 25),
        stages: tuple[str, ...] = ("upstream", "nocopy"),
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
        self._free_bytes = free_bytes
        self._build: StaticBuild | None = None
        self._build_seconds = 0.0
        self._comparisons: dict[tuple[Setting, Setting], Comparison] = {}
        self._closed = False

    # ---- what the reader does -------------------------------------------------------------

    def choose(self, size_mb: int | None = None, **toggles: Any) -> None:
        """Takes another corpus size or other switches in hand, at any time.

        Raises:
            InputError: no such size or switch, or the corpus does not fit into memory.
        """
        size_mb = self.setting.size_mb if size_mb is None else size_mb
        if size_mb not in self.sizes:
            raise InputError(f"there is no corpus of {size_mb} MB here; choose one of {self.sizes}")
        setting = Setting(size_mb, self.setting.toggles.set(**toggles))
        if setting == self.setting:
            return
        self._refuse_too_big(size_mb)
        if setting.static_cache != self.setting.static_cache:
            self._end_runs()
        self.setting = setting
        if self.state == "preparing" and self._build is None:
            self.state = "running"
        elif self.state in ("running", "preparing"):
            self.state = "preparing"
        elif self.state in ("done", "stopped", "failed"):
            self.state = "done" if self.run is not None and self.run.done else "ready"

    def start(self) -> None:
        """Begins the run in hand; one that is over begins anew, one left in the middle goes on.

        Raises:
            InputError: the corpus does not fit into memory.
            StateError: it is running, or closed.
        """
        self._refuse_closed()
        if self.state in ("running", "preparing"):
            raise StateError("it is running; pause or stop it first")
        self._refuse_too_big(self.setting.size_mb)
        run = self.run
        if run is not None and not run.unfinished:
            self._forget(run)
        self.error = ""
        self.state = "preparing"

    def pause(self) -> None:
        """Rests until `resume`; nothing is lost."""
        if self.state in ("running", "preparing"):
            self.state = "paused"

    def resume(self) -> None:
        """Goes on after a pause."""
        self._refuse_closed()
        if self.state == "paused":
            self.state = "preparing"

    def stop(self) -> None:
        """Ends the run in hand; what was measured so far is kept."""
        if self.state in ("running", "preparing", "paused"):
            self.state = "stopped"
            if self.run is not None:
                self.run.close()

    def close(self) -> None:
        """Ends all runs and frees their memory; twice is fine. The figures stay."""
        self.stop()
        self._end_runs()
        self._closed = True

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
        if not self._static_ready():
            self._prepare(seconds)
            return
        self.state = "running"
        run = self.run or self._open()
        run.work(seconds)
        if run.done:
            self.state = "done"

    def _static_ready(self) -> bool:
        if self.setting.size_mb == 0:
            return True
        build = self._build
        return build is not None and build.done

    def _prepare(self, seconds: float) -> None:
        self.state = "preparing"
        if self._build is None:
            self._build = StaticBuild(self.material, self.setting.size_mb, self.setting.toggles)
            self._build_seconds = 0.0
        begun = time.monotonic()
        self._build.work(seconds)
        self._build_seconds += time.monotonic() - begun

    def _open(self) -> Run:
        setting = self.setting
        static = self._build.cache if self._build is not None and setting.size_mb else None
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

    def _fail(self, why: str) -> None:
        self.state = "failed"
        self.error = why
        self._end_runs()

    def _forget(self, run: Run) -> None:
        run.close()
        del self.runs[run.setting]
        self._comparisons = {
            pair: known for pair, known in self._comparisons.items() if run.setting not in pair
        }

    def _end_runs(self) -> None:
        """Frees what the engine holds: replays, then the static cache that they read."""
        for run in self.runs.values():
            run.close()
        if self._build is not None:
            self._build.close()
            self._build = None

    # ---- refusals -------------------------------------------------------------------------

    def free_bytes(self) -> int | None:
        """Memory that may be taken now; None if the system does not tell."""
        if self._free_bytes is not None:
            return self._free_bytes
        free = machine.memory_free_bytes()
        return None if free is None else free // 2

    def refusal(self, size_mb: int) -> str | None:
        """Why a corpus of that size cannot be taken here, or None."""
        if size_mb == 0 or (self._build is not None and self._build.size_mb == size_mb):
            return None
        return self.material.refusal(size_mb, self.free_bytes())

    def _refuse_too_big(self, size_mb: int) -> None:
        why = self.refusal(size_mb)
        if why is not None:
            raise InputError(f"a corpus of {size_mb} MB cannot be taken here: {why}")

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

    def partner(self, setting: Setting | None = None) -> Run | None:
        """The run to compare with: the reference's on the same corpus; for the reference, and
        where it has not run, the latest of the others."""
        setting = setting or self.setting
        others = [run for run in self.of_size(setting.size_mb) if run.setting != setting]
        for run in others:
            if run.setting.toggles == REFERENCE:
                return run
        return others[-1] if others else None

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
        expected = expected_difference(run.setting.toggles, partner.setting.toggles)
        if comparison.difference is not None:
            return Light("other", partner, comparison, expected)
        return Light("same" if comparison.n_tokens else "none", partner, comparison, expected)

    def progress(self) -> tuple[float, float | None]:
        """Fraction done of the work in hand, and seconds left by its own pace so far."""
        if not self._static_ready() and self.state in ("preparing", "paused"):
            fraction = self._build.fraction if self._build else 0.0
            worked = self._build_seconds
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
        if self.state == "preparing" and self._build is not None and not self._build.done:
            return self._build.what
        return "replaying"

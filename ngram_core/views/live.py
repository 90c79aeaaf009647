"""Live: an experiment with its board, its plots and its table, in the notebook."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..lesson.board import STOP_COPYING, Front, board
from ..lesson.experiment import Experiment
from ..lesson.findings import Result, corpus_name, describe, results
from ..lesson.table import table
from .figure import Layout, Trace
from .figure_grid import Colours
from .measuring import Measuring
from .plot_layout import layout
from .plots import traces
from .switchboard import Switchboard


class Live(Measuring):
    """An experiment that the reader steers, measured and drawn while it runs.

    Args:
        experiment: what to steer; by default one on Python's own library source.
        front: switches and stages that stand in front of all others.

    There is one in a kernel: a new one closes the one before, its runs and its memory.
    """

    def __init__(self, experiment: Experiment | None = None, front: Front = STOP_COPYING) -> None:
        self.experiment = experiment or Experiment()
        self._front = front
        super().__init__(self.experiment, Switchboard())

    def make_board(self) -> dict[str, Any]:
        """See `lesson/board.py`."""
        return board(self.experiment, self._front)

    def make_table(self) -> dict[str, Any]:
        """See `lesson/table.py`."""
        return table(self.experiment)

    def make_plots(self, width: int, colours: Colours) -> tuple[list[Trace], Layout]:
        """See `plots.py` and `plot_layout.py`."""
        made = traces(self.experiment, width, colours)
        return made, layout(self.experiment, width, colours)

    def act(self, action: str, value: Any = None) -> None:
        """What a press does: start, resume, pause, stop, size, switch or preset."""
        x = self.experiment
        if action == "size":
            x.choose(size_mb=value)
        elif action == "switch":
            x.choose(**dict([value]))
        elif action == "preset":
            x.choose(**asdict(x.stages[value]))
        else:
            {"start": x.start, "resume": x.resume, "pause": x.pause, "stop": x.stop}[action]()

    def run(self, stage: str, size_mb: int = 0) -> None:
        """Runs one stage on one corpus to its end, here and now; the view follows at the end."""
        self.do("size", size_mb)
        self.do("preset", stage)
        self.experiment.run_to_end()
        self._show(True)

    def results(self) -> list[Result]:
        """One row a run, as in the table."""
        return results(self.experiment)

    def describe(self) -> str:
        """What is going on, the light, and one line a run."""
        return describe(self.experiment)

    def show(self) -> None:
        """Displays it, and prints in one line what it will measure."""
        super().show()
        x = self.experiment
        corpora = ", ".join(corpus_name(size) for size in x.sizes)
        print(f"At first: {len(x.material.text):,} tokens to replay; static cache: {corpora}")

    def end(self) -> None:
        """Stops the run and frees its memory in the background."""
        self.experiment.close(wait=False)

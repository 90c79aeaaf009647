"""Hours of use, as a reader's: nothing grows, nothing slows down."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from .lesson import App, Lesson
from .server import JupyterServer
from .use import FIRST, Reader, line, middle

Open = Callable[..., Lesson]

CELL_TOOLBAR = "@jupyterlab/cell-toolbar-extension:plugin"
"""JupyterLab 4.6 keeps 250 nodes and 780 listeners of it for each move to another cell, in a
notebook of plain `print` cells as well; later versions do not (its pull request 19370). Without
it such a move leaves nothing, so that what our views left would be seen."""

MINUTES = 60 * float(os.environ.get("NGRAM_SOAK_HOURS", "2"))
PAUSE_SECONDS = 30
"""For thought, after each round; the rest of the machine is for others then."""

SLACK = {
    "RSS MB": (1.15, 30),
    "engine MB": (1.0, 1),
    "handles": (1.0, 0),
    "widgets": (1.0, 0),
    "comms": (1.0, 0),
    "threads": (1.0, 1),
    "tasks": (1.0, 1),
    "files": (1.0, 4),
    "page JS MB": (1.25, 20),
    "page nodes": (1.1, 1000),
    "page listeners": (1.1, 500),
    "page documents": (1.25, 5),
    "step ms": (2, 10),
    "pause ms": (2, 300),
    "switch ms": (2, 300),
}
"""What the last fifth may show, against the first: times, and more. The machine may be busy."""


OF_A_RUN = {"page JS MB": 0.6, "page nodes": 7, "page listeners": 1}
"""What JupyterLab keeps of a cell's run and of a closed widget: a listener of its comm holds its
state, and a Stepper's story, script and styles are 0.3 MB."""

OF_A_TURN = {"page nodes": 80, "page listeners": 25}
"""And of each turn to another tab, be it one with a notebook of plain cells: 73 and 19."""


@pytest.mark.soak
def test_two_hours_of_use(
    open_notebook: Open,
    server_for: Callable[[App], JupyterServer],
    measured: Callable[[str], None],
) -> None:
    server = server_for("lab")
    server.leave_out(CELL_TOOLBAR)
    reader = Reader(open_notebook(FIRST))
    for _ in range(2):  # until each kind of thing has been there once
        reader.one_round()
    began = time.monotonic()
    samples: list[dict[str, float]] = []
    while (minutes := (time.monotonic() - began) / 60) < MINUTES or len(samples) < 2:
        times = reader.one_round()
        samples.append(reader.held() | times)
        print(line(minutes, reader.rounds, samples[-1]), flush=True)
        reader.lesson.page.wait_for_timeout(PAUSE_SECONDS * 1000)
    server.leave_out()
    fifth = max(1, len(samples) // 5)
    first, last = samples[:fifth], samples[-fifth:]
    grown = []
    for name in samples[0]:
        factor, more = SLACK[name.removeprefix("01 ").removeprefix("03 ")]
        before, after = middle(first, name), middle(last, name)
        measured(f"{minutes:.0f} minutes of use: {name} {before:.1f} -> {after:.1f}")
        more += OF_A_RUN.get(name, 0) * reader.runs + OF_A_TURN.get(name, 0) * reader.turns
        if after > before * factor + more:
            grown.append(f"{name}: {before:.1f} -> {after:.1f}")
    measured(f"{reader.rounds} rounds, {reader.restarts} restarts of lesson 00's kernel")
    assert not grown, "\n".join(grown)

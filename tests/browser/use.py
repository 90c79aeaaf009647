"""A reader who uses three lessons in one JupyterLab for as long as one likes, and what it costs.

Lessons 01 and 03 keep their kernels the whole time: there growth would show. Lesson 00's kernel is
restarted now and then. After each round everything that could grow is looked at, in the kernels,
in the engine and in the page.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .lesson import Lesson

if TYPE_CHECKING:
    from playwright.sync_api import Locator

FIRST, STEPS, LIVE = "00_start_here.ipynb", "01_guess_the_next_token.ipynb", "03_stop_copying.ipynb"

RESTART_EVERY = 6
"""Rounds between two restarts of lesson 00's kernel."""

# In a kernel: what it holds, as one line of JSON. Handles are what the engine has given out.
HELD = """
import asyncio, comm, gc, json, os, threading, ipywidgets
from ngram_core import machine
from ngram_core._native.handles import Handle
gc.collect()
_open = [o for o in gc.get_objects() if isinstance(o, Handle) and not o.closed]
print(json.dumps({
    'RSS MB': machine.resident_bytes() / 2**20,
    'engine MB': sum(o.memory()['live_bytes'] for o in _open if hasattr(o, 'memory')) / 2**20,
    'handles': len(_open),
    'widgets': len(ipywidgets.widgets.widget._instances),
    'comms': len(comm.get_comm_manager().comms),
    'threads': threading.active_count(),
    'tasks': len(asyncio.all_tasks()),
    'files': len(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else 0,
}))
del _open
"""

# Time from a key to the new sentence, laid out: 30 steps from the beginning.
STEP_TIMES = """async (frame) => {
    const words = frame.querySelector('.words');
    const event = (key) => new KeyboardEvent('keydown', { key, bubbles: true });
    const press = (key) => frame.dispatchEvent(event(key));
    const times = [];
    press('Home');
    for (let i = 0; i < 30; i++) {
        const before = words.textContent, start = performance.now();
        press('ArrowRight');
        if (words.textContent === before) continue;
        frame.getBoundingClientRect();
        times.push(performance.now() - start);
        await new Promise(requestAnimationFrame);
    }
    return times;
}"""

TEXTS = (
    "to be or not to be to be or not to be that is the question to be or not",
    "for i in range ( n ) : for j in range ( n ) : a [ i ] = a [ j ]",
    "fuzzy wuzzy was a bear fuzzy wuzzy had no hair fuzzy wuzzy was not fuzzy was he",
)

STAGES = ("upstream", "nocopy", "precheck")


class Reader:
    """One page with three lessons open in tabs, and what a reader does in them."""

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.folder = lesson.path.rpartition("/")[0]
        self.rounds = 0
        self.restarts = 0
        self.runs = 0  #: of cells that show a view
        self.turns = 0  #: to another tab
        self.front = ""
        self.cdp = lesson.page.context.new_cdp_session(lesson.page)
        lesson.page.set_default_timeout(180_000)  # in hours a machine is very busy now and then
        for name in (FIRST, STEPS, LIVE):
            self.turn_to(name)
            lesson.run_all(180)

    def turn_to(self, name: str) -> None:
        """Opens a lesson, or brings it to the front."""
        self.turns += name != self.front
        self.front = name
        self.lesson.command("docmanager:open", path=f"{self.folder}/{name}")
        self.lesson.wait_ready()

    def run(self, cell_id: str) -> None:
        """Runs the cell of that name in the lesson in front, with a reader's keys: JupyterLab holds
        each key event, and with it the view that it was for, until one of its shortcuts is used."""
        count = self._count(cell_id)
        self.lesson.page.evaluate(
            """async (id) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                const index = notebook.widgets.findIndex((cell) => cell.model.id === id);
                await notebook.scrollToItem(index);
                notebook.deselectAll();
                notebook.activeCellIndex = index;
                notebook.mode = 'edit';
                notebook.activeCell.editor.focus();
            }""",
            cell_id,
        )
        self.lesson.press("Control+Enter")
        self._until(lambda: str(self._count(cell_id) != count), "True")
        self.lesson.wait_done(all_cells=False)
        self.runs += 1

    def _count(self, cell_id: str) -> int | None:
        """How many runs its kernel had seen when that cell ran last; None while it runs."""
        count: int | None = self.lesson.page.evaluate(
            """(id) => window.jupyterapp.shell.currentWidget.content.widgets
                .find((cell) => cell.model.id === id).model.executionCount""",
            cell_id,
        )
        return count

    def output(self, cell_id: str) -> Locator:
        """Its output, scrolled to; the lessons in the other tabs are in the same page."""
        self.lesson.page.evaluate(
            """async (id) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                const index = notebook.widgets.findIndex((cell) => cell.model.id === id);
                notebook.widgets[index].node.dataset.cell = id;
                await notebook.scrollToItem(index);
            }""",
            cell_id,
        )
        return self.lesson.page.locator(f"[data-cell={cell_id}] .jp-Cell-outputArea")

    def one_round(self) -> dict[str, float]:
        """Some minutes' worth of use, without the pauses for thought; reaction times in ms."""
        self.rounds += 1
        self.turn_to(FIRST)
        if self.rounds % RESTART_EVERY == 0:
            self._restart()
        self._type_a_text()
        self.turn_to(STEPS)
        step = self._step()
        self.turn_to(LIVE)
        pause, switch = self._measure()
        return {"step ms": step, "pause ms": pause, "switch ms": switch}

    def _restart(self) -> None:
        self.lesson.page.evaluate(
            "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
        )
        self.lesson.wait_ready()
        self.lesson.run_all(180)
        self.restarts += 1

    def _type_a_text(self) -> None:
        self.run("look-all")
        area = self.output("look-all")
        area.get_by_role("button", name="Edit text").click()
        field = area.locator(".edit textarea").first
        for text in TEXTS:
            field.fill(text)
            field.press("Control+Enter")
            self._until(
                lambda: area.locator(".line").first.inner_text(), f"{len(text.split())} tokens"
            )
            area.locator(".stepper").focus()
            self.lesson.press("End", "ArrowLeft", "ArrowLeft", "Home", "Space")
            self.lesson.page.wait_for_timeout(700)
            self.lesson.press("Space")
        for name in ("dynamic", "static", "context"):
            box = area.get_by_label(name, exact=True)
            if box.count():
                box.first.click()
                self.lesson.page.wait_for_timeout(200)
                box.first.click()

    def _step(self) -> float:
        for cell_id in ("run-bold", "look-stops"):
            self.run(cell_id)
            frame = self.output(cell_id).locator(".stepper")
            frame.wait_for(state="visible")
            times: list[float] = frame.evaluate(STEP_TIMES)
        return statistics.median(times)

    def _measure(self) -> tuple[float, float]:
        """Start, Pause, Stop and switches; the time of a pause and of a switch, in ms."""
        if self.rounds % 2 == 0:
            self.run("look-live")
        area = self.output("look-live")
        area.locator(".board").wait_for(state="visible")

        def state() -> str:
            return str(self._ask("live.experiment.state"))

        def press(name: str) -> None:
            """Once the page offers it, a moment behind the kernel; or not, when all is done."""
            button = area.locator(f"button[data-name={name}]")
            enabled = area.locator(f"button[data-name={name}]:not([aria-disabled=true])")
            self._until(
                lambda: "offered" if enabled.count() else state(),
                "offered",
                also="\0" if name == "start" else "done",
            )
            button.press("Enter")  # wherever it has moved

        def switched(before: str) -> Callable[[], str]:
            return lambda: str(self._ask("live.experiment.setting.name") != before)

        def take(stage: str) -> None:
            opener = area.get_by_role("button", name="All switches")
            if opener.get_attribute("aria-expanded") == "false":
                opener.click()
            button = area.locator(".presets").get_by_role("button", name=stage, exact=True)
            button.click()
            self._until(lambda: str(button.get_attribute("aria-pressed")), "true")

        pauses, switches = [], []
        for stage in STAGES:
            take(stage)
            press("start")
            self._wait("live.experiment.state in ('running', 'preparing', 'done')")
            press("pause")
            pauses.append(self._until(state, "paused", also="done"))
            if state() == "paused":
                press("start")
            began = self._ask("live.experiment.setting.name")
            area.locator(".board .sw").first.click()
            switches.append(self._until(switched(began), "True"))
            if not self._ask("live.experiment.working"):
                press("start")
            self.lesson.page.wait_for_timeout(1500)
            press("stop")
            self._wait("not live.experiment.working")
        for size in ("1 MB", "none"):
            area.locator(f".board label:has-text('{size}')").first.click()
            press("start")
            self._wait("live.experiment.state in ('running', 'preparing', 'done')")
            self.lesson.page.wait_for_timeout(1500)
            press("stop")
            self._wait("not live.experiment.working")
        return statistics.median(pauses), statistics.median(switches)

    def _ask(self, expression: str) -> Any:
        return json.loads(self.lesson.kernel(f"import json; print(json.dumps({expression}))"))

    def _wait(self, expression: str) -> None:
        self._until(lambda: str(self._ask(expression)), "True")

    def _until(
        self, see: Callable[[], str], wanted: str, also: str = "\0", seconds: float = 180
    ) -> float:
        """Looks until the words are there; how long it took, in ms."""
        began = time.monotonic()
        while True:
            seen = see()
            if wanted in seen or also in seen:
                return (time.monotonic() - began) * 1000
            assert time.monotonic() - began < seconds, f"{seen!r}, not {wanted!r}"
            self.lesson.page.wait_for_timeout(10)

    def held(self) -> dict[str, float]:
        """What the two long-lived kernels, the engine in them and the page hold now."""
        found: dict[str, float] = {}
        for name, short in ((STEPS, "01"), (LIVE, "03")):
            self.turn_to(name)
            for key, value in json.loads(self.lesson.kernel(HELD)).items():
                found[f"{short} {key}"] = value
        self.cdp.send("HeapProfiler.collectGarbage")
        self.cdp.send("Performance.enable")
        page = {m["name"]: m["value"] for m in self.cdp.send("Performance.getMetrics")["metrics"]}
        found["page JS MB"] = page["JSHeapUsedSize"] / 2**20
        found["page nodes"] = page["Nodes"]
        found["page listeners"] = page["JSEventListeners"]
        found["page documents"] = page["Documents"]
        return found


def line(minute: float, rounds: int, figures: dict[str, float]) -> str:
    """One sample in words."""
    shown = ", ".join(f"{name} {value:.0f}" for name, value in figures.items())
    return f"minute {minute:5.1f}, round {rounds}: {shown}"


def middle(samples: Sequence[dict[str, float]], name: str) -> float:
    return statistics.median(sample[name] for sample in samples)

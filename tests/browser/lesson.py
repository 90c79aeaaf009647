"""A notebook open in a browser page, and what a test wants to do with it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from .server import JupyterServer

if TYPE_CHECKING:  # the quick tier collects these tests on machines without Playwright
    from playwright.sync_api import Locator, Page

App = Literal["lab", "notebook"]

SCREENSHOTS = Path(__file__).resolve().parents[2] / "build" / "screenshots"

# jupyter/notebook issue 7862: a race of Notebook 7 with itself, in any notebook, harmless.
KNOWN_NOTEBOOK_ERROR = "Cannot read properties of undefined (reading 'schema')"

# JupyterLab's debugger asks each new kernel for its state, and complains when that kernel goes.
KNOWN_CONSOLE_ERROR = "Could not restore the debugger state: Canceled future"

# The app object is in the page because the server runs with --expose-app-in-browser.
READY = """async () => {
    const app = window.jupyterapp;
    if (!app) return false;
    await app.restored;
    const panel = app.shell.currentWidget;
    if (!panel || !panel.sessionContext) return false;
    await panel.sessionContext.ready;
    await panel.context.ready;
    const kernel = panel.sessionContext.session && panel.sessionContext.session.kernel;
    return !!kernel && kernel.connectionStatus === 'connected' && kernel.status === 'idle';
}"""

# The sources of the cells, or null without a kernel.
SOURCES = """() => {
    const panel = window.jupyterapp?.shell.currentWidget;
    const kernel = panel?.sessionContext?.session?.kernel;
    return kernel?.connectionStatus === 'connected'
        ? panel.content.widgets.map(cell => cell.model.sharedModel.getSource()) : null;
}"""

TURN_TO = """async (path) => {
    const { commands, shell } = window.jupyterapp;
    await commands.execute('docmanager:open', { path });
    for (const widget of [...shell.widgets('main')]) {
        if (widget !== shell.currentWidget) widget.dispose();
    }
}"""

TO_THE_TOP = """async () => {
    const notebook = window.jupyterapp.shell.currentWidget.content;
    notebook.mode = 'command';
    notebook.deselectAll();
    notebook.activeCellIndex = 0;
    await notebook.scrollToItem(0);
}"""

CELLS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code')
    .map(cell => ({
        source: cell.model.sharedModel.getSource(),
        count: cell.model.executionCount,
        state: cell.model.executionState ?? null,
        outputs: cell.model.outputs.toJSON(),
    }))"""

EXECUTE = """async ([code, timeout]) => {
    const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
    const future = kernel.requestExecute({ code, store_history: false, silent: false });
    let text = '';
    future.onIOPub = message => {
        if (message.content.text) text += message.content.text;
        if (message.content.traceback) text += message.content.traceback.join('\\n');
    };
    const reply = await Promise.race([
        future.done,
        new Promise((_, fail) => setTimeout(() => fail(new Error('kernel timed out')), timeout)),
    ]);
    return [reply.content.status, text];
}"""

PLOT_INK = """ink => [...document.querySelectorAll('.js-plotly-plot text')].some(
    e => e.textContent.startsWith('Memory by structure') && getComputedStyle(e).fill === ink)"""

# Tenths of a second that a busy page may take to draw itself anew.
REDRAWN_TENTHS = 50

OVERLAPS = """selector => {
    const words = [...document.querySelectorAll(`${selector} svg text`)]
        .filter(e => e.textContent.trim() && e.getClientRects().length)
        .map(e => [e.textContent, e.getBoundingClientRect()]);
    const shared = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;
    return words.flatMap(([text, box], i) => words.slice(i + 1)
        .filter(([_, other]) => shared(box, other)).map(([other]) => `${text} | ${other}`));
}"""

LEFT = """
import asyncio, gc, json, threading, ipywidgets
gc.collect()
names = [type(w).__name__ for w in ipywidgets.widgets.widget._instances.values()]
pumps = [t for t in asyncio.all_tasks() if 'Pump' in str(t.get_coro())]
print(json.dumps({'figures': names.count('Plot'), 'widgets': len(names), 'pumps': len(pumps),
    'boards': sum('board' in name.lower() for name in names), 'threads': threading.active_count()}))
"""


@dataclass(frozen=True)
class Look:
    """What a page is looked at with: the window's size in pixels, and the reader's wishes."""

    width: int
    height: int
    dark: bool
    reduced_motion: bool


class Lesson:
    """One notebook in one page. Times out with what the page shows, not in silence."""

    def __init__(self, page: Page, server: JupyterServer, app: App) -> None:
        self.page = page
        self.server = server
        self.path = ""
        self.app: App = app
        #: what the page's console and network have complained of so far
        self.errors: list[str] = []
        page.on("console", self._on_console)
        page.on("pageerror", self._on_page_error)
        page.on("request", lambda request: self._on_request(request.url))

    def _on_console(self, message: Any) -> None:
        if message.type == "error" and KNOWN_CONSOLE_ERROR not in message.text:
            where = message.location.get("url", "") if message.location else ""
            self.errors.append(f"console: {message.text} {where}")

    def _on_page_error(self, error: Any) -> None:
        if not (self.app == "notebook" and KNOWN_NOTEBOOK_ERROR in str(error)):
            self.errors.append(f"page error: {error}")

    def _on_request(self, url: str) -> None:
        local = (self.server.url, self.server.url.replace("http", "ws", 1), "data:", "blob:")
        if not url.startswith(local):
            self.errors.append(f"a request left this machine: {url}")

    def open(self, path: str) -> None:
        """Opens a notebook, by its path below the server's root; a lab that is there already shows
        it in the place of all others."""
        self.errors.clear()
        self.path = path
        if self.app == "lab" and self.page.url.startswith(f"{self.server.url}/lab"):
            self.page.evaluate(TURN_TO, path)
            self.wait_ready()
            return
        where = f"lab/tree/{path}" if self.app == "lab" else f"notebooks/{path}"
        self.page.goto(f"{self.server.url}/{where}?token={self.server.token}")
        self.wait_ready()
        if self.app == "lab":
            self._close_side_bars()

    def look(self, look: Look) -> None:
        """The window that large, and what the reader's system says of colours and motion."""
        self.page.set_viewport_size({"width": look.width, "height": look.height})
        self.page.emulate_media(
            color_scheme="dark" if look.dark else "light",
            reduced_motion="reduce" if look.reduced_motion else "no-preference",
            forced_colors="none",
        )

    def renew(self) -> None:
        """As if opened now: no output, the first cell chosen. What page and kernel have loaded
        stays."""
        self.errors.clear()
        self.wait_ready()
        self.command("notebook:clear-all-cell-outputs")
        self.page.evaluate(TO_THE_TOP)
        self.page.mouse.move(0, 0)

    def is_usable(self) -> bool:
        """Whether the page is there, with nothing over it."""
        from playwright.sync_api import Error

        try:
            return not self.page.is_closed() and self.page.locator(".jp-Dialog").count() == 0
        except Error:  # it crashed
            return False

    def is_whole(self, what: str | list[str]) -> bool:
        """Whether its kernel is there, and its cells are still these."""
        sources: list[str] | None = self.page.evaluate(SOURCES)
        return sources == what

    def wait_ready(self, seconds: float = 60) -> None:
        """Waits until the kernel is connected and idle; running earlier opens a dialog."""
        self._until(READY, None, seconds, "no kernel became ready")

    def _until(self, script: str, argument: Any, seconds: float, complaint: str) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self.page.evaluate(script, argument):
                return
            self.page.wait_for_timeout(100)
        self.screenshot("timeout", full=False)
        log = self.server.log.read_text(errors="replace")[-1500:]
        raise AssertionError(
            f"{complaint} within {seconds:g} s ({self.path}); see {SCREENSHOTS / 'timeout.png'}\n"
            f"page: {self.errors}\nserver: {log}"
        )

    def _close_side_bars(self) -> None:
        """Once JupyterLab has restored its layout, which opens the file browser; on a slow machine
        that comes after the notebook is there."""
        self.page.evaluate(
            "async () => { const { restored, shell } = window.jupyterapp; await restored; "
            "shell.collapseLeft(); shell.collapseRight(); }"
        )

    def command(self, name: str, **arguments: Any) -> None:
        """Runs a JupyterLab command by its id."""
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => true)",
            [name, arguments],
        )

    # Running cells

    def run_all(self, seconds: float = 120) -> None:
        """Runs all cells and fails if one of them raised."""
        self.command("notebook:run-all-cells")
        self.wait_done(seconds)

    def run_cell(self, index: int, seconds: float = 60) -> None:
        """Runs one code cell, counted from 0 among the code cells; negative from the end."""
        self.page.evaluate(
            """async (index) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                const code = notebook.widgets.map((cell, i) => [cell, i])
                    .filter(([cell]) => cell.model.type === 'code');
                notebook.activeCellIndex = code.at(index)[1];
                notebook.deselectAll();
                await window.jupyterapp.commands.execute('notebook:run-cell');
            }""",
            index,
        )
        self.wait_done(seconds, all_cells=False)

    def wait_done(self, seconds: float = 60, all_cells: bool = True) -> None:
        """Waits until no cell is running (and, if asked, each has run), then checks outputs."""
        self._until(
            """(all) => {
                const panel = window.jupyterapp.shell.currentWidget;
                const code = panel.content.widgets.filter(c => c.model.type === 'code'
                    && c.model.sharedModel.getSource().trim());
                const waiting = code.some(c => c.model.executionState === 'running'
                    || c.promptNode?.textContent.includes('*'));
                const raised = code.some(c =>
                    c.model.outputs.toJSON().some(o => o.output_type === 'error'));
                const ran = raised || !all || code.every(c => c.model.executionCount !== null);
                return ran && !waiting
                    && panel.sessionContext.session.kernel.status === 'idle';
            }""",
            all_cells,
            seconds,
            "cells did not finish",
        )
        for cell in self.code_cells():
            for output in cell["outputs"]:
                assert output["output_type"] != "error", (
                    f"{self.path}, cell {cell['source'][:60]!r}:\n" + "\n".join(output["traceback"])
                )

    def code_cells(self) -> list[dict[str, Any]]:
        """Source, execution count and outputs (as in the file) of each code cell."""
        cells: list[dict[str, Any]] = self.page.evaluate(CELLS)
        return cells

    def kernel(self, code: str, seconds: float = 30) -> str:
        """Runs code in the lesson's kernel, outside the cells, and returns what it printed."""
        status, text = self.page.evaluate(EXECUTE, [code, seconds * 1000])
        assert status == "ok", text
        return str(text)

    def value(self, expression: str) -> Any:
        """What an expression is in the lesson's kernel, by way of JSON."""
        return json.loads(self.kernel(f"import json; print(json.dumps({expression}))"))

    def wait_value(self, expression: str, wanted: Any, seconds: float = 60) -> None:
        """Waits until the kernel answers what is wanted."""
        deadline = time.monotonic() + seconds
        while (found := self.value(expression)) != wanted:
            assert time.monotonic() < deadline, f"{expression} is {found}, not {wanted}"
            self.page.wait_for_timeout(100)

    def left(self) -> dict[str, int]:
        """Widgets, pumps and threads in the kernel: the same after a cell ran again."""
        found: dict[str, int] = json.loads(self.kernel(LEFT))
        return found

    def holds(self) -> tuple[float, int]:
        """What the page holds now: MB of JavaScript, and elements in it and out of it."""
        cdp = self.page.context.new_cdp_session(self.page)
        for _ in range(2):  # what a finaliser lets go is found the second time
            cdp.send("HeapProfiler.collectGarbage")
        cdp.send("Performance.enable")
        metrics = cdp.send("Performance.getMetrics")["metrics"]
        found = {metric["name"]: metric["value"] for metric in metrics}
        cdp.detach()
        return found["JSHeapUsedSize"] / 1e6, int(found["Nodes"])

    # Looking

    def wait_plots(self, view: str, caption: str) -> None:
        """Waits until the plots of a view stand on the page and take changes.

        Args:
            view: its name in the kernel.
            caption: of one of the plots.
        """
        self.find(".board")
        self.page.wait_for_function(
            "caption => document.querySelector('.js-plotly-plot')?.textContent.includes(caption)",
            arg=caption,
        )
        self.wait_value(f"{view}.plots.attached", True)

    def wait_plots_fit(self) -> None:
        """Waits until the plots are no wider than the view; they are drawn anew when it changes."""
        self.page.wait_for_function(
            "document.querySelector('.js-plotly-plot .main-svg').getBoundingClientRect().width"
            " <= document.querySelector('.ngram-live').getBoundingClientRect().width"
        )

    def wait_plots_ink(self, dark: bool) -> None:
        """Waits until the plots have a theme's ink: the kernel hears of it, and draws them anew."""
        ink = "rgb(232, 234, 237)" if dark else "rgb(27, 31, 36)"
        self.page.wait_for_function(PLOT_INK, arg=ink)

    def text(self, selector: str) -> str:
        """The text of the first element that matches, blanks made single."""
        return " ".join(self.page.locator(selector).first.inner_text().split())

    def find(self, selector: str, seconds: float = 20, nth: int = 0) -> Locator:
        """The nth element that matches, once it is visible, scrolled into view."""
        element = self.page.locator(selector).nth(nth)
        element.wait_for(state="visible", timeout=seconds * 1000)
        element.scroll_into_view_if_needed()
        return element

    def cell_output(self, index: int) -> Locator:
        """The output area of a code cell, counted from 0 among the code cells; scrolls to it.

        A long notebook keeps only the cells near the window in the page.
        """
        self.page.evaluate(
            """async (index) => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                const code = notebook.widgets.filter(cell => cell.model.type === 'code');
                code.forEach((cell, i) => { cell.node.dataset.code = i; });
                await notebook.scrollToItem(notebook.widgets.indexOf(code[index]));
            }""",
            index,
        )
        return self.page.locator(f'.jp-CodeCell[data-code="{index}"] .jp-Cell-outputArea')

    def press(self, *keys: str) -> None:
        """Keys for whatever has the focus, as a person would type them."""
        for key in keys:
            self.page.keyboard.press(key)

    def has_a_ring(self) -> bool:
        """Whether what has the focus has a ring that lies inside of it: an output area cuts off
        what is drawn outside of a view."""
        return bool(
            self.page.evaluate(
                """() => {
                    const style = getComputedStyle(document.activeElement);
                    const width = parseFloat(style.outlineWidth);
                    return width >= 3 && parseFloat(style.outlineOffset) <= -width;
                }"""
            )
        )

    def in_command_mode(self) -> bool:
        """Whether a cell has the focus, so that arrows go from cell to cell."""
        return bool(self.page.evaluate("document.activeElement.matches('.jp-Cell')"))

    def dress(self, width: int, dark: bool) -> None:
        """The window that wide and the theme that dark, as if a reader had changed them."""
        size = self.page.viewport_size
        assert size is not None
        self.page.set_viewport_size({"width": width, "height": size["height"]})
        self.page.emulate_media(color_scheme="dark" if dark else "light")
        if self.app == "lab":
            self._close_side_bars()  # an open one leaves nothing for a notebook in a narrow window
        self.take_theme(dark)
        self.page.wait_for_timeout(300)  # what hears of its new width draws itself anew

    def take_theme(self, dark: bool) -> None:
        """JupyterLab's own theme; waits until it is there."""
        theme = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.command("apputils:change-theme", theme=theme)
        self.page.wait_for_function(
            "dark => document.body.dataset.jpThemeLight === String(!dark)", arg=dark
        )

    def is_dark(self) -> bool:
        return bool(self.page.evaluate("document.body.dataset.jpThemeLight === 'false'"))

    def screenshot(self, name: str, selector: str | None = None, full: bool = False) -> Path:
        """A PNG in build/screenshots/, of the page or of one element; returns its path."""
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / f"{name}.png"
        if selector:
            self.find(selector).screenshot(path=path)
        else:
            self.page.screenshot(path=path, full_page=full)
        return path

    def overflow(self, selector: str) -> int:
        """By how many pixels the element's content is wider than the element, once it has drawn
        itself anew where it was too wide at first."""
        return self.settled(lambda: wider(self.find(selector)))

    def settled(self, pixels: Callable[[], int], most: int = 0) -> int:
        """A number of pixels, once it is as small as wanted or has had the time to become so."""
        for _ in range(REDRAWN_TENTHS):
            if pixels() <= most:
                break
            self.page.wait_for_timeout(100)
        return pixels()

    def overlaps(self, selector: str) -> list[str]:
        """Words in pictures below the element that stand on each other, two by two, once it has
        drawn itself anew where they did at first."""
        found: list[str] = self.page.evaluate(OVERLAPS, selector)
        for _ in range(REDRAWN_TENTHS):
            if not found:
                break
            self.page.wait_for_timeout(100)
            found = self.page.evaluate(OVERLAPS, selector)
        return found

    def axe(self, selector: str) -> list[str]:
        """Serious and critical accessibility findings inside the element, one line each."""
        if not self.page.evaluate("typeof window.axe === 'object'"):
            # JupyterLab has an AMD loader in the page, which would swallow axe's global.
            script = axe_script().read_text(encoding="utf-8")
            self.page.evaluate(f"(() => {{ const define = undefined; {script} }})()")
        violations = self.page.evaluate(
            "async s => (await axe.run(s, {resultTypes: ['violations']})).violations", selector
        )
        return [
            f"{v['id']} ({v['impact']}): {v['help']}: "
            + "; ".join(node["html"][:120] for node in v["nodes"][:3])
            for v in violations
            if v["impact"] in ("serious", "critical")
        ]


def wider(element: Locator) -> int:
    """By how many pixels an element's content is wider than the element."""
    return int(element.evaluate("e => e.scrollWidth - e.clientWidth"))


def axe_script() -> Path:
    """The axe-core script, which a Python package carries, so that no npm is needed."""
    import axe_playwright_python

    return Path(axe_playwright_python.__file__).parent / "axe.min.js"

"""Lesson 03's live measurement as a reader uses it: real JupyterLab, real keys, real engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from ngram_core.toggles import STAGES

from .lesson import App, Lesson

Open = Callable[..., Lesson]

SHOW = "from ngram_core.views import Live; live = Live(); live.show()"

SMALL = """
from ngram_core.lesson.experiment import Experiment
from ngram_core.lesson.material import python_material
from ngram_core.views import Live
live = Live(Experiment(python_material(20_000), sizes=(0, 1)))
live.show()
"""

# When the number at the line's end was drawn, in ms since 1970, with the number.
WATCH = """() => {
    window.seenAt = [];
    const plot = document.querySelector('.js-plotly-plot');
    new MutationObserver(() => {
        const title = plot._fullLayout?.meta;
        if (title && title !== window.seenAt.at(-1)?.[0]) window.seenAt.push([title, Date.now()]);
    }).observe(plot, { subtree: true, childList: true, attributes: true });
}"""


def opened(open_notebook: Open, source: str = SHOW, **how: Any) -> Lesson:
    lesson = open_notebook([source], new_kernel=True, **how)
    lesson.run_cell(0)
    lesson.wait_plots("live", "Bytes copied")
    return lesson


def state(lesson: Lesson, wanted: str, seconds: float = 60) -> None:
    lesson.wait_value("live.experiment.state", wanted, seconds)


def points(lesson: Lesson, at_least: int) -> None:
    """Waits until the page itself shows so many points of the line in hand."""
    lesson.page.wait_for_function(
        "n => document.querySelector('.js-plotly-plot')?.data?.some("
        "t => t.xaxis !== 'x2' && t.mode === 'lines' && t.line?.width > 2 && t.x?.length >= n)",
        arg=at_least,
        timeout=60_000,
    )


def names_in_plots(lesson: Lesson) -> str:
    return str(lesson.page.evaluate("document.querySelector('.js-plotly-plot').textContent"))


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_with_keys_alone(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app=app)
    n_cells = len(lesson.code_cells())
    lesson.find("button[data-name=start]")
    lesson.page.evaluate("window.jupyterapp.shell.currentWidget.content.activate()")
    lesson.press("Control+Enter")  # runs the cell and stays in it; from there, as lesson 03 says
    lesson.wait_done(all_cells=False)
    lesson.wait_plots("live", "Bytes copied")
    lesson.press("Tab", "Tab")
    assert lesson.page.evaluate("document.activeElement.dataset.name") == "start"
    lesson.press("Enter")
    points(lesson, 5)
    assert lesson.page.evaluate("document.activeElement.dataset.name") == "start", "focus stays"

    lesson.press("Tab", "Enter")  # Pause
    state(lesson, "paused", 2)
    replayed = lesson.value("live.experiment.run.line.sample.n_replayed")
    assert lesson.text("button[data-name=start]") == "▶ Resume"
    assert lesson.text(".board .words").startswith("Paused. So far upstream takes")
    lesson.page.wait_for_timeout(500)
    assert lesson.value("live.experiment.run.line.sample.n_replayed") == replayed

    lesson.press("Shift+Tab", "Enter")  # Resume
    state(lesson, "running", 5)
    lesson.find(".board .sw").focus()
    lesson.press("Space")  # the other stage, in the middle
    lesson.wait_value("live.experiment.setting.name", "nocopy")
    state(lesson, "done")
    lesson.page.wait_for_function("document.querySelector('.light').dataset.kind === 'same'")
    assert lesson.text(".light").startswith("Same drafts. upstream and nocopy drafted the same")
    assert "upstream" in names_in_plots(lesson)
    assert "nocopy" in names_in_plots(lesson)
    assert 0 < lesson.value("live.results()[0].replayed") < 120_000, "the first line is kept"
    rows = lesson.page.locator(".figures tbody tr")
    lesson.page.wait_for_function(  # the page is a moment behind
        "document.querySelector('.figures tbody tr:nth-child(2)')?.innerText"
        ".startsWith('none, nocopy\\t100 %')"
    )
    assert rows.count() == 2

    lesson.find(".board input[value='0']").focus()
    lesson.press("ArrowRight")  # 1 MB
    lesson.wait_value("live.experiment.setting.size_mb", 1)
    assert len(lesson.code_cells()) == n_cells, "no key went to the notebook"
    assert lesson.axe(".ngram-live") == []
    lesson.screenshot(f"live-keys-{app}")


def test_stop_and_start_anew(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    lesson.page.click(".board label:has-text('5 MB')")
    lesson.wait_value("live.experiment.setting.size_mb", 5)
    lesson.page.click("button[data-name=start]")
    lesson.page.wait_for_function(
        "document.querySelector('.board .left').textContent.startsWith('counting 5 MB')"
    )
    points(lesson, 3)
    lesson.page.click("button[data-name=stop]")
    state(lesson, "stopped", 2)
    assert lesson.text(".board .words").startswith("Stopped. Up to there upstream takes")
    assert "Static cache:" in lesson.text(".board .hint")
    n = lesson.value("live.results()[0].replayed")
    assert 0 < n < 120_000
    lesson.page.click("button[data-name=start]")
    state(lesson, "running")
    lesson.page.click("button[data-name=pause]")
    state(lesson, "paused")


def test_running_the_cell_again_leaves_nothing(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    before = lesson.left()
    assert (before["figures"], before["boards"], before["pumps"]) == (1, 1, 0)
    lesson.page.click("button[data-name=start]")
    points(lesson, 3)
    lesson.run_cell(0)  # in the middle of the run
    lesson.wait_plots("live", "Bytes copied")
    assert lesson.left() == before
    assert lesson.page.locator(".board").count() == 1
    assert lesson.page.locator(".js-plotly-plot").count() == 1
    lesson.page.click("button[data-name=start]")
    points(lesson, 3)
    assert lesson.value("live.experiment.state") in ("running", "done")


@pytest.mark.timed
def test_the_plots_keep_up(open_notebook: Open, measured: Callable[[str], None]) -> None:
    """Each draw gets a number as the figure's `meta`; the page notes when it has arrived."""
    lesson = opened(open_notebook)
    lesson.kernel(
        "import time\nsent = []\ndraw = live.plots.draw\n"
        "def numbered(traces, layout):\n"
        "    sent.append(time.time() * 1000)\n"
        "    draw(traces, {**layout, 'meta': len(sent)})\n"
        "live.plots.draw = numbered"
    )
    lesson.page.evaluate(WATCH)
    lesson.page.click("button[data-name=start]")
    lesson.page.wait_for_function(  # or the end, on a fast machine
        "window.seenAt.length >= 12"
        " || document.querySelector('.board .left').textContent === 'the whole text'",
        timeout=60_000,
    )
    lesson.kernel("live.experiment.stop()")
    lesson.page.wait_for_timeout(1000)
    sent = lesson.value("sent")
    seen = lesson.page.evaluate("window.seenAt")
    lags = sorted(at - sent[number - 1] for number, at in seen)
    assert len(lags) >= 5
    middle, late = lags[len(lags) // 2], lags[int(0.95 * (len(lags) - 1))]
    measured(f"plots: {len(lags)} draws, lag {middle:.0f} ms, 95 % within {late:.0f} ms")
    seconds = (sent[-1] - sent[0]) / 1000
    assert len(sent) <= 5 * seconds + 8, "at most five draws a second, and one for each press"
    assert late < 5000  # the time itself is reported; another program may hold the processor


def test_a_page_that_is_closed_pauses_the_run(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    watcher = open_notebook(["1"])
    lesson.kernel("import ngram_core.views.measuring as module; module.GONE_SECONDS = 1")
    lesson.page.click(".board label:has-text('5 MB')")
    lesson.page.click("button[data-name=start]")
    points(lesson, 2)
    path = lesson.path
    lesson.page.close()
    sessions = {s["path"]: s["kernel"] for s in watcher.server.sessions()}
    kernel_id = sessions[path]["id"]
    deadline = time.monotonic() + 30
    while watcher.server.api("GET", f"kernels/{kernel_id}")["execution_state"] != "idle":
        assert time.monotonic() < deadline
        watcher.page.wait_for_timeout(200)


def test_the_light_turns(open_notebook: Open) -> None:
    lesson = opened(open_notebook, SMALL)
    assert lesson.text(".light").startswith("Not compared yet.")
    lesson.page.click("button[data-name=start]")
    state(lesson, "done")
    lesson.page.click(".opener button")
    lesson.page.click(".board label:has-text('smaller id')")
    lesson.wait_value("live.experiment.setting.toggles.ties", "token")
    lesson.page.click("button[data-name=start]")
    state(lesson, "done")
    lesson.page.wait_for_function("document.querySelector('.light').dataset.kind === 'other'")
    assert "Other drafts, as expected." in lesson.text(".light")
    assert lesson.axe(".ngram-live") == []
    lesson.screenshot("live-other-drafts")
    lesson.page.click(".presets button:has-text('nocopy')")
    lesson.wait_value("live.experiment.setting.name", "nocopy")
    lesson.page.click("button[data-name=start]")
    state(lesson, "done")
    lesson.page.wait_for_function("document.querySelector('.light').dataset.kind === 'same'")


@pytest.mark.parametrize(
    ("app", "width", "themes"),
    [("lab", 1136, ["light", "dark"]), ("notebook", 360, ["dark"])],
)
def test_all_switches_with_keys_alone(
    open_notebook: Open, app: App, width: int, themes: list[str]
) -> None:
    how = {"app": app, "width": width, "dark": themes[0] == "dark", "height": 1800}
    lesson = opened(open_notebook, SMALL, **how)
    page, n_cells = lesson.page, len(lesson.code_cells())

    def press(choice: str, *keys: str) -> None:
        lesson.find(choice).focus()
        lesson.press(*keys)

    def setting(name: str) -> None:
        lesson.wait_value("live.experiment.setting.name", name)

    assert not page.locator("[data-toggle=outer]").is_visible()
    press(".opener button", "Enter")
    lesson.find("[data-toggle=outer]")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    assert page.locator(".presets button:visible").count() == len(STAGES)

    assert "hash maps are not searched" in lesson.text("[data-toggle=search] .hint")
    press("[data-toggle=followers] input >> nth=0", "ArrowRight")
    setting("upstream + sorted arrays + smaller id")
    page.wait_for_function("document.querySelector('.moved').textContent.includes('smaller id')")
    assert "sorted arrays have no hash order" in lesson.text(".moved")
    page.wait_for_function(
        "!document.querySelector('[data-toggle=search] .hint').classList.contains('idle')"
    )
    press(".board input[value='0']", "ArrowRight")
    lesson.wait_value("live.experiment.setting.size_mb", 1)
    press("button[data-name=start]", "Enter")
    state(lesson, "done")

    press(".sw[data-toggle=copy_followers]", "Space")
    setting("innervector + chained table")
    press("[data-toggle=outer] input >> nth=0", "ArrowRight")
    setting("innervector")
    press("[data-toggle=static] input >> nth=0", "ArrowRight")
    setting("constmap")
    press(".sw[data-toggle=precheck]", "Space")
    setting("precheck")
    press("button[data-name=start]", "Enter")
    state(lesson, "done")
    page.wait_for_function("document.querySelector('.light').dataset.kind === 'same'")
    words = lesson.text(".light")
    assert words.startswith("Same drafts. upstream + sorted arrays + smaller id and precheck")
    assert page.locator(".presets button[aria-pressed=true]").inner_text() == "precheck"
    assert len(lesson.code_cells()) == n_cells, "no key went to the notebook"
    for theme in themes:
        lesson.dress(width, theme == "dark")
        assert lesson.axe(".ngram-live") == []
        assert lesson.overflow(".board") == 0
        lesson.screenshot(f"live-switches-{app}-{width}-{theme}", ".ngram-live")

    press(".opener button", "Space")
    page.locator("[data-toggle=outer]").wait_for(state="hidden")
    assert page.locator(".presets button:visible").all_inner_texts() == [
        "upstream",
        "nocopy",
        "precheck",
    ]
    press(".opener button", "Space")
    assert page.locator("[data-toggle=outer] input").nth(1).is_checked(), "the state was kept"


@pytest.mark.parametrize(
    ("app", "looks"),
    [
        ("lab", [(1280, False), (1280, True), (360, True)]),
        ("notebook", [(360, False), (600, True)]),
    ],
)
def test_any_width_and_theme(open_notebook: Open, app: App, looks: list[tuple[int, bool]]) -> None:
    lesson = opened(open_notebook, SMALL, app=app, height=2400, reduced_motion=True)
    lesson.kernel("live.run('upstream'); live.run('nocopy')")
    points(lesson, 100)
    for width, dark in looks:
        lesson.dress(width, dark)
        lesson.page.wait_for_timeout(500)
        looks_right(lesson, dark)
        lesson.screenshot(f"live-{app}-{width}-{'dark' if dark else 'light'}")


def looks_right(lesson: Lesson, dark: bool) -> None:
    for part in (".board", ".figures"):
        assert lesson.overflow(part) == 0
    lesson.wait_plots_fit()
    lesson.wait_plots_ink(dark)
    assert lesson.overlaps(".ngram-live") == []
    assert lesson.axe(".ngram-live") == []


def test_errors_are_shown_in_words(open_notebook: Open) -> None:
    lesson = opened(open_notebook, SMALL)
    lesson.kernel("live.experiment.start = lambda: 1 / 0")
    lesson.page.click("button[data-name=start]")
    error = lesson.find(".board .error:not(:empty)")
    assert "Something went wrong in the kernel: ZeroDivisionError" in error.inner_text()
    assert error.get_attribute("role") == "alert"


def test_running_it_again_and_again_leaves_nothing_in_the_page(open_notebook: Open) -> None:
    """plotly's script alone is 18 MB once it is loaded, and a page forgets no module."""
    lesson = opened(open_notebook, SMALL, new_page=True)
    before, nodes_before = lesson.holds()
    for _ in range(3):
        lesson.run_cell(0)
        lesson.wait_plots("live", "Bytes copied")
    after, nodes_after = lesson.holds()
    assert after < before + 6
    assert nodes_after < nodes_before + 100


def test_a_page_opened_anew_asks_for_the_script(open_notebook: Open) -> None:
    lesson = opened(open_notebook, SMALL)
    lesson.page.reload()
    lesson.wait_ready()
    lesson.run_cell(0)  # not the kernel's first figure, which brought the script along
    assert lesson.kernel("print(len(live.plots.widget._script))").strip() == "0"
    lesson.wait_plots("live", "Bytes copied")

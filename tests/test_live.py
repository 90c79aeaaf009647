"""The live view without a browser: presses, errors in words, back-pressure, clean ends."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterator
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import pytest

pytest.importorskip("anywidget")
pytest.importorskip("plotly")

import comm
import ipywidgets

from ngram_core.lesson.examples import EXAMPLES
from ngram_core.lesson.experiment import Experiment
from ngram_core.lesson.material import Material
from ngram_core.toggles import STAGES, choices
from ngram_core.tokenizers import ByteTokenizer
from ngram_core.views import measuring
from ngram_core.views.assets import WEB
from ngram_core.views.figure import SCRIPT, Plot, _guarded
from ngram_core.views.figure_grid import LIGHT, WIDE, apart, faint
from ngram_core.views.live import Live
from ngram_core.views.plot_layout import layout
from ngram_core.views.plots import SLOTS, traces

COLOURS = LIGHT
SEARCHES = choices("search")


@pytest.fixture(autouse=True)
def _no_widgets_left() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


def small_experiment(times: int = 1) -> Experiment:
    tokenizer = ByteTokenizer()
    text = times * "".join(example.text for example in EXAMPLES.values())
    return Experiment(Material(tokenizer.encode(text), "the examples", tokenizer), sizes=(0,))


@pytest.fixture
def live() -> Iterator[Live]:
    made = Live(small_experiment())
    yield made
    made.close()


def press(live: Live, action: str, value: Any = None) -> None:
    """What arrives when a reader presses something on the page."""
    live.board._handle_custom_msg({"action": action, "value": value}, [])


def run(live: Live, *presses: tuple[str, Any]) -> None:
    """Presses, then waits for the work to end, in an event loop as a kernel has."""

    async def main() -> None:
        for action, value in presses:
            press(live, action, value)
        while live.pump.running:
            await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}, "no task is left"

    asyncio.run(main())


def test_a_press_on_start_runs_to_the_end(live: Live) -> None:
    assert live.board.board["state"] == "ready"
    run(live, ("start", None))
    board = live.board.board
    assert board["state"] == "done"
    assert board["error"] == ""
    assert len(live.figures.table["rows"]) == 1
    run(live, ("switch", ["copy_followers", False]), ("start", None))
    assert live.board.board["light"][0] == "same"
    assert [row.stage for row in live.results()] == ["upstream", "nocopy"]
    assert "Same drafts." in repr(live)


def test_presets_set_all_switches(live: Live) -> None:
    def pressed() -> list[str]:
        return [name for name, on, _front in live.board.board["presets"] if on]

    press(live, "switch", ["ties", "token"])
    assert pressed() == []
    for name, made in STAGES.items():
        press(live, "preset", name)
        assert pressed() == [name]
        values = {
            switch["toggle"]: switch["value"]
            for group in live.board.board["groups"]
            for switch in group["switches"]
        }
        values |= {switch["toggle"]: switch["value"] for switch in live.board.board["front"]}
        assert values == asdict(made.toggles), "each switch is on the page, once"


def test_what_cannot_be_is_made_possible_and_told(live: Live) -> None:
    press(live, "switch", ["followers", "sorted"])
    board = live.board.board
    assert (board["error"], board["setting"]) == ("", "upstream + sorted arrays + smaller id")
    assert board["moved"] == (
        "“Who wins an equal score” went to “smaller id”: sorted arrays have no hash order."
    )
    assert board["moved"] in live.describe()
    press(live, "switch", ["ties", "library"])
    assert live.board.board["moved"] == (
        "“Followers” went to “hash map”: hash order needs hash maps."
    )
    press(live, "preset", "nocopy")
    assert live.board.board["moved"] == ""


def test_a_switch_without_effect_says_so_and_works(live: Live) -> None:
    def idle() -> dict[str, str]:
        return {
            switch["toggle"]: switch["idle"]
            for group in live.board.board["groups"]
            for switch in group["switches"]
        }

    assert "hash maps are not searched" in idle()["search"]
    assert idle()["outer"] == ""
    press(live, "switch", ["search", "simd"])
    assert live.board.board["setting"] == "upstream + simd search"


def test_run_works_without_an_event_loop(live: Live) -> None:
    live.run("upstream")
    live.run("nocopy")
    assert live.board.board["state"] == "done"
    press(live, "start")
    assert "run_to_end" in live.board.board["error"], "there is no loop, and the view says so"


@pytest.mark.parametrize(
    ("action", "value", "words"),
    [
        ("size", 7, "There is no corpus of 7 MB"),
        ("switch", ["colour", "red"], "There is no toggle 'colour'"),
        ("dance", None, "Something went wrong in the kernel"),
        (None, None, "Something went wrong in the kernel"),
    ],
)
def test_errors_are_told_on_the_board(
    live: Live, action: Any, value: Any, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    press(live, action, value)
    assert live.board.board["error"].startswith(words)
    assert ("Traceback" in capsys.readouterr().err) == ("kernel" in words)
    press(live, "preset", "nocopy")
    assert live.board.board["error"] == "", "the next press that works clears it"


def test_an_error_in_the_middle_of_a_run_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Experiment, "_open", lambda _self: 1 / 0)
    run(live, ("start", None))
    assert "ZeroDivisionError" in live.board.board["error"]
    assert live.board.board["state"] == "failed"
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_figure_comes_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filled in a later message, it would stay empty on a page that drew it in between."""
    opened: list[dict[str, Any]] = []
    create = comm.create_comm

    def noted(**arguments: Any) -> Any:
        opened.append(arguments["data"]["state"])
        return create(**arguments)

    monkeypatch.setattr(comm, "create_comm", noted)
    plot = Plot({"data": [{"y": [1, 2]}], "layout": {"width": 300}})
    (state,) = (state for state in opened if "_widget_data" in state)
    assert state["_widget_data"][0]["y"] == [1, 2]
    assert state["_widget_layout"]["width"] == 300
    assert state["_config"]["displayModeBar"] is False
    assert plot.comm is not None


def test_a_figure_that_cannot_be_drawn_is_told(
    live: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(live, "_draw", lambda: 1 / 0)
    run(live, ("start", None))
    assert "could not be drawn" in live.board.board["error"]
    assert live.board.board["state"] == "done"
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_a_new_view_closes_the_one_before(live: Live) -> None:
    live.run("upstream")
    replaced, before = live.experiment, len(ipywidgets.widgets.widget._instances)
    again = Live(small_experiment())
    names = [type(w).__name__ for w in ipywidgets.widgets.widget._instances.values()]
    assert names.count("Plot") == names.count("Switchboard") == 1
    assert len(names) == before, "no part of the first view is left"
    press(live, "start")
    assert not replaced.working
    assert "closed" in live._error
    again.close()
    again.close()
    assert measuring._open is None


def test_closing_in_the_middle_leaves_no_task() -> None:
    live = Live(small_experiment(times=100))

    async def main() -> None:
        press(live, "start")
        await asyncio.sleep(0.01)
        assert live.pump.running
        live.close()
        await asyncio.sleep(0.01)
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert live.experiment.run is not None
    assert 0 < live.experiment.run.line.fraction < 1
    assert live.experiment.run.replay is None


def test_a_page_that_went_away_pauses_the_run(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "GONE_SECONDS", 0.0)
    live.board.seen = 0  # a page was there, and has drawn nothing since
    run(live, ("start", None))
    assert live.board.board["state"] == "paused"


def test_nothing_is_sent_to_plots_that_are_not_there_yet(live: Live) -> None:
    live.run("upstream")
    assert not any(trace.x for trace in live.plots.widget.data[: 5 * SLOTS])
    live.board.page = {"width": 600, "drawn": 1, "colours": {**COLOURS, "text": "#e8eaed"}}
    drawn = live.plots.widget
    assert any(len(trace.x) for trace in drawn.data[: 5 * SLOTS] if trace.x is not None)
    assert drawn.layout.width == 592
    assert drawn.layout.annotations[0].font.color == "#e8eaed"


def test_the_saved_notebook_says_it_in_words(live: Live) -> None:
    live.run("upstream")
    assert live._repr_mimebundle_()["text/plain"] == live.describe()


@pytest.mark.parametrize("width", [200, 232, 352, WIDE - 1, WIDE, 1172])
def test_all_plots_fit_into_any_width(live: Live, width: int) -> None:
    live.run("upstream")
    made = layout(live.experiment, width, COLOURS)
    assert made["width"] == width
    boxes = []
    for number in ("", "2", "3", "4"):
        left, right = made[f"xaxis{number}"]["domain"]
        bottom, top = made[f"yaxis{number}"]["domain"]
        assert 0 <= left < right <= 1
        assert 0 <= bottom < top <= 1
        boxes.append((left, right, bottom, top))
    for i, (left, right, bottom, top) in enumerate(boxes):
        for other in boxes[i + 1 :]:
            apart = right <= other[0] or other[1] <= left or top <= other[2] or other[3] <= bottom
            assert apart, "two plots overlap"


def test_there_are_always_as_many_traces(live: Live) -> None:
    """Also with more runs than have room; the reference and the one in hand are among them."""
    counts = {len(traces(live.experiment, 900, COLOURS))}
    changes = [{"precheck": on, "search": search} for on in (False, True) for search in SEARCHES]
    for change in ({}, *({"copy_followers": False, **change} for change in changes)):
        live.experiment.choose(**change)
        live.experiment.run_to_end()
        counts.add(len(traces(live.experiment, 900, COLOURS)))
    assert len(counts) == 1
    drawn = traces(live.experiment, 900, COLOURS)
    names = [text for trace in drawn if trace.get("mode") == "text" for text in trace["text"]]
    assert "upstream" in names[0]
    assert "<b>nocopy + 2 switches</b>" in names[SLOTS - 1]
    assert faint("#102030", 0.5) == "rgba(16,32,48,0.5)"


def test_names_at_the_lines_ends_do_not_cover_each_other() -> None:
    axis = {"range": [0.0, 2.0]}
    places = apart([10.0, 1.5, 10.0, 11.0, 50.0], axis, gap=16)
    logs = sorted(math.log10(place) for place in places)
    steps = [115 * (b - a) for a, b in pairwise(logs)]
    assert min(steps) > 15
    assert places[1] == pytest.approx(1.5)
    assert places[4] == pytest.approx(50.0)
    assert apart([], axis) == []


def test_the_guard_finds_plotlys_view_class() -> None:
    guard = (WEB / "plot_guard.js").read_text(encoding="utf-8")
    assert "VIEW" in guard
    assert SCRIPT.endswith(guard[guard.rindex("VIEW") + 4 :])
    assert "VIEW.prototype" not in SCRIPT
    assert _guarded("export{a as b};") == "export{a as b};", "another plotly is left alone"


def test_a_cache_that_is_not_there_is_a_dash(live: Live) -> None:
    def totals() -> dict[str, str]:
        drawn = traces(live.experiment, 900, COLOURS)
        (names,) = (t for t in drawn if t.get("xaxis") == "x3" and t.get("mode") == "text")
        return dict(zip(names["y"], names["text"], strict=True))

    assert totals() == dict.fromkeys(("context", "dynamic", "static"), " –")
    live.run("upstream")
    assert totals()["static"] == " –", "this run had none"
    assert totals()["dynamic"].endswith(" MiB")

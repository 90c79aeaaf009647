"""The views without a browser: messages answered, state in words, nothing left behind."""

from __future__ import annotations

import json
import re
import types
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("anywidget")

import IPython
import ipywidgets
from tools import REPO

from ngram_core.errors import InputError
from ngram_core.lesson import lesson00
from ngram_core.views import Exercise, Predict, Stepper, base
from ngram_core.views.assets import WEB, script, style


@pytest.fixture(autouse=True)
def _no_widgets_left() -> Iterator[None]:
    yield
    ipywidgets.Widget.close_all()


def heard(widget: Any) -> list[Any]:
    """What the widget sends from now on."""
    sent: list[Any] = []
    widget.send = lambda content, buffers=None: sent.append(content)
    return sent


def ask(stepper: Stepper, **request: Any) -> dict[str, Any]:
    sent = heard(stepper)
    stepper._handle_custom_msg({"kind": "ask", "request": request}, [])
    (answer,) = sent
    return dict(answer)


def test_a_request_makes_a_new_story() -> None:
    stepper = Stepper(word=42)
    answer = ask(stepper, text="to be or not to be or not to be")
    assert answer["ok"], answer
    assert json.loads(stepper.story)["total"] == 10
    assert stepper.at == 0
    assert stepper.inputs["example"] == ""


def test_moved_numbers_are_answered_with_what_they_change() -> None:
    stepper = Stepper(thresholds=True)
    sent = heard(stepper)
    at = stepper.model.event_of_word(82)
    message = {"kind": "ask", "request": {"rule": {"weight": 0}}, "at": at}
    stepper._handle_custom_msg(message, [])
    assert sent[0]["ok"]
    assert sent[0]["line"] == stepper.compared["line"]
    assert sent[0]["line"].startswith("Now the weight is 0, not 100: 37 of 68 guesses right")
    assert "Drafts “rest”" in stepper.describe()  # still at the word that the page showed
    assert stepper.inputs["rule"]["weight"] == 0
    assert Stepper().compared == {}


def test_a_refused_request_changes_nothing() -> None:
    stepper = Stepper(word=42)
    story, at = stepper.story, stepper.at
    answer = ask(stepper, text="")
    assert not answer["ok"]
    assert (stepper.story, stepper.at) == (story, at)


@pytest.mark.parametrize("content", [{}, {"request": None}, "nonsense", {"request": {"text": 3}}])
def test_nonsense_is_answered(content: Any) -> None:
    stepper = Stepper()
    sent = heard(stepper)
    stepper._handle_custom_msg(content, [])
    assert [answer["ok"] for answer in sent] == [False]


def test_an_error_in_the_kernel_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    stepper = Stepper()
    stepper.model.answer = lambda request: 1 / 0  # type: ignore[method-assign]
    answer = ask(stepper, text="a b")
    assert "ZeroDivisionError" in answer["line"]
    assert "ZeroDivisionError" in capsys.readouterr().err


def test_the_place_comes_back_and_stays_in_bounds() -> None:
    stepper = Stepper()
    stepper.at = 10**6
    assert stepper.model.at == len(stepper.model.story.events) - 1
    stepper.go(word=42)
    assert "bake" in stepper.describe()


def test_without_a_widget_manager_there_is_the_sentence() -> None:
    for view, words in (
        (Stepper(word=42), "Drafts “bake”"),
        (Predict(lesson00.PASSES), "40 / 79 / 110"),
        (Exercise(lesson00.FIRST_HIT), "Exercise (easy)"),
    ):
        bundle = view._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        assert words in data["text/plain"]
        assert repr(view) == view.describe()


def test_show_prints_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    Stepper(caches="c").show()
    last = capsys.readouterr().out.splitlines()[-1]
    assert (
        last == "At first: 117 tokens, the first one given. 116 tokens in 88 passes: 50 drafted,"
        " 28 accepted."
    )


@pytest.mark.parametrize(
    ("bad", "line"),
    [
        ({"text": 5}, "text must be a string, not int"),
        ({"text": "one"}, "a text of 1 token leaves nothing to guess"),
        ({"caches": "xyz"}, "give first letters"),
        ({"n_draft": 0}, "choose from 1 to 16"),
        ({"word": 1}, "choose from 2 to 117"),
        ({"tokenizer": "klingon"}, "there is no tokenizer"),
    ],
)
def test_wrong_arguments(bad: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        Stepper(**bad)


def test_predict_and_exercise_answer() -> None:
    predict = Predict(lesson00.PASSES)
    predict._handle_custom_msg({"typed": "40"}, [])
    assert (predict.reply["guess"], predict.reply["answer"]) == ("40", "79")
    predict._handle_custom_msg({"typed": "79"}, [])  # too late
    assert predict.reply["guess"] == "40"
    assert "locked" in predict.reply["line"]
    exercise = Exercise(lesson00.FIRST_HIT)
    exercise._handle_custom_msg({"typed": "25"}, [])
    assert exercise.reply["right"]
    exercise._handle_custom_msg({}, [])
    assert not exercise.reply["right"]


def test_a_cell_that_runs_again_closes_what_it_made(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = types.SimpleNamespace(execution_count=1)
    shell.get_parent = lambda: {"metadata": {"cellId": "a-cell"}}
    monkeypatch.setattr(IPython, "get_ipython", lambda: shell)
    monkeypatch.setattr(base, "_shown", {})
    first, second = Stepper(), Predict(lesson00.PASSES)
    alive = {view: view.comm is not None for view in (first, second)}
    assert all(alive.values())
    before = len(ipywidgets.widgets.widget._instances)
    shell.execution_count = 2
    third, fourth = Stepper(), Predict(lesson00.PASSES)
    assert first.comm is None
    assert second.comm is None
    assert third.comm is not None
    assert fourth.comm is not None
    assert len(ipywidgets.widgets.widget._instances) == before


# ---- the browser's part ---------------------------------------------------------------------


SCRIPTS = [
    path.stem
    for path in sorted(WEB.glob("*.js"))
    if "export default" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_one_module(name: str) -> None:
    joined = script(name)
    assert len(re.findall(r"^export default ", joined, re.MULTILINE)) == 1
    assert not re.search(r"^import |^export (?!default)", joined, re.MULTILINE)
    names = re.findall(r"^(?:const|let|function|class) (\w+)", joined, re.MULTILINE)
    assert len(names) == len(set(names)), "two files use one name"


@pytest.mark.parametrize("path", sorted(WEB.glob("*.js")), ids=lambda path: path.name)
def test_text_never_becomes_markup(path: Any) -> None:
    source = path.read_text(encoding="utf-8")
    for danger in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert danger not in source
    addresses = re.findall(r"https?://[\w.]+", source)
    assert set(addresses) <= {"http://www.w3.org"}, "only the name of SVG; nothing is fetched"


def test_files_stay_small_enough_to_hold_in_mind() -> None:
    for folder in ("lesson", "views"):
        for path in (REPO / "ngram_core" / folder).rglob("*.*"):
            if path.suffix in (".py", ".js", ".css"):
                lines = len(path.read_text(encoding="utf-8").splitlines())
                assert lines <= 500, f"{path.name}: {lines} lines"


def test_every_colour_has_both_themes() -> None:
    css = style("stepper")
    light = dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{3,6})", css.split("@media")[0]))
    dark = css.split('[data-jp-theme-light="false"] .ngc {')[1].split("}")[0]
    for ink in ("--ctx-ink", "--dyn-ink", "--sta-ink", "--yes-ink", "--no-ink", "--text", "--mute"):
        assert ink in light
        assert ink in dark


def test_no_style_reaches_out_of_its_view() -> None:
    """A page holds the styles of all its views, and JupyterLab's own parts.

    Three reach out: to what cells print, which JupyterLab breaks anywhere, also within a word; to
    the low box that Notebook 7 makes around a tall view; and to the lessons' recorded pictures.
    """
    roots = r"\.(ngc|stepper|numbers|board|figures|bars|inside|fuse|filebytes|asked)\b"
    own = r"\.(ngc-\w+|h-\w+|checkrow|lines64|key64)\b|body|\[data-jp-theme-light"
    own += (
        r"|p:has(::before)?$|\.jp-RenderedText pre$|\.jp-CodeCell\.jp-mod-outputsScrolled .*:has$"
    )
    for path in sorted(WEB.glob("*.css")):
        css = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for head in re.findall(r"([^{}]+)\{", css):
            if head.strip().startswith("@"):
                continue
            flat, had = re.sub(r":where\((\.\w+)\)", r"\1", head), ""
            while flat != had:  # what stands in parentheses is no beginning
                flat, had = re.sub(r"\([^()]*\)", "", flat), flat
            for selector in flat.split(","):
                assert re.match(f"{roots}|{own}", selector.strip()), f"{path.name}: {selector}"

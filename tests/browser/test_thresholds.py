"""Lesson 02's panel of thresholds and weight: by keyboard, in both apps, themes and widths."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from .answering import IDS
from .lesson import App, Lesson

Open = Callable[..., Lesson]

SHOW = """from ngram_core.views import Stepper
stepper = Stepper(word=82, thresholds=True)
stepper.show()"""

WEIGHT = "weight of a static count; 0 switches it off"
CONTEXT_P1 = "context, n = 1: share, % at least"


def opened(open_notebook: Open, **how: object) -> Lesson:
    lesson = open_notebook([SHOW], **how)
    lesson.run_all()
    lesson.find(".numbers")
    return lesson


def line(lesson: Lesson) -> str:
    return " ".join(lesson.page.locator(".numbers .line").inner_text().split())


def wait_line(lesson: Lesson, pattern: str) -> None:
    lesson.page.wait_for_function(
        "pattern => new RegExp(pattern).test(document.querySelector('.numbers .line').textContent)",
        arg=pattern,
        timeout=20_000,
    )


def words(lesson: Lesson) -> str:
    return " ".join(lesson.page.locator(".stepper .words").inner_text().split())


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_numbers_by_keys_alone(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app=app)
    assert line(lesson).startswith("llama.cpp’s numbers: 37 of 64 guesses right")
    assert words(lesson).startswith("Drafts nothing")
    status = lesson.page.locator(".numbers .line")
    assert status.get_attribute("role") == "status"
    cells = len(lesson.code_cells())

    weight = lesson.page.get_by_label(WEIGHT)
    weight.focus()
    lesson.press("Control+a", "0")
    wait_line(lesson, "weight is 0, not 100: 37 of 68 guesses right.*word 82: “rest”, not nothing")
    assert words(lesson).startswith("Drafts rest: after the batter"), words(lesson)
    assert weight.evaluate("e => e === document.activeElement")
    assert lesson.page.locator(".numbers .was").filter(has_text="was 100").count() == 1
    assert lesson.page.locator(".numbers tbody th").all_inner_texts()[1:] == [
        "Code, edited",
        "Quotations",
        "Prose",
    ]
    assert "54 % was 58 %" in lesson.page.locator(".numbers tbody tr").first.inner_text()

    lesson.page.locator(".places button").nth(1).press("Enter")
    assert words(lesson).startswith("Drafts bowl:"), words(lesson)
    assert lesson.page.locator(".places .hint").inner_text() == "“bowl”; llama.cpp: “tin”"

    back = lesson.page.get_by_role("button", name="Back to llama.cpp’s numbers")
    back.press("Enter")
    wait_line(lesson, "^llama.cpp’s numbers: 37 of 64")
    assert back.evaluate("e => e === document.activeElement")
    assert weight.input_value() == "100"
    assert words(lesson).startswith("Drafts tin:"), words(lesson)

    p1 = lesson.page.get_by_label(CONTEXT_P1)
    p1.focus()
    lesson.press("ArrowUp")  # one step
    wait_line(lesson, "p₁ of context is 67, not 66: 37 of 60 guesses right")
    lesson.press("a", "x", "d", "d")  # the notebook's own shortcuts
    assert len(lesson.code_cells()) == cells
    assert "67" in lesson.kernel("print(stepper.model.inputs.settings.rule.context_percent)")


def test_typing_is_not_disturbed_and_nonsense_is_refused(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    p1 = lesson.page.get_by_label(CONTEXT_P1)
    p1.focus()
    lesson.press("Control+a")
    lesson.page.keyboard.type("75", delay=400)  # 7 is answered while 75 is being typed
    wait_line(lesson, "p₁ of context is 75, not 66")
    assert p1.input_value() == "75"

    lesson.press("Control+a")
    lesson.page.keyboard.type("1000")
    wait_line(lesson, "a whole number from 0 to 100. Nothing was changed.")
    assert "✕" in lesson.page.evaluate(
        "getComputedStyle(document.querySelector('.numbers .line'), '::before').content"
    )
    assert p1.input_value() == "75"

    lesson.press("Control+a", "Delete", "Tab")  # left empty: what is in force comes back
    lesson.page.wait_for_timeout(600)
    assert p1.input_value() == "75"
    for cache in ("dynamic", "static"):  # the caches and the numbers go together
        lesson.page.get_by_label(cache, exact=True).uncheck()
    wait_line(lesson, "p₁ of context is 75, not 66: 28 of 46.*llama.cpp’s: 28 of 50")


def test_without_a_kernel_it_says_so(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    lesson.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    lesson.wait_ready()
    weight = lesson.page.get_by_label(WEIGHT)
    weight.fill("0")
    wait_line(lesson, "kernel")
    assert "Stepping still works." in line(lesson)


@pytest.mark.parametrize(
    ("app", "looks"),
    [("lab", [(1280, True), (360, False)]), ("notebook", [(360, True), (1280, False)])],
)
def test_every_width_and_theme(
    open_notebook: Open, app: App, looks: list[tuple[int, bool]]
) -> None:
    lesson = opened(open_notebook, app=app)
    lesson.page.get_by_label(WEIGHT).fill("0")
    lesson.page.get_by_label(CONTEXT_P1).fill("100")
    wait_line(lesson, "p₁ of context is 100.*weight is 0")
    for width, dark in looks:
        lesson.dress(width, dark)
        for part in (".stepper", ".numbers"):
            assert lesson.overflow(part) <= 0
        assert cut_off(lesson) == []
        assert lesson.axe(".stepper") == []
        lesson.screenshot(f"thresholds-{app}-{width}", ".numbers")


def cut_off(lesson: Lesson) -> list[str]:
    """Figures that do not fit into their field, and parts that stick out of the panel."""
    found: list[str] = lesson.page.evaluate(
        """() => {
            const panel = document.querySelector('.numbers');
            const right = panel.getBoundingClientRect().right + 0.5;
            return [...panel.querySelectorAll('*')].filter((e) => e.getClientRects().length
                && !e.closest('thead')
                && (e.getBoundingClientRect().right > right
                    || (e.tagName === 'INPUT' && e.scrollWidth > e.clientWidth)))
                .map((e) => `${e.tagName} ${e.className}: ${e.value ?? e.textContent}`);
        }"""
    )
    return found


def test_lesson_02(open_notebook: Open) -> None:
    """A reader's way through: own text, guess, stops, numbers, a rule that is wrong, then right."""
    lesson = open_notebook("02_three_caches_and_a_weight.ipynb")
    lesson.run_all()
    at = {cell_id: i for i, cell_id in enumerate(lesson.page.evaluate(IDS))}
    guess, rule = lesson.cell_output(at["predict-word-82"]), at["write-rule"]

    guess.locator(".choice", has_text="rest").locator("input").check()
    guess.get_by_role("button", name="Lock my guess").click()
    guess.locator(".line", has_text="the trace says nothing").wait_for()

    own = lesson.cell_output(at["run-context"])
    own.get_by_role("button", name="Edit text").click()
    own.locator(".edit textarea").first.fill("pour the batter into the tin and bake it well")
    own.get_by_role("button", name="Draft this text").click()
    own.locator(".line", has_text="10 tokens").wait_for()
    lesson.run_cell(at["run-left-out"])
    said = lesson.cell_output(at["run-left-out"]).inner_text()
    assert re.search(r"right guesses that context alone does not make: word 6 “tin”", said), said

    ladder = lesson.cell_output(at["look-ladder"])
    ladder.get_by_role("button", name="word 102").click()
    assert "dynamic is not asked" in ladder.locator(".see .hint").inner_text()

    exercise = lesson.cell_output(at["exercise-one-threshold"])
    exercise.locator("input").fill("p1 = 67")
    exercise.locator("input").press("Enter")
    exercise.locator(".line", has_text="4 misses fewer, and no hit lost").wait_for()

    assert "Not yet: your rule drafts nothing" in lesson.cell_output(rule).inner_text()
    wrong = (
        "def my_rule(text, context, dynamic, static):\n"
        "    return max(context[text[-2:]])\n\n"
        "report = own_rule.compare(my_rule, own.model)\nreport"
    )
    type_cell(lesson, rule, wrong)
    lesson.run_cell(rule)
    said = lesson.cell_output(rule).inner_text()
    assert "✕ At word 3 your rule raised KeyError" in said, said
    assert "in line 2 of its cell: return max(context[text[-2:]])" in said
    type_cell(
        lesson,
        rule,
        "from ngram_core.lesson.misreadings import misread\n"
        "own_rule.compare(misread('score tested'), own.model)",
    )
    lesson.run_cell(rule)
    assert "the engine drafts" in lesson.cell_output(rule).inner_text()
    lesson.screenshot("lesson-02-rule")


def type_cell(lesson: Lesson, index: int, source: str) -> None:
    lesson.page.evaluate(
        """([index, source]) => window.jupyterapp.shell.currentWidget.content.widgets
            .filter(cell => cell.model.type === 'code')[index].model.sharedModel.setSource(source)
        """,
        [index, source],
    )

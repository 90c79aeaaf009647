"""Whatever is put into a field is answered in one short line, and the view goes on working.

All fields stand in one page: it is opened once, its cells run twice, its kernel restarted. The
Stepper's fields and numbers have tests of their own, and so have answers of each exercise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .lesson import Lesson

Open = Callable[..., Lesson]

BAD = {
    "empty": "''",
    "emoji": r"'👩‍👩‍👧 e\u0301 🇩🇪'",
    "script": "'<script>alert(1)</script> <img src=x onerror=alert(1)>'",
    "half a character": r"'a \ud83d b a \ud83d'",
    "a number out of range": "'99999999999999999999'",
    "more than it takes": "'y'.repeat(250000)",
}
"""As JavaScript, so that the page makes the long one."""

PASTE = """(field) => {
    const clipboard = new DataTransfer();
    clipboard.setData('text', 'word '.repeat(1048576));
    const how = { clipboardData: clipboard, cancelable: true, bubbles: true };
    return field.dispatchEvent(new ClipboardEvent('paste', how));
}"""


@dataclass(frozen=True)
class Field:
    """A field: where it is, the button beside it, the line that answers; and what is right."""

    cell: str
    field: str
    button: str
    line: str
    right: str
    answer: str


FIELDS = (
    Field(
        "Followers(FollowersModel(sizes=(1,)))",
        ".ask textarea",
        ".ask button",
        ".ask .line",
        "a b c d",
        "2-grams",
    ),
    Field(
        "Payoff(PayoffModel())",
        ".ask textarea",
        ".ask button",
        ".ask .line",
        "one line again\n" * 12,
        "tokens written",
    ),
    Field("Peel()", ".words-field input", ".words-field button", ".line", "a b c d a b c", "Built"),
    Field("Exercise(lesson00.FIRST_HIT)", "input", "button", ".line", "25", "Word 25"),
    Field("Race(text_tokens=1_000)", ".own input", ".own button", ".error", "prose", ""),
)

IMPORTS = """
from ngram_core.views import Exercise, Followers, Payoff, Peel, Race
from ngram_core.lesson import lesson00
from ngram_core.lesson.followers.curve import FollowersModel
from ngram_core.lesson.payoff.board import PayoffModel
"""


def test_every_field(open_notebook: Open) -> None:
    cells = [f"view{i} = {field.cell}\nview{i}.show()" for i, field in enumerate(FIELDS)]
    lesson = open_notebook([IMPORTS, *cells], height=1600)
    lesson.run_all()
    lesson.wait_plots(f"view{len(FIELDS) - 1}", "Memory by structure")
    left = lesson.left()
    for number, field in enumerate(FIELDS):
        for name, made in BAD.items():
            line = put(lesson, number, field, made)
            assert "Something went wrong" not in line, f"{field.cell}, {name}: {line}"
            assert len(line) <= 400, f"{field.cell}, {name}: {line[:200]}"
        area = lesson.cell_output(number + 1)
        taken = area.locator(field.field).first.evaluate(PASTE)
        assert not taken, "5 MB in a field would make the page crawl"
        assert "5,242,880 characters" in area.locator(field.line).first.inner_text()
        assert area.locator("script, img[src=x]").count() == 0
        assert field.answer in put(lesson, number, field, repr(field.right)), field.cell
    assert lesson.value(f"view{len(FIELDS) - 1}.race.choice.corpus") == "prose"

    lesson.run_all()  # each cell a second time
    lesson.wait_plots(f"view{len(FIELDS) - 1}", "Memory by structure")
    assert lesson.left() == left, "nothing of the first run stays"

    restart = "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    lesson.page.evaluate(restart)
    lesson.wait_ready()
    for number, field in enumerate(FIELDS):
        line = put(lesson, number, field, repr(field.right))
        assert "kernel" in line, f"{field.cell} without its kernel: {line}"


def put(lesson: Lesson, number: int, field: Field, text: str) -> str:
    """Puts a text (in JavaScript) into a field, presses the button; what the line then says."""
    area = lesson.cell_output(number + 1)
    line = area.locator(field.line).first
    line.evaluate("e => { e.textContent = 'waiting'; }")
    area.locator(field.field).first.evaluate(f"e => {{ e.value = {text}; }}")
    area.locator(field.button).first.click()
    handle = line.element_handle()
    lesson.page.wait_for_function(
        "e => !/^(waiting|Working|Counting|Measuring|…)/.test(e.textContent)",
        arg=handle,
        timeout=20_000,
    )
    return " ".join(line.inner_text().split()) if line.is_visible() else ""

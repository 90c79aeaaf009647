"""A lesson's questions and exercises answered as a reader would: by keys, wrongly and rightly."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import copies

from .lesson import Lesson

if TYPE_CHECKING:
    from playwright.sync_api import Locator

WRONG = "👩‍👧 e\u0301 <b>no</b> 99999999999999999999"

IDS = """() => window.jupyterapp.shell.currentWidget.content.widgets
    .filter(cell => cell.model.type === 'code').map(cell => cell.model.id)"""


def right_answers(name: str) -> dict[str, str]:
    """By the id of their cell: what the solution takes as an answer, where it is a text."""
    cells = copies.read(copies.SOLUTIONS / name)["cells"]
    found = {cell["id"]: re.search(r"\.take\(\"(.+)\"\)", cell["source"]) for cell in cells}
    return {cell_id: match[1] for cell_id, match in found.items() if match}


def answer_all(page: Lesson, name: str) -> int:
    """Answers all there is to answer; how many that were."""
    answers, asked = right_answers(name), 0
    for index, cell_id in enumerate(page.page.evaluate(IDS)):
        if not cell_id.startswith(("predict", "exercise")):
            continue
        frame = page.cell_output(index).locator(".asked")
        frame.wait_for(state="visible")
        if cell_id.startswith("predict"):
            lock_a_guess(page, frame)
        else:
            answer(page, frame, answers.get(cell_id))
        assert "Something went wrong" not in frame.inner_text()
        assert frame.locator("b:text-is('no')").count() == 0, "what is typed is no markup"
        page.screenshot(f"{name.removesuffix('.ipynb')}-answered-{cell_id}")
        asked += 1
    return asked


def lock_a_guess(page: Lesson, frame: Locator) -> None:
    radios = frame.get_by_role("radio")
    radios.first.focus()
    page.press("Space", "ArrowDown")
    assert radios.nth(1).is_checked()
    page.press("Tab", "Enter")
    frame.locator(".line:is(.yes, .no)").wait_for()
    assert frame.locator(".line").inner_text().startswith("You said ")
    assert frame.locator(".choice.right").count() == 1, "the right one is marked"
    assert all(radios.nth(i).is_disabled() for i in range(radios.count()))
    assert frame.evaluate("e => e === document.activeElement"), "the focus is not lost"
    page.press("Escape")
    assert page.in_command_mode(), "Escape leads back to the notebook"


def answer(page: Lesson, frame: Locator, right: str | None) -> None:
    """Once wrongly, then rightly where the answer is known and not measured here."""
    field = frame.locator("input, textarea").first
    tall = field.evaluate("e => e.tagName === 'TEXTAREA'")
    enter = "Control+Enter" if tall else "Enter"
    for typed, kind in ((WRONG, "no"), (right, "yes")):
        if typed is not None:
            field.focus()
            page.press("Control+a")
            page.page.keyboard.insert_text(typed)
            page.press(enter)
            frame.locator(f".line.{kind}").wait_for()
            assert len(frame.locator(".line").inner_text()) > 10

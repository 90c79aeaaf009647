"""The fixture itself: what the other browser tests rely on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .lesson import App, Lesson

BUTTON = [
    "import ipywidgets as W",
    "number = W.Label('3'); button = W.Button(description='one more')\n"
    "button.on_click(lambda _: setattr(number, 'value', str(int(number.value) + 1)))\n"
    "W.HBox([button, number])",
    "print(int(number.value) * 2)",
]


@pytest.mark.parametrize(
    ("app", "width", "dark"),
    [("lab", 1280, False), ("lab", 360, True), ("notebook", 1280, True), ("notebook", 360, False)],
)
def test_a_widget_shows_and_answers(
    open_notebook: Callable[..., Lesson], app: App, width: int, dark: bool
) -> None:
    lesson = open_notebook(BUTTON, app=app, width=width, dark=dark)
    lesson.run_all()
    assert lesson.is_dark() is dark
    lesson.find("button.jupyter-button").focus()
    lesson.press("Enter")
    lesson.page.wait_for_function("document.querySelector('.widget-label').textContent === '4'")
    lesson.run_cell(2)
    assert lesson.cell_output(2).inner_text().strip() == "8"
    assert lesson.kernel("print(number.value)").strip() == "4"
    assert lesson.overflow(".widget-hbox") == 0
    lesson.screenshot(f"fixture-{app}-{width}")


def test_axe_finds_what_is_wrong_with_the_stock_slider(
    open_notebook: Callable[..., Lesson],
) -> None:
    lesson = open_notebook(["import ipywidgets as W; W.IntSlider()"])
    lesson.run_all()
    lesson.find(".widget-slider")
    assert any("aria-input-field-name" in line for line in lesson.axe(".widget-slider"))


def test_an_error_in_a_cell_is_an_error_of_the_test(
    open_notebook: Callable[..., Lesson],
) -> None:
    lesson = open_notebook(["1 / 0"])
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        lesson.run_all()


def test_console_errors_and_outside_requests_are_noted(
    open_notebook: Callable[..., Lesson],
) -> None:
    lesson = open_notebook(["1 + 1"])
    lesson.page.evaluate("console.error('planted')")
    lesson.page.evaluate("fetch('http://192.0.2.1/planted').catch(() => 0)")
    lesson.page.wait_for_timeout(200)
    assert any("planted" in error for error in lesson.errors)
    assert any("left this machine" in error for error in lesson.errors)
    lesson.errors.clear()
    lesson.page.close()

"""The glossary opens from a lesson, by keyboard, at the word that was asked for."""

from __future__ import annotations

from collections.abc import Callable

from .lesson import Lesson


def test_a_word_leads_to_its_entry(open_notebook: Callable[..., Lesson]) -> None:
    lesson = open_notebook("10_should_i_use_it.ipynb")
    link = lesson.page.locator(".jp-MarkdownOutput a", has_text="price of a pass").first
    link.wait_for(state="visible")
    link.focus()
    lesson.press("Enter")
    heading = lesson.page.locator(".jp-MarkdownViewer h2", has_text="price of a pass")
    heading.wait_for(state="visible", timeout=20_000)
    lesson.page.wait_for_timeout(500)
    viewer = lesson.page.locator(".jp-MarkdownViewer").bounding_box()
    at = heading.bounding_box()
    assert viewer is not None
    assert at is not None
    assert viewer["y"] - 1 <= at["y"] <= viewer["y"] + viewer["height"]
    text = lesson.page.locator(".jp-MarkdownViewer")
    assert "in passes over one token" in text.inner_text()
    assert text.locator("a", has_text="10 Should I use it?").count() > 0
    lesson.screenshot("glossary")

"""Lesson 07's views: a map peeled and filled by keys alone, looked up, forged; a file's bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .lesson import App, Lesson

Open = Callable[..., Lesson]

SHOW = """from ngram_core.lesson.constmap.fuse_map import RHYME
from ngram_core.views import FileView, LookUp, Peel
peel = Peel({0}); peel.show()"""
LOOK = "look = LookUp(ngram='the the', verify=False); look.show()"
FILE = "view = FileView(); view.show()"


def opened(open_notebook: Open, text: str = "", **how: object) -> Lesson:
    lesson = open_notebook([SHOW.format(text), LOOK, FILE], **how)
    lesson.run_all()
    lesson.find(".fuse").focus()
    return lesson


def words(lesson: Lesson, view: str) -> str:
    return " ".join(lesson.page.locator(f"{view} .words").inner_text().split())


def same(lesson: Lesson, view: str, name: str) -> str:
    """The sentence on the page, which must be the one that the kernel would say."""
    shown = words(lesson, view)
    lesson.page.wait_for_timeout(200)
    told = " ".join(lesson.kernel(f"print({name}.describe())").split())
    assert shown == told
    return shown


PEEL = ".fuse:not(.look)"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_peeled_and_filled_by_keys(open_notebook: Open, app: App) -> None:
    lesson = opened(open_notebook, app=app)
    assert same(lesson, PEEL, "peel").startswith("7 keys in 24 cells")
    lesson.press("ArrowRight", "ArrowRight")
    assert same(lesson, PEEL, "peel").startswith("Cell 20 holds B alone")
    lesson.press("ArrowLeft")
    assert same(lesson, PEEL, "peel").startswith("Cell 22 holds F alone")

    cells = len(lesson.code_cells())
    first = lesson.page.locator(f"{PEEL} .cell").first
    first.focus()
    lesson.press("ArrowRight", "a", "x", "d", "d")  # the notebook's own shortcuts
    assert len(lesson.code_cells()) == cells
    lesson.press("ArrowDown", "Enter")
    assert same(lesson, PEEL, "peel").startswith("Cell 9 holds B alone")
    lesson.press("ArrowRight", "Enter")
    assert same(lesson, PEEL, "peel") == "Cell 10 is empty: nobody needs it."

    lesson.find(PEEL).focus()
    lesson.press("End")
    assert "All 7 are peeled." in same(lesson, PEEL, "peel")
    lesson.press("ArrowRight")
    assert same(lesson, PEEL, "peel").startswith("A was peeled last, so it is written first")
    lesson.press("End")
    assert same(lesson, PEEL, "peel").endswith("All cells are filled.")
    assert lesson.page.locator(f"{PEEL} .cell .in").all_inner_texts().count("") == 24 - 7
    lesson.press("ArrowLeft", "Home")
    assert same(lesson, PEEL, "peel").startswith("7 keys")


def test_words_of_ones_own(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    field = lesson.page.get_by_label("Words", exact=True)
    field.fill("the cat and <b>the</b> dog 😀 the cat and")
    field.press("Enter")
    lesson.page.wait_for_function("document.querySelector('.fuse .line').textContent == 'Built.'")
    assert "<b>the</b>" in lesson.page.locator(f"{PEEL} .keys").inner_text()
    assert same(lesson, PEEL, "peel").startswith("6 keys")
    field.fill("one two")
    field.press("Enter")
    line = lesson.page.locator(f"{PEEL} .line")
    lesson.page.wait_for_function(
        "document.querySelector('.fuse .line').textContent.includes('four words')"
    )
    assert line.inner_text().endswith("Nothing was changed.")
    assert lesson.page.locator(f"{PEEL} .keys dt").count() == 6


def test_looked_up_and_forged(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    assert "Accepted, and wrong" in same(lesson, ".look", "look")
    verify = lesson.page.get_by_role("switch", name="Verify")
    verify.press("Space")
    assert same(lesson, ".look", "look").startswith("Refused: the checks of “the the”")
    assert lesson.page.locator(".look .needed.no").inner_text().endswith("✕")
    lesson.page.get_by_role("button", name="E about the").press("Enter")
    assert same(lesson, ".look", "look").startswith("Verified: the checks of “about the”")
    assert lesson.page.locator(".look .read").all_inner_texts() == ["4\ncake × 1", "5\nparty × 1"]
    verify.press("Space")
    for _ in range(3):
        lesson.page.get_by_role("button", name="Forge a key").press("Enter")
        assert same(lesson, ".look", "look").startswith("Accepted, and wrong")
    lesson.page.get_by_label("First word").select_option(label="party")
    assert "“party " in same(lesson, ".look", "look")


def test_bytes_by_keys_and_by_pressing(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    view = lesson.find(".filebytes")
    view.focus()
    lesson.press("ArrowRight")
    assert lesson.has_a_ring()
    assert same(lesson, ".filebytes", "view").startswith("Bytes 8 to 15: 8 pairs of follower")
    lesson.press("End")
    assert "the checksum of the map" in same(lesson, ".filebytes", "view")
    lesson.page.locator(".filebytes .eight span").nth(24).click()
    assert same(lesson, ".filebytes", "view").startswith("Bytes 24 to 27: a follower: 2, “tell”")
    lesson.page.get_by_role("radio", name="ours (ngc): 576 bytes").focus()
    lesson.press("Space")
    assert "what kind of file" in same(lesson, ".filebytes", "view")
    lesson.page.get_by_role("button", name="2-grams: 86").press("Enter")
    assert "all in one record" in same(lesson, ".filebytes", "view")


@pytest.mark.parametrize(
    ("app", "looks"), [("lab", [(1280, False), (360, False)]), ("notebook", [(360, True)])]
)
def test_looks_and_axe(open_notebook: Open, app: App, looks: list[tuple[int, bool]]) -> None:
    lesson = opened(open_notebook, app=app, reduced_motion=True)
    for width, dark in looks:
        lesson.dress(width, dark)
        for i, view in enumerate((PEEL, ".look", ".filebytes")):
            lesson.find(view)
            assert lesson.overflow(view) <= 0
            assert lesson.axe(view) == []
            lesson.screenshot(f"fuse-{app}-{width}-{i}")


def test_without_a_kernel_stepping_goes_on(open_notebook: Open) -> None:
    lesson = opened(open_notebook)
    lesson.page.evaluate(
        "window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"
    )
    lesson.wait_ready()
    lesson.find(PEEL).focus()
    lesson.press("ArrowRight")
    assert words(lesson, PEEL).startswith("Cell 22 holds F alone")
    lesson.page.get_by_role("button", name="Build its map").press("Enter")
    lesson.page.wait_for_function(
        "document.querySelector('.fuse .line').textContent.includes('kernel')", timeout=10_000
    )


def test_stuck_then_the_next_seed(open_notebook: Open) -> None:
    lesson = opened(open_notebook, "RHYME")
    lesson.press("End")
    assert same(lesson, PEEL, "peel").endswith("Try the next seed.")
    seed = lesson.page.get_by_role("button", name="Next seed")
    assert lesson.page.locator(f"{PEEL} button", has_text="Next ›").is_disabled()
    seed.press("Enter")
    assert same(lesson, PEEL, "peel").startswith("The next seed gives each key three other cells.")
    lesson.find(PEEL).focus()
    lesson.press("End")
    assert "All 8 are peeled." in same(lesson, PEEL, "peel")


def test_two_views_of_one_model_and_a_second_run(open_notebook: Open) -> None:
    lesson = open_notebook([SHOW.format(""), "peel"])
    lesson.run_all()
    views = lesson.page.locator(PEEL)
    views.nth(1).wait_for(state="visible")
    views.nth(0).focus()
    lesson.press("ArrowRight")
    lesson.page.wait_for_function(
        "[...document.querySelectorAll('.fuse .count')].every(e => e.textContent.includes('1 of'))"
    )
    lesson.run_cell(0)
    assert lesson.page.locator(f"{PEEL} .words").first.inner_text().startswith("7 keys")

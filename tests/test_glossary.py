"""The glossary: linked from each lesson, its anchors and the lessons that it names are there."""

from __future__ import annotations

import re

import copies
import pytest
from tools import REPO

NOTEBOOKS = REPO / "notebooks"
GLOSSARY = (NOTEBOOKS / "glossary.md").read_text(encoding="utf-8")
LESSONS = sorted(path.name for path in NOTEBOOKS.glob("[0-9]*.ipynb"))
BOTH = [*LESSONS, *(f"solutions/{name}" for name in LESSONS)]

ENTRIES = dict(re.findall(r"^## (.+)\n\n(.+?\n\nShown in .+)\n$", GLOSSARY, re.M))


def anchor(term: str) -> str:
    """The same on GitHub, which lowers letters, and in JupyterLab, which does not."""
    return term.replace(" ", "-")


def shown_in(term: str) -> list[str]:
    """The lessons an entry names; the first one introduces the word."""
    return re.findall(r"\]\(([^)]+)\)", ENTRIES[term])


def prose(lesson: str) -> str:
    """A lesson's text, but for the line that links the glossary."""
    cells = copies.read(NOTEBOOKS / lesson)["cells"]
    text = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    return re.sub(r"^\*\*Words\*\*.*$|<[^>]+>|[*`]", "", text, flags=re.M)


def links(lesson: str) -> tuple[list[str], list[str]]:
    """The files and the anchors that a lesson's links to the glossary name."""
    cells = copies.read(NOTEBOOKS / lesson)["cells"]
    text = "\n".join(cell["source"] for cell in cells if cell["cell_type"] == "markdown")
    found = re.findall(r"\]\(([^)#]*glossary\.md)(?:#([^)]+))?\)", text)
    return [file for file, _ in found], [name for _, name in found if name]


def test_every_entry_is_whole() -> None:
    headings = re.findall(r"^## (.+)$", GLOSSARY, re.M)
    assert headings == list(ENTRIES)
    assert headings == sorted(headings)
    assert len(headings) > 40
    for term in headings:
        assert re.fullmatch(r"[a-z][a-z -]*", term), f"{term}: other anchors elsewhere"


def test_it_is_plain_text_as_well() -> None:
    """Notebook 7 shows the file itself, and takes its bytes for Latin-1."""
    assert GLOSSARY.isascii()


@pytest.mark.parametrize("term", ENTRIES)
def test_an_entry_names_lessons_that_are_there(term: str) -> None:
    named = shown_in(term)
    assert named
    assert set(named) <= set(LESSONS)


@pytest.mark.parametrize("term", ENTRIES)
def test_its_first_lesson_has_the_word(term: str) -> None:
    """By its name, or by one that the entry gives in italics or as code."""
    text = prose(shown_in(term)[0])
    others = re.findall(r"[*`]([^*`]+)[*`]", ENTRIES[term])
    assert term in text.lower() or any(re.search(rf"\b{re.escape(o)}\b", text) for o in others)


@pytest.mark.parametrize("lesson", BOTH)
def test_each_lesson_links_the_words_it_introduces(lesson: str) -> None:
    files, anchors = links(lesson)
    assert files
    for file in files:
        path = (NOTEBOOKS / lesson).parent / file
        assert path.resolve() == (NOTEBOOKS / "glossary.md").resolve()
    name = lesson.split("/")[-1]
    assert anchors == [anchor(term) for term in ENTRIES if shown_in(term)[0] == name]


def test_links_inside_the_papers_lead_somewhere() -> None:
    for page in [NOTEBOOKS / "glossary.md", *sorted((NOTEBOOKS / "teacher").glob("*.md"))]:
        text = page.read_text(encoding="utf-8")
        for file, name in re.findall(r"\]\(([^)#:]+)(?:#([^)]+))?\)", text):
            target = (page.parent / file).resolve()
            assert target.is_file(), f"{page.name}: {file}"
            if name and target.name == "glossary.md":
                assert name in map(anchor, ENTRIES), f"{page.name}: {name}"

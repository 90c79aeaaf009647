"""Every lesson runs whole in a kernel, and is committed clean."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import copies
import nbformat
import pytest
from nbclient import NotebookClient
from tools import REPO, small_memory

NOTEBOOKS = REPO / "notebooks"
LESSONS = sorted(
    path.relative_to(NOTEBOOKS).as_posix()
    for path in NOTEBOOKS.rglob("*.ipynb")
    if ".ipynb_checkpoints" not in path.parts
)

# What Binder's machine leaves a lesson: DESIGN.md's limits.
MOST_SECONDS = 60
MOST_MB = 600

EPILOGUE = """
import json, sys
from ngram_core.machine import peak_resident_bytes
print(json.dumps([sys.prefix, (peak_resident_bytes() or 0) / 1e6]))
"""


def load(lesson: str) -> Any:
    return nbformat.read(NOTEBOOKS / lesson, as_version=4)


def test_there_are_lessons() -> None:
    assert "00_start_here.ipynb" in LESSONS


@pytest.mark.parametrize("lesson", LESSONS)
def test_committed_clean(lesson: str) -> None:
    notebook = load(lesson)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert cell.outputs == [], cell.source
            assert cell.execution_count is None, cell.source
    assert "widgets" not in notebook.metadata
    assert notebook.metadata.kernelspec.name == "python3"


@pytest.mark.parametrize("lesson", LESSONS)
def test_cell_ids_are_words_and_stay(lesson: str) -> None:
    """Random ids would change whenever a tool writes the file anew, and differ in the copies."""
    ids = [cell.id for cell in load(lesson).cells]
    assert len(set(ids)) == len(ids)
    for name in ids:
        assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name), name
        assert not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]+)?", name), f"{name} looks random"


ORDER = ("After these", "Predict", "Run", "Look", "Explain", "Break it", "Exercises", "Recap")

COPIES = [name for name in LESSONS if "/" not in name]


@pytest.mark.parametrize("lesson", COPIES)
def test_each_lesson_goes_in_the_same_order(lesson: str) -> None:
    cells = load(lesson).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    places = [re.search(rf"^## {name}\b", text, re.M) for name in ORDER]
    assert None not in places, [name for name, at in zip(ORDER, places, strict=True) if not at]
    starts = [place.start() for place in places if place]
    assert starts == sorted(starts)
    assert "**Not shown:**" in text[starts[-1] :]
    goals = next(cell.source for cell in cells if cell.id == "goals")
    assert len(re.findall(r"^- ", goals, re.M)) == 3
    assert sum(bool(re.match(r"exercise-|write-", c.id)) for c in cells if "outputs" in c) >= 2


@pytest.mark.parametrize("lesson", COPIES)
def test_cells_are_thin(lesson: str) -> None:
    """The work is in the package; only what the reader is to write is written in a cell."""
    for cell in load(lesson).cells:
        if cell.cell_type == "code" and not cell.id.startswith("write-"):
            assert len(cell.source.splitlines()) <= 7, cell.id
            assert "def " not in cell.source, cell.id


@pytest.mark.parametrize("lesson", COPIES)
def test_the_reader_has_what_the_solution_makes(lesson: str) -> None:
    """Solutions are the source: after a change, `make copies`."""
    solved = copies.read(copies.SOLUTIONS / lesson)
    wanted = copies.written(copies.reader_copy(solved))
    assert (NOTEBOOKS / lesson).read_text(encoding="utf-8") == wanted, "stale: run `make copies`"


def test_a_stub_gives_nothing_away() -> None:
    solved = [cell for lesson in LESSONS if "/" in lesson for cell in load(lesson).cells]
    for cell in (cell for cell in solved if "solution" in cell.metadata.get("tags", [])):
        made = copies.reader_copy({"cells": [json.loads(json.dumps(cell))]})["cells"][0]
        assert ".take(" in cell.source or "not yet" in made["source"]
        assert ".take(" not in made["source"]
        assert "tags" not in made["metadata"]
        assert "stub" not in made["metadata"]


@pytest.mark.parametrize("lesson", LESSONS)
def test_pictures_are_there(lesson: str) -> None:
    for cell in load(lesson).cells:
        if cell.cell_type == "markdown":
            for link in re.findall(
                r"!\[[^]]*\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"", cell.source
            ):
                target = link[0] or link[1]
                assert ((NOTEBOOKS / lesson).parent / target).is_file(), target


# A container with half of what a lesson may take: it says what does not fit, and does not die.
FEW_MB = 300

INTO_GROUP = """
import os, pathlib
pathlib.Path({group!r}, "cgroup.procs").write_text(str(os.getpid()))
"""


@pytest.mark.parametrize(
    "lesson",
    [pytest.param(name, marks=pytest.mark.slow) if "/" in name else name for name in LESSONS],
)
def test_runs_whole(lesson: str, tmp_path: Path, measured: Callable[[str], None]) -> None:
    """The solution with all memory there is; the reader's copy, which does the same, with little,
    where a control group can be made."""
    if "/" in lesson:
        runs_whole(lesson, tmp_path, measured, None)
        return
    with small_memory(FEW_MB) as group:
        runs_whole(lesson, tmp_path, measured, group)


def runs_whole(
    lesson: str, tmp_path: Path, measured: Callable[[str], None], group: Path | None
) -> None:
    shutil.copytree(NOTEBOOKS, tmp_path, dirs_exist_ok=True)
    notebook = load(lesson)
    notebook.cells.append(nbformat.v4.new_code_cell(EPILOGUE))
    if group is not None:
        into = nbformat.v4.new_code_cell(INTO_GROUP.format(group=str(group)))
        notebook.cells.insert(0, into)
    client = NotebookClient(
        notebook,
        timeout=MOST_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str((tmp_path / lesson).parent)}},
        store_widget_state=True,
    )
    start = time.monotonic()
    client.execute()
    seconds = time.monotonic() - start

    epilogue = notebook.cells.pop()
    prefix, peak_mb = json.loads(epilogue.outputs[0].text)
    given = "" if group is None else f" of {FEW_MB} MB that there were"
    measured(f"{lesson}: {seconds:.1f} s, peak {peak_mb:.0f} MB{given}")
    assert prefix == sys.prefix, "the kernel belongs to another environment"
    assert complaints(notebook) == []
    assert seconds < MOST_SECONDS
    assert peak_mb < MOST_MB
    if group is not None and lesson == "00_start_here.ipynb":
        assert "MB free; close something" in json.dumps(notebook.cells)


def complaints(notebook: Any) -> list[str]:
    """What went wrong without raising: on stderr, or inside the state of a widget."""
    found = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.output_type == "error" or output.get("name") == "stderr":
                found.append(f"{cell.id}: {output.get('text') or output.get('evalue')}")
    state = notebook.metadata.get("widgets", {})
    for bundle in state.values():
        for model in bundle["state"].values():
            text = json.dumps(model["state"], default=str)
            if re.search(r'"output_type": "error"|"name": "stderr"|Traceback \(most recent', text):
                found.append(f"in a {model['model_name']}: {text[:2000]}")
    return found


def test_complaints_sees_an_error_that_a_widget_swallows() -> None:
    source = "import ipywidgets\n@ipywidgets.interact(n=3)\ndef f(n): 1 / 0"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    assert any("ZeroDivisionError" in line for line in complaints(notebook))

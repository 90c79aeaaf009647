"""The notebook is downloaded as it was saved, in both apps."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .lesson import App, Lesson

SHOW = "from ngram_core.views import Keep\nKeep().show()"
WORDS = "# words that only this notebook has"


@pytest.mark.parametrize("app", ["lab", "notebook"])
def test_the_notebook_is_downloaded(open_notebook: Callable[..., Lesson], app: App) -> None:
    lesson = open_notebook([SHOW, WORDS], app=app)
    lesson.run_all()
    lesson.command("docmanager:save")
    with lesson.page.expect_download() as arriving:
        lesson.find("button:has-text('Download this notebook')").press("Enter")
    assert arriving.value.suggested_filename == "cells.ipynb"
    kept = json.loads(Path(arriving.value.path()).read_text(encoding="utf-8"))
    assert ["".join(cell["source"]) for cell in kept["cells"]] == [SHOW, WORDS]
    assert kept["cells"][0]["outputs"], "it was saved with its outputs"
    assert "cells.ipynb goes to your downloads" in lesson.text(".asked .line")
    assert lesson.axe(".asked") == []
    lesson.screenshot(f"keep-{app}")

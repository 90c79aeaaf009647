"""Makes the reader's copies of the lessons from their solutions (make copies).

A solution is the source. Its cells tagged `solution` become what a reader begins with: an exercise
that is not answered yet, or what stands in the cell's metadata as `stub`. All else is the same.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from pathlib import Path
from typing import Any

NOTEBOOKS = Path(__file__).resolve().parents[1] / "notebooks"
SOLUTIONS = NOTEBOOKS / "solutions"

_SAYS_SO = re.compile(r"^\*Solutions to lesson .*\*\n\n")
_FOLDER_ABOVE = re.compile(r"""(\]\(|")\.\./""")
_EXERCISE = re.compile(r"^\w+ = (Exercise\(.*\))$", re.MULTILINE)


def reader_copy(solved: dict[str, Any]) -> dict[str, Any]:
    """The notebook that a reader gets.

    Raises:
        ValueError: a solution has no exercise in it, and no stub beside it.
    """
    made = deepcopy(solved)
    for cell in made["cells"]:
        if cell["cell_type"] == "markdown":
            source = _SAYS_SO.sub("", cell["source"])
            cell["source"] = _FOLDER_ABOVE.sub(r"\1", source)
        elif "solution" in cell["metadata"].pop("tags", []):
            stub = cell["metadata"].pop("stub", None)
            cell["source"] = _stub(cell) if stub is None else stub
    return made


def _stub(cell: dict[str, Any]) -> str:
    found = _EXERCISE.search(cell["source"])
    if not found:
        raise ValueError(f"the solution {cell['id']} has no exercise in it; give it a stub")
    return f"{found[1]}.show()"


def read(path: Path) -> dict[str, Any]:
    """A notebook as it stands in the file, sources as one string."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


def written(notebook: dict[str, Any]) -> str:
    """The text of the file."""
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for path in sorted(SOLUTIONS.glob("*.ipynb")):
        (NOTEBOOKS / path.name).write_text(written(reader_copy(read(path))), encoding="utf-8")
        print(path.name)

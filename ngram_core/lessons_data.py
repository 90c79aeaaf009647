"""Where the lessons are on this machine."""

from __future__ import annotations

from pathlib import Path


def lessons_folder() -> Path:
    """The folder that holds the notebooks: inside an installed package, or the checkout's own.

    Returns:
        An existing folder with `00_start_here.ipynb` in it. Copy from it, never write to it.

    Raises:
        FileNotFoundError: neither is there; the package was not installed whole.
    """
    package = Path(__file__).resolve().parent
    for folder in (package / "_lessons", package.parent / "notebooks"):
        if (folder / "00_start_here.ipynb").is_file():
            return folder
    raise FileNotFoundError(
        f"the lessons are not beside {package}: install ngram-core again, with its notebooks"
    )

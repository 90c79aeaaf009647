"""The report of a race, to be downloaded or saved; no file is ever overwritten."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError
from ..racing import RaceResult


@dataclass(frozen=True)
class Kind:
    """One form of the report."""

    label: str
    ending: str
    media_type: str
    make: Callable[[RaceResult], str]


KINDS: dict[str, Kind] = {
    "html": Kind("one page (HTML)", ".html", "text/html", RaceResult.to_html),
    "markdown": Kind("Markdown", ".md", "text/markdown", RaceResult.to_markdown),
    "json": Kind("JSON", ".json", "application/json", RaceResult.to_json),
}


def kind(name: str) -> Kind:
    """A form of the report by its name.

    Raises:
        InputError: there is none of that name.
    """
    if name not in KINDS:
        raise InputError(f"there is no report {name!r}; there are: {', '.join(KINDS)}")
    return KINDS[name]


def file_name(result: RaceResult, name: str, copy: int = 1) -> str:
    """ "race-2026-11-30-0301.md"; from the second copy on with a number."""
    day, _, clock = result.surroundings.started.partition("T")
    number = f"-{copy}" if copy > 1 else ""
    return f"race-{day}-{clock[:5].replace(':', '')}{number}{kind(name).ending}"


def save(result: RaceResult, folder: str | os.PathLike[str] = ".") -> list[Path]:
    """Writes the report in all its forms into a folder, under names that are free.

    Raises:
        OSError: it cannot be written.
    """
    return [_save(result, name, Path(folder)) for name in KINDS]


def _save(result: RaceResult, name: str, folder: Path) -> Path:
    text = KINDS[name].make(result)
    for copy in itertools.count(1):
        path = folder / file_name(result, name, copy)
        try:
            with path.open("x", encoding="utf-8") as file:  # "x": never a file that is there
                file.write(text)
        except FileExistsError:
            continue
        return path
    raise AssertionError("counting never ends")

"""Corpora by name, for the command line and the lessons."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError
from .base import Progress, Text
from .files import from_files, from_folder, python_source
from .made import PROSE_BYTES, TASKS_BYTES, MadeProse, MadeTasks
from .wikitexts import WIKITEXTS, wikitext
from .workloads import WORKLOADS

_FOUND = {
    "python": "the running Python's library source, 10 to 30 MB, on every machine",
    **WIKITEXTS,
    "prose": "made prose of any size with the followers of WikiText-103; 541 MB unless you say",
}

CORPORA: dict[str, str] = _FOUND | {
    name: f"made, tasks one after the other: {workload.about}"
    for name, workload in WORKLOADS.items()
    if name not in _FOUND
}
"""Name -> what it is, in one line."""


def get_corpus(
    name_or_path: str,
    n_bytes: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Text:
    """A corpus by its name, or the text of a file or a folder.

    Args:
        name_or_path: one of `CORPORA`, or a path; "./prose" is the file of that name.
        n_bytes: how much of a made text; take less of any other when you read it.
        seed: of a made text.
        progress: told about a download.

    Raises:
        InputError: there is none of that name, or it cannot be had here.
        FormatError: the file is not text.
        OSError: it cannot be read.
    """
    if name_or_path == "python":
        return python_source()
    if name_or_path in WIKITEXTS:
        return wikitext(name_or_path, progress)
    if n_bytes is not None and n_bytes < 1:
        raise InputError(f"{n_bytes} bytes of {name_or_path}: need at least 1")
    if name_or_path == "prose":
        return MadeProse(n_bytes or PROSE_BYTES, seed)
    if name_or_path in WORKLOADS:
        return MadeTasks(WORKLOADS[name_or_path], n_bytes or TASKS_BYTES, seed)
    path = Path(name_or_path)
    if path.is_dir():
        return from_folder(path)
    if path.exists():
        return from_files([path])
    raise InputError(
        f"there is no corpus, file or folder {name_or_path!r}; corpora are: {', '.join(CORPORA)}"
    )

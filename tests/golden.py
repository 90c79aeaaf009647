"""Golden drafts and cache files: what they are, where they lie, how they are read.

There are two sets of the same form. `tests/data` has small ones of our own, which the plain
Python reference made. The other set is what llama.cpp's own code drafts, on streams of up to
300,000 tokens; it lies outside the repository, in the folder that the environment variable
NGRAM_SHARED names, or else in `shared` beside the checkout, and tests of it skip without.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent
OWN = TESTS / "data"
SHARED = Path(os.environ.get("NGRAM_SHARED") or TESTS.parent.parent / "shared")
GOLDEN = SHARED / "golden"
RUNNING = SHARED / "running" / "running.json"
WHY = "not in this checkout: set NGRAM_SHARED to the folder that holds golden/ and running/"
needs_golden = pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY)

SOAK = bool(os.environ.get("NGRAM_SOAK"))
"""The long form of tests that sample in the quick tier."""

Family = Literal["baseline", "innervector"]
Score = Literal["int32", "exact"]
Tokens = np.ndarray[Any, np.dtype[np.int32]]
Table = dict[tuple[int, ...], dict[int, int]]


@dataclass(frozen=True)
class Run:
    """A replay with tail="drop" and what it drafts.

    The family tells the ties: "baseline" stands for the library's order, "innervector" for
    ascending token ids.
    """

    name: str
    family: Family
    score: Score
    tokens: Path
    static: Path | None
    dynamic: Path | None
    n_ctx: int
    n_draft: int
    n_drafted: int
    n_accept: int
    n_calls: int | None
    sha256: str  #: of the drafts as text
    drafts: Path | None  #: that text, where it is kept

    @property
    def id(self) -> str:
        return f"{self.name}.{self.family}.{self.score}"


@dataclass(frozen=True)
class Build:
    """A cache file and the stream it was built from.

    A static one counts 2-grams; a dynamic one is saved after a replay with library ties and
    int32 scores.
    """

    kind: Literal["static", "dynamic"]
    tokens: Path
    static: Path | None
    n_ctx: int
    n_draft: int
    file: Path

    @property
    def id(self) -> str:
        return self.file.name


# ---- lists of tests -------------------------------------------------------------------


def runs(family: Family | None = None) -> list[Run]:
    """All golden replays that are here (of one family)."""
    found = [*own_runs(), *(shared_runs() if GOLDEN.is_dir() else [])]
    return [run for run in found if family in (None, run.family)]


def builds() -> list[Build]:
    """All golden caches that are here with the stream they were built from."""
    return [*own_builds(), *(shared_builds() if GOLDEN.is_dir() else [])]


def params(cases: Sequence[Run] | Sequence[Build]) -> list[Any]:
    """As pytest parameters; one more, that skips and says why, where the shared ones are absent."""
    found = [pytest.param(case, id=case.id) for case in cases]
    if not GOLDEN.is_dir():
        found.append(pytest.param(None, id="shared", marks=pytest.mark.skip(reason=WHY)))
    return found


# ---- our own --------------------------------------------------------------------------


def own_runs() -> Iterator[Run]:
    for entry in _manifest(OWN)["runs"]:
        yield Run(**_with_paths(entry, "tokens", "static", "dynamic", "drafts"))


def own_builds() -> Iterator[Build]:
    for entry in _manifest(OWN)["builds"]:
        yield Build(**_with_paths(entry, "tokens", "static", "file"))


def _with_paths(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    paths = {name: OWN / entry[name] if entry[name] else None for name in names}
    return {**entry, **paths}


@cache
def _manifest(folder: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    return parsed


# ---- llama.cpp's ----------------------------------------------------------------------


def shared_runs() -> Iterator[Run]:
    families: tuple[Family, ...] = ("baseline", "innervector")
    for entry in _manifest(GOLDEN)["runs"]:
        for family in families:
            wanted = entry["variants"][family]
            safe = entry["safe"][family]
            if not safe["same_as_unsafe"]:  # llama.cpp read before its array; we do not
                wanted = safe
            yield _shared_run(entry, family, "int32", wanted)
    for entry in _manifest(GOLDEN)["overflow"]["runs"]:
        yield _shared_run(entry, "baseline", "int32", entry["variants"]["baseline"])
        yield _shared_run(entry, "innervector", "int32", entry["variants"]["innervector"])
        yield _shared_run(entry, "innervector", "exact", entry["variants"]["int64"])
    whole = _manifest(GOLDEN)["published_cross_check"]
    entry = {"tokens": "wikitext_test_raw", "static": None, "n_ctx": whole["n_ctx"]}
    entry["n_draft"] = whole["n_draft"]
    for family in families:
        yield _shared_run(entry, family, "int32", whole["drafts_sha256"][family])


def _shared_run(entry: dict[str, Any], family: Family, score: Score, wanted: dict[str, Any]) -> Run:
    static, dynamic, drafts = entry["static"], entry.get("dynamic"), wanted.get("drafts")
    return Run(
        name=entry.get("name", f"{entry['tokens']}.c{entry['n_ctx']}.d{entry['n_draft']}"),
        family=family,
        score=score,
        tokens=_shared_tokens(entry["tokens"]),
        static=GOLDEN / f"{static}.legacy.cache" if static else None,
        dynamic=GOLDEN / dynamic if dynamic else None,
        n_ctx=entry["n_ctx"],
        n_draft=entry["n_draft"],
        n_drafted=wanted["n_drafted"],
        n_accept=wanted["n_accept"],
        n_calls=wanted.get("n_calls"),
        sha256=wanted["sha256_txt"],
        drafts=GOLDEN / drafts if drafts else None,
    )


def shared_builds() -> Iterator[Build]:
    for name in _manifest(GOLDEN)["cache_files"]:
        stream = name.split(".")[0]
        if stream not in _manifest(GOLDEN)["token_files"]:
            continue  # made by hand
        if name.endswith(".legacy.cache"):
            yield Build("static", _shared_tokens(stream), None, 0, 0, GOLDEN / name)
        elif name.endswith(".dynamic.cache"):
            static = GOLDEN / f"{stream.replace('_prev', '_corpus')}.legacy.cache"
            yield Build("dynamic", _shared_tokens(stream), static, 1024, 8, GOLDEN / name)


def _shared_tokens(name: str) -> Path:
    file: str = _manifest(GOLDEN)["token_files"][name]["file"]
    return GOLDEN / file


# ---- reading --------------------------------------------------------------------------


@cache
def read_tokens(path: Path) -> Tokens:
    """A token stream: raw little-endian int32, plain or gzipped."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    return np.frombuffer(data, dtype="<i4").astype(np.int32)


def as_text(drafts: Iterable[Iterable[int]]) -> str:
    """One line per draft call, the drafted tokens separated by blanks."""
    numbers = [
        draft.tolist() if isinstance(draft, np.ndarray) else [int(token) for token in draft]
        for draft in drafts
    ]
    if not numbers:
        return ""
    return str(numbers)[2:-2].replace("], [", "\n").replace(", ", " ") + "\n"


def assert_drafts(run: Run, drafts: Iterable[Iterable[int]], whole: bool = True) -> None:
    """The drafts are the golden ones, or their beginning; names the first call that differs."""
    text = as_text(drafts)
    if whole and hashlib.sha256(text.encode()).hexdigest() == run.sha256:
        return
    assert run.drafts is not None, "the drafts differ from those with the golden checksum"
    golden = gzip.decompress(run.drafts.read_bytes()).decode("ascii").splitlines()
    lines = text.splitlines()
    for call, (got, wanted) in enumerate(zip(lines, golden, strict=False)):
        assert got == wanted, f"draft call {call} of {run.id}"
    assert len(lines) == len(golden) or (not whole and 0 < len(lines) < len(golden))


def read_table(path: Path) -> Table:
    """A llama.cpp cache file as a dict from n-gram to followers, in the file's order."""
    return parse_table(path.read_bytes())


def parse_table(data: bytes) -> Table:
    table: Table = {}
    at = 0
    while at < len(data):
        *slots, n_followers = struct.unpack_from("<5i", data, at)
        ngram = tuple(token for token in slots if token != -1)
        assert ngram not in table, f"{ngram} stands twice"
        table[ngram] = dict(struct.iter_unpack("<2i", data[at + 20 : at + 20 + 8 * n_followers]))
        at += 20 + 8 * n_followers
    return table


def write_table(table: Table) -> bytes:
    """The bytes of a llama.cpp cache file with these n-grams and followers, in this order."""
    out = bytearray()
    for ngram, followers in table.items():
        out += struct.pack("<5i", *ngram, *[-1] * (4 - len(ngram)), len(followers))
        for token, count in followers.items():
            out += struct.pack("<2i", token, count)
    return bytes(out)

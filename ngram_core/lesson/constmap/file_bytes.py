"""One small static cache as a file in each of the three formats, number by number, in words."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from ...caches import NgramCache
from ...inside import FileSpan, file_spans
from ...toggles import CONSTMAP, INNERVECTOR, Toggles
from ..figures import plural, times
from .fuse_map import NOTES, FuseMap, place

FORMATS: dict[str, Toggles] = {
    "legacy": INNERVECTOR.toggles,
    "constmap": CONSTMAP.toggles,
    "ngc": CONSTMAP.toggles.set(static="ngc"),
}
"""Name of a format -> a structure that writes it."""

TITLES = {"legacy": "llama.cpp’s", "constmap": "constmap’s", "ngc": "ours (ngc)"}

GROUPS = {
    "head": "head",
    "key": "2-grams",
    "follow": "followers and counts",
    "cell": "cells of the map",
    "check": "checks of the cells",
    "sum": "checksums",
    "spare": "empty",
}
"""What a number is for; the page has a colour and a sign for each."""

_GROUP_OF = {
    **dict.fromkeys(("token", "record", "reach"), "key"),
    **dict.fromkeys(("n_followers", "follower", "count", "entry", "top_count", "counts"), "follow"),
    "data": "cell",
    "check": "check",
    **dict.fromkeys(("sum", "section_sum"), "sum"),
    **dict.fromkeys(("spare", "free_record"), "spare"),
}

_HEAD = {
    "magic": "what kind of file this is, {value!r}",
    "n_entries": "{value} pairs of follower and count come next",
    "map_bytes": "the map behind them has {value} bytes",
    "map_magic": "the map begins, {value!r}",
    "seed": "the seed with which all keys could be peeled",
    "segment_length": "a segment has {value} cells",
    "segment_count": "{value} and 2 more: the number of segments",
    "data_len": "{value} cells in all",
    "n_keys": "{value} keys are in the map, and none of them is written anywhere",
    "version": "version {value} of this format",
    "head_bytes": "the head has {value} bytes",
    "file_bytes": "the whole file has {value} bytes",
    "n_grams": "{value} different 2-grams",
    "n_pairs": "{value} pairs of 2-gram and follower",
    "n_counted": "{value} followers were counted in all",
    "n_vocab": "the tokenizer’s vocabulary: {value} tokens",
    "n_sections": "{value} sections follow the head",
    "most_count": "no follower has a larger count than {value}",
    "filter_lines": "{value} lines of filter stand behind those of records",
    "filter": "a word of the filter: which 2-grams the static cache alone may draft after",
    "n_homes": "{value} lines of 64 bytes, one of which is a 2-gram’s home",
    "width": "{value}, the width of {part}",
    "fingerprint": "part {index} of the tokenizer’s fingerprint; 0 where it is not known",
    "section_kind": "section {value} is next: {part}",
    "section_offset": "that section begins at byte {value}",
    "section_bytes": "and has {value} bytes",
    "section_sum": "its checksum: a damaged section is named",
    "reach": "how many lines away from home the 2-grams of this line may stand: {value}",
    "text": "a text: {part}",
    "spare": "nothing: the next part begins at a multiple of 8 or 64 bytes",
    "free_record": "room for one more 2-gram",
}

_WIDTHS = (
    *("a token, in bits", "a record, in bytes", "the rest of the 2-gram, in bits"),
    *("the lines from home", "a place among the followers", "the number of followers"),
    *("the largest count", "the sum"),
)
_PARTS: dict[str, dict[int | str, str]] = {
    "width": dict(enumerate(_WIDTHS)),
    "section_kind": {0: "lines of records", 1: "followers", 2: "texts"},
    "text": {
        "tokenizer": "the tokenizer’s name",
        "corpus": "a note on the corpus",
        "built_by": "what wrote the file",
    },
}


@dataclass(frozen=True)
class Number:
    """One number of a file, and what it says."""

    offset: int
    length: int
    group: str
    said: str


@dataclass(frozen=True)
class CacheFile:
    """A whole file."""

    name: str
    data: bytes
    numbers: tuple[Number, ...]

    def totals(self) -> list[tuple[str, int]]:
        """Bytes by group, in the order of GROUPS, those with none left out."""
        sums = dict.fromkeys(GROUPS, 0)
        for number in self.numbers:
            sums[number.group] += number.length
        return [(group, n_bytes) for group, n_bytes in sums.items() if n_bytes]

    def parts(self) -> list[tuple[str, int]]:
        """Where each group begins, as the number of a number."""
        begun: dict[str, int] = {}
        for i, number in enumerate(self.numbers):
            begun.setdefault(number.group, i)
        return [(group, begun[group]) for group in GROUPS if group in begun]

    def sentence(self, i: int) -> str:
        """What a number says, with its bytes."""
        number = self.numbers[i]
        end = number.offset + number.length - 1
        where = f"Byte {end}" if number.length == 1 else f"Bytes {number.offset} to {end}"
        return f"{where}: {number.said}."


class FileBytes:
    """The 2-grams of a few words, written in all three formats and read number by number.

    Args:
        text: see `FuseMap`.
    """

    _SUMS: ClassVar = {
        "constmap": "the checksum of the map; followers and counts are not in it",
        "ngc": "the checksum of the head",
    }

    def __init__(self, text: str = NOTES) -> None:
        self.model = FuseMap(text)
        with tempfile.TemporaryDirectory() as folder:
            self.files = {
                name: self._file(name, toggles, Path(folder)) for name, toggles in FORMATS.items()
            }

    def _file(self, name: str, toggles: Toggles, folder: Path) -> CacheFile:
        path = write(self.model, name, folder)
        data = path.read_bytes()
        numbers = tuple(
            Number(
                span.offset,
                span.length,
                _GROUP_OF.get(span.meaning, "head"),
                self._said(span, name),
            )
            for span in file_spans(path, 0, len(data))
        )
        return CacheFile(name, data, numbers)

    def _said(self, span: FileSpan, name: str) -> str:
        words, value, index = self.model.words, span.value, span.index
        if span.meaning == "token":
            if isinstance(value, int) and value < 0:
                return "-1, not used: there would be room for a 4-gram"
            which = ("first", "second")[index]
            return f"the {which} word of 2-gram {_n(span.gram)}: {value}, “{words[int(value)]}”"
        if span.meaning == "n_followers":
            return f"2-gram {_n(span.gram)} has {plural(int(value), 'follower')}"
        if span.meaning == "follower":
            return f"a follower: {value}, “{words[int(value)]}”{self._whose(span)}"
        if span.meaning == "count":
            return f"it came {times(int(value))}"
        if span.meaning == "data":
            return (
                f"cell {index} holds {place(int(value))}: three bytes of length, the rest position,"
                " of several keys mixed by xor"
            )
        if span.meaning == "check":
            return f"the check of cell {index}"
        if span.meaning == "record":
            return self._record(span.detail)
        if span.meaning == "entry":
            owner = " ".join(words[span.detail[part]] for part in ("first", "second"))
            count = span.detail["count"]
            return (
                f"a follower of “{owner}”: {value}, “{words[int(value)]}”, {count} of them. Its"
                " number is spread, multiplied and cut to its bits: lesson 08 says what for"
            )
        if span.meaning == "sum":
            return self._SUMS[name]
        part = _PARTS.get(span.meaning, {}).get(value if span.meaning == "text" else index, "")
        head = _HEAD.get(span.meaning, span.meaning.replace("_", " ") + ": {value}")
        return head.format(value=value, index=index, part=part)

    def _whose(self, span: FileSpan) -> str:
        if span.gram is not None:
            return ""
        return f", at position {span.index}. Whose, only the map knows"

    def _record(self, detail: dict[str, int]) -> str:
        words = self.model.words
        name = " ".join(words[detail[part]] for part in ("first", "second"))
        return (
            f"“{name}”, {plural(detail['n_followers'], 'follower')}, sum {detail['sum']}, the most"
            f" frequent one {times(detail['top_count'])}: all in one record"
        )

    def document(self) -> dict[str, Any]:
        """All that the page needs, as plain data."""
        return {
            "groups": GROUPS,
            "files": [
                {
                    "name": file.name,
                    "title": TITLES[file.name],
                    "hex": file.data.hex(),
                    "numbers": [[n.offset, n.length, n.group] for n in file.numbers],
                    "said": [file.sentence(i) for i in range(len(file.numbers))],
                    "parts": file.parts(),
                    "totals": file.totals(),
                }
                for file in self.files.values()
            ],
        }


def write(model: FuseMap, name: str, folder: Path) -> Path:
    """The file of a few words in one format."""
    path = folder / f"{name}.cache"
    tokens = [model.words.index(word) for word in model.text.split()]
    with NgramCache.build_static(tokens, FORMATS[name]) as cache:
        cache.save(path)
    return path


def _n(gram: int | None) -> str:
    return "?" if gram is None else str(gram + 1)


# ---- one bit after the other -------------------------------------------------------------------


@dataclass(frozen=True)
class Flips:
    """What became of a file when one bit of each byte was turned, byte by byte."""

    name: str
    n_bytes: int
    refused: int  #: an error when it was opened or checked
    silent: int  #: it opened, and some 2-gram has other followers or counts
    harmless: int  #: it opened, and all answers are the same

    def __str__(self) -> str:
        return (
            f"{TITLES[self.name]:13} {self.n_bytes:4} bytes: {self.refused:4} changes refused,"
            f" {self.silent:3} change answers in silence, {self.harmless} do no harm"
        )


def flips(name: str, text: str = NOTES) -> Flips:
    """Turns the lowest bit of each byte of a small file in turn, opens it, and asks for all.

    Files of all formats are checked as far as they can be: `check_file` reads all of ours.
    """
    model = FuseMap(text)
    refused = silent = 0
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home)
        path = write(model, name, folder)
        whole = path.read_bytes()
        right = _answers(path, name, len(model.words))
        for at in range(len(whole)):
            path.write_bytes(_turned(whole, at))
            answers = _answers(path, name, len(model.words))
            refused += answers is None
            silent += answers is not None and answers != right
    return Flips(name, len(whole), refused, silent, len(whole) - refused - silent)


def refusal(name: str, at: int, text: str = NOTES) -> str:
    """What a reader of the format says to one turned bit in byte `at`."""
    model = FuseMap(text)
    with tempfile.TemporaryDirectory() as home:
        path = write(model, name, Path(home))
        path.write_bytes(_turned(path.read_bytes(), at))
        try:
            with NgramCache.open(path, FORMATS[name], static=True) as cache:
                cache.check_file()
        except ValueError as error:
            return str(error).replace(str(path), path.name)
    return "no complaint"


def _turned(whole: bytes, at: int) -> bytes:
    return whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]


Answers = list[tuple[Sequence[int], Sequence[int]]]


def _answers(path: Path, name: str, n_words: int) -> Answers | None:
    """The followers of every pair of words; None if the file is refused."""
    try:
        with NgramCache.open(path, FORMATS[name], static=True) as cache:
            cache.check_file()
            rows = [cache.followers((a, b)) for a in range(n_words) for b in range(n_words)]
            return [(tokens.tolist(), counts.tolist()) for tokens, counts in rows]
    except ValueError:  # every error about a format is one
        return None

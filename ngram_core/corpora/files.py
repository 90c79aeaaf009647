"""Texts in files: the reader's own, and what is on every machine."""

from __future__ import annotations

import hashlib
import os
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import machine
from ..errors import FormatError, InputError
from ..files import PathLike, explain, open_file
from ..tokenizers.text import BLOCK_BYTES, Utf8Decoder
from .base import Text

_MEMORY_PER_BYTE = 20  # llama.cpp's maps take 10 GB for 541 MB of text


@dataclass(frozen=True)
class Corpus(Text):
    """Text files as one text, checked to be UTF-8.

    Args:
        name: what to call it.
        files: in the order in which they are read.
        n_bytes: of all of them.
        digest: SHA-256 of their joined content, in hex.
        skipped: files left out, each with the reason.
    """

    name: str
    files: tuple[Path, ...]
    n_bytes: int
    digest: str
    skipped: tuple[tuple[Path, str], ...] = ()

    def all_blocks(self) -> Iterator[bytes]:
        return (block for path in self.files for block in _read(path))

    def last_bytes(self, n_bytes: int) -> bytes:
        """The end of the text, at most so long, from the beginning of a line; of a text with no
        line end in it, from the first whole character."""
        if self.n_bytes <= n_bytes:
            return b"".join(self.all_blocks())
        parts: list[bytes] = []
        left = n_bytes + 1  # with what stands before, to see whether that is a line's end
        for path in reversed(self.files):
            with open_file(path) as (file, size):
                file.seek(max(0, size - left))
                parts.insert(0, file.read())
            left -= len(parts[0])
            if left <= 0:
                break
        end = b"".join(parts)
        line = end.find(b"\n") + 1
        return end[line:] if line else end[1:].lstrip(bytes(range(0x80, 0xC0)))


# ---- which corpora there are ------------------------------------------------------------


def python_source() -> Corpus:
    """The source of the running Python's standard library: 10 to 30 MB on every machine.

    It differs from Python to Python (31.5 MB in 3.11 with its tests, 11 MB in Debian's).

    Raises:
        InputError: this Python has no source files.
    """
    folder = Path(sysconfig.get_path("stdlib"))
    paths = _walk(folder, ("site-packages", "dist-packages"))
    corpus = _gather("python", folder, (path for path in paths if path.suffix == ".py"))
    if not corpus.n_bytes:
        raise InputError(f"no library source of Python is in {str(folder)!r}; use your own files")
    return corpus


def from_folder(folder: PathLike) -> Corpus:
    """All text files under a folder, by name; hidden ones and binary ones are left out.

    Raises:
        OSError: it is not there, or not a folder.
        InputError: it holds no text.
    """
    folder = Path(folder)
    os.scandir(folder).close()  # raises what is wrong with it, where walking would be silent
    corpus = _gather(folder.name or str(folder), folder, _walk(folder, ()))
    if not corpus.n_bytes:
        left_out = f" ({len(corpus.skipped)} files are not UTF-8 text)" if corpus.skipped else ""
        raise InputError(f"{str(folder)!r} holds no text{left_out}; name another folder")
    return corpus


def from_files(paths: Sequence[PathLike]) -> Corpus:
    """The reader's own files, in the order given.

    Raises:
        OSError: one of them cannot be read.
        FormatError: one is not UTF-8 text; the message gives the byte offset.
        InputError: all of them are empty, or one is not a plain file.
    """
    scan = _Scan()
    for path in map(Path, paths):
        scan.add(path)
    if not scan.n_bytes:
        what = f"{str(scan.files[0])!r} is empty" if len(scan.files) == 1 else "all files are empty"
        raise InputError(f"{what}; name a file with some text")
    name = repr(str(scan.files[0])) if len(scan.files) == 1 else f"{len(scan.files)} files"
    return scan.corpus(name)


def sizes_for_memory(corpus: Text, free_bytes: int | None = None) -> tuple[int, ...]:
    """Sizes of a corpus, in bytes, whose static cache this machine can build as llama.cpp does.

    Args:
        corpus: where the text comes from.
        free_bytes: memory to stay below, half of what is free by default.

    Returns:
        Ascending, of 1, 5, 25, 100 and 500 times 10^6 bytes those that fit, or all of a smaller
        corpus that fits; at least one size.
    """
    if free_bytes is None:
        free_bytes = (machine.memory_free_bytes() or 1 << 30) // 2
    most = min(corpus.n_bytes, free_bytes // _MEMORY_PER_BYTE)
    sizes = [
        size
        for size in (1_000_000, 5_000_000, 25_000_000, 100_000_000, 500_000_000)
        if size <= most
    ]
    return tuple(sizes) or (min(corpus.n_bytes, 1_000_000),)


# ---- reading ------------------------------------------------------------------------------


class _Scan:
    """Files read once to see that they are text, and to know their size and digest."""

    def __init__(self) -> None:
        self.files: list[Path] = []
        self.skipped: list[tuple[Path, str]] = []
        self.n_bytes = 0
        self._digest = hashlib.sha256()

    def add(self, path: Path) -> None:
        """Check a file and take it in; on an error it is not taken in."""
        digest, n_bytes = self._digest.copy(), 0
        for block in _checked(path):
            digest.update(block)
            n_bytes += len(block)
        self._digest = digest
        self.n_bytes += n_bytes
        self.files.append(path)

    def add_or_skip(self, path: Path) -> None:
        try:
            self.add(path)
        except (FormatError, InputError) as error:
            self.skipped.append((path, str(error)))
        except OSError as error:
            self.skipped.append((path, explain(error)))

    def corpus(self, name: str) -> Corpus:
        digest = self._digest.hexdigest()
        return Corpus(name, tuple(self.files), self.n_bytes, digest, tuple(self.skipped))


def _gather(name: str, folder: Path, paths: Iterable[Path]) -> Corpus:
    scan = _Scan()
    for path in sorted(paths, key=lambda path: path.relative_to(folder).parts):
        scan.add_or_skip(path)
    return scan.corpus(name)


def _walk(folder: Path, without: Sequence[str]) -> Iterator[Path]:
    """The plain files under a folder; no hidden ones, no links to folders."""
    for parent, folders, names in os.walk(folder):
        folders[:] = [n for n in folders if not n.startswith(".") and n not in without]
        for name in names:
            path = Path(parent, name)
            if not name.startswith(".") and path.is_file():
                yield path


def _read(path: Path) -> Iterator[bytes]:
    with open_file(path) as (file, _):
        while block := file.read(BLOCK_BYTES):
            yield block


def _checked(path: Path) -> Iterator[bytes]:
    """A plain file in blocks, seen to be UTF-8 text while it passes."""
    decoder = Utf8Decoder(repr(str(path)))
    for block in _read(path):
        zero = block.find(b"\0")
        if zero >= 0:
            raise FormatError(
                f"{str(path)!r} is not text: NUL byte at offset {decoder.offset + zero}; it may be"
                " a binary or a UTF-16 file, save it as UTF-8"
            )
        decoder.feed(block)
        yield block
    decoder.finish()

"""Our own static file: what it says of itself, mapping it, and building one in slices.

The bytes are described in csrc/ngc_packed.h and csrc/ngc_packed_format.h.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

from . import _native
from .errors import InputError
from .files import open_file
from .toggles import Toggles

if TYPE_CHECKING:
    from .tokenizers import Tokenizer

MAGIC = b"\x89NGC\r\n\x1a\n"

_STEP_GRAMS = 1 << 15  # some 10 to 40 ms of building: how long Ctrl-C may wait


@dataclass(frozen=True)
class StaticAbout:
    """What a static file says of itself.

    Args:
        tokenizer: the name of what encoded the corpus; "" if it is not known.
        fingerprint: of that tokenizer's vocabulary, 64 hex digits; "" if it is not known.
        n_vocab: every token is below it; 0, when building: one above the greatest token.
        corpus: a note on what was counted.
        built_by: what wrote the file.
    """

    tokenizer: str = ""
    fingerprint: str = ""
    n_vocab: int = 0
    corpus: str = ""
    built_by: str = ""

    @classmethod
    def of(cls, tokenizer: Tokenizer | None, corpus: str = "") -> StaticAbout:
        """For a corpus that this tokenizer encoded; None: it is not known which did."""
        from . import __version__

        ours = f"ngram-core {__version__}"
        if tokenizer is None:
            return cls(corpus=corpus, built_by=ours)
        return cls(tokenizer.name, tokenizer.fingerprint, tokenizer.n_vocab, corpus, ours)

    @property
    def tokenizer_said(self) -> str:
        """The tokenizer for messages: its name and the beginning of its fingerprint."""
        return _named(self.tokenizer, self.fingerprint)

    def refuse_other(self, tokenizer: Tokenizer, where: str) -> None:
        """Does nothing if a text of this tokenizer fits the file, or if the file does not say.

        Raises:
            InputError: the file's tokens are another tokenizer's; the message names both.
        """
        if not self.fingerprint or self.fingerprint == tokenizer.fingerprint:
            return
        raise InputError(
            f"{where} was counted with the tokenizer {self.tokenizer_said} and"
            f" the text is encoded with {_named(tokenizer.name, tokenizer.fingerprint)}: the same"
            " numbers mean other words; encode the text with the file's, or count the corpus again"
        )


def _named(name: str, fingerprint: str) -> str:
    return f"{name or 'of no name'} ({fingerprint[:8]})"


def open_static_file(path: str | PathLike[str], toggles: Toggles) -> _native.NativeCache:
    """The cache over a file, mapped; nothing but its head is read.

    The file must not be changed in place while it is open: write a new one and rename it, as
    `save` does.

    Raises:
        FormatError: the message names the file, its part and the byte.
    """
    with open_file(path) as (file, size):
        try:
            data: mmap.mmap | bytes = _in_big_pages(
                mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
            )
        except (OSError, ValueError):  # no mapping here, or nothing to map
            file.seek(0)
            data = file.read(size)
        return _native.NativeCache.packed(toggles, data, str(path))


def _in_big_pages(data: mmap.mmap) -> mmap.mmap:
    """The same. Where the system can, what is read from the disk from now on stands in big pages: a
    look-up of a record then waits less for its address."""
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with contextlib.suppress(OSError):
            data.madvise(mmap.MADV_HUGEPAGE)
    return data


def build_static(
    source: _native.NativeCache | _native.NativeCounter,
    toggles: Toggles,
    about: StaticAbout,
    progress: Callable[[float], None] | None = None,
    added: _native.NativeCache | None = None,
) -> _native.NativeCache:
    """The same counts, or their sum with those of another cache, as a cache in our own file's
    structure, built in slices.

    Raises:
        InputError: a token is not below `about.n_vocab`.
    """
    for name in ("tokenizer", "corpus", "built_by"):
        if "\0" in getattr(about, name):
            raise InputError(f"{name} holds a zero character; leave it out")
    builder = _native.NativePackedBuilder(
        toggles,
        source,
        about.n_vocab,
        bytes.fromhex(about.fingerprint),
        about.tokenizer,
        about.corpus,
        about.built_by,
        added=added,
    )
    return in_slices(builder, progress)


def in_slices(
    builder: _native.NativePackedBuilder | _native.NativeConstmapBuilder,
    progress: Callable[[float], None] | None,
) -> _native.NativeCache:
    """What a builder makes; it is closed."""
    try:
        while not builder.step(_STEP_GRAMS):
            if progress is not None:
                progress(builder.fraction())
        return builder.take()
    finally:
        builder.close()


def about_of(handle: _native.NativeCache) -> StaticAbout | None:
    """What a cache's file says of itself; None if it is of another kind."""
    said = handle.packed_about()
    if said is None:
        return None
    n_vocab, fingerprint, tokenizer, corpus, built_by = said
    digits = fingerprint.hex() if any(fingerprint) else ""
    return StaticAbout(tokenizer, digits, n_vocab, corpus, built_by)

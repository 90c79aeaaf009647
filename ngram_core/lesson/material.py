"""What a measurement runs on: a text to replay, and a corpus that does not hold it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .. import corpora
from ..corpora import Corpus
from ..errors import InputError
from ..tokenizers import Tokenizer, Tokens, get_tokenizer

MEGABYTE = 1_000_000

_BYTES_PER_CORPUS_BYTE = 20  # a static cache of 1 MB of source; bigger ones take half as much
_BYTES_PER_TEXT_TOKEN = 450  # of a dynamic cache of source, all four sizes of n-gram


@dataclass(frozen=True)
class Material:
    """A text as tokens, and where the static cache's corpus comes from.

    Args:
        text: int32 ids of the replayed text.
        text_name: what it is, in a few words.
        tokenizer: what encoded it, and will encode the corpus.
        corpus: its first megabytes are counted; None if there is no static cache.
        corpus_bytes: only so much of the corpus may be taken; the text stands behind it.
    """

    text: Tokens
    text_name: str
    tokenizer: Tokenizer
    corpus: Corpus | None = None
    corpus_bytes: int = 0

    def refusal(self, size_mb: int, free_bytes: int | None) -> str | None:
        """Why a static cache of so many megabytes cannot be built here, or None."""
        if size_mb * MEGABYTE > self.corpus_bytes:
            has = self.corpus_bytes // MEGABYTE
            return f"the corpus has {has} MB only; choose less, or give a bigger one"
        need = self.need_bytes(size_mb)
        if free_bytes is not None and need > free_bytes:
            return (
                f"it needs up to {size_of(need)} of memory and {size_of(free_bytes)} are free; "
                f"choose a smaller corpus, or close other notebooks"
            )
        return None

    def need_bytes(self, size_mb: int) -> int:
        """Memory that two stages, run on a corpus of that size, may take; a careful guess."""
        static = size_mb * MEGABYTE * _BYTES_PER_CORPUS_BYTE
        return static + 2 * len(self.text) * _BYTES_PER_TEXT_TOKEN


def python_material(text_tokens: int = 120_000, tokenizer: Tokenizer | None = None) -> Material:
    """Python's own library source: its last files are the text, its beginning is the corpus.

    Args:
        text_tokens: how long a text to replay, at most.
        tokenizer: Qwen2.5's by default.

    Raises:
        InputError: this Python has no source files.
    """
    tokenizer = tokenizer or get_tokenizer()
    source = corpora.python_source()
    files = _last_files(source, 6 * text_tokens)
    text = corpora.from_files(files)
    tokens = text.tokens(tokenizer, keep=False)[:text_tokens]
    root = Path(os.path.commonpath(source.files))
    first, last = (path.relative_to(root).parts[0] for path in (files[0], files[-1]))
    name = f"Python's library source from {first} to {last}"
    return Material(tokens, name, tokenizer, source, max(0, source.n_bytes - text.n_bytes))


def _last_files(source: Corpus, n_bytes: int) -> list[Path]:
    """The last files of a corpus, as many as hold so many bytes."""
    taken: list[Path] = []
    for path in reversed(source.files):
        if n_bytes <= 0:
            break
        taken.insert(0, path)
        n_bytes -= path.stat().st_size
    if not taken:
        raise InputError("this Python has no library source to replay; give a text of your own")
    return taken


def size_of(n_bytes: int) -> str:
    """Bytes in words, roughly: "108 MB", "11 GB"."""
    if n_bytes < 5_000 * MEGABYTE:
        return f"{n_bytes / MEGABYTE:,.0f} MB"
    return f"{n_bytes / 1000 / MEGABYTE:,.0f} GB"

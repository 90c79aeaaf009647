"""What a race runs on: the corpus of the static caches, and a text that is not in it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from .. import corpora
from .._native import as_tokens
from ..corpora import Progress, Text
from ..errors import InputError
from ..files import open_file
from ..token_files import read_token_blocks, read_tokens
from ..tokenizers import Tokenizer, Tokens, get_tokenizer

MEGABYTE = 1_000_000
TEXT_TOKENS = 30_000

Source = str | Path | Text | npt.NDArray[Any] | list[int]
"""A name of `corpora.CORPORA`, a path, a text, or token ids; `.i32` files hold token ids."""

_TEST_OF = {"wikitext-103": "wikitext-test", "wikitext-2": "wikitext-test"}  # the article's text

_TOKEN_BYTES = 4
_TEXT_BYTES_PER_TOKEN = 6  # at most, in the long run
_BLOCK_TOKENS = 1 << 18


@dataclass(frozen=True)
class Corpus:
    """Tokens to count, in blocks, from the beginning.

    Args:
        n_bytes: how much may be counted.
        unit: what a byte is of.
        blocks: takes how many bytes are wanted.
    """

    name: str
    n_bytes: int
    unit: str
    blocks: Callable[[int], Iterator[Tokens]]


@dataclass(frozen=True)
class Material:
    """Both, and the tokenizer if one was needed or given."""

    corpus: Corpus | None
    text: Tokens
    text_name: str
    tokenizer: Tokenizer | None


@dataclass(frozen=True)
class Wanted:
    """How much of it.

    Args:
        text_tokens: of the text, at most; None for all of it, if it is given.
        most_mb: of a corpus that is made; infinity is as much as it is by itself.
        seed: of what is made.
        download: told the fraction done.
    """

    text_tokens: int | None = TEXT_TOKENS
    most_mb: float = 0.0
    seed: int = 1
    download: Progress | None = None


def material(
    corpus: Source | None, text: Source | None, wanted: Wanted, tokenizer: Tokenizer | None
) -> Material:
    """What these words name.

    Without a text the end of the corpus is replayed, and never counted: half of it at most. Of
    a corpus that is made without end, it is a piece of another seed; of WikiText, its test text.

    Raises:
        InputError: neither is given, or there is no such thing.
    """
    known = _Known(tokenizer)
    found = None if corpus is None else _found(corpus, wanted.most_mb, wanted, known)
    counted = None if found is None else found.corpus(held_bytes=0)
    if text is not None:
        given = _found(text, 0, wanted, known)
        tokens, name = given.whole()[: wanted.text_tokens], given.name
    elif found is not None:
        n_tokens = wanted.text_tokens or TEXT_TOKENS
        tokens, name, held_bytes = found.apart(n_tokens, wanted.seed)
        counted = found.corpus(held_bytes)
    else:
        raise InputError("a race needs a text to replay, or a corpus to take one from")
    if not len(tokens):
        raise InputError(f"{name} has no tokens: there is nothing to replay")
    return Material(counted, np.ascontiguousarray(tokens, np.int32), name, known.used)


class _Known:
    """The tokenizer, loaded when a text first needs it."""

    def __init__(self, tokenizer: Tokenizer | None) -> None:
        self.used = tokenizer

    @property
    def tokenizer(self) -> Tokenizer:
        if self.used is None:
            self.used = get_tokenizer()
        return self.used


class _Found(Protocol):
    """A text or token ids, wherever they are."""

    name: str

    def whole(self) -> Tokens:
        """All of it."""

    def apart(self, n_tokens: int, seed: int) -> tuple[Tokens, str, int]:
        """Tokens to replay, what they are, and how many bytes of the end they are."""

    def corpus(self, held_bytes: int) -> Corpus:
        """All of it but so many bytes of the end."""


def _found(source: Source, most_mb: float, wanted: Wanted, known: _Known) -> _Found:
    if isinstance(source, Text):
        return _OfText(source, None, known)
    if not isinstance(source, (str, Path)):
        return _OfArray(as_tokens(source))
    if str(source).endswith(".i32"):
        return _OfFile(Path(source))
    n_bytes = round(most_mb * MEGABYTE) if 0 < most_mb < math.inf else None
    text = corpora.get_corpus(str(source), n_bytes, wanted.seed, wanted.download)
    return _OfText(text, str(source), known, wanted.download)


class _OfText:
    """A text; `made_as` is its name for `get_corpus`, if it has one."""

    def __init__(
        self,
        text: Text,
        made_as: str | None,
        known: _Known,
        download: Progress | None = None,
    ) -> None:
        self.name = text.name
        self._text = text
        self._made_as = made_as
        self._known = known
        self._download = download

    def whole(self) -> Tokens:
        return self._text.tokens(self._known.tokenizer, keep=False)

    def apart(self, n_tokens: int, seed: int) -> tuple[Tokens, str, int]:
        n_bytes = _TEXT_BYTES_PER_TOKEN * n_tokens
        if self._made_as in _TEST_OF:
            test = corpora.get_corpus(_TEST_OF[self._made_as], progress=self._download)
            return test.tokens(self._known.tokenizer, keep=False)[:n_tokens], test.name, 0
        if self._text.endless and self._made_as:
            other = corpora.get_corpus(self._made_as, n_bytes, seed + 1)
            tokens = other.tokens(self._known.tokenizer, keep=False)[:n_tokens]
            return tokens, f"{self.name} of seed {seed + 1}", 0
        if not isinstance(self._text, corpora.Corpus):
            raise InputError(f"{self.name} has no end to take a text from; give a text, too")
        end = self._text.last_bytes(min(n_bytes, self._text.n_bytes // 2))
        tokens = self._known.tokenizer.encode(end)[-n_tokens:]
        return tokens, f"the end of {self.name}", len(end)

    def corpus(self, held_bytes: int) -> Corpus:
        def blocks(n_bytes: int) -> Iterator[Tokens]:
            return self._text.token_blocks(self._known.tokenizer, n_bytes)

        return Corpus(self.name, self._text.n_bytes - held_bytes, "text", blocks)


class _OfArray:
    """Token ids in memory."""

    def __init__(self, ids: Tokens) -> None:
        self.name = "the token ids given"
        self._ids = ids

    def whole(self) -> Tokens:
        return self._ids

    def apart(self, n_tokens: int, seed: int) -> tuple[Tokens, str, int]:
        tokens = self._ids[-min(n_tokens, len(self._ids) // 2) :]
        return tokens, f"the end of {self.name}", _TOKEN_BYTES * len(tokens)

    def corpus(self, held_bytes: int) -> Corpus:
        ids = self._ids
        starts = range(0, len(ids), _BLOCK_TOKENS)
        return _of_ids(
            self.name,
            _TOKEN_BYTES * len(ids) - held_bytes,
            lambda: (ids[start : start + _BLOCK_TOKENS] for start in starts),
        )


class _OfFile:
    """Token ids in a file, which may be larger than memory."""

    def __init__(self, path: Path) -> None:
        self.name = repr(str(path))
        self._path = path
        with open_file(path) as (_, size):
            self._n_tokens = size // _TOKEN_BYTES

    def whole(self) -> Tokens:
        return read_tokens(self._path)

    def apart(self, n_tokens: int, seed: int) -> tuple[Tokens, str, int]:
        n_tokens = min(n_tokens, self._n_tokens // 2)
        tokens = np.fromfile(self._path, "<i4", offset=_TOKEN_BYTES * (self._n_tokens - n_tokens))
        tokens = as_tokens(tokens[:n_tokens])
        return tokens, f"the end of {self.name}", _TOKEN_BYTES * len(tokens)

    def corpus(self, held_bytes: int) -> Corpus:
        n_bytes = _TOKEN_BYTES * self._n_tokens - held_bytes
        return _of_ids(self.name, n_bytes, lambda: read_token_blocks(self._path))


def _of_ids(name: str, n_bytes: int, all_blocks: Callable[[], Iterator[Tokens]]) -> Corpus:
    def blocks(n_bytes: int) -> Iterator[Tokens]:
        left = n_bytes // _TOKEN_BYTES
        for block in all_blocks():
            yield block[:left]
            left -= len(block)
            if left <= 0:
                return

    return Corpus(name, n_bytes, "token ids of 4 bytes", blocks)

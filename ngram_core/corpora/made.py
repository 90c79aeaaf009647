"""Texts made on the spot, of any size: prose, and the workloads one task after the other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from ..tokenizers import Tokenizer, Tokens, get_tokenizer
from .base import Progress, Text, no_newline
from .prose import WIKITEXT_LIKE, Prose, Recipe
from .vocabulary import other_words
from .workloads import Workload
from .workloads.reading import articles_text

PROSE_BYTES = 541_000_000  # as much as WikiText-103
TASKS_BYTES = 1_000_000

_BLOCK_CHARS = 1 << 16


class MadeProse(Text):
    """Prose in the manner of a small text; see `prose` for how.

    It is made as tokens. With the tokenizer that it is made for these are given as they are (and
    never kept on the disk, which would take longer); for another one the text is encoded like
    any other. Encoding the text anew cuts about 2 tokens in 1,000 otherwise.

    Args:
        n_bytes: most that is taken of it; the article's size by default.
        seed: another seed, another text.
        small_text: what it is made after; by default our ten short articles.
        recipe: how often the next word comes from where.
        made_for: the tokenizer whose tokens are made; Qwen2.5's by default.

    Raises:
        InputError: too small a text, or a tokenizer that leaves out line ends.
    """

    endless = True

    def __init__(
        self,
        n_bytes: int = PROSE_BYTES,
        seed: int = 1,
        small_text: str | None = None,
        recipe: Recipe = WIKITEXT_LIKE,
        made_for: Tokenizer | None = None,
    ) -> None:
        self.name = "prose"
        self.n_bytes = n_bytes
        self.seed = seed
        self._tokenizer = made_for or get_tokenizer()
        self._fingerprint = self._tokenizer.fingerprint
        text = self._tokenizer.encode(articles_text() if small_text is None else small_text)
        words = other_words(self._tokenizer, text)
        line_end = self._tokenizer.encode("\n")
        if not len(line_end):
            raise InputError(f"{self._tokenizer.name} has no token for a line's end; take another")
        self._prose = Prose(text, words, recipe, int(line_end[-1]))
        what = (seed, recipe, self._fingerprint, text.tolist())
        self.digest = hashlib.sha256(repr(what).encode()).hexdigest()

    def all_blocks(self) -> Iterator[bytes]:
        words = _vocabulary(self._tokenizer)
        for tokens in self._prose.token_blocks(self.seed):
            yield b"".join(map(words.__getitem__, tokens.tolist()))

    def token_blocks(
        self,
        tokenizer: Tokenizer,
        n_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Tokens]:
        if not self._is_made_for(tokenizer):
            yield from super().token_blocks(tokenizer, n_bytes, progress)
            return
        total = left = self.checked_size(n_bytes)
        vocabulary = _vocabulary(tokenizer)
        lengths = np.array([len(word) for word in vocabulary])
        ends_line = np.array([word.endswith(b"\n") for word in vocabulary])
        for tokens in self._prose.token_blocks(self.seed):
            ends = np.cumsum(lengths[tokens])
            if ends[-1] >= left:
                break
            yield tokens
            left -= int(ends[-1])
            if progress is not None:
                progress(1 - left / total)
        last = _up_to_last(ends_line, tokens[: np.searchsorted(ends, left, "right")])
        if not len(last) and left == total:
            raise no_newline(total, self.name)
        yield last
        if progress is not None:
            progress(1.0)

    def tokens(
        self,
        tokenizer: Tokenizer,
        n_bytes: int | None = None,
        progress: Progress | None = None,
        keep: bool = True,
    ) -> Tokens:
        keep = keep and not self._is_made_for(tokenizer)
        return super().tokens(tokenizer, n_bytes, progress, keep)

    def _is_made_for(self, tokenizer: Tokenizer) -> bool:
        return not tokenizer.grows and tokenizer.fingerprint == self._fingerprint


class MadeTasks(Text):
    """The tasks of a workload, one after the other, each a prompt and its output.

    Args:
        workload: which.
        n_bytes: most that is taken of it.
        seed: of the first task; the next ones follow.
    """

    endless = True

    def __init__(self, workload: Workload, n_bytes: int = TASKS_BYTES, seed: int = 1) -> None:
        self.name = workload.name
        self.n_bytes = n_bytes
        self.seed = seed
        self._workload = workload
        first = workload.task(seed)  # another version of the workload shows in its first task
        what = (self.name, seed, first.prompt, first.output)
        self.digest = hashlib.sha256(repr(what).encode()).hexdigest()

    def all_blocks(self) -> Iterator[bytes]:
        text = ""
        for task in self._workload.tasks(self.seed):
            text += f"{task.prompt}{task.output}\n"
            if len(text) >= _BLOCK_CHARS:
                yield text.encode()
                text = ""


def _vocabulary(tokenizer: Tokenizer) -> list[bytes]:
    return [tokenizer.token_bytes(token) for token in range(tokenizer.n_vocab)]


def _up_to_last(ends_line: npt.NDArray[np.bool_], tokens: Tokens) -> Tokens:
    lines = np.flatnonzero(ends_line[tokens])
    return tokens[: lines[-1] + 1 if len(lines) else 0]

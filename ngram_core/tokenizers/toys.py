"""Two tokenizers for small examples, with no library behind them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np

from .base import Tokens, Vocabulary
from .text import decoded


class WordTokenizer(Vocabulary):
    """Blank-separated words; ids are given by first appearance.

    The blanks themselves are not kept: decoding puts one space between two words. The ids
    hang on the order in which texts were encoded, so two texts that are compared must go
    through one and the same tokenizer object.

    >>> words = WordTokenizer()
    >>> words.encode("the cat and the dog").tolist()
    [0, 1, 2, 0, 3]
    """

    name = "words"
    grows = True
    between = b" "

    def __init__(self) -> None:
        self._words: list[bytes] = []
        self._ids: dict[str, int] = {}
        super().__init__(self._words)

    def encode_blocks(self, blocks: Iterable[bytes], where: str = "the text") -> Iterator[Tokens]:
        # Joined first: a block's border may cut a word. Words are toys, texts of them small.
        text = "".join(decoded(blocks, where))
        yield np.fromiter((self._id(m.group()) for m in re.finditer(r"\S+", text)), np.int32)

    def _id(self, word: str) -> int:
        known = self._ids.get(word)
        if known is None:
            known = self._ids[word] = len(self._words)
            self._words.append(word.encode())
        return known


class ByteTokenizer(Vocabulary):
    """Each byte of the UTF-8 text is a token: 256 ids.

    >>> ByteTokenizer().encode("abé").tolist()
    [97, 98, 195, 169]
    """

    name = "bytes"

    def __init__(self) -> None:
        super().__init__([bytes([i]) for i in range(256)])

    def encode_blocks(self, blocks: Iterable[bytes], where: str = "the text") -> Iterator[Tokens]:
        for text in decoded(blocks, where):
            yield np.frombuffer(text.encode(), np.uint8).astype(np.int32)

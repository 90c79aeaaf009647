"""What every tokenizer offers, and what they have in common."""

from __future__ import annotations

import hashlib
import struct
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..errors import InputError
from .text import blocks_of, decoded, pieces

Tokens = npt.NDArray[np.int32]


class Tokenizer(Protocol):
    """Text to token ids and back, byte for byte.

    Text that looks like a special token ("<|endoftext|>") is plain text like any other.
    """

    @property
    def name(self) -> str:
        """What to ask `get_tokenizer` for."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the vocabulary, 64 hex digits: equal ids mean equal bytes."""

    @property
    def n_vocab(self) -> int:
        """Every id is below this."""

    @property
    def eos(self) -> int | None:
        """The id that ends a text; encoding never gives it. None if there is none."""

    @property
    def grows(self) -> bool:
        """Whether the vocabulary grows with the texts seen, so that ids hang on their order."""

    @property
    def between(self) -> bytes:
        """What stood between two tokens and is in neither: a space for words, else nothing."""

    def encode(self, text: str | bytes) -> Tokens:
        """The ids of a text: int32, one dimension, a new array.

        Raises:
            FormatError: bytes that are not UTF-8; the message gives the offset.
            InputError: a str that has no UTF-8 form.
        """

    def encode_blocks(self, blocks: Iterable[bytes], where: str = "the text") -> Iterator[Tokens]:
        """The same for a text in blocks, which may be larger than memory; `where` names it."""

    def token_bytes(self, token: int) -> bytes:
        """The bytes that a token stands for; they may be part of a character.

        Raises:
            InputError: not an id of this tokenizer.
        """

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """The text of these ids, exactly as it was encoded."""

    def decode(self, tokens: Iterable[int]) -> str:
        """The same as a str; cut characters show as U+FFFD."""


class Vocabulary(ABC):
    """A tokenizer over a list of byte strings, one for each id. Base of all of ours."""

    name: str
    eos: int | None = None
    grows = False
    between = b""

    def __init__(self, vocabulary: Sequence[bytes]) -> None:
        self._vocabulary = vocabulary

    @property
    def n_vocab(self) -> int:
        return len(self._vocabulary)

    @property
    def fingerprint(self) -> str:
        parts = (struct.pack("<I", len(word)) + word for word in self._vocabulary)
        return hashlib.sha256(b"".join(parts)).hexdigest()

    def encode(self, text: str | bytes) -> Tokens:
        parts = list(self.encode_blocks(blocks_of(text)))
        return np.concatenate(parts) if parts else np.empty(0, np.int32)

    @abstractmethod
    def encode_blocks(self, blocks: Iterable[bytes], where: str = "the text") -> Iterator[Tokens]:
        """The ids of a text in blocks."""

    def token_bytes(self, token: int) -> bytes:
        if not 0 <= token < self.n_vocab:
            raise InputError(
                f"{token} is not a token of {self.name}; its ids go from 0 to {self.n_vocab - 1}"
            )
        return self._vocabulary[token]

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        return self.between.join(self.token_bytes(int(token)) for token in tokens)

    def decode(self, tokens: Iterable[int]) -> str:
        return self.decode_bytes(tokens).decode(errors="replace")


class PieceTokenizer(Vocabulary):
    """A tokenizer whose engine takes one str at a time, and not too long a one."""

    piece_chars = 1 << 18

    @abstractmethod
    def _encode_piece(self, piece: str) -> Tokens: ...

    def encode_blocks(self, blocks: Iterable[bytes], where: str = "the text") -> Iterator[Tokens]:
        return map(self._encode_piece, pieces(decoded(blocks, where), self.piece_chars))

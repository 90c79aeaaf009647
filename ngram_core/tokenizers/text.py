"""Text as the tokenizers take it: checked UTF-8, in pieces of a bounded size.

A big text is encoded piece by piece, so that memory stays small. Where a piece ends matters:
a byte-pair tokenizer first splits text into words, numbers and runs of blanks, and a cut
inside one of those would change its tokens. Two kinds of places are always between them:

    ...end of a line.\\n|Next line          a newline before something that is not blank
    ...a very long lin|, without newline    a letter before something that is not a letter

Only a text that has neither for a whole piece is cut elsewhere, and may differ there by a token.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator

from ..errors import FormatError, InputError

BLOCK_BYTES = 1 << 20
"""How much of a file or a byte string is looked at in one go."""

_SEARCH_CHARS = 1 << 14  # how far back a letter's end is looked for


def blocks_of(text: str | bytes) -> Iterator[bytes]:
    """The UTF-8 bytes of a text, in blocks.

    Raises:
        InputError: a str that holds half a surrogate pair and so has no UTF-8 form.
    """
    if isinstance(text, str):
        try:
            text = text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"the text holds a lone surrogate, {error.object[error.start]!r}, at character"
                f" {error.start}; such a text cannot be written as UTF-8"
            ) from None
    for start in range(0, len(text), BLOCK_BYTES):
        yield text[start : start + BLOCK_BYTES]


class Utf8Decoder:
    """Decodes UTF-8 block by block, where a block's border may cut a character.

    Args:
        where: what to call the text in an error.
    """

    def __init__(self, where: str = "the text") -> None:
        self.offset = 0  #: bytes fed so far
        self._where = where
        self._decoder = codecs.getincrementaldecoder("utf-8")()

    def feed(self, block: bytes, last: bool = False) -> str:
        """The characters that are whole by now.

        Raises:
            FormatError: a byte that is not UTF-8; the message gives its offset in the text.
        """
        begun = len(self._decoder.getstate()[0])  # bytes of a character that waits for its end
        try:
            text = self._decoder.decode(block, last)
        except UnicodeDecodeError as error:
            raise FormatError(
                f"{self._where} is not UTF-8: byte 0x{error.object[error.start]:02x} at offset"
                f" {self.offset - begun + error.start} ({error.reason}); convert it to UTF-8"
            ) from None
        self.offset += len(block)
        return text

    def finish(self) -> None:
        """Say that the text ends here; FormatError if it ends inside a character."""
        self.feed(b"", last=True)


def decoded(blocks: Iterable[bytes], where: str = "the text") -> Iterator[str]:
    """The same for all blocks of a text."""
    decoder = Utf8Decoder(where)
    for block in blocks:
        yield decoder.feed(block)
    decoder.finish()


def pieces(texts: Iterable[str], size: int) -> Iterator[str]:
    """Join texts and cut them again, into pieces of at most `size` characters.

    Args:
        texts: parts of one text, in order.
        size: at least 1.
    """
    waiting = ""
    for text in texts:
        waiting += text
        start = 0
        while len(waiting) - start > size:
            end = start + _cut(waiting[start : start + size + 1])
            yield waiting[start:end]
            start = end
        waiting = waiting[start:]
    if waiting:
        yield waiting


def _cut(text: str) -> int:
    """Where to cut a text that is one character too long; see the head of this file."""
    limit = len(text) - 1
    newline = text.rfind("\n", 0, limit)
    while newline >= 0:
        if not text[newline + 1].isspace():
            return newline + 1
        newline = text.rfind("\n", 0, newline)
    for i in range(limit, max(limit - _SEARCH_CHARS, 0), -1):
        if text[i - 1].isalpha() and not text[i].isalpha():
            return i
    return limit

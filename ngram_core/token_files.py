"""Token ids on disk: raw little-endian int32, nothing else in the file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from ._native import MAX_TOKEN
from .errors import FormatError
from .files import PathLike, open_file

_TOKEN_BYTES = 4
_BLOCK_TOKENS = 1 << 20


def read_tokens(path: PathLike, n_vocab: int | None = None) -> npt.NDArray[np.int32]:
    """The tokens of a file: int32, one dimension, at least one.

    Args:
        path: a file of raw little-endian int32.
        n_vocab: the size of their vocabulary, if it is known.

    Raises:
        FormatError: it is empty, not whole, or an id is outside 0..n_vocab - 1 (without a
            vocabulary 0..2^31 - 2); the message names file and byte offset.
        InputError: not a plain file.
        OSError: it cannot be read.
    """
    return np.concatenate(list(read_token_blocks(path, n_vocab)))


def read_token_blocks(
    path: PathLike, n_vocab: int | None = None, progress: Callable[[float], None] | None = None
) -> Iterator[npt.NDArray[np.int32]]:
    """The same in blocks, for a file larger than memory; `progress` is told the fraction done."""
    where = repr(os.fspath(path))
    largest = MAX_TOKEN if n_vocab is None else n_vocab - 1
    with open_file(path) as (file, size):
        if size == 0:
            raise FormatError(f"{where} is empty; a token file holds raw little-endian int32 ids")
        if size % _TOKEN_BYTES:
            raise FormatError(
                f"{where}, byte {size - size % _TOKEN_BYTES}: the file ends inside a token"
                f" ({size} bytes are not a multiple of 4); it must hold raw little-endian int32 ids"
            )
        n_done = 0
        while n_done * _TOKEN_BYTES < size:
            tokens = np.fromfile(file, "<i4", count=_BLOCK_TOKENS).astype(np.int32, copy=False)
            if not len(tokens):
                raise FormatError(f"{where}: it became shorter while it was read")
            _check_range(tokens, largest, where, n_done)
            yield tokens
            n_done += len(tokens)
            if progress is not None:
                progress(min(1.0, n_done * _TOKEN_BYTES / size))


def _check_range(tokens: npt.NDArray[np.int32], largest: int, where: str, n_before: int) -> None:
    if tokens.min() >= 0 and tokens.max() <= largest:
        return
    at = int(np.argmax((tokens < 0) | (tokens > largest)))
    raise FormatError(
        f"{where}, byte {(n_before + at) * _TOKEN_BYTES}: token {n_before + at} is {tokens[at]}, "
        f"not one of 0 to {largest}; "
        "is this a file of raw little-endian int32 ids of this vocabulary?"
    )

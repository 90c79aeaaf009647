"""Token ids on disk: raw little-endian int32, nothing else in the file."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from ._native import MAX_TOKEN
from .errors import FormatError
from .files import PathLike, open_file

_TOKEN_BYTES = 4


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
    where = repr(os.fspath(path))
    with open_file(path) as (file, size):
        if size == 0:
            raise FormatError(f"{where} is empty; a token file holds raw little-endian int32 ids")
        if size % _TOKEN_BYTES:
            raise FormatError(
                f"{where}, byte {size - size % _TOKEN_BYTES}: the file ends inside a token"
                f" ({size} bytes are not a multiple of 4); it must hold raw little-endian int32 ids"
            )
        tokens = np.fromfile(file, "<i4").astype(np.int32, copy=False)
    _check_range(tokens, MAX_TOKEN if n_vocab is None else n_vocab - 1, where)
    return tokens


def _check_range(tokens: npt.NDArray[np.int32], largest: int, where: str) -> None:
    if tokens.min() >= 0 and tokens.max() <= largest:
        return
    at = int(np.argmax((tokens < 0) | (tokens > largest)))
    raise FormatError(
        f"{where}, byte {at * _TOKEN_BYTES}: token {at} is {tokens[at]}, not one of 0 to {largest};"
        " is this a file of raw little-endian int32 ids of this vocabulary?"
    )

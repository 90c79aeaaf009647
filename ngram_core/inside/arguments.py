"""What the views take: an n-gram, and a cache or the context cache of a drafter."""

from __future__ import annotations

from .._native import Handle, Tokens, as_tokens
from ..caches import NgramCache, TokensLike
from ..drafter import Drafter
from ..errors import InputError


def as_ngram(ngram: TokensLike, n: int | None = None) -> Tokens:
    """1 to 4 tokens, or n of them, as an array."""
    array = as_tokens(ngram)
    low, high = (1, 4) if n is None else (n, n)
    if not low <= len(array) <= high:
        sizes = f"{low} to {high}" if n is None else str(n)
        raise InputError(f"an n-gram of {sizes} tokens is needed here, not of {len(array)}")
    return array


def handle_of(where: NgramCache | Drafter) -> Handle:
    return where._handle

"""Building a static cache in slices, so that it can be watched, paused and stopped."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ..caches import NgramCache
from ..toggles import Toggles
from ..tokenizers import Tokens
from .material import MEGABYTE, Material

_COUNTED_AT_ONCE = 1 << 16  # tokens: some 10 ms
_READING_SHARE = 0.65  # of the whole work; counting takes the rest


class StaticBuild:
    """The static cache of the first megabytes of a corpus, in the making.

    `work` does one slice. What is encoded and counted is kept between slices; `close` frees all.
    """

    def __init__(self, material: Material, size_mb: int, toggles: Toggles) -> None:
        self.size_mb = size_mb
        self.fraction = 0.0
        self.what = f"reading {size_mb} MB of corpus"
        self.cache: NgramCache | None = None  #: complete once `done`
        self.n_tokens = 0
        self.done = False
        self._material = material
        self._toggles = toggles
        self._steps = self._all_steps()

    def work(self, seconds: float) -> None:
        """Goes on for about so many seconds, at least one step."""
        end = time.monotonic() + seconds
        while not self.done:
            self.done = next(self._steps, None) is None
            if time.monotonic() >= end:
                return

    def _all_steps(self) -> Iterator[bool]:
        parts: list[Tokens] = []
        yield from self._encode(parts)
        tokens = np.concatenate(parts)
        parts.clear()
        self.n_tokens = len(tokens)
        yield from self._count(tokens)

    def _encode(self, parts: list[Tokens]) -> Iterator[bool]:
        corpus = self._material.corpus
        assert corpus is not None, "a size above 0 needs a corpus"
        total = self.size_mb * MEGABYTE
        read = 0

        def blocks() -> Iterator[bytes]:
            nonlocal read
            for block in corpus.blocks(total):
                read += len(block)
                yield block

        for part in self._material.tokenizer.encode_blocks(blocks(), corpus.name):
            parts.append(part)
            self.fraction = _READING_SHARE * min(1.0, read / total)
            yield True

    def _count(self, tokens: Tokens) -> Iterator[bool]:
        self.what = f"counting {len(tokens):,} tokens"
        self.cache = NgramCache(self._toggles, n_min=2, n_max=2)
        for start in range(0, len(tokens), _COUNTED_AT_ONCE):
            end = min(start + _COUNTED_AT_ONCE, len(tokens))
            seen = max(0, start - 2)  # the two tokens before belong to the first new 2-gram
            self.cache.update(tokens[seen:end], end - start)
            self.fraction = _READING_SHARE + (1 - _READING_SHARE) * end / len(tokens)
            yield True

    def close(self) -> None:
        """Frees the cache; twice is fine."""
        self._steps = iter(())
        self.done = True
        if self.cache is not None:
            self.cache.close()

"""What every text offers, whether its bytes are in files or are made as they are asked for."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..files import atomic_write
from ..tokenizers import Tokenizer, Tokens

Progress = Callable[[float], None]
"""Called with the fraction done, 0.0 to 1.0; what it raises stops the work."""

_TOKENS_VERSION = b"1"  # change it when encoding changes, and old cached tokens are left alone


class Text(ABC):
    """A long text, read in blocks and encoded once.

    Args:
        name: what to call it.
        n_bytes: how long it is; of a text that is made, the most that is taken of it.
        digest: hex digits that differ where the text differs.
    """

    name: str
    n_bytes: int
    digest: str

    endless = False
    """Whether it is made, without end, and so always cut."""

    @abstractmethod
    def all_blocks(self) -> Iterator[bytes]:
        """All of it, in blocks."""

    def blocks(self, n_bytes: int | None = None) -> Iterator[bytes]:
        """The text, or its first `n_bytes` cut at the last newline, in blocks.

        Raises:
            InputError: `n_bytes` is below 1, or no newline is in them.
        """
        n_bytes = self.checked_size(n_bytes)
        if n_bytes == self.n_bytes and not self.endless:
            return self.all_blocks()
        return first_bytes(self.all_blocks(), n_bytes, self.name)

    def token_blocks(
        self,
        tokenizer: Tokenizer,
        n_bytes: int | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Tokens]:
        """Its token ids, int32, in blocks: for texts larger than memory."""
        n_bytes = self.checked_size(n_bytes)
        blocks = told(self.blocks(n_bytes), n_bytes, progress)
        return tokenizer.encode_blocks(blocks, self.name)

    def tokens(
        self,
        tokenizer: Tokenizer,
        n_bytes: int | None = None,
        progress: Progress | None = None,
        keep: bool = True,
    ) -> Tokens:
        """The token ids of the text, or of its first `n_bytes` cut at the last newline.

        Args:
            tokenizer: what encodes it.
            n_bytes: how much of the text; all of it by default.
            progress: called with the fraction done.
            keep: whether to look for the tokens in the user's cache folder, and put them there.
                Never done for a tokenizer whose vocabulary grows.

        Returns:
            int32, one dimension; read-only and backed by the cached file if there is one.

        Cost: about 0.1 s a megabyte the first time.
        """
        cached = self._cached(tokenizer, n_bytes) if keep and not tokenizer.grows else None
        if cached is not None:
            with contextlib.suppress(OSError, ValueError):
                return _mapped(cached)
            with contextlib.suppress(OSError):  # no such place, or no space: do without
                _keep(self.token_blocks(tokenizer, n_bytes, progress), cached)
                return _mapped(cached)
        arrays = list(self.token_blocks(tokenizer, n_bytes, progress))
        return np.concatenate(arrays) if arrays else np.empty(0, np.int32)

    def checked_size(self, n_bytes: int | None) -> int:
        """How many bytes are meant by `n_bytes`; InputError if it is below 1."""
        if n_bytes is None:
            return self.n_bytes
        if n_bytes < 1:
            raise InputError(f"{n_bytes} bytes of {self.name}: need at least 1")
        return min(n_bytes, self.n_bytes)

    def _cached(self, tokenizer: Tokenizer, n_bytes: int | None) -> Path | None:
        folder = cache_folder()
        if folder is None:
            return None
        size = b"all" if n_bytes is None or n_bytes >= self.n_bytes else str(n_bytes).encode()
        parts = (_TOKENS_VERSION, self.digest.encode(), size, tokenizer.fingerprint.encode())
        return folder / "tokens" / f"{hashlib.sha256(b' '.join(parts)).hexdigest()}.i32"


def cache_folder() -> Path | None:
    """Where this user's caches belong, None if the system does not say."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "ngram-core"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    where = {"darwin": "Library/Caches", "win32": "AppData/Local"}.get(sys.platform, ".cache")
    return home / where / "ngram-core"


def first_bytes(blocks: Iterable[bytes], n_bytes: int, name: str) -> Iterator[bytes]:
    """The first `n_bytes` of a longer text, cut after the last newline in them."""
    left, found = n_bytes, False
    held = b""  # what follows the last newline so far; dropped if there is no other
    for block in blocks:
        held += block[:left]
        left -= len(block)
        line_end = held.rfind(b"\n") + 1
        if line_end:
            yield held[:line_end]
            found, held = True, held[line_end:]
        if left <= 0:
            break
    if not found:
        raise no_newline(n_bytes, name)


def no_newline(n_bytes: int, name: str) -> InputError:
    return InputError(f"no newline in the first {n_bytes} bytes of {name}; take more of it")


def told(blocks: Iterable[bytes], total: int, progress: Progress | None) -> Iterator[bytes]:
    """The same blocks; `progress` is told when one has been dealt with."""
    done = 0
    for block in blocks:
        yield block
        done += len(block)
        if progress is not None:
            progress(min(done / total, 1.0))


def _keep(parts: Iterable[Tokens], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        for part in parts:
            file.write(part.astype("<i4", copy=False).data)


def _mapped(path: Path) -> Tokens:
    """Cached tokens, read from the disk as they are used."""
    return np.asarray(np.memmap(path, np.dtype("<i4"), "r"))

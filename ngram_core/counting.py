"""Counting the 2-grams of a corpus that may be larger than memory."""

from __future__ import annotations

from os import PathLike

from . import _native
from ._native import as_tokens
from .caches import (
    SLICE_TOKENS,
    Memory,
    NgramCache,
    Progress,
    TokensLike,
    group,
    write_pieces,
)
from .closing import Closing
from .errors import InputError
from .files import atomic_write
from .static_file import StaticAbout
from .toggles import CONSTMAP, NOCOPY, Toggles

FORMATS = ("ngc", "legacy", "constmap")
"""File formats that `save` writes: our own, llama.cpp's, and the fork's."""


class BigramCounter(Closing):
    """Counts a stream of tokens; then saves the static cache, or makes one in memory.

    Takes some 20 to 26 bytes for each different pair of a 2-gram and a follower, whatever the
    length of the stream, up to 2^32 - 1 tokens of up to 2^21 - 1 different ids. A context manager.

    Args:
        in_order: keeps the order of the stream, which llama.cpp's file and most caches show.
            Without it counts take 5 to 9 bytes for each pair, and up to 80 MB beside them, for a
            static cache of the kind "ngc" alone: its bytes depend on the counts and on nothing
            else.

    >>> counter = BigramCounter()
    >>> counter.add([7, 8, 9, 7])
    >>> counter.add([8, 9])
    >>> with counter.cache() as cache:
    ...     [x.tolist() for x in cache.followers([7, 8])]
    [[9], [2]]
    """

    def __init__(self, in_order: bool = True) -> None:
        self._in_order = in_order
        self._handle = _native.NativeCounter(in_order)

    def add(self, tokens: TokensLike) -> None:
        """Counts the next tokens of the stream; int ids, shape (n,). Cost: some 20 ns a token.

        Ctrl-C is heard in between; `n_tokens` says how many are counted then.
        """
        array = as_tokens(tokens)
        done = 0
        while done < len(array):
            done += self._handle.add(array[done : done + SLICE_TOKENS])

    def end_text(self) -> None:
        """What is added from here on is another text: nothing is counted across the border, as
        if each text had its own counter and the counts were added."""
        self._handle.end_text()

    @property
    def n_tokens(self) -> int:
        """Tokens counted so far."""
        return self._handle.tokens()

    def group(self, progress: Progress | None = None) -> None:
        """Groups what was counted by 2-gram, and ends the counting: nothing can be added after it.

        What needs the counts does it, too; called before, it can be watched. Cost: some 150 ns a
        pair of a 2-gram and a follower.

        Args:
            progress: called with the fraction done; Ctrl-C is heard between slices, and a later
                call goes on from there.
        """
        group(self._handle, progress)

    def facts(self) -> dict[str, int]:
        """n_grams and n_followers. Ends the counting."""
        self.group()
        facts = self._handle.facts()
        return {name: facts[name] for name in ("n_grams", "n_followers")}

    def memory(self) -> Memory:
        """Bytes asked of malloc by the counts."""
        return Memory(**self._handle.memory())

    def cache(
        self,
        toggles: Toggles = NOCOPY.toggles,
        about: StaticAbout | None = None,
        progress: Progress | None = None,
    ) -> NgramCache:
        """A static cache in the structure asked for. Ends the counting; the counts stay.

        Args:
            about: with static="ngc", what the file will say of itself.
            progress: called with the fraction done; Ctrl-C is heard between slices.
        """
        self._check_order(toggles.static)
        self.group()
        return NgramCache._from_counts(self._handle, toggles, about, progress)

    def save(
        self,
        path: str | PathLike[str],
        format: str = "ngc",
        progress: Progress | None = None,
        about: StaticAbout | None = None,
    ) -> None:
        """Writes the static cache, beside the target first, then renamed. Ends the counting.

        "legacy" gives the bytes that a Linux build of llama.cpp writes for the same stream; "ngc"
        says what `about` says, and has the same bytes for the same counts in whatever order.
        """
        if format not in FORMATS:
            raise InputError(f"there is no format {format!r}; there are: {', '.join(FORMATS)}")
        self._check_order(format)
        facts = self.facts()
        if format != "legacy":
            with self.cache(CONSTMAP.toggles.set(static=format), about, progress) as cache:
                cache.save(path)
            return
        total = 20 * facts["n_grams"] + 8 * facts["n_followers"]
        with atomic_write(path) as file:
            write_pieces(file, self._handle.save_legacy(), total, progress)

    def _check_order(self, kind: str) -> None:
        if not self._in_order and kind != "ngc":
            raise InputError(
                f"counts without their order make ngc caches alone, not {kind!r}; count with"
                " in_order=True"
            )

    def close(self) -> None:
        """Frees its memory; twice is fine."""
        self._handle.close()

"""Adding up static caches: parts of a corpus, counted apart, become one file."""

from __future__ import annotations

import re
from os import PathLike

from .caches import NgramCache, Progress
from .errors import InputError
from .files import open_file
from .static_file import MAGIC, StaticAbout, build_static
from .toggles import CONSTMAP

_OURS = CONSTMAP.toggles.set(static="ngc")
_MOST_NAMES = 3


def merge_static(
    a: str | PathLike[str], b: str | PathLike[str], progress: Progress | None = None
) -> NgramCache:
    """The counts of two of our static files, added up: a cache that `save` writes.

    The file has the bytes that one counter would write which took both texts, `end_text` between
    them: what stands across the border of two parts is in neither. A sum that would pass 2^31 - 1
    stays there.

    Args:
        a: a file that `save` wrote with format "ngc".
        b: another, or the same.
        progress: called with the fraction done; Ctrl-C is heard between slices.

    Raises:
        FormatError: a file is damaged; both are read whole, with their checksums.
        InputError: the files were counted with different tokenizers; the message names both.
        OSError: a file cannot be read.

    Cost: linear. Memory: the new file, and some 28 bytes a 2-gram and 8 a follower of both.
    """
    with _opened(a) as first, _opened(b) as second:
        assert first.about is not None, "it was opened as our own file"
        assert second.about is not None, "it was opened as our own file"
        about = joined(first.about, second.about, (str(a), str(b)))
        for cache in (first, second):
            cache.check_file()
        handle = build_static(first._handle, _OURS, about, progress, added=second._handle)
    return NgramCache._around(handle, _OURS)


def _opened(path: str | PathLike[str]) -> NgramCache:
    with open_file(path) as (file, _):
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError(f"{path} is no static file of ours; write one with format 'ngc'")
    return NgramCache.open(path, _OURS, static=True)


def joined(a: StaticAbout, b: StaticAbout, where: tuple[str, str]) -> StaticAbout:
    """What the sum of two files says of itself; `where` names them in messages.

    It names a tokenizer only if both do.

    >>> parts = StaticAbout(corpus="a.txt, b.txt"), StaticAbout(corpus="c.txt and 2 more")
    >>> joined(*parts, ("a", "b")).corpus
    'a.txt, b.txt, c.txt and 2 more'
    """
    if a.fingerprint and b.fingerprint and a.fingerprint != b.fingerprint:
        raise InputError(
            f"{where[0]} was counted with the tokenizer {a.tokenizer_said} and {where[1]} with"
            f" {b.tokenizer_said}: the same numbers mean other words; count both with one tokenizer"
        )
    both = bool(a.fingerprint and b.fingerprint)
    return StaticAbout(
        tokenizer=a.tokenizer if both else "",
        fingerprint=a.fingerprint if both else "",
        n_vocab=max(a.n_vocab, b.n_vocab),
        corpus=corpora_note(_names(a.corpus) + _names(b.corpus)),
        built_by=StaticAbout.of(None).built_by,
    )


def corpora_note(names: list[str | None]) -> str:
    """The first names of a list and how many more there are; None stands for an unknown one.

    >>> corpora_note(["a", "b", "c", "d", None])
    'a, b, c and 2 more'
    """
    known = [name for name in names if name is not None][:_MOST_NAMES]
    n_more = len(names) - len(known)
    if not known:
        return ""
    return ", ".join(known) + (f" and {n_more} more" if n_more else "")


def _names(note: str) -> list[str | None]:
    """The names in such a note, and a None for each that it only counts."""
    match = re.fullmatch(r"(.*?)(?: and (\d{1,6}) more)?", note, re.S)
    assert match is not None, "both parts may be empty"
    listed: list[str | None] = list(match[1].split(", ")) if match[1] else [None]
    return listed + [None] * int(match[2] or 0)

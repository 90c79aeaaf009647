"""A model of the order in which GNU libstdc++'s `unordered_map` holds its entries.

An oracle for `ties="library"`: the reference with these maps in place of dicts drafts what a
Linux build of llama.cpp drafts, and writes the bytes of its cache files.

The order, as facts: all nodes hang on one singly linked list, and a bucket knows the node
*before* its first one. A new node goes right behind that, or, if its bucket is empty, to the
very front of the list. The map grows just before an absent key would exceed one entry a bucket.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from ngram_core import reference

BUCKET_COUNTS = (
    *(1, 13, 29, 59, 127, 257, 541, 1109, 2357, 5087, 10273, 20753, 42043, 85229, 172933),
    *(351061, 712697, 1447153, 2938679, 5967347),
)

HEAD = "before the first node"


def token_hash(token: int) -> int:
    return token


def ngram_hash(ngram: tuple[int, ...]) -> int:
    """llama.cpp's hash of an n-gram: four slots, the unused ones -1, xored together."""
    mixed = 0
    for token in ngram + (-1,) * (4 - len(ngram)):
        mixed ^= token * 11400714819323198485 % 2**64
    return mixed


class LibraryMap(dict[Any, Any]):
    """A dict that iterates in libstdc++'s order."""

    def __init__(self, hash_of: Callable[[Any], int] = token_hash) -> None:
        super().__init__()
        self.hash_of = hash_of
        self.n_buckets = 1
        self._unlink_all()

    def _unlink_all(self) -> None:
        self._next: dict[Any, Any] = {HEAD: None}
        self._before: dict[int, Any] = {}

    def _bucket(self, key: Any) -> int:
        return self.hash_of(key) % self.n_buckets

    def _link(self, key: Any) -> None:
        bucket = self._bucket(key)
        if bucket in self._before:
            before = self._before[bucket]
        else:
            before = HEAD
            first = self._next[HEAD]
            if first is not None:
                self._before[self._bucket(first)] = key
            self._before[bucket] = HEAD
        self._next[key] = self._next[before]
        self._next[before] = key

    def _grow(self) -> None:
        in_order = list(self)
        self.n_buckets = BUCKET_COUNTS[BUCKET_COUNTS.index(self.n_buckets) + 1]
        self._unlink_all()
        for key in in_order:
            self._link(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        if key not in self:
            room = self.n_buckets if self.n_buckets > 1 else 0  # the first key needs buckets, too
            if len(self) + 1 > room:
                self._grow()
            self._link(key)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        key = self._next[HEAD]
        while key is not None:
            yield key
            key = self._next[key]

    def items(self) -> Any:
        return [(key, self[key]) for key in self]

    def clear(self) -> None:
        """Empties it; the number of buckets stays."""
        super().clear()
        self._unlink_all()

    def copy(self) -> LibraryMap:
        twin = LibraryMap(self.hash_of)
        dict.update(twin, self)
        twin.n_buckets = self.n_buckets
        twin._next, twin._before = dict(self._next), dict(self._before)
        return twin


class LibraryCache(LibraryMap):
    """A map from n-grams to maps of followers, as llama.cpp nests them."""

    def __init__(self) -> None:
        super().__init__(ngram_hash)

    def setdefault(self, ngram: Any, default: Any = None) -> Any:
        if ngram not in self:
            self[ngram] = LibraryMap()
        return self[ngram]

    @classmethod
    def load(cls, table: dict[Any, Any]) -> LibraryCache:
        """What loading a file with these n-grams and followers, in this order, gives."""
        cache = cls()
        for ngram, followers in table.items():
            held = cache.setdefault(ngram)
            for token, count in followers.items():
                held[token] = count
        return cache


def merge(into: LibraryCache, other: LibraryCache) -> None:
    """As the reference's, but an absent n-gram gets a copy, with its order and buckets."""
    for ngram, counts in other.items():
        if ngram not in into:
            into[ngram] = counts.copy()
            continue
        followers = into[ngram]
        for token, count in counts.items():
            followers[token] = min(followers.get(token, 0) + count, reference.MAX_COUNT)


class LibraryDrafter(reference.Drafter):
    """The reference's drafter over library maps."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context = LibraryCache()
        self.n_buckets_at_start = 1

    def rewind(self, length: int) -> None:
        kept, self.text = self.text[:length], []
        self.context = LibraryCache()
        self.context.n_buckets = self.n_buckets_at_start
        self.feed(kept)

    def reset(self) -> None:
        if self.dynamic is not None:
            merge(self.dynamic, self.context)  # type: ignore[arg-type]
        self.text = []
        self.context.clear()  # keeps its buckets, as llama.cpp's does from chunk to chunk
        self.n_buckets_at_start = self.context.n_buckets  # type: ignore[attr-defined]


@contextmanager
def library_ties() -> Iterator[None]:
    """Inside, the reference decides ties by the order of its maps, which must be library maps."""
    with mock.patch.multiple(reference, visiting_order=list, Drafter=LibraryDrafter):
        yield

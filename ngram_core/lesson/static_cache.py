"""Static caches in the making: a corpus is counted once, then put into any structure.

Both take a while and go on in the background, so that they can be watched, paused and stopped.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..caches import NgramCache
from ..closing import Closing
from ..counting import BigramCounter
from ..toggles import Toggles
from .background import Job, Sweeper, Tell
from .material import MEGABYTE, Material
from .runs import Setting

_COUNTED_AT = 0.9  # of reading and counting; grouping the counts is one call of the engine


@dataclass
class Counts(Closing):
    """The counted 2-grams of the first megabytes of a corpus."""

    size_mb: int
    n_bytes: int  # asked of malloc; the counter itself cannot be asked while it fills a cache
    counter: BigramCounter

    def close(self) -> None:
        self.counter.close()


def counting(material: Material, size_mb: int) -> Job[Counts]:
    """Reads, encodes and counts the first megabytes of the corpus."""

    def work(tell: Tell) -> Counts:
        counter = BigramCounter()
        try:
            _count(material, size_mb, counter, tell)
        except BaseException:
            counter.close()
            raise
        return Counts(size_mb, counter.memory().live_bytes, counter)

    return Job(work, Counts.close)


def _count(material: Material, size_mb: int, counter: BigramCounter, tell: Tell) -> None:
    corpus = material.corpus
    assert corpus is not None, "a size above 0 needs a corpus"
    total = size_mb * MEGABYTE
    blocks = corpus.token_blocks(material.tokenizer, total, lambda done: tell(_COUNTED_AT * done))
    for tokens in blocks:
        counter.add(tokens)
    counter.group()
    tell(1.0)


def filling(counts: Counts, toggles: Toggles) -> Job[NgramCache]:
    """Puts counts into the structure that the toggles ask for; the counts stay."""
    return Job(lambda tell: counts.counter.cache(toggles, progress=tell), NgramCache.close)


class StaticStore:
    """The static cache of the setting in hand, and the counts that others can be made of.

    Args:
        sweeper: frees what is no longer needed.
        keeps: whether counts of so many bytes may stay for other structures.
    """

    def __init__(
        self, material: Material, sweeper: Sweeper, keeps: Callable[[int], bool] = lambda _n: True
    ) -> None:
        self.cache: NgramCache | None = None
        self.seconds = 0.0  #: worked on what is in the making
        self.filled_seconds = 0.0  #: what putting the counts into this structure took
        self._material = material
        self._sweeper = sweeper
        self._keeps = keeps
        self._counts: Counts | None = None
        self._counting: tuple[int, Job[Counts]] | None = None
        self._filling: tuple[tuple[object, ...], Job[NgramCache]] | None = None
        self._holds: tuple[object, ...] | None = None  # which static cache `cache` is

    def has(self, setting: Setting) -> bool:
        """Whether the setting's static cache is there; there is none at size 0."""
        return setting.size_mb == 0 or self._holds == setting.static_cache

    def has_counted(self, size_mb: int) -> bool:
        """Whether the corpus need not be read for this size."""
        return self._counts is not None and self._counts.size_mb == size_mb

    def work(self, setting: Setting, seconds: float) -> None:
        """Goes on for so many seconds at most."""
        begun = time.monotonic()
        if self.has_counted(setting.size_mb):
            self._fill(setting, seconds)
        else:
            self._count(setting.size_mb, seconds)
        self.seconds += time.monotonic() - begun

    def _count(self, size_mb: int, seconds: float) -> None:
        if self._counting is None or self._counting[0] != size_mb:
            self.drop()
            self._counting = size_mb, counting(self._material, size_mb)
            self.seconds = 0.0
        job = self._counting[1]
        if job.wait(seconds):
            self._counting = None
            self._counts = job.result()
            self.seconds = 0.0

    def _fill(self, setting: Setting, seconds: float) -> None:
        wanted = setting.static_cache
        if self._filling is None or self._filling[0] != wanted:
            self.drop_cache()
            assert self._counts is not None, "has_counted() was asked"
            self._filling = wanted, filling(self._counts, setting.toggles)
            self.seconds = 0.0
        job = self._filling[1]
        if job.wait(seconds):
            self._filling = None
            self.cache, self._holds = job.result(), wanted
            self.filled_seconds = job.seconds
            assert self._counts is not None
            if not self._keeps(self._counts.n_bytes):
                self._drop_counts()

    def pause(self) -> None:
        """Lets nothing go on in the background until there is work again."""
        for job in self._jobs():
            job.pause()

    def _jobs(self) -> list[Job[Any]]:
        return [pair[1] for pair in (self._counting, self._filling) if pair is not None]

    @property
    def fraction(self) -> float:
        """How far the work in hand is."""
        return next((job.fraction for job in self._jobs()), 0.0)

    def what(self, setting: Setting) -> str:
        """The work in hand, in a few words."""
        if self.has_counted(setting.size_mb):
            return "building the static cache"
        return f"counting {setting.size_mb} MB of corpus"

    def held_bytes(self, setting: Setting) -> int:
        """Bytes that are given back when that setting is taken in hand."""
        held = 0
        if self.cache is not None and not self.has(setting):
            held += self.cache.memory().live_bytes
        if self._counts is not None and self._counts.size_mb != setting.size_mb:
            held += self._counts.n_bytes
        return held

    def drop_cache(self) -> None:
        """Frees the cache, and gives up one in the making; the counts stay."""
        if self._filling is not None:
            self._give_up(self._filling[1])
            self._filling = None
        if self.cache is not None:
            self._sweeper.sweep([self.cache])
            self.cache = self._holds = None

    def drop(self) -> None:
        """Frees the counts, too."""
        self.drop_cache()
        if self._counting is not None:
            self._give_up(self._counting[1])
            self._counting = None
        self._drop_counts()

    def _give_up(self, job: Job[Any]) -> None:
        job.give_up()
        self._sweeper.sweep([job])  # nothing is measured before it is over

    def _drop_counts(self) -> None:
        if self._counts is not None:
            self._sweeper.sweep([self._counts])
            self._counts = None

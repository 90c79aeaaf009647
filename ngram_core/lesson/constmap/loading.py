"""What it takes to load a static cache: time, file and memory by stage, measured here."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from ... import inside
from ...caches import NgramCache
from ...corpora import MadeProse
from ...counting import BigramCounter
from ...published import PUBLISHED
from ...toggles import CONSTMAP, INNERVECTOR, OUTERMAP, UPSTREAM, Toggles
from ...tokenizers import get_tokenizer
from ..bars import Bar, Bars, Column

MEGABYTE = 1_000_000
PUBLISHED_FILE_MB = {"legacy": 485, "constmap": 467}
"""Of the static cache file from 541 MB; same source as `PUBLISHED`."""

_OURS = "ours, mapped"
STAGES: dict[str, tuple[str, Toggles]] = {
    "upstream": ("legacy", UPSTREAM.toggles),
    "outermap": ("legacy", OUTERMAP.toggles),
    "innervector": ("legacy", INNERVECTOR.toggles),
    "constmap": ("constmap", CONSTMAP.toggles),
    _OURS: ("ngc", CONSTMAP.toggles.set(static="ngc")),
}
"""Stage -> the format that it loads, and its structure."""


@dataclass
class Loaded:
    """One stage's loads of one file."""

    stage: str
    file_format: str
    file_bytes: int
    ms: list[float] = field(default_factory=list)
    memory_bytes: int = 0  #: asked of malloc
    blocks: int = 0  #: in so many pieces
    mapped_bytes: int = 0  #: of a file that is read where it lies

    @property
    def median_ms(self) -> float:
        return statistics.median(self.ms)


@dataclass(frozen=True)
class Loads:
    """All stages on one corpus."""

    corpus_bytes: int
    n_grams: int
    n_pairs: int
    unverified: int  #: of `n_forged` 2-grams that were never put in, so many would be answered
    n_forged: int
    read_ms: float  #: for reading llama.cpp's file and doing nothing with it
    stages: dict[str, Loaded]

    @property
    def bytes_a_key(self) -> float:
        """Of a constmap's file, besides the pairs."""
        return (self.stages["constmap"].file_bytes - 8 * self.n_pairs) / self.n_grams

    def faster(self, stage: str, than: str = "innervector") -> float:
        return self.stages[than].median_ms / self.stages[stage].median_ms

    def __str__(self) -> str:
        one = self.stages
        return (
            f"{self.corpus_bytes // MEGABYTE} MB of made prose: {self.n_grams:,} 2-grams,"
            f" {self.n_pairs:,} pairs of 2-gram and follower.\n"
            f"Bytes of the file: llama.cpp’s {one['innervector'].file_bytes:,}, constmap’s"
            f" {one['constmap'].file_bytes:,}, ours {one[_OURS].file_bytes:,}."
        )

    def naive(self) -> str:
        """What llama.cpp's own code does with its file."""
        up = self.stages["upstream"]
        return (
            f"upstream takes {_ms(up.median_ms)} ms for {up.file_bytes / MEGABYTE:.1f} MB and makes"
            f" {up.blocks:,} blocks of memory, one by one.\n"
            f"Reading the same bytes and doing nothing with them takes {_ms(self.read_ms)} ms."
        )

    def forging(self) -> str:
        """How often a map without checks would answer what it does not hold."""
        share = 100 * self.unverified / self.n_forged
        return (
            f"{self.n_forged:,} made-up 2-grams: without the check {self.unverified:,} would be"
            f" answered ({share:.0f} %), with it none."
        )


def measure(mb: int = 5, runs: int = 3, tell: Callable[[str], None] | None = None) -> Loads:
    """Counts made prose, writes it in each format, and loads it with each stage, in turn.

    Args:
        mb: megabytes of prose.
        runs: loads of each stage; medians are shown.
    """
    tokenizer = get_tokenizer()
    with tempfile.TemporaryDirectory() as home, BigramCounter() as counter:
        for block in MadeProse(made_for=tokenizer).token_blocks(tokenizer, mb * MEGABYTE):
            counter.add(block)
        counter.group()
        paths = {}
        for name, toggles in dict(STAGES.values()).items():
            paths[name] = Path(home, f"{name}.cache")
            with counter.cache(toggles) as cache:
                cache.save(paths[name])
        facts = counter.facts()
        stages = {
            stage: Loaded(stage, file_format, paths[file_format].stat().st_size)
            for stage, (file_format, _) in STAGES.items()
        }
        read_ms = []
        for _ in range(runs):
            read_ms.append(_read(paths["legacy"]))
            for stage, (file_format, toggles) in STAGES.items():
                _load(stages[stage], paths[file_format], toggles)
                if tell is not None:
                    tell(stage)
        unverified, n_forged = _forge(paths["constmap"], tokenizer.n_vocab)
    return Loads(
        mb * MEGABYTE,
        facts["n_grams"],
        facts["n_followers"],
        unverified,
        n_forged,
        statistics.median(read_ms),
        stages,
    )


def _read(path: Path) -> float:
    begun = time.perf_counter()
    path.read_bytes()
    return 1000 * (time.perf_counter() - begun)


def _load(loaded: Loaded, path: Path, toggles: Toggles) -> None:
    begun = time.perf_counter()
    cache = NgramCache.open(path, toggles, static=True)
    loaded.ms.append(1000 * (time.perf_counter() - begun))
    memory = cache.memory()
    loaded.memory_bytes, loaded.mapped_bytes = memory.live_bytes, memory.mapped_bytes
    loaded.blocks = memory.live_allocations
    cache.close()


def _forge(path: Path, n_vocab: int, n: int = 10_000) -> tuple[int, int]:
    """Of n random 2-grams that the map does not hold, how many lead to a place."""
    chance = random.Random(7)
    answered = forged = 0
    with NgramCache.open(path, CONSTMAP.toggles, static=True) as cache:
        while forged < n:
            pair = (chance.randrange(n_vocab), chance.randrange(n_vocab))
            look = inside.fuse_look_up(cache, pair)
            forged += look.verdict != "found"
            inside_pairs = look.position + look.length <= cache.n_followers
            answered += look.verdict != "found" and look.length >= 1 and inside_pairs
    return answered, n


def bars(loads: Loads) -> Bars:
    """The loads as bars: the time, the file, the memory; beside the published ones."""
    published = {line.stage: line for line in PUBLISHED if line.corpus_mb == 541}
    columns = [
        Column(
            "time to load",
            [Bar(s.median_ms, f"{_ms(s.median_ms)} ms ({_ms(min(s.ms))} – {_ms(max(s.ms))})")
             for s in loads.stages.values()],
            [_told(published[s].load_ms, "ms") if s in published else None for s in loads.stages],
        ),
        Column(
            "file",
            [Bar(s.file_bytes, f"{s.file_bytes / MEGABYTE:.1f} MB") for s in loads.stages.values()],
            [_told(PUBLISHED_FILE_MB.get(s.file_format), "MB") for s in loads.stages.values()],
        ),
        Column(
            "memory",
            [Bar(s.memory_bytes, _memory(s)) for s in loads.stages.values()],
            [_told(published[s].static_mb, "MB") if s in published else None for s in loads.stages],
        ),
    ]  # fmt: skip
    return Bars(
        "Loading one static cache",
        "stage",
        list(loads.stages),
        columns,
        f"Measured here: {loads.corpus_bytes // MEGABYTE} MB of made prose, medians of"
        f" {len(loads.stages['constmap'].ms)} loads in turn, memory as asked of malloc.",
        "with 541 MB of corpus",
    )


def _told(number: int | None, unit: str) -> Bar | None:
    return None if number is None else Bar(number, f"{number:,} {unit}")


def _memory(loaded: Loaded) -> str:
    if loaded.mapped_bytes:
        return f"0 MB, and {loaded.mapped_bytes / MEGABYTE:.1f} mapped"
    return f"{loaded.memory_bytes / MEGABYTE:.1f} MB"


def _ms(number: float) -> str:
    return f"{number:,.0f}" if number >= 20 else f"{number:.1f}" if number >= 1 else f"{number:.2f}"

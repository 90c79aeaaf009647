"""What a race measured, as plain records; `report` turns them into tables.

Each figure names what it is per: a drafted token, a replayed token, or a draft call. A call is
one draft and the counting of the tokens it led to. Times are ns, sizes bytes, unless a name says
otherwise; a corpus is measured in MB of 10^6 bytes.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ..caches import Memory
from ..errors import FormatError, InputError
from ..published import Published
from .records import from_plain, to_plain


@dataclass(frozen=True)
class Spread:
    """What several runs of one thing gave: how many, the middle one, the extremes.

    >>> Spread.of([3.0, 1.0, 2.0])
    Spread(n=3, median=2.0, low=1.0, high=3.0)
    """

    n: int
    median: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        median = float(statistics.median(values))
        return Spread(len(values), median, float(min(values)), float(max(values)))


@dataclass(frozen=True)
class Bin:
    """How many draft calls, over all runs, took less than `below_ns`, and not less than the bin
    before."""

    below_ns: float
    n_calls: int


@dataclass(frozen=True)
class Calls:
    """How long one draft call took. The spreads are those of the runs, each with all its calls."""

    mean_ns: Spread
    p50_ns: Spread
    p99_ns: Spread
    max_ns: Spread
    histogram: tuple[Bin, ...]


@dataclass(frozen=True)
class Load:
    """Opening the static cache's file, in the stage's own format.

    Args:
        format: "legacy" is llama.cpp's.
        warm_ns: the file was in the system's memory, having been read before.
        cold_ns: the system was asked to forget the file, and was seen to have done so; the disk's
            own memory may still hold it. None where that could not be had.
    """

    format: str
    file_bytes: int
    warm_ns: Spread
    cold_ns: int | None


@dataclass(frozen=True)
class Structures:
    """Bytes by structure, from the engine's allocators.

    Args:
        context: of one full chunk.
        dynamic: at the end of the text.
        static: after loading; None without one.
    """

    context: Memory
    dynamic: Memory
    static: Memory | None


@dataclass(frozen=True)
class Resident:
    """Memory of the stage's own process as the system counts it; None where it does not tell.

    Medians of the runs: before and after loading the static cache, at the end, and the most.
    """

    before_bytes: int | None
    loaded_bytes: int | None
    end_bytes: int | None
    peak_bytes: int | None


@dataclass(frozen=True)
class StageFigures:
    """One stage with one size of corpus.

    Args:
        again: it is the first stage a second time, to see the noise.
        first_ns_per_drafted: of the first replay after loading, which also warms up; all other
            times are of the second one in the same process.
        ns_per_drafted: None if nothing was drafted.
        checksums: of all drafts, in hex; one if all runs drafted the same.
    """

    stage: str
    again: bool
    toggles: dict[str, str | bool]
    n_replayed: int
    n_calls: int
    n_drafted: int
    n_accept: int
    ns_per_drafted: Spread | None
    ns_per_replayed: Spread
    first_ns_per_drafted: Spread | None
    calls: Calls
    load: Load | None
    memory: Structures
    resident: Resident
    checksums: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.stage} again" if self.again else self.stage

    @property
    def accept_pct(self) -> float | None:
        """Accepted of drafted tokens, in per cent; None if nothing was drafted."""
        return 100.0 * self.n_accept / self.n_drafted if self.n_drafted else None


@dataclass(frozen=True)
class Noise:
    """The first stage raced against itself. Differences below `spread_pct` mean nothing.

    Args:
        apart_pct: how far its two medians are apart.
        spread_pct: how far its slowest run, of both, is above its fastest.
    """

    apart_pct: float
    spread_pct: float


@dataclass(frozen=True)
class SizeFigures:
    """All stages with one size of corpus; 0 is none, without a static cache.

    Args:
        corpus_tokens: how many were counted.
        n_grams: 2-grams in the static cache.
        n_followers: pairs of a 2-gram and a follower.
    """

    size_mb: float
    corpus_tokens: int
    n_grams: int
    n_followers: int
    stages: tuple[StageFigures, ...]

    def stage(self, name: str) -> StageFigures:
        """The figures of a stage.

        Raises:
            InputError: it has none with this size.
        """
        for figures in self.stages:
            if figures.name == name:
                return figures
        has = ", ".join(figures.name for figures in self.stages)
        raise InputError(f"no figures of {name!r} with {self.size_mb:g} MB; there are: {has}")

    @property
    def drafts_equal(self) -> bool:
        """Whether every run of every stage drafted the same tokens."""
        return len({checksum for figures in self.stages for checksum in figures.checksums}) == 1

    @property
    def other_drafts(self) -> tuple[str, ...]:
        """The stages that did not draft what the first one did, in all runs."""
        first = self.stages[0].checksums[:1] if self.stages else ()
        return tuple(figures.name for figures in self.stages if figures.checksums != first)

    @property
    def accept_pct(self) -> float | None:
        """Of the first stage; all have it if `drafts_equal`."""
        return self.stages[0].accept_pct if self.stages else None

    @property
    def noise(self) -> Noise | None:
        """None before the second of the two has run, or if nothing was drafted."""
        raced = {figures.name: figures.ns_per_drafted for figures in self.stages}
        twice = [figures for figures in self.stages if figures.again]
        a, b = (raced.get(twice[0].stage), raced[twice[0].name]) if twice else (None, None)
        if a is None or b is None:
            return None
        return Noise(
            100 * (max(a.median, b.median) / min(a.median, b.median) - 1),
            100 * (max(a.high, b.high) / min(a.low, b.low) - 1),
        )

    def times_faster(self, name: str, than: str) -> float | None:
        """Medians of the time per drafted token, divided; None if nothing was drafted."""
        fast, slow = self.stage(name).ns_per_drafted, self.stage(than).ns_per_drafted
        return None if fast is None or slow is None else slow.median / fast.median

    def clock_ns(self, name: str, reading_ns: float) -> float:
        """What reading the clock adds to a stage's time per drafted token: each call's time holds
        two readings, one in drafting and one in counting. 0 if nothing was drafted."""
        figures = self.stage(name)
        return 2 * reading_ns * figures.n_calls / figures.n_drafted if figures.n_drafted else 0.0

    def times_faster_net(self, name: str, than: str, reading_ns: float) -> float | None:
        """`times_faster` without the clock's part; None if that is all there is."""
        fast, slow = self.stage(name).ns_per_drafted, self.stage(than).ns_per_drafted
        if fast is None or slow is None:
            return None
        net = fast.median - self.clock_ns(name, reading_ns)
        return (slow.median - self.clock_ns(than, reading_ns)) / net if net > 0 else None

    @property
    def slower_steps(self) -> tuple[str, ...]:
        """The stages that are slower than the one before, by more than the noise."""
        names = [figures.name for figures in self.stages if not figures.again]
        ratios = {b: self.times_faster(b, a) for a, b in pairwise(names)}
        return tuple(
            name
            for name, ratio in ratios.items()
            if ratio is not None and ratio < 1 and not self.is_noise(ratio)
        )

    def is_noise(self, ratio: float) -> bool:
        """Whether a ratio of two stages lies within the spread of the first with itself."""
        noise = self.noise
        return noise is not None and max(ratio, 1 / ratio) <= 1 + noise.spread_pct / 100


@dataclass(frozen=True)
class LeftOut:
    """What was not run, and why; of all stages if none is named."""

    size_mb: float
    stage: str | None
    why: str


@dataclass(frozen=True)
class Setting:
    """How a race was run; `score` is None if each stage had its own."""

    runs: int
    seed: int
    score: str | None
    n_ctx: int
    n_draft: int
    tail: str


@dataclass(frozen=True)
class Surroundings:
    """Where and when.

    Args:
        machine: processor, memory, system, compiler, versions.
        clock_cost_ns: of one reading of the engine's clock, which all times contain.
        load_average: of the machine's last minute when it began, None if it does not tell.
        started: date and time, UTC.
    """

    machine: dict[str, str | int | None]
    clock_cost_ns: int
    load_average: float | None
    started: str


@dataclass(frozen=True)
class RaceResult:
    """A race, as far as it went.

    Args:
        complete: all runs were made; else it was stopped, and `sizes` hold what it had.
        size_unit: what a megabyte of corpus is of.
        seconds: that it took.
        published: other people's figures, of the stages that were raced.
    """

    complete: bool
    setting: Setting
    surroundings: Surroundings
    corpus: str
    size_unit: str
    text: str
    text_tokens: int
    tokenizer: str | None
    seconds: float
    sizes: tuple[SizeFigures, ...]
    left_out: tuple[LeftOut, ...]
    published: tuple[Published, ...]
    published_source: str

    @property
    def drafts_equal(self) -> bool:
        """Whether, with each size, all stages drafted the same tokens."""
        return all(size.drafts_equal for size in self.sizes)

    @property
    def n_runs(self) -> int:
        """How many runs it holds, of all stages."""
        return sum(figures.ns_per_replayed.n for size in self.sizes for figures in size.stages)

    def size(self, size_mb: float) -> SizeFigures:
        """The figures with that size of corpus.

        Raises:
            InputError: there are none.
        """
        for size in self.sizes:
            if size.size_mb == size_mb:
                return size
        has = ", ".join(f"{size.size_mb:g}" for size in self.sizes)
        raise InputError(f"no figures with {size_mb:g} MB; there are: {has}")

    def to_json(self) -> str:
        """All of it; `from_json` reads it back."""
        return json.dumps(to_plain(self), indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> RaceResult:
        """The result that `to_json` wrote.

        Raises:
            FormatError: the text is something else; the message says where.
        """
        try:
            plain: Any = json.loads(text)
        except ValueError as error:
            raise FormatError(f"not JSON: {error}") from None
        return from_plain(RaceResult, plain)

    def to_csv(self) -> str:
        """One line for each size and stage, then one for each published figure."""
        from .report import to_csv

        return to_csv(self)

    def to_markdown(self) -> str:
        """A report of its own: machine, setting, tables."""
        from .report import to_markdown

        return to_markdown(self)

    def to_html(self) -> str:
        """The same report as one page, which needs no other file and no network."""
        from .page import to_html

        return to_html(self)

    def to_text(self) -> str:
        """Tables of at most 80 columns for a terminal."""
        from .report import to_text

        return to_text(self)

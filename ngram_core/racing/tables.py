"""The tables of a race, as words; `report` lays them out for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..caches import Memory
from ..published import Published
from .results import Noise, RaceResult, SizeFigures, Spread, StageFigures

NONE = "–"
WITHIN_NOISE = "~"


@dataclass(frozen=True)
class Table:
    """A title, and rows of words; the first column names them."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def times(result: RaceResult, size: SizeFigures) -> Table:
    """Latency of every stage, in µs."""
    return Table(
        f"{corpus_words(size.size_mb)}: µs per token drafted, per token replayed, and of a call",
        (
            "stage",
            "drafted",
            "min–max",
            "faster",
            "replayed",
            "p50",
            "p99",
            "max",
            "publ.",
        ),
        tuple(
            (
                figures.name,
                _us(figures.ns_per_drafted),
                _range(figures.ns_per_drafted),
                faster(size, figures.name),
                _us(figures.ns_per_replayed),
                _us(figures.calls.p50_ns),
                _us(figures.calls.p99_ns),
                _us(figures.calls.max_ns),
                _published_us(result, size, figures),
            )
            for figures in size.stages
        ),
    )


def first_times(size: SizeFigures) -> Table:
    """The first replay after loading beside the second one, and the mean call, in µs."""
    return Table(
        f"{corpus_words(size.size_mb)}: first replay after loading, and the second, µs",
        ("stage", "first", "min–max", "second", "min–max", "a call (mean)", "min–max"),
        tuple(
            (
                figures.name,
                _us(figures.first_ns_per_drafted),
                _range(figures.first_ns_per_drafted),
                _us(figures.ns_per_drafted),
                _range(figures.ns_per_drafted),
                _us(figures.calls.mean_ns),
                _range(figures.calls.mean_ns),
            )
            for figures in size.stages
        ),
    )


def own_caches(size: SizeFigures) -> Table:
    """Memory of what hangs on the text alone, in MB."""
    return Table(
        f"{corpus_words(size.size_mb)}: memory of the text's caches, and of the process, MB",
        ("stage", "context", "dynamic", "peak"),
        tuple(
            (
                one.name,
                _mb(one.memory.context.live_bytes),
                _mb(one.memory.dynamic.live_bytes),
                _mb(one.resident.peak_bytes),
            )
            for one in size.stages
        ),
    )


def static_cache(size: SizeFigures) -> Table:
    """Opening the static cache's file, in ms, and what it takes, in MB."""
    return Table(
        f"{corpus_words(size.size_mb)}: the static cache: loading, ms, and memory, MB",
        ("stage", "file", "warm", "min–max", "cold", "static", "loaded", "peak"),
        tuple(
            (one.name, *_loading(one), *_static(one), _mb(one.resident.peak_bytes))
            for one in size.stages
        ),
    )


def _loading(figures: StageFigures) -> tuple[str, ...]:
    load = figures.load
    if load is None:
        return (NONE,) * 4
    warm = load.warm_ns
    return _mb(load.file_bytes), _ms(warm.median), _ms_range(warm), _ms(load.cold_ns)


def _static(figures: StageFigures) -> tuple[str, str]:
    static = figures.memory.static
    return _mb(static.live_bytes if static else None), _mb(loaded_bytes(figures))


def structures(size: SizeFigures) -> Table:
    """What each cache consists of, in MB."""
    rows = []
    for figures in size.stages:
        if figures.again:
            continue
        memory = figures.memory
        caches = (
            ("context", memory.context),
            ("dynamic", memory.dynamic),
            ("static", memory.static),
        )
        rows += [(f"{figures.name}, {cache}", *_parts(m)) for cache, m in caches if m is not None]
    return Table(
        f"{corpus_words(size.size_mb)}: memory by structure, MB",
        (
            "cache",
            "n-grams",
            "index",
            "followers",
            "their index",
            "other",
            "live",
            "slack",
            "malloc",
            "peak",
        ),
        tuple(rows),
    )


def _parts(m: Memory) -> tuple[str, ...]:
    parts = (m.ngrams_bytes, m.index_bytes, m.followers_bytes, m.follower_index_bytes)
    whole = (m.other_bytes, m.live_bytes, m.slack_bytes, m.overhead_bytes, m.peak_bytes)
    return tuple(map(_mb, (*parts, *whole)))


def summary(result: RaceResult) -> Table:
    """How many times faster than the first stage, and what was accepted, by size of corpus."""
    first = result.sizes[0].stages[0].stage
    names = list(dict.fromkeys(f.name for size in result.sizes for f in size.stages))
    published = {(line.stage, line.corpus_mb): line for line in result.published}
    rows = []
    for name in names:
        rows.append((name, *(faster(size, name, first) for size in result.sizes)))
        ratios = [_published_ratio(published, name, first, size.size_mb) for size in result.sizes]
        if name != first and any(ratio != NONE for ratio in ratios):
            rows.append(("  published", *ratios))
    accepted = [size.accept_pct for size in result.sizes]
    rows.append(("accepted, %", *(NONE if a is None else f"{a:.2f}" for a in accepted)))
    return Table(
        f"Times faster than {first}, by corpus",
        ("stage", *(corpus_words(size.size_mb) for size in result.sizes)),
        tuple(rows),
    )


def faster(size: SizeFigures, name: str, than: str | None = None) -> str:
    """The ratio of the medians, marked where it lies within the noise."""
    than = size.stages[0].stage if than is None else than
    has = {figures.name for figures in size.stages}
    ratio = size.times_faster(name, than) if {name, than} <= has else None
    if ratio is None:
        return NONE
    mark = WITHIN_NOISE if name != than and size.is_noise(ratio) else ""
    return f"{mark}{ratio:.2f}"


def loaded_bytes(figures: StageFigures) -> int | None:
    """By how much the process grew when the static cache was loaded."""
    before, after = figures.resident.before_bytes, figures.resident.loaded_bytes
    return None if before is None or after is None else after - before


def noise_words(noise: Noise | None, first: str) -> str:
    if noise is None:
        return "noise: not known"
    return (
        f"noise: {first} against itself, medians {noise.apart_pct:.1f} % apart, all its runs"
        f" within {noise.spread_pct:.1f} %"
    )


def corpus_words(size_mb: float) -> str:
    return f"{size_mb:g} MB" if size_mb else "no static"


def published_line(result: RaceResult, size_mb: float, stage: str) -> Published | None:
    for line in result.published:
        if (line.stage, line.corpus_mb) == (stage, size_mb):
            return line
    return None


# ---- words for figures ------------------------------------------------------------------------


def _published_us(result: RaceResult, size: SizeFigures, figures: StageFigures) -> str:
    line = None if figures.again else published_line(result, size.size_mb, figures.stage)
    return NONE if line is None else _figure(line.us_per_drafted)


def _published_ratio(
    published: dict[tuple[str, int], Published], name: str, first: str, size_mb: float
) -> str:
    fast, slow = (published.get((stage, int(size_mb))) for stage in (name, first))
    if fast is None or slow is None or size_mb != int(size_mb):
        return NONE
    return f"{slow.us_per_drafted / fast.us_per_drafted:.2f}"


def _us(spread: Spread | None) -> str:
    return NONE if spread is None else _figure(spread.median / 1000)


def _range(spread: Spread | None, unit_ns: float = 1e3) -> str:
    if spread is None:
        return NONE
    return f"{_figure(spread.low / unit_ns)}–{_figure(spread.high / unit_ns)}"


def _ms_range(spread: Spread) -> str:
    return _range(spread, unit_ns=1e6)


def _ms(ns: float | None) -> str:
    return NONE if ns is None else _figure(ns / 1e6)


def _mb(n_bytes: int | None) -> str:
    return NONE if n_bytes is None else _figure(n_bytes / 1e6)


def _figure(value: float) -> str:
    """Three figures or so."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """How wide each column is."""
    return [max(map(len, column)) for column in zip(*rows, strict=True)]

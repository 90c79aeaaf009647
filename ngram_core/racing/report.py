"""A race's result as text for a terminal, as Markdown, and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..caches import Memory
from . import tables
from .results import RaceResult, SizeFigures, Spread, StageFigures
from .tables import Table

WIDTH = 80
TITLE = "A race of the stages"

_CLOCK_SHARE = 0.03  # of a stage's time; below it, nobody would see the difference
_BUSY = 0.6  # of the cores; a race itself keeps one at work


# ---- text -------------------------------------------------------------------------------------


def to_text(result: RaceResult) -> str:
    """Tables of at most 80 columns."""
    lines = [line for paragraph in _head(result) for line in _wrapped(paragraph)]
    for size in result.sizes:
        shown = [tables.times(result, size)]
        shown += [tables.own_caches(size)] if size is result.sizes[0] else []
        shown += [tables.static_cache(size)] if size.size_mb else []
        for table in shown:
            lines += ["", *_as_text(table)]
        lines += [line for words in _verdicts(result, size) for line in _wrapped(words)]
    if result.sizes:
        lines += ["", *_as_text(tables.summary(result)), ""]
    lines += [line for words in _tail(result) for line in _wrapped(words)]
    return "\n".join(lines) + "\n"


def _as_text(table: Table) -> list[str]:
    rows = [table.head, *table.rows]
    widths = tables.columns(rows)
    lines = [
        " ".join(
            word.rjust(width) if i else word.ljust(width)
            for i, (word, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return [table.title, *lines]


def _wrapped(words: str) -> list[str]:
    """Lines that fit, at blanks."""
    lines = [""]
    for word in words.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH:
            lines.append("")
        lines[-1] += f" {word}" if lines[-1] else word
    return lines


# ---- Markdown ---------------------------------------------------------------------------------


def to_markdown(result: RaceResult) -> str:
    """Everything but the histograms."""
    parts = ["# " + TITLE]
    for part in report_parts(result):
        parts += _as_markdown(part) if isinstance(part, Table) else [part]
    return "\n\n".join(parts) + "\n"


def report_parts(result: RaceResult) -> Iterator[str | Table]:
    """The report as paragraphs and tables, in order."""
    yield from _head(result)
    if result.sizes:
        yield tables.summary(result)
    for size in result.sizes:
        yield tables.times(result, size)
        yield from _verdicts(result, size)
        yield tables.first_times(size)
        yield tables.own_caches(size)
        if size.size_mb:
            yield tables.static_cache(size)
        yield tables.structures(size)
    yield from _tail(result)


def _as_markdown(table: Table) -> list[str]:
    rule = ["---", *["---:"] * (len(table.head) - 1)]
    rows = [table.head, rule, *table.rows]
    lines = ["| " + " | ".join(word.strip() for word in row) + " |" for row in rows]
    return [f"## {table.title}", "\n".join(lines)]


# ---- words that both have ---------------------------------------------------------------------


def _head(result: RaceResult) -> list[str]:
    around, setting = result.surroundings, result.setting
    machine = around.machine
    memory = machine["memory_bytes"]
    has = f", {int(memory) / 1e9:.1f} GB of memory" if memory else ""
    load, cores = around.load_average, machine["cores"]
    busy = "" if load is None else f", load average {load:.2f}"
    if load is not None and load > _BUSY * int(cores or 1):
        busy += " (at other work, too: expect noise)"
    return [
        f"{machine['cpu']}, {machine['cores']} cores{has}{busy}; {machine['system']};"
        f" {machine['compiler']}, Python {machine['python']}, ngram-core {machine['ngram_core']};"
        f" reading the clock costs {around.clock_cost_ns} ns.",
        f"Replayed: {result.text_tokens:,} tokens, {result.text}. Corpus: {result.corpus}"
        f" (MB of {result.size_unit}). Tokenizer: {result.tokenizer or 'not known'}."
        f" Context {setting.n_ctx:,}, {setting.n_draft} guesses, tail {setting.tail},"
        f" score {setting.score or 'of each stage'}, ties by token, seed {setting.seed}."
        f" Medians of {setting.runs} runs, each in a process of its own, after a replay to warm up;"
        f" stages in turn. {around.started}, {result.seconds:,.0f} s.",
    ]


def _verdicts(result: RaceResult, size: SizeFigures) -> list[str]:
    first = size.stages[0]
    if size.drafts_equal:
        said = f"Drafts: the same in all runs of all stages (checksum {first.checksums[0]})."
    else:
        said = f"Drafts: NOT the same: {', '.join(size.other_drafts)}; checksums: " + ", ".join(
            f"{figures.name} {'/'.join(figures.checksums)}" for figures in size.stages
        )
    counted = (
        f"Static cache: {size.n_grams:,} 2-grams, {size.n_followers:,} followers of"
        f" {size.corpus_tokens:,} tokens. "
        if size.size_mb
        else ""
    )
    again = [figures.stage for figures in size.stages if figures.again]
    noise = tables.noise_words(size.noise, again[0] if again else first.stage)
    slower = size.slower_steps
    steps = f" Slower than the stage before, by more than that: {', '.join(slower)}."
    clock = _clock_words(size, result.surroundings.clock_cost_ns)
    return [f"{counted}{said} {noise[0].upper()}{noise[1:]}.{steps if slower else ''}{clock}"]


def _clock_words(size: SizeFigures, reading_ns: int) -> str:
    """What the fastest stage's time holds of the clock, and its factors without; "" if little."""
    drafted = {f.name: f.ns_per_drafted.median for f in size.stages if f.ns_per_drafted}
    fastest = min(drafted, key=drafted.__getitem__, default=None)
    if fastest is None:
        return ""
    clock_ns = size.clock_ns(fastest, reading_ns)
    if clock_ns < _CLOCK_SHARE * drafted[fastest]:
        return ""
    others = [f.name for f in size.stages if f.name != fastest and not f.again]
    factors = [
        f"{ratio:.3g} times as fast as {name}"
        for name in dict.fromkeys(others[:1] + others[-1:])
        if (ratio := size.times_faster_net(fastest, name, reading_ns)) is not None
    ]
    without = f"; without that it is {' and '.join(factors)}" if factors else ""
    return (
        f" Of {fastest}'s {drafted[fastest]:.0f} ns per drafted token, {clock_ns:.0f} are the"
        f" clock's{without}."
    )


def _tail(result: RaceResult) -> list[str]:
    parts = []
    for left in result.left_out:
        what = tables.corpus_words(left.size_mb) + (f", {left.stage}" if left.stage else "")
        parts.append(f"Left out: {what}: {left.why}.")
    if not result.complete:
        parts.append(f"Not complete: it was stopped after {result.n_runs} runs.")
    parts.append(
        f"{tables.WITHIN_NOISE}: within the noise, no difference. warm: the file was in memory;"
        " cold: the system had forgotten it. context: of a full chunk. loaded: by how much the"
        " process grew when it loaded the static cache; peak: the most it had. live bytes are"
        " exact; slack is what of them is room for what is not there; malloc is a model of its"
        " headers and rounding."
    )
    parts.append(f"publ.: {result.published_source}")
    return parts


# ---- CSV --------------------------------------------------------------------------------------


def to_csv(result: RaceResult) -> str:
    """One line for each size and stage, measured, then the published ones."""
    rows = [*_measured_rows(result), *_published_rows(result)]
    names = list(dict.fromkeys(name for row in rows for name in row))
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def _measured_rows(result: RaceResult) -> Iterator[dict[str, Any]]:
    for size in result.sizes:
        for figures in size.stages:
            yield {"source": "measured", "size_mb": size.size_mb, **_row(figures), **_facts(result)}


def _row(figures: StageFigures) -> dict[str, Any]:
    load, resident = figures.load, figures.resident
    return {
        "stage": figures.name,
        "n_replayed": figures.n_replayed,
        "n_calls": figures.n_calls,
        "n_drafted": figures.n_drafted,
        "n_accept": figures.n_accept,
        "accept_pct": figures.accept_pct,
        **_spread("ns_per_drafted", figures.ns_per_drafted),
        **_spread("ns_per_replayed", figures.ns_per_replayed),
        **_spread("first_ns_per_drafted", figures.first_ns_per_drafted),
        **_spread("call_mean_ns", figures.calls.mean_ns),
        **_spread("call_p50_ns", figures.calls.p50_ns),
        **_spread("call_p99_ns", figures.calls.p99_ns),
        **_spread("call_max_ns", figures.calls.max_ns),
        "file_format": load.format if load else None,
        "file_bytes": load.file_bytes if load else None,
        **_spread("load_warm_ns", load.warm_ns if load else None),
        "load_cold_ns": load.cold_ns if load else None,
        **_memory("context", figures.memory.context),
        **_memory("dynamic", figures.memory.dynamic),
        **_memory("static", figures.memory.static),
        "resident_before_bytes": resident.before_bytes,
        "resident_static_bytes": tables.loaded_bytes(figures) if load else None,
        "resident_end_bytes": resident.end_bytes,
        "resident_peak_bytes": resident.peak_bytes,
        "drafts_checksum": "/".join(figures.checksums),
    }


def _spread(name: str, spread: Spread | None) -> dict[str, float | None]:
    words = ("median", "low", "high")
    return {f"{name}_{word}": getattr(spread, word) if spread else None for word in words}


def _memory(name: str, memory: Memory | None) -> dict[str, int]:
    return {f"{name}_{part}": n for part, n in asdict(memory).items()} if memory else {}


def _facts(result: RaceResult) -> dict[str, Any]:
    around = asdict(result.surroundings)
    names = ("corpus", "size_unit", "text", "text_tokens", "tokenizer")
    found = {name: getattr(result, name) for name in names}
    return {**found, **asdict(result.setting), **around.pop("machine"), **around}


def _published_rows(result: RaceResult) -> Iterator[dict[str, Any]]:
    for line in result.published:
        yield {
            "source": "published",
            "size_mb": float(line.corpus_mb),
            "stage": line.stage,
            "n_drafted": line.n_drafted,
            "n_accept": line.n_accept,
            "accept_pct": line.accept_pct,
            "ns_per_drafted_median": 1000 * line.us_per_drafted,
            "load_warm_ns_median": _times(line.load_ms, 1_000_000),
            "resident_static_bytes": _times(line.static_mb, 1_000_000),
            "resident_peak_bytes": 1_000_000 * line.peak_mb,
            "corpus": "WikiText-103",
        }


def _times(value: int | None, factor: int) -> int | None:
    return None if value is None else factor * value

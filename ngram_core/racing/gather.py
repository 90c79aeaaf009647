"""From the runs of a race to its figures."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict

from .entrants import Entrant
from .lap import Counted, Lap
from .results import Bin, Calls, Load, Resident, SizeFigures, Spread, StageFigures


def size_figures(
    size_mb: float,
    counted: Counted | None,
    laps: dict[Entrant, list[Lap]],
    cold_ns: dict[Entrant, int | None],
    file_bytes: dict[Entrant, int],
) -> SizeFigures:
    """The figures of all stages that have a run with this size of corpus."""
    return SizeFigures(
        size_mb,
        counted.n_tokens if counted else 0,
        counted.n_grams if counted else 0,
        counted.n_followers if counted else 0,
        tuple(
            _stage_figures(entrant, of_stage, cold_ns.get(entrant), file_bytes.get(entrant))
            for entrant, of_stage in laps.items()
            if of_stage
        ),
    )


def _stage_figures(
    entrant: Entrant, laps: Sequence[Lap], cold_ns: int | None, file_bytes: int | None
) -> StageFigures:
    last = laps[-1]
    drafted = last.n_drafted

    def spread(of: Callable[[Lap], float]) -> Spread:
        return Spread.of([of(lap) for lap in laps])

    return StageFigures(
        stage=entrant.stage,
        again=entrant.again,
        toggles=asdict(entrant.toggles),
        n_replayed=last.n_replayed,
        n_calls=last.n_calls,
        n_drafted=drafted,
        n_accept=last.n_accept,
        ns_per_drafted=spread(lambda lap: lap.drafting_ns / lap.n_drafted) if drafted else None,
        ns_per_replayed=spread(lambda lap: lap.drafting_ns / lap.n_replayed),
        first_ns_per_drafted=spread(lambda lap: lap.first_ns / lap.n_drafted) if drafted else None,
        calls=Calls(
            spread(lambda lap: lap.drafting_ns / lap.n_calls),
            spread(lambda lap: lap.p50_ns),
            spread(lambda lap: lap.p99_ns),
            spread(lambda lap: lap.max_ns),
            _sum(lap.histogram for lap in laps),
        ),
        load=_load(entrant, laps, cold_ns, file_bytes),
        memory=last.memory,
        resident=_resident(laps),
        checksums=tuple(sorted({lap.checksum for lap in laps})),
    )


def _load(
    entrant: Entrant, laps: Sequence[Lap], cold_ns: int | None, file_bytes: int | None
) -> Load | None:
    times = [float(lap.load_ns) for lap in laps if lap.load_ns is not None]
    if not times or file_bytes is None:
        return None
    return Load(entrant.file_format, file_bytes, Spread.of(times), cold_ns)


def _resident(laps: Sequence[Lap]) -> Resident:
    def median(values: Iterable[int | None]) -> int | None:
        known = [value for value in values if value is not None]
        return round(statistics.median(known)) if known else None

    return Resident(
        median(lap.resident.before_bytes for lap in laps),
        median(lap.resident.loaded_bytes for lap in laps),
        median(lap.resident.end_bytes for lap in laps),
        median(lap.resident.peak_bytes for lap in laps),
    )


def _sum(histograms: Iterable[tuple[Bin, ...]]) -> tuple[Bin, ...]:
    total: Counter[float] = Counter()
    for histogram in histograms:
        for one in histogram:
            total[one.below_ns] += one.n_calls
    return tuple(Bin(below, n) for below, n in sorted(total.items()))

"""Measurements that were kept, so that pictures of what they show can be drawn again.

`make pictures` draws the lessons' pictures of times from these files, and the browser tests hold
the views against them: the same figures must make the same picture. Measure anew when a stage or
its figures have changed, on a machine that does nothing else:

    python tests/recorded.py [race live searches loads profile ideas lines]
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from ngram_core.lesson.bars import Bar, Bars, Column
from ngram_core.lesson.checking import counts, ideas
from ngram_core.lesson.constmap import loading
from ngram_core.lesson.experiment import Experiment
from ngram_core.lesson.live_race import Choice, LiveRace
from ngram_core.lesson.searches import times
from ngram_core.racing import RaceResult
from ngram_core.views import Lines, Live

FOLDER = Path(__file__).parent / "recorded"

RACE = Choice(largest_mb=5)
QUIET_PCT = 30
MOST_RACES = 6
LIVE = [(size, stage) for size in (0, 1, 5) for stage in ("upstream", "nocopy")]


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text())


# ---- measuring, each as JSON has it ---------------------------------------------------------


def race_() -> Any:
    """The first of some races that the machine left alone, or the one it disturbed least: judged by
    the noise of the first stage against itself, never by what the stages made of it."""
    quietest: tuple[float, RaceResult] | None = None
    for _ in range(MOST_RACES):
        with LiveRace(RACE) as race:
            race.start()
            race.run_to_end()
            assert race.result is not None
            noise = max(size.noise.spread_pct for size in race.result.sizes if size.noise)
            print(f"race: {noise:.0f} % of noise")
            if quietest is None or noise < quietest[0]:
                quietest = noise, race.result
        if noise < QUIET_PCT:
            break
    assert quietest is not None
    plain = json.loads(quietest[1].to_json())
    machine = plain["surroundings"]["machine"]
    machine["system"] = re.sub(r" .* ", " ", machine["system"])  # without whose build it is
    return plain


def live_() -> Any:
    """[MB of corpus, stage, ns of each piece of the text] of each run."""
    found = []
    with Experiment() as x:
        for size, name in LIVE:
            x.choose(size_mb=size, **asdict(x.stages[name]))
            x.run_to_end()
            assert x.run is not None
            found.append([size, name, [piece.time_ns for piece in x.run.line.pieces]])
    return found


def searches_() -> Any:
    return [
        [kind, length, {search: list(vars(timed).values()) for search, timed in row.items()}]
        for (kind, length), row in times.measure().items()
    ]


def loads_() -> Any:
    return asdict(loading.bars(loading.measure()))


def profile_() -> Any:
    profile = counts.measure()
    return [asdict(counts.bars(profile)), asdict(counts.limit_bars(profile))]


def ideas_() -> Any:
    return asdict(ideas.idea_bars())


def lines_() -> Any:
    """Which lines a guess touches depends on where malloc has put things."""
    return json.loads(Lines(word=82).story)


MEASURED: dict[str, Callable[[], Any]] = {
    "race": race_,
    "live": live_,
    "searches": searches_,
    "loads": loads_,
    "profile": profile_,
    "ideas": ideas_,
    "lines": lines_,
}


# ---- showing them again, by the views that a lesson shows -----------------------------------


def race() -> LiveRace:
    return LiveRace.over(RaceResult.from_json(json.dumps(read("race"))), RACE)


def live() -> Live:
    """Runs all again, and puts the times of then in the place of those of now."""
    view = Live()
    for size, stage, then in read("live"):
        view.run(stage, size)
        run = view.experiment.run
        assert run is not None
        pieces, line = zip(run.line.pieces, then, strict=False), run.line
        line.pieces[:] = [replace(piece, time_ns=ns) for piece, ns in pieces]
        line._running.clear()
    view._show(True)
    return view


def searches() -> times.TimesModel:
    return times.TimesModel(
        times={
            (kind, length): {search: times.Timed(*values) for search, values in row.items()}
            for kind, length, row in read("searches")
        }
    )


def lines() -> Lines:
    view = Lines(word=82)
    view.go(5)
    view.story = json.dumps(read("lines"))
    return view


def bars(name: str, number: int | None = None) -> Bars:
    kept = read(name) if number is None else read(name)[number]
    columns = [
        Column(**{**column, "here": _some(column["here"]), "published": _some(column["published"])})
        for column in kept["columns"]
    ]
    return Bars(**{**kept, "columns": columns})


def _some(kept: list[dict[str, Any] | None]) -> list[Bar | None]:
    return [None if bar is None else Bar(**bar) for bar in kept]


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for wanted in sys.argv[1:] or MEASURED:
        path = FOLDER / f"{wanted}.json"
        path.write_text(json.dumps(MEASURED[wanted]()) + "\n")
        print(f"{path.name}: {path.stat().st_size:,} bytes")

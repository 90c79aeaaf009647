"""What the check saves, counted by the engine's probes; and what it takes, by its clock."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ...caches import NgramCache
from ...corpora import MadeProse
from ...counting import BigramCounter
from ...drafter import Drafter
from ...published import DRAFTING_US
from ...replay import Replay
from ...toggles import STAGES, Toggles
from ...tokenizers import get_tokenizer
from ..bars import Bar, Bars, Column
from ..copying import example_caches
from ..examples import ready_text
from ..figures import plural
from .recipe import exact

CORPUS_MB = 5
_FIRST = list(STAGES).index("innervector")
RACED = tuple(STAGES)[_FIRST:]
"""From arrays on: the stages that this lesson compares."""


@dataclass(frozen=True)
class Savings:
    """Candidates of one text, by what became of them."""

    name: str
    candidates: int  #: in rows of context and dynamic that were tried
    failing: int  #: of these, in rows that do not pass
    skipped: int  #: in rows that failed the check, and were not scored
    drafted: int

    @property
    def share(self) -> float:
        """Percent of all candidates that need no score."""
        return 100 * self.skipped / self.candidates if self.candidates else 0.0

    def __str__(self) -> str:
        told = (
            f"{self.name}: {plural(self.candidates, 'candidate')} for"
            f" {plural(self.drafted, 'guess')}; {self.failing:,} stand in rows that fail.\n"
            f"{self.skipped:,} of these ({self.share:.0f} % of all) in rows whose sum or largest"
            " count fails already: no need to score them."
        )
        if self.skipped:
            return told
        return f"{told}\nOn this text the check saves nothing. On the recipe:\n{savings()}"


def savings(text: str = "recipe") -> Savings:
    """What the check saves along a text with all caches on, from the engine's trace of each row.

    Args:
        text: the name of an example, or any text, in words.
    """
    ready, toggles = ready_text(text), exact("precheck")
    tokens, static, dynamic = example_caches(ready, toggles)
    candidates = failing = skipped = drafted = 0
    with static, dynamic, Drafter(toggles, static=static, dynamic=dynamic) as drafter:
        drafter.feed(tokens[:1])
        while drafter.length < len(tokens):
            most = min(ready.n_draft, len(tokens) - drafter.length)
            steps = drafter.step(most)
            for row in (row for step in steps for row in step.rows if row.cache != "static"):
                candidates += row.n_followers
                failing += 0 if row.passes else row.n_followers
                skipped += row.n_followers if row.prechecked else 0
            drafts = [step.token for step in steps if step.token is not None]
            drafted += len(drafts)
            hits = 0
            while hits < len(drafts) and drafts[hits] == tokens[drafter.length + hits]:
                hits += 1
            drafter.feed(tokens[drafter.length : drafter.length + hits + 1])
    name = "the recipe" if ready.name == "recipe" else ready.title
    return Savings(name, candidates, failing, skipped, drafted)


def nothing_saved(length: int = 2_000, times: int = 10, runs: int = 5) -> str:
    """A text that counts to some number, over and over: each row has one follower, which passes."""
    text = np.tile(np.arange(length, dtype=np.int32), times)
    stages = ("constmap", "precheck")
    ns: dict[str, list[float]] = {stage: [] for stage in stages}
    for _ in range(runs):
        for stage in stages:
            with Replay(text, toggles=exact(stage)) as replay:
                ns[stage].append(replay.run().ns_per_drafted or 0.0)
    before, after = (_probed(text, exact(stage), None) for stage in stages)
    drafted = int(before["n_drafted"])
    scored = [int(probe["scored"]) / drafted for probe in (before, after)]
    told = [
        f"{statistics.median(ns[s]):.0f} ns ({min(ns[s]):.0f} – {max(ns[s]):.0f})" for s in stages
    ]
    read = int(after["scanned"]) / drafted
    return (
        f"counting to {length:,}, {times} times: {scored[0]:.2f} candidates scored a guess without"
        f" the check, {scored[1]:.2f} with it, and {read:.2f} counts read for it.\n"
        f"A guess takes {told[0]} without, {told[1]} with it."
    )


def _probed(text: npt.NDArray[np.int32], toggles: Toggles, static: NgramCache | None) -> np.void:
    with Replay(text, toggles=toggles, static=static, record_probes=True) as replay:
        replay.run()
        return replay.probe_sum()


@dataclass
class StageCounts:
    """One stage's work for one drafted token."""

    stage: str
    ns: list[float] = field(default_factory=list)
    probe: np.void | None = None
    checksum: int = 0

    def per_guess(self, what: str) -> float:
        assert self.probe is not None
        return int(self.probe[what]) / int(self.probe["n_drafted"])

    @property
    def median_us(self) -> float:
        return statistics.median(self.ns) / 1000


@dataclass(frozen=True)
class Profile:
    """All stages on one text with one corpus."""

    text_tokens: int
    probed_tokens: int
    stages: dict[str, StageCounts]

    def __str__(self) -> str:
        def cut(what: str) -> tuple[float, float]:
            before, after = self.stages["constmap"], self.stages["precheck"]
            return before.per_guess(what), after.per_guess(what)

        scored, steps, read, lines = map(cut, ("scored", "search_steps", "scanned", "cache_lines"))
        return (
            f"made prose, {self.text_tokens:,} tokens, a static cache from {CORPUS_MB} MB.\n"
            f"For each guess the check cuts {scored[0]:.1f} scored candidates to {scored[1]:.1f},"
            f" and {steps[0]:.0f} search steps to {steps[1]:.0f}.\n"
            f"Still {read[1]:.0f} counts are read, and cache lines are {lines[0]:.0f} before,"
            f" {lines[1]:.0f} after."
        )


def measure(
    stages: Mapping[str, Toggles] | None = None,
    text_bytes: int = 200_000,
    probed: int = 10_000,
    runs: int = 5,
) -> Profile:
    """Replays made prose with each stage in turn, and once more with probes on a part of it.

    Args:
        stages: name and switches; by default those of RACED.
    """
    stages = stages or {name: exact(name) for name in RACED}
    tokenizer = get_tokenizer()
    text = MadeProse(text_bytes, seed=3, made_for=tokenizer).tokens(tokenizer, keep=False)
    found = {stage: StageCounts(stage) for stage in stages}
    with BigramCounter() as counter:
        for block in MadeProse(made_for=tokenizer).token_blocks(tokenizer, CORPUS_MB * 1_000_000):
            counter.add(block)
        counter.group()
        statics = {stage: counter.cache(toggles) for stage, toggles in stages.items()}
    try:
        for _ in range(runs):
            for stage, counts in found.items():
                with Replay(text, toggles=stages[stage], static=statics[stage]) as replay:
                    sample = replay.run()
                    counts.ns.append(sample.ns_per_drafted or 0.0)
                    counts.checksum = sample.drafts_checksum
        for stage, counts in found.items():
            counts.probe = _probed(text[:probed], stages[stage], statics[stage])
    finally:
        for cache in statics.values():
            cache.close()
    return Profile(len(text), probed, found)


_COLUMNS = {
    "scored": "candidates scored",
    "search_steps": "search steps",
    "scanned": "counts read for sums and maxima",
    "cache_lines": "cache lines",
}


def _median_and_range(s: StageCounts) -> str:
    return f"{s.median_us:.2f} ({min(s.ns) / 1e3:.2f} – {max(s.ns) / 1e3:.2f})"


def bars(profile: Profile, title: str = "One guess, by stage", row_title: str = "stage") -> Bars:
    """Time and work of a guess by stage; times beside the published ones."""
    stages = list(profile.stages.values())
    known = [DRAFTING_US.get(s.stage, {}).get(541) for s in stages]
    several = sum(us is not None for us in known) > 1  # one alone has none to be compared with
    published = known if several else [None] * len(known)
    columns = [
        Column(
            "µs a guess",
            [Bar(s.median_us, _median_and_range(s)) for s in stages],
            [None if us is None else Bar(us, f"{us:.2f}") for us in published],
        ),
        *(
            Column(title, [Bar(s.per_guess(what), f"{s.per_guess(what):.1f}") for s in stages])
            for what, title in _COLUMNS.items()
        ),
    ]
    return Bars(
        title,
        row_title,
        [s.stage for s in stages],
        columns,
        f"Measured here: {profile.text_tokens:,} tokens of made prose, static cache from"
        f" {CORPUS_MB} MB, medians of {len(stages[0].ns)} runs in turn; counts by the engine’s"
        f" probes on the first {profile.probed_tokens:,} tokens.",
        "with 541 MB of corpus" if any(published) else "",
    )


# ---- where the time goes, as a profiler saw it -------------------------------------------------

TIME_SHARES = (
    ("search static counts for weights", 48, 11),
    ("look up in context and dynamic", 13, 21),
    ("look up in the constmap", 11, 19),
    ("score candidates", 8, None),
    ("sum the counts, find the largest", None, 18),
    ("draft by static alone", 7, 9),
    ("count the new tokens", 5, 8),
)
"""Percent of the time of `constmap` and of `precheck`, on C source with a static cache from 541 MB
of it: our reference engines under a profiler, on another machine."""


def share_bars() -> Bars:
    """What a profiler says of the two stages."""
    names = ("constmap", "precheck")
    shares: list[list[Bar | None]] = [
        [None if n is None else Bar(n, f"{n} %") for n in column]
        for column in zip(*((before, after) for _, before, after in TIME_SHARES), strict=True)
    ]
    return Bars(
        "Where the time goes",
        "work",
        [work for work, _, _ in TIME_SHARES],
        [Column(name, (), column, full=50) for name, column in zip(names, shares, strict=True)],
        "Not measured here: our reference engines under a profiler, on a machine with two cores of"
        " an AMD EPYC, C source with a static cache from 541 MB of it. 1.52 and 0.77 µs a guess;"
        " what is missing from 100 % is spread thinly.",
    )


# ---- the limit --------------------------------------------------------------------------------

PRECHECK_541 = Bar(3.0, "3.0")
LIMIT_541 = Bar(0.375, "0.35 to 0.4")
"""µs a guess with 541 MB of made prose, on another machine: our reference engine, measured; and the
limit, computed: reads of memory that nothing can avoid, with the cost of each as measured there."""


def limit_bars(profile: Profile) -> Bars:
    """The last published stage, ours, both measured here, and the limit, from elsewhere."""
    before, last = (profile.stages[name] for name in ("precheck", tuple(STAGES)[-1]))
    return Bars(
        "How far it is to the limit",
        "engine",
        [before.stage, last.stage, "the limit (a model)"],
        [
            Column(
                "µs a guess",
                [Bar(s.median_us, _median_and_range(s)) for s in (before, last)],
                [PRECHECK_541, None, LIMIT_541],
            )
        ],
        f"Measured here: as above, with a static cache from {CORPUS_MB} MB, which the processor’s"
        " own memory holds in good part. In italics, not measured here: with one from 541 MB of"
        " made prose, which it cannot hold, our reference engine on a machine with two cores of an"
        " AMD EPYC, and what our model gives for that machine. Bars of one kind can be compared.",
    )

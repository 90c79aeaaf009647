"""A race in slices: what runs when, in which process, and what is left out."""

from __future__ import annotations

import contextlib
import math
import os
import tempfile
import time
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Literal

from .. import machine
from .._native import as_count, clock_cost_ns
from ..caches import Progress
from ..closing import Closing
from ..errors import EngineMemoryError, InputError
from ..published import PUBLISHED, SOURCE
from ..replay import Replay
from ..rule import LLAMA_CPP, Rule
from ..toggles import Score, Stage
from ..tokenizers import Tokenizer
from .entrants import Entrant, entrants, in_turn
from .fitting import counting_refusal, free_bytes, running_refusal
from .gather import size_figures
from .lap import Counted, Lap, Loaded
from .material import MEGABYTE, TEXT_TOKENS, Corpus, Source, Wanted, material
from .pace import Kind, Pace
from .process import Child
from .records import from_plain, to_plain
from .results import LeftOut, RaceResult, Setting, SizeFigures, Surroundings

SIZES = (0.0, 1.0, 5.0, 25.0)
RUNS = 3

_SLICE_SECONDS = 0.05  # how long Ctrl-C may wait


class Race(Closing):
    """Replays a text with several stages, with static caches of several sizes of corpus.

    Each run is a process of its own: it loads the static cache, replays the text once to warm
    up, and once more for the figures. Runs are interleaved: every stage once, then every stage
    again, another one first each time. The first stage takes part twice, which shows the noise.

    `step` does a slice of the work, `run` all of it; `result` is what there is so far.

    Args:
        stages: "all", or names and stages.
        corpus: of the static caches: a name of `corpora.CORPORA`, a path (`.i32`: token ids), a
            text, an array of token ids, or None for no static cache.
        text: what is replayed, named in the same ways; by default the end of the corpus, which
            is then never counted, of a made corpus another piece, of WikiText its test text.
        sizes: megabytes of 10^6 bytes of the corpus, 0 for no static cache, `math.inf` for all
            of it. What the corpus or the memory does not suffice for is left out, and the result
            says so.
        runs: of each stage with each size.
        score: of all stages, so that they draft the same; None leaves each stage its own.
        text_tokens: at most so many are replayed; None for all of a given text.
        tokenizer: Qwen2.5's by default.
        rule: its end-of-text token is the tokenizer's, if it has none.
        seed: of made texts, and of who starts.
        free_bytes: memory to stay below; by default three quarters of what is free.
        download: told the fraction done, where the corpus has to be fetched.

    Raises:
        InputError: what is named does not exist, or does not go together.
    """

    def __init__(
        self,
        stages: str | Iterable[str | Stage] = "all",
        corpus: Source | None = "python",
        text: Source | None = None,
        *,
        sizes: Sequence[float] = SIZES,
        runs: int = RUNS,
        score: Score | None = "int32",
        n_ctx: int = 4096,
        n_draft: int = 8,
        tail: Literal["keep", "drop"] = "keep",
        text_tokens: int | None = TEXT_TOKENS,
        tokenizer: Tokenizer | None = None,
        rule: Rule = LLAMA_CPP,
        seed: int = 1,
        free_bytes: int | None = None,
        download: Progress | None = None,
    ) -> None:
        self.entrants = entrants(stages, score)
        self.runs = as_count(runs, "runs", 1, 1000)
        if text_tokens is not None:
            text_tokens = as_count(text_tokens, "text_tokens", 1, 2**40)
        seed = as_count(seed, "seed", 0, 2**31)
        self.sizes = _checked(sizes)
        wanted = Wanted(text_tokens, self.sizes[-1], seed, download)
        self.material = material(corpus, text, wanted, tokenizer)
        self.sizes = _with_all(self.sizes, self.material.corpus)
        known = self.material.tokenizer
        self._rule = replace(rule, eos=known.eos) if known and rule.eos is None else rule
        # Refuses a setting that goes wrong, before the long work.
        Replay(self.material.text, rule=self._rule, n_ctx=n_ctx, n_draft=n_draft, tail=tail).close()
        self.setting = Setting(self.runs, seed, score, n_ctx, n_draft, tail)
        self._surroundings = _surroundings()
        self._free_bytes = free_bytes
        self._sizes: dict[float, _Size] = {}
        self._left_out: list[LeftOut] = []
        self._child: Child | None = None
        self._until = self._worked = 0.0
        self._left_at = time.monotonic()
        self.what = "starting"
        self.done = self._ended = False
        self._pace = Pace(self._plan())
        self._folder = tempfile.TemporaryDirectory(prefix="ngram-race-")
        self._steps: Iterator[None] = self._work()

    # ---- driving ------------------------------------------------------------------------------

    def step(self, seconds: float = _SLICE_SECONDS) -> bool:
        """Works, or waits for a process that does, for about so long; True while there is more.

        Raises:
            NgramError: a process failed; `result` still has what was measured before.
        """
        started = time.monotonic()
        self._pace.rest(started - self._left_at)
        self._until = started + seconds
        try:
            while not self._ended:
                self.done = self._ended = next(self._steps, self) is self
                if time.monotonic() >= self._until:
                    break
        except BaseException:
            self._ended = True
            raise
        finally:
            self._left_at = time.monotonic()
            self._worked += self._left_at - started
        return not self._ended

    def run(self, progress: Progress | None = None) -> RaceResult:
        """To the end; Ctrl-C is heard at once, and `result` has what was measured until then."""
        while self.step():
            if progress is not None:
                progress(self.fraction)
        return self.result()

    @property
    def fraction(self) -> float:
        """Done of all, by time as far as that can be told, 0.0 to 1.0."""
        if self.done:
            return 1.0
        return self._pace.fraction(self._child.fraction if self._child else 0.0)

    @property
    def n_planned(self) -> int:
        """How many runs there are to be, of all stages and sizes that were not left out."""
        return self._pace.count("lap")

    def result(self) -> RaceResult:
        """What was measured so far; of a stage that has no run yet, nothing."""
        found = self.material
        raced = {entrant.stage for entrant in self.entrants}
        return RaceResult(
            complete=self.done,
            setting=self.setting,
            surroundings=self._surroundings,
            corpus=found.corpus.name if found.corpus else "none",
            size_unit=found.corpus.unit if found.corpus else "text",
            text=found.text_name,
            text_tokens=len(found.text),
            tokenizer=found.tokenizer.name if found.tokenizer else None,
            seconds=round(self._worked, 3),
            sizes=tuple(
                size.figures(self.entrants) for size in self._sizes.values() if size.has_runs
            ),
            left_out=tuple(self._left_out),
            published=tuple(line for line in PUBLISHED if line.stage in raced),
            published_source=SOURCE,
        )

    def close(self) -> None:
        """Ends the process at work, removes all files; twice is fine. The result stays."""
        self._ended = True
        if self._child is not None:
            self._child.close()
            self._child = None
        self._folder.cleanup()

    # ---- the plan -----------------------------------------------------------------------------

    def _plan(self) -> Iterator[tuple[Kind, float]]:
        """The tasks, each with a guess of how many seconds it takes."""
        for size in self.sizes:
            if size:
                yield ("count", size, ""), 0.5 + 0.2 * size
            for entrant in self.entrants:
                guess = 0.4 + (0.03 * size if entrant.holds_maps else 0.01 * size)
                if size and not entrant.again:
                    yield ("load", size, entrant.name), guess
                for _ in range(self.runs):
                    yield ("lap", size, entrant.name), 0.3 + 2 * guess

    def _leave_out(self, size: float, stage: str | None, why: str) -> None:
        self._left_out.append(LeftOut(size, stage, why))
        self._pace.drop(size, stage)

    # ---- the work -----------------------------------------------------------------------------

    def _work(self) -> Generator[None]:
        self.material.text.astype("<i4", copy=False).tofile(self._path("text.i32"))
        for size_mb in self.sizes:
            size = self._sizes[size_mb] = _Size(size_mb)
            if size_mb:
                yield from self._count(size)
            if size_mb == 0 or size.counted is not None:
                yield from self._race(size)
            for path in Path(self._folder.name).glob("*.static"):
                path.unlink()
        if not any(size.has_runs for size in self._sizes.values()):
            raise InputError(f"nothing could be raced: {self._left_out[0].why}")

    def _count(self, size: _Size) -> Generator[None]:
        """Counts the corpus once, and writes one file for all stages that read the same."""
        corpus, mb = self.material.corpus, size.size_mb
        why = self._counting_refusal(mb)
        if corpus is None or why is not None:
            self._leave_out(mb, None, why or "there is no corpus")
            return
        for entrant in self.entrants:
            size.paths[entrant] = self._path(f"{entrant.file_format}.static")
        files = {str(size.paths[e]): asdict(e.toggles) for e in self.entrants}
        self._begin("count", mb, "", f"counting {mb:.4g} MB")
        try:
            with self._process({"task": "count", "files": files}) as child:
                for block in corpus.blocks(_bytes_of(mb, corpus)):
                    child.send(block)
                    yield
                child.end_input()
                yield from self._result_of(child)
                size.counted = from_plain(Counted, child.result)
        except EngineMemoryError as error:
            self._leave_out(mb, None, str(error))
        else:
            self._pace.end()

    def _counting_refusal(self, mb: float) -> str | None:
        corpus = self.material.corpus
        if corpus is not None and _bytes_of(mb, corpus) > corpus.n_bytes:
            return f"of {corpus.name} only {corpus.n_bytes / MEGABYTE:,.1f} MB can be counted"
        return counting_refusal(mb, free_bytes(self._free_bytes))

    def _race(self, size: _Size) -> Generator[None]:
        if size.size_mb:
            for entrant in self._runners(size):
                if not entrant.again:
                    yield from self._load_cold(entrant, size)
        for run in range(self.runs):
            for entrant in in_turn(self.entrants, run, self.setting.seed):
                if entrant in self._runners(size):
                    yield from self._lap(entrant, size, run)

    def _runners(self, size: _Size) -> list[Entrant]:
        """Who is still in it; a stage that the memory does not suffice for is left out."""
        gone = {left.stage for left in self._left_out if left.size_mb == size.size_mb}
        return [entrant for entrant in self.entrants if entrant.name not in gone]

    def _load_cold(self, entrant: Entrant, size: _Size) -> Generator[None]:
        self._begin(
            "load", size.size_mb, entrant.name, f"{size.size_mb:.4g} MB, load {entrant.name}"
        )
        loaded = yield from self._by_child(entrant, size, "load")
        if loaded is not None:
            size.cold_ns[entrant] = from_plain(Loaded, loaded).cold_ns

    def _lap(self, entrant: Entrant, size: _Size, run: int) -> Generator[None]:
        what = f"{size.size_mb:.4g} MB, {entrant.name} {run + 1}/{self.runs}"
        self._begin("lap", size.size_mb, entrant.name, what)
        lap = yield from self._by_child(entrant, size, "lap")
        if lap is not None:
            size.laps.setdefault(entrant, []).append(from_plain(Lap, lap))

    def _by_child(self, entrant: Entrant, size: _Size, task: str) -> Generator[None, None, Any]:
        """What a process for this stage gives; None, and the stage is out, without memory."""
        static = size.paths.get(entrant)
        free = free_bytes(self._free_bytes)
        n_bytes, n_tokens = size.file_bytes.get(entrant, 0), len(self.material.text)
        why = running_refusal(entrant, size.counted, n_bytes, n_tokens, free)
        if why is not None:
            self._leave_out(size.size_mb, entrant.name, why)
            return None
        job = {
            "task": task,
            "toggles": asdict(entrant.toggles),
            "static": None if static is None else str(static),
            "text": str(self._path("text.i32")),
            "rule": to_plain(self._rule),
            "n_ctx": self.setting.n_ctx,
            "n_draft": self.setting.n_draft,
            "tail": self.setting.tail,
        }
        try:
            with self._process(job) as child:
                yield from self._result_of(child)
        except EngineMemoryError as error:
            self._leave_out(size.size_mb, entrant.name, str(error))
            return None
        self._pace.end()
        return child.result

    def _begin(self, kind: str, size_mb: float, who: str, what: str) -> None:
        self._pace.begin((kind, size_mb, who))
        self.what = what

    @contextlib.contextmanager
    def _process(self, job: dict[str, Any]) -> Iterator[Child]:
        with Child(job) as self._child:
            yield self._child
        self._child = None

    def _result_of(self, child: Child) -> Generator[None]:
        while not child.wait(max(0.0, min(_SLICE_SECONDS, self._until - time.monotonic()))):
            yield

    def _path(self, name: str) -> Path:
        return Path(self._folder.name, name)


@dataclass
class _Size:
    """What there is of one size of corpus."""

    size_mb: float
    counted: Counted | None = None
    paths: dict[Entrant, Path] = field(default_factory=dict)
    cold_ns: dict[Entrant, int | None] = field(default_factory=dict)
    laps: dict[Entrant, list[Lap]] = field(default_factory=dict)

    @property
    def has_runs(self) -> bool:
        return bool(self.laps)

    @property
    def file_bytes(self) -> dict[Entrant, int]:
        counted = self.counted
        if counted is None:
            return {}
        return {one: counted.file_bytes[str(path)] for one, path in self.paths.items()}

    def figures(self, order: Sequence[Entrant]) -> SizeFigures:
        laps = {entrant: self.laps[entrant] for entrant in order if entrant in self.laps}
        return size_figures(self.size_mb, self.counted, laps, self.cold_ns, self.file_bytes)


def _surroundings() -> Surroundings:
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    return Surroundings(machine.describe(), clock_cost_ns(), load, now)


def _checked(sizes: Sequence[float]) -> tuple[float, ...]:
    """Ascending, each once."""
    for size in sizes:
        if not (isinstance(size, (int, float)) and size >= 0):
            raise InputError(f"a size of {size!r} MB: need a number from 0 up")
    if not sizes:
        raise InputError("a race needs a size of corpus; 0 is none, without a static cache")
    return tuple(sorted({float(size) for size in sizes}))


def _bytes_of(size_mb: float, corpus: Corpus) -> int:
    """How many bytes are meant: all, if the corpus has so many megabytes when rounded."""
    n_bytes = round(size_mb * MEGABYTE)
    rounded = round(corpus.n_bytes / MEGABYTE)
    return corpus.n_bytes if n_bytes > corpus.n_bytes and size_mb == rounded else n_bytes


def _with_all(sizes: tuple[float, ...], corpus: Corpus | None) -> tuple[float, ...]:
    """The same with the whole corpus in the place of infinity."""
    if corpus is None:
        return sizes
    whole = corpus.n_bytes / MEGABYTE
    return tuple(sorted({whole if size == math.inf else size for size in sizes}))

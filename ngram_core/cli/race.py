"""`race`: all stages against each other, on this machine."""

from __future__ import annotations

import argparse
import contextlib
import math
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import Commands, UsageError, a_path, whole_number

if TYPE_CHECKING:
    from ..racing import RaceResult
    from ..racing.running import Race
    from ..toggles import Score

SCORES: tuple[Score, ...] = ("int32", "exact")


def add_to(commands: Commands) -> None:
    what = "time the stages against each other, and say what each takes of memory"
    parser = commands.add_parser("race", help=what, description=what.capitalize() + ".")
    parser.add_argument(
        "--corpus",
        type=a_path,
        default="python",
        metavar="NAME|PATH",
        help="of the static caches: python (default), wikitext-103, prose and others by name, a"
        " file or a folder of text, or a file of token ids, F.i32",
    )
    parser.add_argument(
        "--sizes",
        type=_sizes,
        default=(0.0, 1.0, 5.0, 25.0),
        metavar="MB,MB",
        help="megabytes of corpus, or all of it; 0 is no static cache (default 0,1,5,25)",
    )
    parser.add_argument(
        "--stages", type=_names, default="all", metavar="all|A,B", help="default all"
    )
    parser.add_argument(
        "--runs",
        type=whole_number(1, 1000),
        default=3,
        metavar="N",
        help="of each stage with each size (default 3)",
    )
    parser.add_argument(
        "--text",
        type=a_path,
        metavar="NAME|PATH",
        help="what is replayed; by default the end of the corpus, which is then not counted",
    )
    parser.add_argument(
        "--text-tokens",
        type=whole_number(1, 2**40),
        default=30_000,
        metavar="N",
        help="replay so many tokens of it, at most (default 30000)",
    )
    parser.add_argument("--tokenizer", metavar="T", help="as in stats (default qwen2.5)")
    parser.add_argument("--score", choices=SCORES, default="int32", help="default int32")
    parser.add_argument(
        "--seed",
        type=whole_number(0, 2**31),
        default=1,
        metavar="N",
        help="of made texts, and of which stage is first (default 1)",
    )
    for name, what in (("json", "all of it"), ("csv", "its figures"), ("markdown", "a report")):
        parser.add_argument(f"--{name}", type=a_path, metavar="OUT", help=f"write {what} there")
    parser.set_defaults(run=run, parser=parser)


def _sizes(word: str) -> tuple[float, ...]:
    try:
        sizes = tuple(math.inf if part == "all" else float(part) for part in word.split(","))
    except ValueError:
        sizes = (-1.0,)
    if not all(size >= 0 for size in sizes) or "inf" in word.lower():
        raise argparse.ArgumentTypeError(f"need megabytes like 0,1,5.5,all, not {word!r}")
    return sizes


def _names(word: str) -> str | list[str]:
    return word if word == "all" else [name for name in word.split(",") if name]


def run(arguments: Namespace) -> None:
    from ..errors import NgramError
    from ..files import write_beside

    _check_words(arguments)
    outputs = {
        name: path
        for name in ("json", "csv", "markdown")
        if (path := getattr(arguments, name)) is not None
    }
    # Opened first: a place that cannot be written should show before the long work.
    with contextlib.ExitStack() as stack:
        beside = {name: stack.enter_context(write_beside(p)) for name, p in outputs.items()}
        race = stack.enter_context(_prepared(arguments))
        ended: BaseException | None = None
        try:
            _run(race)
        except (KeyboardInterrupt, NgramError) as error:
            ended = error
        result = race.result()
        if ended is not None and not result.n_runs:
            raise ended
        print(result.to_text(), end="")  # first: hours of work should not be lost to a full disk
        for name, path in beside.items():
            path.write_text(getattr(result, f"to_{name}")(), encoding="utf-8")
    _raise_what_is_wrong(result, ended, race, list(outputs.values()))


def _check_words(arguments: Namespace) -> None:
    from ..errors import InputError
    from ..racing.entrants import entrants

    try:
        entrants(arguments.stages)
    except InputError as error:
        raise UsageError(f"--stages: {error}") from None
    paths = [Path(p) for p in (arguments.json, arguments.csv, arguments.markdown) if p is not None]
    if len({path.absolute() for path in paths}) < len(paths):
        raise UsageError("two of --json, --csv and --markdown name the same file; name two")


def _prepared(arguments: Namespace) -> Race:
    from ..racing.running import Race
    from ..tokenizers import get_tokenizer
    from .bar import Bar

    known = arguments.tokenizer is not None
    with Bar("downloading") as bar:
        return Race(
            arguments.stages,
            arguments.corpus,
            arguments.text,
            sizes=arguments.sizes,
            runs=arguments.runs,
            score=arguments.score,
            text_tokens=arguments.text_tokens,
            tokenizer=get_tokenizer(arguments.tokenizer) if known else None,
            seed=arguments.seed,
            download=bar,
        )


def _run(race: Race) -> None:
    from .bar import Bar

    with Bar(race.what) as bar:
        while race.step():
            bar.what = race.what
            bar(race.fraction)


def _raise_what_is_wrong(
    result: RaceResult, ended: BaseException | None, race: Race, paths: list[str]
) -> None:
    from ..errors import NgramError

    if ended is not None:
        kept = f"{result.n_runs} of {race.n_planned} runs are kept, printed above"
        kept += f" and written to {', '.join(paths)}" if paths else ""
        if isinstance(ended, KeyboardInterrupt):
            raise KeyboardInterrupt(f"stopped; {kept}")
        raise NgramError(f"{ended}; {kept}")
    others = [f"{size.size_mb:g} MB" for size in result.sizes if not size.drafts_equal]
    if others:
        raise NgramError(f"stages drafted other tokens than the first one with {', '.join(others)}")

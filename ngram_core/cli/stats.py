"""`stats`: replay a text and say what drafting would have done, as llama-lookup-stats does."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from argparse import Namespace
from typing import TYPE_CHECKING

from .._native import MAX_DRAFT
from .arguments import (
    Commands,
    UsageError,
    a_path,
    a_setting,
    a_size,
    add_source,
    whole_number,
)

if TYPE_CHECKING:
    from ..rule import Rule
    from ..toggles import Toggles

DEFAULT_STAGE = "nocopy"
TAILS = ("keep", "drop")


def add_to(commands: Commands) -> None:
    what = "replay a text and count what would have been drafted and accepted"
    parser = commands.add_parser("stats", help=what, description=what.capitalize() + ".")
    add_source(parser, several_texts=False)
    parser.add_argument("-lcs", dest="static", type=a_path, metavar="STATIC", help="static cache")
    parser.add_argument(
        "-lcd", dest="dynamic", type=a_path, metavar="DYNAMIC", help="dynamic cache, only read"
    )
    parser.add_argument(
        "--save-dynamic", type=a_path, metavar="OUT", help="write the dynamic cache as it is then"
    )
    parser.add_argument(
        "--bound-entries",
        type=whole_number(1, 2**62),
        metavar="N",
        help="most pairs of an n-gram and a follower in the dynamic cache; where a chunk makes it"
        " grow beyond, the n-grams seen least often are left out until half is free",
    )
    parser.add_argument(
        "--bound-bytes",
        type=a_size,
        metavar="SIZE",
        help="the same in bytes of memory, such as 100MB; both may be given",
    )
    parser.add_argument(
        "-c",
        dest="n_ctx",
        type=whole_number(1, 2**31 - 1),
        default=4096,
        metavar="N",
        help="tokens in a chunk (default 4096)",
    )
    parser.add_argument(
        "--draft-max",
        type=whole_number(1, MAX_DRAFT),
        default=8,
        metavar="N",
        help="most tokens in a draft (default 8)",
    )
    parser.add_argument(
        "--ngram-min", type=whole_number(1, 4), default=1, metavar="N", help="default 1"
    )
    parser.add_argument(
        "--ngram-max", type=whole_number(1, 4), default=4, metavar="N", help="default 4"
    )
    parser.add_argument(
        "--stage", default=DEFAULT_STAGE, metavar="NAME", help=f"default {DEFAULT_STAGE}"
    )
    parser.add_argument(
        "--set",
        dest="settings",
        type=a_setting,
        action="append",
        default=[],
        metavar="toggle=value",
        help="set one toggle of the stage; may be given several times",
    )
    parser.add_argument("--ties", metavar="token|library", help="the same as --set ties=...")
    parser.add_argument(
        "--tail",
        default="keep",
        metavar="keep|drop",
        help="replay what is left of the text after the last chunk (default), or drop it",
    )
    parser.add_argument(
        "--dump-drafts", type=a_path, metavar="OUT", help="write one line for each draft call"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    toggles = _toggles(arguments)
    rule = _rule(arguments)
    _check_words(arguments)

    from ..files import atomic_write, write_beside
    from . import replaying
    from .inputs import note, tokens_of

    # Outputs are opened first: a place that cannot be written should show before the long work.
    with contextlib.ExitStack() as stack:
        drafts = dynamic = None
        if arguments.dump_drafts:
            drafts = stack.enter_context(atomic_write(arguments.dump_drafts))
        if arguments.save_dynamic:
            dynamic = stack.enter_context(write_beside(arguments.save_dynamic))
        tokens, tokenizer = tokens_of(arguments)
        if tokenizer is not None:  # drafts end where it ends a text
            rule = dataclasses.replace(rule, eos=tokenizer.eos)
            if tokenizer.grows and (arguments.static or arguments.dynamic):
                note(f"ids of {tokenizer.name!r} hang on the text: caches must be of this same one")
        result = replaying.replay(arguments, tokens, toggles, rule, drafts, dynamic, tokenizer)
    print(json.dumps(result.as_json(arguments), indent=2) if arguments.json else result.as_text())


# ---- words --------------------------------------------------------------------------------


def _toggles(arguments: Namespace) -> Toggles:
    """The stage's toggles with those that were set by hand."""
    from ..errors import InputError
    from ..toggles import stage

    settings: dict[str, str | bool] = {}
    ties = [("ties", arguments.ties)] if arguments.ties is not None else []
    for name, value in [*arguments.settings, *ties]:
        if settings.setdefault(name, value) != value:
            raise UsageError(f"{name} is set to both {settings[name]} and {value}; choose one")
    try:
        return stage(arguments.stage).toggles.set(**settings)
    except InputError as error:
        raise UsageError(str(error)) from None


def _rule(arguments: Namespace) -> Rule:
    from ..errors import InputError
    from ..rule import Rule

    try:
        return Rule(n_min=arguments.ngram_min, n_max=arguments.ngram_max)
    except InputError as error:
        raise UsageError(f"--ngram-min, --ngram-max: {error}") from None


def _check_words(arguments: Namespace) -> None:
    if arguments.tail not in TAILS:
        raise UsageError(f"--tail is {' or '.join(TAILS)}, not {arguments.tail!r}")
    if arguments.dump_drafts is not None and arguments.dump_drafts == arguments.save_dynamic:
        raise UsageError("--dump-drafts and --save-dynamic name the same file; name two")

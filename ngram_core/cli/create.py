"""`create`: count the 2-grams of a text into a static cache."""

from __future__ import annotations

import os
from argparse import Namespace

from .arguments import Commands, UsageError, a_path, add_source

FORMATS = ("legacy",)


def add_to(commands: Commands) -> None:
    what = "build a static cache from a text"
    parser = commands.add_parser("create", help=what, description=what.capitalize() + ".")
    add_source(parser, several_texts=True)
    parser.add_argument("-o", dest="output", type=a_path, metavar="OUT", required=True)
    parser.add_argument(
        "--format", default="legacy", metavar="F", help="legacy (default): llama.cpp's file"
    )
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    if arguments.format not in FORMATS:
        raise UsageError(
            f"there is no format {arguments.format!r} to write; there is: {', '.join(FORMATS)}"
        )
    from ..caches import NgramCache
    from ..errors import InputError
    from ..files import write_beside
    from .bar import Bar
    from .inputs import tokens_of

    # Opened first: a place that cannot be written should show before the long work.
    with write_beside(arguments.output) as beside:
        tokens, _ = tokens_of(arguments)
        if len(tokens) < 3:
            raise InputError(
                f"too few tokens ({len(tokens)}): a 2-gram with a follower takes 3; take more text"
            )
        with Bar("counting") as bar:
            cache = NgramCache.build_static(tokens, progress=bar)
        with cache:
            with Bar("writing") as bar:
                cache.save(beside, progress=bar)
            facts = cache.facts()
        size = os.path.getsize(beside)
    print(
        f"{arguments.output}: {facts['n_grams']:,} 2-grams, {facts['n_followers']:,} followers"
        f" of {len(tokens):,} tokens, {size:,} bytes ({arguments.format})"
    )

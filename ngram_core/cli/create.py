"""`create`: count the 2-grams of a text into a static cache."""

from __future__ import annotations

import os
from argparse import Namespace

from .arguments import Commands, UsageError, a_path, add_source


def add_to(commands: Commands) -> None:
    what = "build a static cache from a text"
    parser = commands.add_parser("create", help=what, description=what.capitalize() + ".")
    add_source(parser, several_texts=True)
    parser.add_argument("-o", dest="output", type=a_path, metavar="OUT", required=True)
    parser.add_argument(
        "--format",
        default="ngc",
        metavar="F",
        help="ngc (default): our own, mapped; legacy: llama.cpp's; or constmap",
    )
    parser.add_argument(
        "--apart",
        action="store_true",
        help="count each text by itself, nothing across the border of two; gives the bytes that"
        " merge gives for files of the single texts",
    )
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    from ..counting import FORMATS, BigramCounter
    from ..errors import InputError
    from ..files import write_beside
    from ..static_file import StaticAbout
    from .bar import Bar
    from .inputs import source_name, texts_of, token_blocks_of, tokenizer_of

    if arguments.format not in FORMATS:
        raise UsageError(
            f"there is no format {arguments.format!r} to write; there are: {', '.join(FORMATS)}"
        )
    # Opened first: a place that cannot be written should show before the long work.
    in_order = arguments.format != "ngc"
    with write_beside(arguments.output) as beside, BigramCounter(in_order) as counter:
        tokenizer = tokenizer_of(arguments)
        with Bar("counting") as bar:
            whole = [token_blocks_of(arguments, tokenizer, bar)]
            for text in texts_of(arguments, tokenizer, bar) if arguments.apart else whole:
                for block in text:
                    counter.add(block)
                counter.end_text()
        with Bar("grouping") as bar:
            counter.group(progress=bar)
        facts = counter.facts()
        if facts["n_grams"] == 0:
            raise InputError(
                f"too few tokens ({counter.n_tokens}): a 2-gram with a follower takes 3; "
                "take more text"
            )
        with Bar("writing") as bar:
            about = StaticAbout.of(tokenizer, source_name(arguments))
            counter.save(beside, arguments.format, progress=bar, about=about)
        size = os.path.getsize(beside)
        n_tokens = counter.n_tokens
    print(
        f"{arguments.output}: {facts['n_grams']:,} 2-grams, {facts['n_followers']:,} followers"
        f" of {n_tokens:,} tokens, {size:,} bytes ({arguments.format})"
    )

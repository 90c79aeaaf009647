"""`merge`: add the counts of two caches of one kind."""

from __future__ import annotations

import os
from argparse import Namespace

from .arguments import Commands, a_path


def add_to(commands: Commands) -> None:
    what = "merge two dynamic caches, or two of our own static files"
    parser = commands.add_parser(
        "merge",
        help=what,
        description=f"{what.capitalize()} (ngc). A static file merged from parts has the bytes that"
        " `create --apart` writes for all their texts at once: what stands across the border of"
        " two parts, two counts, is in neither. It names a tokenizer if both parts do.",
    )
    parser.add_argument("a", type=a_path, metavar="A")
    parser.add_argument("b", type=a_path, metavar="B", help="what is added to A")
    parser.add_argument("-o", dest="output", type=a_path, metavar="OUT", required=True)
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    from ..files import write_beside

    # Opened first: a place that cannot be written should show before the long work.
    with write_beside(arguments.output) as beside:
        merge = _merge_static if _are_static(arguments.a, arguments.b) else _merge_dynamic
        said = merge(arguments.a, arguments.b, str(beside))
    print(f"{arguments.output}: {said}")


def _are_static(a: str, b: str) -> bool:
    """Whether both are our own static files; InputError if only one is."""
    from ..errors import InputError
    from ..files import open_file
    from ..static_file import MAGIC

    static = []
    for path in (a, b):
        with open_file(path) as (file, _):
            static.append(file.read(len(MAGIC)) == MAGIC)
    if static[0] != static[1]:
        ours, other = (a, b) if static[0] else (b, a)
        raise InputError(
            f"{ours!r} is a static file (ngc) and {other!r} is not: only files of one kind are"
            " merged; count that corpus with --format ngc"
        )
    return static[0]


def _merge_static(a: str, b: str, target: str) -> str:
    from ..merging import merge_static
    from .bar import Bar

    with Bar("merging") as bar, merge_static(a, b, bar) as cache:
        cache.save(target)
        facts = cache.facts()
    return (
        f"{facts['n_grams']:,} 2-grams, {facts['n_followers']:,} followers,"
        f" {os.path.getsize(target):,} bytes (ngc)"
    )


def _merge_dynamic(a: str, b: str, target: str) -> str:
    from ..toggles import NOCOPY
    from .bar import Bar
    from .inputs import open_cache

    with open_cache(a, NOCOPY.toggles) as cache:
        with open_cache(b, NOCOPY.toggles) as added, Bar("merging") as bar:
            cache.merge(added, progress=bar)
        with Bar("writing") as bar:
            cache.save(target, progress=bar)
        facts = cache.facts()
    return f"{facts['n_grams']:,} n-grams, {facts['n_followers']:,} followers (legacy)"

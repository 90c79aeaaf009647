"""`merge`: add the counts of two dynamic caches."""

from __future__ import annotations

from argparse import Namespace

from .arguments import Commands, a_path


def add_to(commands: Commands) -> None:
    what = "merge two dynamic caches"
    parser = commands.add_parser("merge", help=what, description=what.capitalize() + ".")
    parser.add_argument("a", type=a_path, metavar="A")
    parser.add_argument("b", type=a_path, metavar="B", help="what is added to A")
    parser.add_argument("-o", dest="output", type=a_path, metavar="OUT", required=True)
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    from ..files import write_beside
    from ..toggles import NOCOPY
    from .bar import Bar
    from .inputs import open_cache

    with (
        write_beside(arguments.output) as beside,
        open_cache(arguments.a, NOCOPY.toggles) as cache,
    ):
        with open_cache(arguments.b, NOCOPY.toggles) as added:
            cache.merge(added)
        with Bar("writing") as bar:
            cache.save(beside, progress=bar)
        facts = cache.facts()
    print(
        f"{arguments.output}: {facts['n_grams']:,} n-grams, {facts['n_followers']:,} followers"
        " (legacy)"
    )

"""`stages`: the named sets of toggles, one a line, in the order of the ladder."""

from __future__ import annotations

from argparse import Namespace

from .arguments import Commands


def add_to(commands: Commands) -> None:
    what = "list the stages, one a line"
    parser = commands.add_parser("stages", help=what, description=what.capitalize() + ".")
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    from ..toggles import STAGES

    print("\n".join(STAGES))

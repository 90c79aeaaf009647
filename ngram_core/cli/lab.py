"""`lab`: put the lessons into a folder of the reader's and open JupyterLab there."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from ..errors import NgramError
from ..files import atomic_write
from .arguments import Commands, a_path

DEFAULT_FOLDER = "ngram-lessons"
FIRST_LESSON = "00_start_here.ipynb"
NO_BROWSER = "--no-browser"
SETTINGS = Path(__file__).parent / "lab_settings"
"""JupyterLab's default settings, less the "official Jupyter news" over the first lesson."""


def add_to(commands: Commands) -> None:
    what = "put the lessons into a folder and open JupyterLab there"
    parser = commands.add_parser("lab", help=what, description=what.capitalize() + ".")
    parser.add_argument(
        "folder",
        type=a_path,
        nargs="?",
        default=DEFAULT_FOLDER,
        metavar="DIR",
        help=f"default {DEFAULT_FOLDER}; files of yours that are there stay as they are",
    )
    parser.set_defaults(run=run, parser=parser)


def run(arguments: Namespace) -> None:
    from ..lessons_data import lessons_folder

    folder = Path(arguments.folder)
    new, kept = copy_lessons(lessons_folder(), folder)
    print(f"{folder}: {new} files put there, {kept} left as they were", flush=True)
    if importlib.util.find_spec("jupyterlab") is None:
        raise NgramError(
            "JupyterLab is not installed: pip install 'ngram-core[lab]', then run this again"
        )
    command = lab_command(folder)
    if NO_BROWSER in command:
        print("No screen here: open an address that JupyterLab prints in a browser", flush=True)
    if os.name == "posix":  # in our place, so that Ctrl-C and the exit code are its own
        os.execv(command[0], command)
    else:
        raise SystemExit(subprocess.call(command))


def copy_lessons(source: Path, folder: Path) -> tuple[int, int]:
    """Copy all files under `source` that `folder` does not have yet.

    Returns:
        How many were copied, and how many were there and stay as they are.
    """
    new = kept = 0
    for path in sorted(source.rglob("*")):
        below = path.relative_to(source)
        if not path.is_file() or any(part.startswith((".", "__")) for part in below.parts):
            continue
        target = folder / below
        if os.path.lexists(target):
            kept += 1
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(target) as file:  # a half copied one would be taken for the reader's
            file.write(path.read_bytes())
        new += 1
    return new, kept


def lab_command(folder: Path) -> list[str]:
    """The words that start JupyterLab on the first lesson in `folder`."""
    command = [sys.executable, "-m", "jupyterlab", "--ServerApp.log_level=WARN"]
    command.append(f"--ServerApp.root_dir={folder.resolve()}")
    command.append(f"--LabApp.default_url=/lab/tree/{FIRST_LESSON}")
    command.append(f"--LabApp.app_settings_dir={SETTINGS}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # in a container; it would refuse to start
        command.append("--allow-root")
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
        command.append(NO_BROWSER)
    return command

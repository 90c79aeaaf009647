"""What several tests of the set-up need: running tools, virtual environments, other Pythons."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import pytest

if sys.platform != "win32":
    import fcntl

REPO = Path(__file__).resolve().parent.parent
BUILD = REPO / "build"

# What to run on another build of the engine, or on another Python: all files that reach the engine,
# without the long streams and without most of the lengths that drafts are tried with, which take
# minutes there and run no other code than the rest, and with a fifth of the random examples (see
# test_engine_random.py).
ENGINE_TESTS = sorted((REPO / "tests").glob("test_engine*.py"))
LONG = [
    *("wikitext", "wiki_test", "wiki_prev", "wiki_corpus", "py_test", "py_prev", "py_corpus"),
    "(token_ties and (c64 or c4096))",
    "(share_one_hash and nocopy)",
    "(counting_a_long_text and outermap)",
    "ctrl_c_stops_a_replay",
]
SHORT = ("-k", f"not ({' or '.join(LONG)})")
BRIEF = {"NGRAM_BRIEF": "1"}

# For a build whose speed does not matter, as `make test` has just made one whose does.
QUICK_BUILD = {"NGRAM_QUICK_BUILD": "1"}

# Python compiles what it imports when it does, and most of an environment is never imported.
QUICK_PIP = {"PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(
    command: Sequence[str | os.PathLike[str]],
    cwd: Path = REPO,
    env: Mapping[str, str] | None = None,
    seconds: float = 300,
) -> str:
    """Runs a command and returns what it printed; if it fails, so does the test, with the end."""
    done = subprocess.run(
        [os.fspath(part) for part in command],
        cwd=cwd,
        env={**clean_environment(), **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        timeout=seconds,
    )
    shown = " ".join(os.fspath(part) for part in command)
    assert done.returncode == 0, f"exit {done.returncode}: {shown}\n{done.stdout[-6000:]}"
    return done.stdout


def clean_environment() -> dict[str, str]:
    """Ours, less what a make, a virtual environment or a PYTHONPATH that we run in would add."""
    ours = {"MAKEFLAGS", "MAKELEVEL", "PYTHONPATH", "VIRTUAL_ENV"}
    return {name: value for name, value in os.environ.items() if name not in ours}


def need(*tools: str) -> None:
    """Skips the test where one of these programs is not installed."""
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        pytest.skip(f"not installed: {', '.join(absent)}")


def new_venv(folder: Path, python: str = sys.executable) -> Path:
    """Makes a virtual environment and returns its Python."""
    run([python, "-m", "venv", "--clear", folder])
    return folder / "bin" / "python"


def pip_install(python: Path, *what: str | os.PathLike[str], cwd: Path = REPO) -> None:
    run([python, "-m", "pip", "-q", "install", *what], cwd=cwd, env={**QUICK_PIP, **QUICK_BUILD})


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], object]) -> Path:
    """A folder that the first of all processes of this run makes; the others wait for it."""
    base = factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with (shared / f"{name}.lock").open("w") as lock:
        if sys.platform != "win32":
            fcntl.flock(lock, fcntl.LOCK_EX)
        folder = shared / name
        if not (folder / "made").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            make(folder)
            (folder / "made").touch()
    return folder


def committed_files() -> list[Path]:
    """The files that are or can be committed; without git (an sdist), all not made here."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    if listed.returncode == 0:
        names = sorted(set(filter(None, listed.stdout.split("\0"))))
        return [REPO / name for name in names if (REPO / name).is_file()]
    made = {".venv", "build", "dist", "__pycache__", ".pytest_cache", ".hypothesis"}
    return [
        path
        for path in REPO.rglob("*")
        if path.is_file()
        and path.suffix not in {".so", ".pyd"}
        and not made & set(path.relative_to(REPO).parts)
    ]


def copy_repository(target: Path) -> Path:
    """The files git knows, as they are now."""
    for source in committed_files():
        to = target / source.relative_to(REPO)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, to)
    return target


@contextlib.contextmanager
def small_memory(megabytes: int) -> Iterator[Path | None]:
    """A control group with so much memory, for processes that write their number into its
    cgroup.procs; None where none can be made."""
    root = Path("/sys/fs/cgroup")
    kinds = (root / "memory", "memory.limit_in_bytes"), (root, "memory.max")
    for folder, limit in kinds:
        group = folder / f"ngram-core-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(megabytes << 20))
            with contextlib.suppress(OSError):  # version 1: with what they have already
                (group / "memory.move_charge_at_immigrate").write_text("3")
        except OSError:
            group.rmdir()
            continue
        try:
            yield group
        finally:
            _remove_group(group)
        return
    yield None


def _remove_group(group: Path) -> None:
    """When those in it have ended."""
    for _ in range(100):
        with contextlib.suppress(OSError):
            group.rmdir()
            return
        time.sleep(0.1)


@cache
def other_pythons() -> dict[str, str]:
    """Pythons on this machine by version ("3.10" -> its path), on PATH or in ~/.pyenv."""
    wanted = [f"3.{minor}" for minor in range(10, 16)]
    folders = sorted((Path.home() / ".pyenv/versions").glob("3.*/bin"))
    found: dict[str, str] = {}
    for version in wanted:
        names = [shutil.which(f"python{version}"), *(str(f / "python") for f in folders)]
        for path in filter(None, names):
            if python_version(path) == version:
                found.setdefault(version, path)
    return found


def python_version(path: str) -> str | None:
    """ "3.13" for a Python 3.13 with a C header; None for a broken shim or one without."""
    code = (
        "import os, sys, sysconfig, ensurepip;"
        "assert os.path.exists(sysconfig.get_path('include') + '/Python.h');"
        "print('%d.%d' % sys.version_info[:2])"
    )
    try:
        done = subprocess.run([path, "-c", code], capture_output=True, text=True, timeout=20)
    except OSError:
        return None
    match = re.fullmatch(r"\d+\.\d+", done.stdout.strip())
    return match[0] if match else None

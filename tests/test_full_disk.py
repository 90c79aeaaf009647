"""A disk that is full: an error in one line, the old file as it was, and nothing beside it.

On Linux the disk is a real one: a few hundred kilobytes of memory, mounted for one command alone.
Everywhere on POSIX the system's limit of a file's size stands in for it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from commands import good

import ngram_core as ng

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")

OLD = b"what stood here before\n"
DISK_KB = 160
SECONDS = 120

# Each writes far more than the disk holds, but for the reports.
WRITERS: dict[str, tuple[str, ...]] = {
    "create ngc": ("create", "--tokens", "big.i32", "-o", "disk/out"),
    "create legacy": ("create", "--tokens", "big.i32", "--format", "legacy", "-o", "disk/out"),
    "create constmap": ("create", "--tokens", "big.i32", "--format", "constmap", "-o", "disk/out"),
    "merge ngc": ("merge", "big.ngc", "big.ngc", "-o", "disk/out"),
    "merge legacy": ("merge", "big.legacy", "big.legacy", "-o", "disk/out"),
    "save-dynamic": ("stats", "--tokens", "big.i32", "--save-dynamic", "disk/out"),
    "dump-drafts": ("stats", "--tokens", "runs.i32", "--dump-drafts", "disk/out"),
}  # fmt: skip
RACE = ("race", "--stages", "nocopy", "--corpus", "runs.i32", "--text", "runs.i32",
        "--text-tokens", "5000", "--sizes", "0", "--runs", "1")  # fmt: skip
REPORTS = {name: (*RACE, f"--{name}", "disk/out") for name in ("json", "csv", "markdown")}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    folder = tmp_path_factory.mktemp("full disk")
    rng = np.random.default_rng(5)
    rng.integers(0, 3_000, 30_000).astype("<i4").tofile(folder / "big.i32")
    np.tile(np.arange(50), 4_000).astype("<i4").tofile(folder / "runs.i32")
    for name in ("ngc", "legacy"):
        good(
            "create", "--tokens", folder / "big.i32", "--format", name, "-o", folder / f"big.{name}"
        )
        assert (folder / f"big.{name}").stat().st_size > 1024 * DISK_KB
    return folder


@pytest.fixture
def place(folder: Path, tmp_path: Path) -> Path:
    """A folder of its own with all that, and an old file where the output goes."""
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / "disk").mkdir()
    (tmp_path / "after").mkdir()
    (tmp_path / "disk" / "out").write_bytes(OLD)
    return tmp_path


@cache
def mounting() -> tuple[str, ...]:
    """What runs a command that may mount; () if there is nothing of the kind."""
    for options in (("-m",), ("-U", "-r", "-m")):
        command = ("unshare", *options)
        try:
            done = subprocess.run(
                [*command, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, timeout=20
            )
        except OSError:
            return ()
        if done.returncode == 0:
            return command
    return ()


# The disk is seen by this command alone, so it is copied out of it in the end.
ON_A_SMALL_DISK = """
cp disk/out old && mount -t tmpfs -o size="$1" none disk && cp old disk/out || exit 99
[ "$2" = roomy ] || cat /dev/zero > disk/filler 2> none
shift 2
"$@"
code=$?
rm -f disk/filler
cp -a disk/. after
exit $code
"""


def on_a_small_disk(place: Path, room: str, words: tuple[str, ...]) -> tuple[int, str, str]:
    """Exit code, output and errors of a command whose disk is small or full."""
    if not mounting():
        pytest.skip("no small disk can be mounted here")
    command = [sys.executable, "-m", "ngram_core", *words]
    done = subprocess.run(
        [*mounting(), "sh", "-c", ON_A_SMALL_DISK, "sh", f"{DISK_KB}k", room, *command],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    return done.returncode, done.stdout, done.stderr


def check_refused(place: Path, done: tuple[int, str, str], after: str, said: str) -> None:
    code, _out, err = done
    assert (code, err.count("\n")) == (1, 1), done
    assert err == f"ngram-core: {said}\n"
    left = {path.name: path.read_bytes() for path in (place / after).iterdir()}
    assert left == {"out": OLD}


NO_SPACE = "'disk/out': no space is left on the disk; free some or choose another place"


@pytest.mark.parametrize("room", ["roomy", "full"])
@pytest.mark.parametrize("writer", WRITERS)
def test_what_does_not_fit(place: Path, writer: str, room: str) -> None:
    """Neither where all is full, nor where it fills up in the middle of the file."""
    check_refused(place, on_a_small_disk(place, room, WRITERS[writer]), "after", NO_SPACE)


@pytest.mark.parametrize("report", REPORTS)
def test_a_report_that_does_not_fit_is_printed_all_the_same(place: Path, report: str) -> None:
    """A race may take hours."""
    done = on_a_small_disk(place, "full", REPORTS[report])
    check_refused(place, done, "after", NO_SPACE)
    assert "nocopy" in done[1]


def test_the_small_disk_is_one(place: Path) -> None:
    """With a file that fits, all is well there."""
    words = ("create", "--tokens", "runs.i32", "-o", "disk/out")
    code, out, err = on_a_small_disk(place, "roomy", words)
    assert (code, err) == (0, ""), out
    with ng.NgramCache.open(
        place / "after" / "out", ng.CONSTMAP.toggles.set(static="ngc"), static=True
    ) as cache:
        cache.validate()
        assert cache.n_grams == 50


WITH_A_LIMIT = """
import resource, sys
from ngram_core.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("writer", WRITERS)
def test_what_may_not_be_as_long(place: Path, writer: str) -> None:
    code = WITH_A_LIMIT.format(limit=1024 * DISK_KB)
    done = subprocess.run(
        [sys.executable, "-c", code, *WRITERS[writer]],
        cwd=place,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    said = "'disk/out': no file may be as long here; ask for a higher limit or choose another place"
    check_refused(place, (done.returncode, done.stdout, done.stderr), "disk", said)


def test_a_full_disk_in_python(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library raises what the system says, and keeps the old file."""
    resource = pytest.importorskip("resource")
    monkeypatch.chdir(place)
    save: list[Callable[[], None]] = []
    with ng.NgramCache() as cache, ng.BigramCounter() as counter:
        tokens = np.fromfile("big.i32", "<i4")
        cache.update(tokens)
        counter.add(tokens)
        save = [
            lambda: cache.save("disk/out"),
            *(lambda name=name: counter.save("disk/out", name) for name in ("ngc", "constmap")),
        ]
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * DISK_KB, before[1]))
        try:
            for call in save:
                with pytest.raises(OSError, match="File too large"):
                    call()
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [path.name for path in Path("disk").iterdir()] == ["out"]
        assert Path("disk/out").read_bytes() == OLD
        save[0]()  # and then it can
    with ng.NgramCache.open("disk/out") as again:
        again.validate()

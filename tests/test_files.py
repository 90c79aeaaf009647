"""Output files are whole or not there, and errors say where."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import ngram_core as ng
from ngram_core.errors import InputError
from ngram_core.files import atomic_write, explain, open_file, write_beside


def test_a_file_appears_whole(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with atomic_write(target) as file:
        file.write(b"half")
        file.flush()
        assert not target.exists()
        file.write(b" and half")
    assert target.read_bytes() == b"half and half"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
def test_after_an_error_the_old_file_stays(tmp_path: Path, error: type[BaseException]) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    with pytest.raises(error), atomic_write(target) as file:  # noqa: PT012
        file.write(b"new")
        raise error
    assert target.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_another_writer_can_use_the_place(tmp_path: Path) -> None:
    with write_beside(tmp_path / "out") as beside:
        assert beside.parent == tmp_path
        beside.write_bytes(b"by its name")
    assert (tmp_path / "out").read_bytes() == b"by its name"


def test_rights_are_kept_and_new_files_have_the_usual_ones(tmp_path: Path) -> None:
    usual = tmp_path / "usual"
    usual.write_bytes(b"")
    kept = tmp_path / "kept"
    kept.write_bytes(b"")
    kept.chmod(0o640)
    for name in ("new", "kept"):
        with atomic_write(tmp_path / name) as file:
            file.write(b"x")
    assert (tmp_path / "new").stat().st_mode == usual.stat().st_mode
    assert kept.stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_bytes() == b"new"


def test_a_long_name_that_is_legal_works(tmp_path: Path) -> None:
    name = "é" * 127  # 254 bytes of 255
    with atomic_write(tmp_path / name) as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == [name]


def test_a_device_is_written_and_stays(tmp_path: Path) -> None:
    with atomic_write(os.devnull) as file:
        file.write(b"x")
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "this is a folder; name a file"),
        ("none/out", "there is no such file or folder; check the path"),
        ("file/out", "a part of this path is a file, not a folder; check the path"),
        ("n" * 300, "the name is too long; choose a shorter one"),
        ("circle", "its links go round in a circle; check the path"),
    ],
)
def test_a_place_that_cannot_be_written(tmp_path: Path, name: str, said: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "circle").symlink_to("circle")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(OSError) as caught, atomic_write(tmp_path / name):  # noqa: PT011
        pass
    assert explain(caught.value) == f"{str(tmp_path / name)!r}: {said}"
    assert sorted(os.listdir(tmp_path)) == before


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_named() -> None:
    with pytest.raises(OSError) as caught, atomic_write("/dev/full") as file:  # noqa: PT011
        file.write(b"x")
    assert caught.value.errno == errno.ENOSPC
    assert explain(caught.value).startswith("'/dev/full': no space is left on the disk")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anything")
def test_a_file_without_the_right_to_write_stays(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_bytes(b"old")
    target.chmod(0o444)
    with pytest.raises(PermissionError), atomic_write(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"old"


def test_an_error_of_another_file_keeps_its_name(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, atomic_write(tmp_path / "out"):
        (tmp_path / "none").read_bytes()
    assert caught.value.filename == str(tmp_path / "none")


def test_only_plain_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    with open_file(tmp_path / "file") as (file, size):
        assert (file.read(), size) == (b"abc", 3)
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(InputError, match="is not a plain file"), open_file(path):
            pass
    with pytest.raises(IsADirectoryError), open_file(tmp_path):
        pass


KILLED = """
import os, signal, sys
from ngram_core.files import atomic_write
with atomic_write(sys.argv[1]) as file:
    file.write(b"new" * 1000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
def test_killed_in_the_middle_of_writing(tmp_path: Path) -> None:
    """The old file stays; what is left beside it is hidden, and in nobody's way."""
    target = tmp_path / "out.ngc"
    target.write_bytes(b"old")
    done = subprocess.run([sys.executable, "-c", KILLED, target], check=False)
    assert done.returncode == -signal.SIGKILL
    assert target.read_bytes() == b"old"
    (left,) = (name for name in os.listdir(tmp_path) if name != "out.ngc")
    assert left.startswith(".out.ngc.")
    assert left.endswith(".part")
    with atomic_write(target) as file:
        file.write(b"new")
    assert target.read_bytes() == b"new"


SAVING = """
import sys
import ngram_core as ng
with ng.BigramCounter() as counter:
    counter.add(range(300_000))
    print("saving", flush=True)
    while True:
        counter.save(sys.argv[1], sys.argv[2])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("kind", ["ngc", "legacy"])
def test_killed_while_a_cache_is_saved(tmp_path: Path, kind: str) -> None:
    """Whenever it comes, the file is whole: what stood there or what was saved last."""
    target = tmp_path / "class.cache"
    with ng.BigramCounter() as counter:
        counter.add([1, 2, 3, 1, 2, 3])
        counter.save(target, kind)
    toggles = ng.PLACES.toggles.set(static="ngc") if kind == "ngc" else ng.NOCOPY.toggles
    for seconds in (0.0, 0.05, 0.3):
        child = subprocess.Popen(
            [sys.executable, "-c", SAVING, target, kind], stdout=subprocess.PIPE, text=True
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == "saving\n"
            time.sleep(seconds)
            child.kill()
        with ng.NgramCache.open(target, toggles, static=True) as cache:
            if kind == "ngc":
                cache.check_file()
            assert cache.n_grams in (3, 300_000 - 2)

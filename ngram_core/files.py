"""Files on disk: written whole or not at all, and errors told in one line."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from .errors import InputError

PathLike = str | os.PathLike[str]


@contextlib.contextmanager
def open_file(path: PathLike) -> Iterator[tuple[FileIO, int]]:
    """A plain file open for reading without a buffer, and its size in bytes.

    Raises:
        InputError: a pipe or a device, which might never end.
        OSError: it cannot be read.
    """
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):  # open() refuses those
        raise InputError(f"{os.fspath(path)!r} is not a plain file; save its content in one first")
    with open(path, "rb", buffering=0) as file:
        yield file, os.fstat(file.fileno()).st_size


@contextlib.contextmanager
def write_beside(path: PathLike) -> Iterator[Path]:
    """A new empty file beside `path`, which takes its place when the block ends well.

    Whoever reads `path` sees the old file or the new one, whole, never a part; after an error
    or Ctrl-C the old one is still there. A link is followed. A device such as /dev/null is
    written directly.

    Raises:
        OSError: it cannot be written; `filename` is `path`, also when the disk is full.
    """
    target = Path(os.path.realpath(path))
    try:
        mode = _checked_mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            yield target
            return
        # A short name: the target's own may be as long as the file system allows.
        beside = target.with_name(f".{target.name[:40]}.{os.urandom(4).hex()}.part")
        rights = 0o666 if mode is None else stat.S_IMODE(mode)
        try:
            os.close(os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, rights | 0o600))
            yield beside
            _sync(beside, os.O_RDWR)  # Windows syncs no file that is open for reading
            if mode is not None:
                beside.chmod(rights)
            os.replace(beside, target)
        finally:
            beside.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # not every system lets a folder be opened
            _sync(target.parent, os.O_RDONLY)
    except OSError as error:
        if _is_about(error, target):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from None
        raise


def _is_about(error: OSError, target: Path) -> bool:
    """Whether an error inside `write_beside` is one of its own file; the block may have others."""
    if error.filename is None:  # a write; reading does not fill disks
        return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    name = os.fsdecode(error.filename)
    return name == str(target) or (name.endswith(".part") and Path(name).parent == target.parent)


@contextlib.contextmanager
def atomic_write(path: PathLike) -> Iterator[BinaryIO]:
    """The same, as an open binary file."""
    with write_beside(path) as beside, open(beside, "wb") as file:
        yield file


@contextlib.contextmanager
def locked(path: PathLike) -> Iterator[None]:
    """Waits until no other process is in such a block for this path. A small file beside it, which
    stays, holds the lock; it ends with the process that has it, whatever happens to that.

    Raises:
        OSError: the file cannot be made.
    """
    target = Path(os.path.realpath(path))
    lock = target.with_name(f".{target.name[:40]}.lock")
    with open(lock, "ab") as file:
        take, give = _locking(file.fileno())
        while not take():  # Ctrl-C is heard in between
            time.sleep(0.02)
        try:
            yield
        finally:
            give()


def _locking(descriptor: int) -> tuple[Callable[[], bool], Callable[[], None]]:
    """What tries to take a lock, and what gives it back, on this system."""
    if sys.platform == "win32":
        import msvcrt

        def take() -> bool:
            try:
                os.lseek(descriptor, 0, os.SEEK_SET)
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                return False
            return True

        def give() -> None:
            os.lseek(descriptor, 0, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    else:
        import fcntl

        def take() -> bool:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

        def give() -> None:
            fcntl.flock(descriptor, fcntl.LOCK_UN)

    return take, give


def _checked_mode(target: Path) -> int | None:
    """The mode of what stands at `target`, None if nothing does; OSError if it must stay."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not os.access(target, os.W_OK):  # renaming over it would need no such right
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(target))
    return mode


def _sync(path: Path, how: int) -> None:
    """Make the system put a file, or a folder's list of names, on the disk now."""
    descriptor = os.open(path, how)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_WHAT_TO_DO = {
    errno.ENOENT: "there is no such file or folder; check the path",
    errno.EEXIST: "a file of this name is in the way; choose another name",
    errno.EISDIR: "this is a folder; name a file",
    errno.ENOTDIR: "a part of this path is a file, not a folder; check the path",
    errno.EACCES: "not allowed; check the permissions",
    errno.EPERM: "not allowed; check the permissions",
    errno.EROFS: "this disk can only be read; choose another place",
    errno.ENOSPC: "no space is left on the disk; free some or choose another place",
    errno.EDQUOT: "your share of the disk is used up; free some or choose another place",
    errno.EFBIG: "no file may be as long here; ask for a higher limit or choose another place",
    errno.ENAMETOOLONG: "the name is too long; choose a shorter one",
    errno.ELOOP: "its links go round in a circle; check the path",
    errno.EMFILE: "too many files are open; close some",
}


def explain(error: OSError) -> str:
    """An operating system's error in one line: where, what, what to do."""
    if error.filename is None and (error.strerror or "").startswith("No usable temporary"):
        return "there is no folder for temporary files; set TMPDIR to one that can be written"
    what = _WHAT_TO_DO.get(error.errno or 0) or error.strerror or str(error)
    return what if error.filename is None else f"{os.fsdecode(error.filename)!r}: {what}"

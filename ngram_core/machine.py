"""The machine that figures were measured on, and how much memory it lets us use."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

_CGROUP = Path("/sys/fs/cgroup")


def describe() -> dict[str, str | int | None]:
    """What a reader needs to judge a timing: processor, memory, system, compiler, versions."""
    from . import __version__
    from ._native import compiler

    return {
        "cpu": _cpu_name(),
        "cores": usable_cores(),
        "memory_bytes": memory_limit_bytes(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "compiler": compiler(),
        "python": platform.python_version(),
        "ngram_core": __version__,
    }


def usable_cores() -> int:
    """Processor cores that this process may use, by the scheduler and a container's limit."""
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    with contextlib.suppress(OSError, ValueError):
        quota, period = (_CGROUP / "cpu.max").read_text().split()
        cores = min(cores, max(1, round(int(quota) / int(period))))
    return cores


def memory_limit_bytes() -> int | None:
    """The most memory that we can have here: by our own limit, the container's or the machine's."""
    limits = (limit for limit, _ in (*_group_limits(), *_own_limits()))
    return min(filter(None, (*limits, _physical())), default=None)


def memory_free_bytes() -> int | None:
    """How much of that is not taken yet (None if the system does not tell)."""
    free = [limit - used for limit, used in (*_group_limits(), *_own_limits())]
    available = _meminfo("MemAvailable")
    if available is None and not free:
        available = _physical()
    if available is not None:
        free.append(available)
    return max(0, min(free)) if free else None


def resident_bytes() -> int | None:
    """Memory that this process has now, as the system counts it; None if it does not tell."""
    return _field(Path("/proc/self/status"), "VmRSS")


def peak_resident_bytes() -> int | None:
    """The most memory this process ever had at once, as the system counts it."""
    peak = _field(Path("/proc/self/status"), "VmHWM")  # getrusage's would include the parent's
    if peak is not None:
        return peak
    try:
        import resource
    except ImportError:  # Windows
        return None
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _cpu_name() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _physical() -> int | None:
    with contextlib.suppress(AttributeError, OSError, ValueError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _group_limits() -> Iterator[tuple[int, int]]:
    """Limit and use of memory, bytes, of the control groups around this process that have a limit.

    Inside a container the outermost that is seen is the container's own. What is used leaves out
    what was read from files and is given back when memory is needed.
    """
    for folder, names in _groups():
        limit = _number(folder / names[0])
        if limit is None or limit >= 1 << 60:  # "no limit" is a number near 2^63 in version 1
            continue
        used = _number(folder / names[1]) or 0
        with contextlib.suppress(OSError, ValueError):
            for line in (folder / "memory.stat").read_text().splitlines():
                if line.startswith(names[2] + " "):
                    used = max(0, used - int(line.split()[1]))
        yield limit, used


_VERSION_2 = ("memory.max", "memory.current", "inactive_file")
_VERSION_1 = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")


def _groups() -> Iterator[tuple[Path, tuple[str, str, str]]]:
    """The control groups of memory that this process is in, the innermost first, each version."""
    inside = {"": "/", "memory": "/"}  # by controllers; version 2 names none
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for name in controllers.split(","):
                if name in inside:
                    inside[name] = path
    for name, folder, names in (
        ("", _CGROUP, _VERSION_2),
        ("memory", _CGROUP / "memory", _VERSION_1),
    ):
        own = PurePosixPath(inside[name])
        for group in (own, *own.parents):
            yield folder / group.relative_to("/"), names


def _own_limits() -> Iterator[tuple[int, int]]:
    """What `ulimit -v` and `ulimit -d` allow this process, as far as they limit it, and what it has
    taken of that. Both count what was asked for, used or not: each thread's stack as a whole."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for kind, field in ((resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")):
        limit = resource.getrlimit(kind)[0]
        if limit != resource.RLIM_INFINITY:
            yield limit, _field(Path("/proc/self/status"), field) or 0


def _meminfo(name: str) -> int | None:
    return _field(Path("/proc/meminfo"), name)


def _field(path: Path, name: str) -> int | None:
    """Bytes of a line like "VmHWM:   123 kB"."""
    with contextlib.suppress(OSError, ValueError):
        for line in path.read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1]) * 1024
    return None


def _number(path: Path) -> int | None:
    with contextlib.suppress(OSError, ValueError):
        return int(path.read_text())
    return None

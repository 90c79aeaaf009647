"""The machine that figures were measured on, and how much memory it lets us use."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
from pathlib import Path

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
    """The most memory that all programs here can have: the container's limit or the machine's."""
    return min(filter(None, (_container_limit(), _physical())), default=None)


def memory_free_bytes() -> int | None:
    """How much of that is not taken yet (None if the system does not tell)."""
    free = _meminfo("MemAvailable")
    limit = _container_limit()
    if limit is not None:
        used = _number(_CGROUP / "memory.current") or _number(
            _CGROUP / "memory/memory.usage_in_bytes"
        )
        free = min(filter(None, (free, limit - (used or 0))), default=None)
    return free if free is not None else _physical()


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


def _container_limit() -> int | None:
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        limit = _number(_CGROUP / name)
        if limit is not None and limit < 1 << 60:  # "no limit" is a number near 2^63 in version 1
            return limit
    return None


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

"""Running a command on this machine as if it had no network."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from tools import run

# In a name space of its own there is no network but the loopback, which has to be switched on:
# SIOCSIFFLAGS with IFF_UP.
LOOPBACK = """
import fcntl, os, socket, struct, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
    fcntl.ioctl(s, 0x8914, struct.pack("16sh14x", b"lo", 1))
os.execvp(sys.argv[1], sys.argv[1:])
"""
CUT_OFF = ("unshare", "-rn", sys.executable, "-c", LOOPBACK)


@cache
def allowed() -> bool:
    """Whether this machine lets us cut off the network."""
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False).returncode == 0


def cut_off(*command: str | os.PathLike[str], cwd: Path, seconds: float) -> str:
    return run([*CUT_OFF, *command], cwd=cwd, seconds=seconds)

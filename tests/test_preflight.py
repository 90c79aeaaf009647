"""What a newcomer reads when something is missing: one line, with the command that brings it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from tools import REPO

VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
BASE = Path(sys.base_prefix, "bin", f"python{VERSION}")
COMPILER = (sysconfig.get_config_var("CC") or "cc").split()[0]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell script")


class Machine:
    """A folder that is all there is on PATH, with `uname` and the package manager we choose."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for tool in ("sh", "sed", "head", "cat"):
            self.link(tool, shutil.which(tool))
        self.says("uname", "Linux")
        self.says("id", "1000")
        self.python_path = ""

    def link(self, name: str, target: str | Path | None) -> None:
        assert target, name
        (self.folder / name).symlink_to(target)

    def says(self, name: str, text: str, exit_code: int = 0) -> None:
        script = self.folder / name
        script.unlink(missing_ok=True)
        script.write_text(f"#!/bin/sh\nprintf '%s\\n' '{text}'\nexit {exit_code}\n")
        script.chmod(0o755)

    def with_python(self, name: str = "python3", broken_by: str = "") -> None:
        """Our Python under that name; `broken_by` runs when it starts, to take things away."""
        (self.folder / "site").mkdir(exist_ok=True)
        (self.folder / "site" / "sitecustomize.py").write_text(broken_by)
        script = self.folder / name
        script.write_text(f'#!/bin/sh\nPYTHONPATH={self.folder}/site exec {BASE} "$@"\n')
        script.chmod(0o755)

    def with_compiler(self) -> None:
        """The real one, with the real PATH for the linker and all that it calls."""
        script = self.folder / COMPILER
        script.write_text(
            f"#!/bin/sh\nPATH='{os.environ['PATH']}' exec {shutil.which(COMPILER)} \"$@\"\n"
        )
        script.chmod(0o755)

    def preflight(self) -> tuple[int, str, str]:
        done = subprocess.run(
            [self.folder / "sh", REPO / "tests" / "preflight.sh"],
            env={"PATH": str(self.folder), "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stderr.count("\n") <= 1, done.stderr
        return done.returncode, done.stdout.strip(), done.stderr.strip()

    def complaint(self) -> str:
        code, out, err = self.preflight()
        assert (code, out) == (1, "")
        return err


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.fixture
def apt(machine: Machine) -> Machine:
    machine.says("apt-get", "")
    machine.says("apt-cache", "Version: 3.11.2-1")
    return machine


needs_compiler = pytest.mark.skipif(not shutil.which(COMPILER), reason=f"no {COMPILER} here")


@needs_compiler
def test_a_machine_that_has_all_gets_its_python_named(machine: Machine) -> None:
    machine.with_python()
    machine.with_compiler()
    assert machine.preflight() == (0, str(machine.folder / "python3"), "")


@needs_compiler
def test_an_old_python3_does_not_hide_a_newer_one(machine: Machine) -> None:
    machine.says("python3", "old")
    machine.with_python("python3.12")
    machine.with_compiler()
    assert machine.preflight() == (0, str(machine.folder / "python3.12"), "")


def test_no_python(apt: Machine) -> None:
    assert apt.complaint() == (
        "Missing: Python 3.10 or later. Run this, then try again:  sudo apt-get update && "
        "sudo apt-get install -y python3 python3-dev python3-venv gcc libc6-dev"
    )


def test_only_an_old_python_and_a_newer_one_in_the_packages(apt: Machine) -> None:
    (apt.folder / "apt-cache").write_text(
        "#!/bin/sh\ncase $2 in python3) echo Version: 3.8.2 ;; "
        "python3.11) echo Version: 3.11.0 ;; esac\n"
    )
    (apt.folder / "python3").write_text(
        '#!/bin/sh\nif [ "$1" = -V ]; then echo Python 3.8.2; else echo old; fi\n'
    )
    (apt.folder / "python3").chmod(0o755)
    assert apt.complaint() == (
        "Missing: Python 3.10 or later (there is Python 3.8.2). Run this, then try again:  "
        "sudo apt-get update && "
        "sudo apt-get install -y python3.11 python3.11-dev python3.11-venv gcc libc6-dev"
    )


def test_only_an_old_python_and_none_in_the_packages(apt: Machine) -> None:
    apt.says("apt-cache", "Version: 3.8.2")
    assert "uv python install" in apt.complaint()


def test_no_compiler(apt: Machine) -> None:
    apt.with_python()
    assert apt.complaint().startswith("Missing: a C compiler. Run this")
    assert apt.complaint().endswith("sudo apt-get install -y gcc libc6-dev")


def test_root_needs_no_sudo(apt: Machine) -> None:
    apt.says("id", "0")
    assert "sudo" not in apt.complaint()


@needs_compiler
def test_no_python_h_and_no_venv(apt: Machine) -> None:
    """Debian's python3 without python3-dev and python3-venv."""
    apt.with_compiler()
    apt.with_python(
        broken_by="import sys, sysconfig\n"
        "sys.modules['ensurepip'] = None\n"
        "sysconfig.get_path = lambda *a, **k: '/nowhere'\n"
    )
    assert apt.complaint() == (
        f"Missing: Python.h of Python {VERSION} and the venv module of Python {VERSION}. Run "
        "this, then try again:  sudo apt-get update && "
        "sudo apt-get install -y python3-dev python3-venv"
    )


@needs_compiler
def test_a_compiler_without_the_headers_of_libc(apt: Machine) -> None:
    apt.with_python()
    apt.says(COMPILER, "stdlib.h: No such file or directory", exit_code=1)
    assert apt.complaint().startswith("Missing: the C library's headers. Run")
    assert apt.complaint().endswith("install -y libc6-dev")


def test_fedora(machine: Machine) -> None:
    machine.says("dnf", "")
    assert machine.complaint().endswith("sudo dnf install -y python3.12 python3.12-devel gcc")
    machine.with_python()
    assert machine.complaint().endswith("sudo dnf install -y gcc")


def test_macos(machine: Machine) -> None:
    machine.says("uname", "Darwin")
    assert machine.complaint().endswith("brew install python@3.13")
    machine.with_python(
        broken_by="import sys, sysconfig; sysconfig.get_config_vars(); sys.platform = 'darwin'"
    )
    machine.says("xcode-select", "", exit_code=2)
    assert machine.complaint().endswith("try again:  xcode-select --install")


def test_another_system(machine: Machine) -> None:
    assert "with this system's package manager" in machine.complaint()

"""Machines that are set up in an odd way: no home, no folder for temporary files, a locale without
UTF-8, names with blanks and umlauts, a clock that is put back, a package that may only be read."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import pytest
from commands import run as command
from tools import REPO, small_memory

import ngram_core
from ngram_core import machine

SECONDS = 120
TEXT = "Grüße aus Köln, Grüße aus Łódź, Grüße aus 東京.\n" * 40

# None: the variable is not set.
MACHINES: dict[str, dict[str, str | None]] = {
    "as it is": {},
    "no HOME": {"HOME": None, "XDG_CACHE_HOME": None},
    "a home that is not there": {"HOME": "/nowhere/at/all", "XDG_CACHE_HOME": None},
    "a home that can only be read": {"HOME": "/proc", "XDG_CACHE_HOME": None},
    "TMPDIR leads nowhere": {"TMPDIR": "/nowhere/at/all"},
    "a locale without UTF-8": {
        "LC_ALL": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": None,
    },
}

ODD = pytest.mark.parametrize("name", MACHINES)


def environment(name: str) -> dict[str, str]:
    changed = {**os.environ, **MACHINES[name]}
    return {key: value for key, value in changed.items() if value is not None}


def on(name: str, folder: Path, *words: str) -> bytes:
    """Runs Python with these words; all must be well."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment(name),
        capture_output=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stderr) == (0, b""), (done.stdout, done.stderr)
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "ein Ordner für Größen"
    folder.mkdir()
    (folder / "Grüße an alle.txt").write_text(TEXT, encoding="utf-8")
    return folder


@ODD
def test_the_commands_work(name: str, folder: Path) -> None:
    def run(*words: str) -> bytes:
        return on(name, folder, "-m", "ngram_core", *words)

    words = ("--text", "Grüße an alle.txt", "--tokenizer", "bytes")
    out = "für später.ngc"
    assert b"ter.ngc: 36 2-grams" in run("create", *words, "-o", out)
    told = json.loads(run("inspect", out, "--json"))
    assert told["format"] == "ngc"
    assert told["corpus"] == "Grüße an alle.txt"
    stats = json.loads(
        run(
            "stats",
            *words,
            "--stage",
            "places",
            "-lcs",
            out,
            "--save-dynamic",
            "für später.dyn",
            "--json",
        )
    )
    assert stats["n_tokens"] == len(TEXT.encode())
    run("merge", out, out, "-o", out)
    assert json.loads(run("inspect", out, "--json"))["n_grams"] == told["n_grams"]


@ODD
def test_a_race_is_told_and_reported(name: str, folder: Path) -> None:
    said = on(name, folder, "-m", "ngram_core", "race", "--stages", "nocopy", "--corpus",
              "Grüße an alle.txt", "--text", "Grüße an alle.txt", "--tokenizer", "bytes",
              "--text-tokens", "1500", "--sizes", "0", "--runs", "1",
              "--markdown", "für später.md")  # fmt: skip
    assert b"nocopy" in said
    assert "nocopy" in (folder / "für später.md").read_text(encoding="utf-8")


@ODD
def test_a_lesson_s_check_and_files(name: str, folder: Path) -> None:
    """What lesson 00 prints, and a lesson that writes files for a while."""
    said = on(name, folder, "-c", "from ngram_core.lesson.ready import ready; ready()")
    assert b"engine: " in said
    code = "from ngram_core.lesson.followers.order import saved_and_loaded as s; print(s())"
    assert b"Drafted" in on(name, folder, "-c", code)


def test_no_folder_for_temporary_files_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told as what it is."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: ["/nowhere/at/all"])
    done = command("race", "--stages", "nocopy", "--corpus", "text", "--text", "text",
                   "--tokenizer", "bytes", "--sizes", "0", "--runs", "1")  # fmt: skip
    assert done.code == 1
    assert done.err == (
        "ngram-core: there is no folder for temporary files; set TMPDIR to one that can be"
        " written\n"
    )


# ---- the clock ----------------------------------------------------------------------------


def test_nothing_is_measured_with_a_clock_that_can_be_set() -> None:
    """time.time() and its like may jump, back too, when a machine is told what time it is."""
    found = []
    for path in sorted((REPO / "ngram_core").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name = f"{node.value.id}.{node.attr}"
                if name in ("time.time", "time.time_ns", "datetime.now", "datetime.utcnow"):
                    found.append(f"{path.relative_to(REPO).as_posix()}: {name}")
    assert found == ["ngram_core/racing/running.py: datetime.now"], "the date of a report alone"
    source = (REPO / "csrc/ngc_platform.c").read_text(encoding="utf-8")
    assert "CLOCK_MONOTONIC" in source
    assert "CLOCK_REALTIME" not in source


BACKWARDS = """
import sys, time
real, calls = time.time, [0]
def back():
    calls[0] += 1
    return real() - 86_400 * calls[0]
time.time = back
from ngram_core.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_a_clock_that_is_put_back_each_time(folder: Path) -> None:
    words = ("stats", "--text", "Grüße an alle.txt", "--tokenizer", "bytes", "--json")
    told = json.loads(on("as it is", folder, "-c", BACKWARDS, *words))
    assert told["draft_ns"] > 0
    assert told["load_ns"] >= 0


# ---- a package that may only be read --------------------------------------------------------


AS_NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def need_another_user() -> None:
    """Root may be the one user there is, as in a name space where the network is cut off."""
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can run as another user")
    if subprocess.run([*AS_NOBODY, "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("there is no other user to run as")


@pytest.mark.skipif(sys.platform != "linux", reason="needs another user to run as")
def test_another_user_with_a_package_that_may_only_be_read(tmp_path: Path) -> None:
    """As in a class: one installation for all, and a home for each."""
    need_another_user()
    shared = tmp_path / "shared"
    source = Path(ngram_core.__file__).parent
    shutil.copytree(source, shared / "ngram_core", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (shared, *shared.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    home = tmp_path / "home"
    home.mkdir()
    (home / "text").write_text(TEXT, encoding="utf-8")
    for path in (home, home / "text"):
        os.chown(path, 65_534, 65_534)
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": str(shared)}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*AS_NOBODY, sys.executable, *words],
            cwd=home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )

    first = run("-c", "import numpy, ngram_core; print(ngram_core.__file__)")
    if "ermission denied" in first.stderr and str(shared) not in first.stderr:
        pytest.skip("another user cannot reach this Python")
    for parent in shared.parents:  # pytest's own folders are closed to others
        if parent == Path(tempfile.gettempdir()):
            break
        parent.chmod(0o755)
    first = run("-c", "import ngram_core; print(ngram_core.__file__)")
    assert Path(first.stdout.strip()).is_relative_to(shared), first
    words = ("-m", "ngram_core", "create", "--text", "text", "--tokenizer", "bytes")
    made = run(*words, "-o", "out.ngc")
    assert (made.returncode, made.stderr) == (0, ""), made
    refused = run(*words, "-o", str(shared / "out.ngc"))
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1), refused
    assert "not allowed; check the permissions" in refused.stderr
    lessons = run("-c", "from ngram_core.lesson.ready import ready; ready()")
    assert "engine: " in lessons.stdout, lessons
    assert not list(shared.rglob("__pycache__"))


# ---- a build that is not there ----------------------------------------------------------------


# An editable install finds the engine of its checkout for any package of that name.
ALONE = """
import sys
sys.meta_path = [one for one in sys.meta_path if "__editable__" not in repr(one)]
import ngram_core
"""


@pytest.mark.parametrize("build", [b"", b"of another kind"], ids=["missing", "wrong"])
def test_a_build_that_is_missing_or_wrong_is_told_in_words(tmp_path: Path, build: bytes) -> None:
    source = Path(ngram_core.__file__).parent
    package = tmp_path / "ngram_core"
    shutil.copytree(source, package, ignore=shutil.ignore_patterns("_ngram*", "__pycache__"))
    if build:
        (package / f"_ngram{sysconfig.get_config_var('EXT_SUFFIX')}").write_bytes(build)
    done = subprocess.run(
        [sys.executable, "-c", ALONE], cwd=tmp_path, capture_output=True, text=True
    )
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 1
    assert "ngram_core's C engine is not built for this Python; in a checkout run" in last
    assert "`pip install -e .`" in last


# ---- little memory --------------------------------------------------------------------------

TELL = "from ngram_core import machine as m; print(m.memory_limit_bytes(), m.memory_free_bytes())"
INTO_GROUP = "import os; open({!r}, 'w').write(str(os.getpid()));"


def test_a_container_s_limit_is_seen(folder: Path) -> None:
    with small_memory(200) as group:
        if group is None:
            pytest.skip("no control group of memory can be made here")
        into = INTO_GROUP.format(str(group / "cgroup.procs"))
        limit, free = map(int, on("as it is", folder, "-c", into + TELL).split())
    assert limit == 200 << 20
    assert 0 < free < limit


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no ulimit")
@pytest.mark.parametrize("kind", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_of_the_process_is_seen(folder: Path, kind: str) -> None:
    bounded = f"import resource as r; r.setrlimit(r.{kind}, (3 << 30, 3 << 30));"
    limit, free = map(int, on("as it is", folder, "-c", bounded + TELL).split())
    assert limit <= 3 << 30
    assert 0 < free < limit
    take = "taken = bytearray(200 << 20);"
    left = int(on("as it is", folder, "-c", bounded + take + TELL).split()[1])
    assert left <= (3 << 30) - (200 << 20)


LITTLE = """
import resource
from ngram_core.views import Stepper
taken = int([line for line in open("/proc/self/status") if "VmData" in line][0].split()[1]) << 10
limit = taken + (60 << 20)
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
print(Stepper(word=82, thresholds=True).compared["line"])
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells what is taken")
def test_a_lesson_leaves_out_what_does_not_fit_the_data_limit(folder: Path) -> None:
    """Elsewhere in a kernel, where nothing can be allocated any more, the socket library aborts."""
    said = on("as it is", folder, "-c", LITTLE).decode()
    assert "The longer texts are left out: they need 120 MB of memory, more than is free." in said
    roomy = on("as it is", folder, "-c", LITTLE.replace("60 << 20", "400 << 20")).decode()
    assert "guesses right" in roomy
    assert "left out" not in roomy


@pytest.mark.parametrize("version", [1, 2])
def test_what_files_may_hold_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    """Both versions of control groups; what was read from files is given back when it is needed."""
    (tmp_path / "memory").mkdir()
    where = tmp_path if version == 2 else tmp_path / "memory"
    names = ("memory.max", "memory.current", "inactive_file")
    if version == 1:
        names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
    limit, used, file = 64 << 20, 60 << 20, 50 << 20
    (where / names[0]).write_text(f"{limit}\n")
    (where / names[1]).write_text(f"{used}\n")
    (where / "memory.stat").write_text(f"anon 7\n{names[2]} {file}\n")
    monkeypatch.setattr(machine, "_CGROUP", tmp_path)
    assert machine.memory_limit_bytes() == limit
    assert machine.memory_free_bytes() == limit - used + file
    (where / names[0]).write_text("max\n" if version == 2 else f"{2**63 - 4096}\n")
    assert (machine.memory_limit_bytes() or 0) > limit

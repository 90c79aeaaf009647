"""Every way in that CONTRIBUTING.md tells, from a clean copy, into an empty environment."""

from __future__ import annotations

import shutil
import sys
import tarfile
from pathlib import Path

import pytest
from tools import REPO, committed_files, copy_repository, new_venv, pip_install, run

pytestmark = pytest.mark.slow

WHERE = (
    "import ngram_core as ng, ngram_core.lessons_data as d; print(ng.__file__, d.lessons_folder())"
)


def test_the_sdist_is_whole(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    committed = {path.relative_to(REPO).as_posix() for path in committed_files()}
    assert committed - names == set()


@pytest.mark.parametrize("way", ["sdist", pytest.param("folder", marks=pytest.mark.soak)])
def test_pip_install(way: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    """Only what an import needs is installed beside it. `-e` is what `make lab` is tested with."""
    venv = new_venv(tmp_path / "env")
    pip_install(venv, "cffi", "numpy", cwd=tmp_path)
    if way == "sdist":
        what: list[str | Path] = [request.getfixturevalue("sdist")]
    else:
        what = [copy_repository(tmp_path / "a copy")]
    pip_install(venv, "--no-deps", *what, cwd=tmp_path)
    package, lessons = (
        run([venv, "-c", WHERE], cwd=tmp_path).strip().rsplit("\n", 1)[-1].split("__init__.py ", 1)
    )
    assert Path(package).is_relative_to(tmp_path / "env")
    assert Path(lessons).is_relative_to(tmp_path / "env")
    stages = run([venv.parent / "ngram-core", "stages"], cwd=tmp_path)
    assert stages.split()[0] == "upstream"


@pytest.mark.soak
def test_uv_run(tmp_path: Path) -> None:
    """Twice, with a change to the engine in between, which it builds anew."""
    uv = shutil.which("uv") or shutil.which("uv", path=str(Path(sys.executable).parent))
    if uv is None:
        pytest.skip("uv is not installed")
    copy = copy_repository(tmp_path / "copy")
    command = [uv, "run", "-q", "--python", sys.executable, "ngram-core", "stages"]
    assert run(command, cwd=copy, seconds=600).split()[0] == "upstream"
    header = copy / "csrc" / "ngc.h"
    header.write_text(header.read_text().replace("CFFI-BEGIN", "CFFI-GONE"))
    with pytest.raises(AssertionError, match="has lost its CFFI marks"):
        run(command, cwd=copy, seconds=600)

"""`make offline`: one folder from which a class's machines install and test with no network.

    wheels/         ngram-core and all that JupyterLab, the lessons and the tests need
    ngram-core/     the repository, with the engine as the wheel carries it
    install.sh      makes a virtual environment of them

For machines with the same system and the same minor version of Python as this one.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from zipfile import ZipFile

from tools import REPO, copy_repository, run


def collect(folder: Path, package: str | Path = ".") -> None:
    """Fills the folder; what it held before is gone.

    Args:
        folder: where.
        package: the repository, from which a wheel is built, or one that was built from it.
    """
    shutil.rmtree(folder, ignore_errors=True)
    wheels = folder / "wheels"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q"]
    run([*pip, "wheel", "--wheel-dir", wheels, f"{package}[lab,test]"], seconds=1800)
    copy = copy_repository(folder / "ngram-core")
    (ours,) = wheels.glob("ngram_core-*.whl")
    with ZipFile(ours) as wheel:
        for name in wheel.namelist():
            if name.startswith("ngram_core/_ngram."):
                wheel.extract(name, copy)
    shutil.copy(REPO / "tests" / "offline_install.sh", folder / "install.sh")


if __name__ == "__main__":
    target = Path(sys.argv[1]).resolve()
    collect(target)
    n_bytes = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    print(f"{target}: {n_bytes / 1e6:.0f} MB. Copy it to a stick; there: sh install.sh")

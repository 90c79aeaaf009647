"""Does what Binder's repo2docker does with binder/, without Docker.

repo2docker puts the versions below into an environment of the Python that runtime.txt asks for,
copies the repository, installs binder/requirements.txt into the same environment and runs
binder/postBuild. The image then starts `jupyter notebook`. (Versions: the lock file of
repo2docker 2026.4.0 for Python 3.13.)
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tools import REPO, copy_repository, new_venv, other_pythons, pip_install, run

BASE = (
    "ipywidgets==8.1.7",
    "jupyter-server==2.17.0",
    "jupyterhub==5.4.0",
    "jupyterlab==4.4.9",
    "notebook==7.4.7",
)


def wanted_python() -> str:
    """The version in runtime.txt: "3.13"."""
    return (REPO / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")


def replay(folder: Path, python: str) -> tuple[Path, Path]:
    """Builds the environment below `folder`; returns its Python and the copied repository."""
    venv = new_venv(folder / "env", python)
    pip_install(venv, *BASE)
    repo = copy_repository(folder / "repo")
    pip_install(venv, "-r", "binder/requirements.txt", cwd=repo)
    prefix = venv.parent.parent
    path = f"{venv.parent}:/usr/bin:/bin"
    run(
        [repo / "binder" / "postBuild"],
        cwd=repo,
        env={"NB_PYTHON_PREFIX": str(prefix), "PATH": path},
    )
    run([venv, "-m", "pip", "check"])
    return venv, repo


if __name__ == "__main__":
    where = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
    environment, copy = replay(where, other_pythons()[wanted_python()])
    print(f"cd {copy} && {environment} -m notebook")

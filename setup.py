"""What pyproject.toml cannot say: the cffi module and how it is compiled, the abi3 tag, and the
lessons in the wheel."""

import os
import shutil
import sys
import sysconfig
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

from setuptools import setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

LESSONS = Path("notebooks")
LESSON_FILES = {".ipynb", ".md", ".png", ".svg", ".txt"}


class BuildWithLessons(build_py):
    """Copies notebooks/ to ngram_core/_lessons, so that `ngram-core lab` works from a wheel.

    An editable install reads notebooks/ where it stands (see ngram_core/lessons_data.py).
    """

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for source in sorted(LESSONS.rglob("*")):
            hidden = any(part.startswith(".") for part in source.parts)
            if source.is_file() and source.suffix in LESSON_FILES and not hidden:
                target = Path(self.build_lib, "ngram_core", "_lessons", source.relative_to(LESSONS))
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)


class TwoAtOnce(build_ext):
    """Compiles two files at a time: one of the engine's takes as long as all others together.

    No more than two, since each may take 350 MB. MSVC's compiler object cannot be shared.
    """

    def build_extensions(self) -> None:
        one_by_one = self.compiler.compile

        def compile_all(sources: list[str], *args: Any, **given: Any) -> list[str]:
            with ThreadPool(min(2, os.cpu_count() or 1)) as pool:
                made = pool.map(lambda one: one_by_one([one], *args, **given), sources, 1)
            return [path for paths in made for path in paths]

        if sys.platform != "win32":
            self.compiler.compile = compile_all
        super().build_extensions()


# Free-threaded Pythons have no stable ABI before 3.15.
stable_abi = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    cffi_modules=["ngram_core/_build.py:ffibuilder"],
    cmdclass={"build_ext": TwoAtOnce, "build_py": BuildWithLessons},
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if stable_abi else {},
)

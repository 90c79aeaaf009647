"""What pyproject.toml cannot say: the cffi module, the abi3 tag, and the lessons in the wheel."""

import shutil
import sysconfig
from pathlib import Path

from setuptools import setup
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


# Free-threaded Pythons have no stable ABI before 3.15.
stable_abi = not sysconfig.get_config_var("Py_GIL_DISABLED")

setup(
    cffi_modules=["ngram_core/_build.py:ffibuilder"],
    cmdclass={"build_py": BuildWithLessons},
    options={"bdist_wheel": {"py_limited_api": "cp310"}} if stable_abi else {},
)

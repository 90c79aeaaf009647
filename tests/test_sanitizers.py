"""The engine's tests once more, on an engine built with AddressSanitizer and UBSan.

It is built into build/asan, a whole package of its own: in place, it would break every
kernel of this environment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import BRIEF, BUILD, ENGINE_TESTS, QUICK_BUILD, SHORT, need, run

pytestmark = pytest.mark.slow

FOLDER = BUILD / "asan"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=undefined"


@pytest.fixture(scope="module")
def sanitized() -> dict[str, str]:
    """Builds the package; returns the environment in which it can be imported."""
    if sys.platform != "linux":
        pytest.skip("the sanitizer's library is preloaded, which is done here for Linux only")
    need("gcc")
    library = run(["gcc", "-print-file-name=libasan.so"]).strip()
    if not Path(library).is_absolute():
        pytest.skip("gcc has no AddressSanitizer here")
    build = {
        "CC": "gcc",
        "CFLAGS": f"{FLAGS} -g -fno-omit-frame-pointer",
        "LDFLAGS": FLAGS,
        **QUICK_BUILD,
        "NGRAM_WERROR": "1",
    }
    command = ["build", "--build-base", BUILD / "asan-base", "--build-lib", FOLDER, "--force"]
    run([sys.executable, "setup.py", "-q", *command], env=build)
    return {
        "LD_PRELOAD": library,
        "PYTHONPATH": str(FOLDER),
        # Python's own allocator would hide small overruns in its arenas, and its own leaks
        # are not ours to judge; the C tests look for leaks.
        "PYTHONMALLOC": "malloc",
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        **BRIEF,
    }


def test_the_engine_under_sanitizers(
    sanitized: dict[str, str], measured: Callable[[str], None]
) -> None:
    # -s: a report goes to stderr and ends the process, so pytest must not hold it back.
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", *SHORT]
    command += map(str, ENGINE_TESTS)
    out = run(command, cwd=FOLDER, env=sanitized, seconds=900)
    assert f"ngram_core: {FOLDER}" in out, "another build was tested"
    measured(f"under sanitizers: {out.strip().splitlines()[-1].strip('= ')}")


def test_a_planted_overrun_is_seen(sanitized: dict[str, str]) -> None:
    """Without this, a build whose sanitizers do nothing would pass."""
    code = (
        "from ngram_core._ngram import ffi\n"
        "small = ffi.new('char[8]')\n"
        "ffi.memmove(ffi.new('char[64]'), small, 64)"
    )
    with pytest.raises(AssertionError, match="AddressSanitizer"):
        run([sys.executable, "-c", code], cwd=FOLDER, env=sanitized)

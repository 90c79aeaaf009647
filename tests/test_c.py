"""The C tests (tests/c) and the fuzzers (tests/fuzz); both are compiled into build/."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import BUILD, REPO, need, run

pytestmark = pytest.mark.slow
SOAK = pytest.mark.soak

FUZZERS = sorted((REPO / "tests" / "fuzz").glob("*.c"))
FUZZ_SECONDS = int(os.environ.get("NGRAM_FUZZ_SECONDS", "60"))


@pytest.mark.parametrize("suites", ["run", "asan", "tsan", pytest.param("all", marks=SOAK)])
def test_c_suites(suites: str, measured: Callable[[str], None]) -> None:
    """Plain, under the sanitizers of memory and behaviour, and under that of threads: each of one
    compiler, since the engine's tests in Python have the other's; in the soak, of both."""
    need("make", "gcc")
    flag = {"run": "-g", "asan": "-fsanitize=address,undefined"}.get(suites, "-fsanitize=thread")
    for compiler in filter(shutil.which, ("gcc", "clang")):
        if not links(compiler, flag, "int main(void) { return 0; }"):
            pytest.skip(f"{compiler} cannot link with {flag} here")
    last = make("c", suites).strip().splitlines()[-1]
    done = re.fullmatch(r"(\d+) passed, 0 failed", last)
    assert done, last
    assert int(done[1]) > 0
    measured(f"C tests, {suites}: {last}")


@pytest.mark.soak
def test_c_suites_for_arm64(measured: Callable[[str], None]) -> None:
    """With NEON's vector code in the place of SSE2's; emulated."""
    need("make", "aarch64-linux-gnu-gcc", "qemu-aarch64")
    last = make("c", "arm64").strip().splitlines()[-1]
    assert re.fullmatch(r"[1-9]\d* passed, 0 failed", last), last
    measured(f"C tests for arm64: {last}")


@pytest.mark.soak  # 15 minutes and more
def test_c_under_valgrind() -> None:
    """Sees what the sanitizers do not: memory that is read before it is written."""
    need("make", "gcc", "valgrind")
    make("c", "run", "ONLY=none")
    suite = BUILD / "ctests" / "gcc-O0" / "suite"
    run(["valgrind", "-q", "--error-exitcode=9", "--leak-check=full", suite], seconds=7200)


def make(folder: str, *words: str) -> str:
    command = ["make", "--no-print-directory", "-j2", "-C", REPO / "tests" / folder, *words]
    return run(command, seconds=900)


def test_the_fuzzers_seeds_with_any_compiler() -> None:
    need("make", "gcc")
    assert make("fuzz", "replay", "CC=gcc").count(" files") == len(FUZZERS)


@pytest.mark.parametrize("source", FUZZERS, ids=lambda path: path.stem)
def test_fuzzer_finds_nothing(source: Path) -> None:
    need("make", "clang")
    if not links("clang", "-fsanitize=fuzzer", "int LLVMFuzzerTestOneInput(void) { return 0; }"):
        pytest.skip("clang has no libFuzzer here (Debian: libclang-rt-dev)")
    make("fuzz", "fuzzers")
    folder = BUILD / "fuzz"
    found = folder / f"{source.stem}-corpus"
    found.mkdir(parents=True, exist_ok=True)
    fuzzer = folder / source.stem
    seeds = source.parent / "corpus" / source.stem
    out = run(
        [
            fuzzer,
            f"-max_total_time={FUZZ_SECONDS}",
            "-timeout=10",
            "-rss_limit_mb=2048",
            "-print_final_stats=1",
            f"-artifact_prefix={folder}/{source.stem}-",
            found,
            *([seeds] if seeds.is_dir() else []),
        ],
        env={"ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1"},
        seconds=FUZZ_SECONDS + 120,
    )
    executed = re.search(r"number_of_executed_units: *(\d+)", out)
    assert executed
    assert int(executed[1]) > 1000, "the fuzzer hardly ran"


def links(compiler: str, flag: str, code: str) -> bool:
    """Whether the compiler has the run-time library that the flag asks for."""
    done = subprocess.run(
        [compiler, flag, "-x", "c", "-", "-o", os.devnull],
        input=code,
        text=True,
        stderr=subprocess.DEVNULL,
    )
    return done.returncode == 0

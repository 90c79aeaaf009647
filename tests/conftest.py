"""Says what is tested and what was measured; the tiers are markers, see pyproject.toml."""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import cut_off
import offline
import pytest
from tools import QUICK_BUILD, QUICK_PIP, copy_repository, once, run

import ngram_core


def pytest_configure() -> None:
    """A shell that starts us in the background has Ctrl-C ignored, by all our children too."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


# `make check` hands out whole files to two processes. The longest come first, so that both end
# together.
LONG_FIRST = ("test_c", "test_lessons", "test_sanitizers", "test_live", "test_stepper")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    place = {name: i for i, name in enumerate(LONG_FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


def pytest_report_header() -> str:
    """The package under test: the checkout's, an installed wheel's or a sanitizer build's."""
    return f"ngram_core: {ngram_core.__file__}"


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[[str], None]:
    """`measured("lesson 00: 4.1 s")` prints that line below the results."""
    return functools.partial(record_property, "measured")


@pytest.fixture(scope="session")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of the source distribution, built from a copy, and the wheel built from that."""

    def make(folder: Path) -> None:
        repo = copy_repository(folder / "repo")
        run([sys.executable, "-m", "build", "--outdir", folder / "dist", repo], env=QUICK_BUILD)

    return once(tmp_path_factory, "distributions", make) / "dist"


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (built,) = distributions.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def classroom(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`stick`, what `make offline` makes; `a class`, installed from it; `said`, while installing.

    Far from the repository, and without a network where this machine lets us cut it off.
    """

    def make(folder: Path) -> None:
        offline.collect(folder / "stick", wheel)
        command = ["sh", str(folder / "stick" / "install.sh"), str(folder / "a class")]
        if cut_off.allowed():
            command = [*cut_off.CUT_OFF, *command]
        said = run(command, cwd=folder, env=QUICK_PIP, seconds=600)
        (folder / "said").write_text(said)

    return once(tmp_path_factory, "classroom", make)


@pytest.fixture(scope="session")
def sdist(distributions: Path) -> Path:
    (built,) = distributions.glob("*.tar.gz")
    return built


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    lines = [
        value
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", "") == "call"
        for name, value in report.user_properties
        if name == "measured"
    ]
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(str(line))

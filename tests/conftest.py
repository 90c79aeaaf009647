"""Says what is tested and what was measured; the tiers are markers, see pyproject.toml."""

from __future__ import annotations

import functools
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import copy_repository, run

import ngram_core


def pytest_configure() -> None:
    """A shell that starts us in the background has Ctrl-C ignored, by all our children too."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


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
    folder = tmp_path_factory.mktemp("wheel")
    repo = copy_repository(folder / "repo")
    run([sys.executable, "-m", "build", "--outdir", folder / "dist", repo])
    return folder / "dist"


@pytest.fixture(scope="session")
def wheel(distributions: Path) -> Path:
    (built,) = distributions.glob("*.whl")
    return built


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

"""Says what is tested and what was measured; the tiers are markers, see pyproject.toml."""

from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

import ngram_core

MEASURED = pytest.StashKey[list[str]]()


def pytest_configure() -> None:
    """A shell that starts us in the background has Ctrl-C ignored, by all our children too."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_report_header() -> str:
    """The package under test: the checkout's, an installed wheel's or a sanitizer build's."""
    return f"ngram_core: {ngram_core.__file__}"


@pytest.fixture
def measured(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """`measured("lesson 00: 4.1 s")` prints that line below the results."""
    return pytestconfig.stash.setdefault(MEASURED, []).append


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    lines = config.stash.get(MEASURED, [])
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)

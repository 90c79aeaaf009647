"""What is read without being run: style, and types."""

from __future__ import annotations

import sys

import pytest
from tools import run

pytestmark = pytest.mark.slow

CHECKS = {
    "style": ("ruff", "check", "."),
    "layout": ("ruff", "format", "--check", "."),
    "types": ("mypy",),
}


@pytest.mark.parametrize("check", CHECKS)
def test_nothing_is_found(check: str) -> None:
    pytest.importorskip(CHECKS[check][0], reason="it comes with the extra dev")
    run([sys.executable, "-m", *CHECKS[check]])

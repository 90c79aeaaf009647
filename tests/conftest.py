"""Says what is tested; the tiers are markers, described in pyproject.toml."""

from __future__ import annotations

import ngram_core


def pytest_report_header() -> str:
    """The package under test: the checkout's, an installed wheel's or a sanitizer build's."""
    return f"ngram_core: {ngram_core.__file__}"

"""The examples in the docstrings run, and print what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import ngram_core

MODULES = [
    module.name
    for module in pkgutil.walk_packages(ngram_core.__path__, "ngram_core.")
    if not module.name.startswith("ngram_core._") and module.name != "ngram_core.__main__"
]


@pytest.mark.parametrize("name", ["ngram_core", *MODULES])
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name), report=True)
    assert failed == 0


def test_there_are_examples() -> None:
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name))]
    assert sum(len(test.examples) for test in found) > 20

"""The reference builds, and the papers beside the README say what is so."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from tools import REPO, run

import ngram_core as ng

MODULES = re.search(r"^DOCUMENTED := (.*?)\n\n", (REPO / "Makefile").read_text(), re.M | re.S)


@pytest.mark.slow
def test_the_reference_builds(tmp_path: Path) -> None:
    """With every public name of the package, and nothing that a browser would ask the network."""
    pytest.importorskip("pdoc")
    assert MODULES is not None
    inner = re.findall(r"[a-z_]+", MODULES[1].split("ngram_core.,")[1])
    names = ["ngram_core", *(f"ngram_core.{name}" for name in inner)]
    said = run([sys.executable, "-m", "pdoc", "--docformat", "google", "-o", tmp_path, *names])
    assert "warn" not in said.lower()
    main = (tmp_path / "ngram_core.html").read_text()
    for name in ng.__all__:
        assert f'id="{name}"' in main, name
    for name in inner:
        page = (tmp_path / "ngram_core" / f"{name}.html").read_text()
        assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=.https?:", page)


def test_the_citation_names_whose_work_this_is() -> None:
    text = (REPO / "CITATION.cff").read_text(encoding="utf-8")
    for name in ("Tirmazi", "Lemire", "Graf", "Ankerl"):
        assert f"family-names: {name}" in text
    assert f"version: {ng.__version__}\n" in text
    for path in re.findall(r"csrc/\w+\.[ch]", text):
        assert (REPO / path).is_file()


def test_the_changes_begin_with_this_version() -> None:
    text = (REPO / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## ([\d.]+)", text, re.M)
    assert versions[0] == ng.__version__


def test_the_readme_tells_commands_that_exist() -> None:
    from ngram_core.cli.main import parser

    readme = (REPO / "README.md").read_text(encoding="utf-8")
    told = set(re.findall(r"^ngram-core (\w+)", readme, re.M))
    assert told == {"create", "stats", "merge", "inspect", "race", "lab"}
    assert all(command in parser().format_help() for command in told)


TEACHER = sorted((REPO / "notebooks" / "teacher").glob("*.md"))
PAGES = (
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "notebooks/glossary.md"),
    *(path.relative_to(REPO).as_posix() for path in TEACHER),
)


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_names_is_here(name: str) -> None:
    """Targets of make, commands, and files of ours."""
    from ngram_core.cli.main import parser

    text = re.sub(r"https?://\S+", "", (REPO / name).read_text(encoding="utf-8"))
    targets = set(re.findall(r"^([a-z]+):", (REPO / "Makefile").read_text(), re.M))
    assert set(re.findall(r"(?:`|^)make ([a-z]+)", text, re.M)) <= targets
    commands = set(re.findall(r"(?:`|/|^)ngram-core ([a-z]+)\b", text, re.M))
    assert all(command in parser().format_help() for command in commands)
    ours = r"(?<![\w/.])(?:csrc|ngram_core|tests|notebooks|binder|\.ci)/[\w/.*-]*\w"
    for path in re.findall(ours, text):
        assert list(REPO.glob(path)), path

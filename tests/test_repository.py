"""The repository as a whole: what is in it, and that it runs anywhere."""

from __future__ import annotations

import json
import re
from pathlib import Path

from tools import REPO, committed_files

FOLDERS = {"csrc", "ngram_core", "notebooks", "tests", "binder", ".ci", ".github"}

# Whom the files may point a reader to. Package registries are not among them: pip knows its
# own, and a mirror's name would be wrong on every other machine.
HOSTS = {
    "arxiv.org",
    "aka.ms",
    "docs.astral.sh",
    "en.wikipedia.org",
    "github.com",
    "huggingface.co",
    "lemire.me",
    "localhost",
    "127.0.0.1",
    "192.0.2.1",  # a documentation address, which a test must see blocked
    "mybinder.org",
    "www.w3.org",
}

SOMEONES_FOLDER = re.compile(r"(?<![\w./>-])/(?:home/\w+|Users/\w+|root|work|opt|srv|mnt)/\w")


def text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


TEXTS = {
    path.relative_to(REPO).as_posix(): text_of(path)
    for path in committed_files()
    if path.is_file() and not path.is_relative_to(REPO / "tests" / "data")
}


def test_top_level_folders() -> None:
    assert {name.split("/")[0] for name in TEXTS if "/" in name} <= FOLDERS


def test_no_file_points_to_an_unknown_host() -> None:
    found = {
        (name, host)
        for name, text in TEXTS.items()
        for host in re.findall(r"\b(?:https?|wss?)://((?:[\w-]+\.)+[\w-]+|localhost)", text)
    }
    assert {(name, host) for name, host in found if host not in HOSTS} == set()


def test_no_file_names_a_folder_of_one_machine() -> None:
    found = {name: SOMEONES_FOLDER.findall(text) for name, text in TEXTS.items()}
    assert {name: folders for name, folders in found.items() if folders} == {}


def test_no_lock_file_and_nothing_built() -> None:
    assert not [name for name in TEXTS if re.search(r"(^|/)uv\.lock$|\.(so|pyd|o|whl)$", name)]


def test_each_way_in_silences_the_news() -> None:
    """The pop-up would lie over the first lesson, and the address it asks is off the machine."""
    settings = "ngram_core/cli/lab_settings/overrides.json"
    overrides = json.loads(TEXTS[settings])
    assert overrides["@jupyterlab/apputils-extension:notification"]["fetchNews"] == "false"
    assert settings in TEXTS["Makefile"]
    assert settings in TEXTS["binder/postBuild"]
    assert "lab_settings" in TEXTS["ngram_core/cli/lab.py"]


def test_readme_has_two_commands_and_live_links() -> None:
    readme = TEXTS["README.md"]
    assert re.findall(r"^make \w+", readme, re.M) == ["make lab", "make test"]
    targets = re.findall(r"\]\(([^)#]+)\)|src(?:set)?=\"([^\"]+)\"", readme)
    for target in (one or other for one, other in targets):
        if "://" not in target:
            assert (REPO / target).exists(), target

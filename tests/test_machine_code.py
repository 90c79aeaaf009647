"""What the compilers make of the engine's text: no branch on data where none is meant to be, and
nothing of recording in what is timed."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine_code import disassemble, jumps_on_data
from tools import REPO, need, run

from ngram_core import _native, _ngram

CSRC = REPO / "csrc"

ONE_SEARCH = """
#include "ngc_slice.h"
size_t one_search(const ngc_pair *pairs, size_t length, int32_t token);
size_t one_search(const ngc_pair *pairs, size_t length, int32_t token)
{
    return ngc_search_%s(pairs, length, token, NULL);
}
"""


def compiled(folder: Path, compiler: str, level: str, search: str) -> Path:
    need(compiler, "objdump")
    if platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("the machine code that is read here is x86-64's")
    source, obj = folder / "search.c", folder / "search.o"
    source.write_text(ONE_SEARCH % search)
    run([compiler, "-std=c11", level, "-DNDEBUG", f"-I{CSRC}", "-c", source, "-o", obj])
    return obj


@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_the_fixed_search_branches_on_the_length_alone(
    tmp_path: Path, compiler: str, level: str
) -> None:
    (code,) = disassemble(compiled(tmp_path, compiler, level, "fixed")).values()
    assert any(here.name.startswith("j") for here in code), "there is no loop"
    assert any("(" in operand for here in code for operand in here.operands), "nothing is read"
    assert jumps_on_data(code) == []


@pytest.mark.parametrize("search", ["lower_bound", "linear"])
@pytest.mark.parametrize("level", ["-O2", "-O3"])
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_branch_on_data_is_seen(tmp_path: Path, compiler: str, level: str, search: str) -> None:
    """The other loops are left where the data says so: were none found here, the test above could
    not fail."""
    (code,) = disassemble(compiled(tmp_path, compiler, level, search)).values()
    assert jumps_on_data(code)


TIMED = re.compile(
    r"(?:\w+_cache_(?:same|constmap|ngc)_pick|ngc_scan_\w+|ngc_top_\w+|ngc_fuse_step"
    r"|ngc_(?:constmap|packed)_\w+_plain|\w+_cache_(?:count|merge)_slice"
    r"|ngc_places_(?:update|merge_slice))(?<!recorded)"
)

# What may record, or hand on to what does: no timed function is among it.
LOOKS = re.compile(
    r"\w+_recorded|(?:\w+_)?(?:around|search)|ngc_drafter_(?:trace|touches)|ngc_recorder_\w+"
    r"|ngc_(?:cache_)?search_path|ngc_cache_table_around|ngc_constmap_look_up|ngc_fuse_peeling"
    r"|ngc_replay_(?:new|free|advance)"
)


def made_by(compiler: str, folder: Path) -> Iterator[Path]:
    """What a compiler makes of the timed code: the module under test, if that is its own."""
    need(compiler, "objdump")
    if _native.compiler().startswith(compiler):
        yield Path(_ngram.__file__)
        return
    for name in ("chained", "flat", "places", "places_rule", "scan", "constmap", "fuse", "packed"):
        obj = folder / f"{name}.o"
        source = CSRC / f"ngc_{name}.c"
        run([compiler, "-std=c11", "-O3", "-DNDEBUG", f"-I{CSRC}", "-c", source, "-o", obj])
        yield obj


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_no_timed_function_knows_of_recording(tmp_path: Path, compiler: str) -> None:
    plain, recorded = set(), set()
    for made in made_by(compiler, tmp_path):
        text = run(["objdump", "-dr", "--no-show-raw-insn", made])
        for function, body in re.findall(
            r"^[0-9a-f]+ <([^>]+)>:\n(.*?)(?:\n\n|\Z)", text, re.M | re.S
        ):
            whole = function.split(".")[0]  # parts split off by the compiler belong to it
            calls = "ngc_recorder_" in body or "_recorded" in body
            if TIMED.fullmatch(whole):
                assert not calls, function
                plain.add(whole)
            elif calls:
                assert LOOKS.fullmatch(whole), function
                recorded.add(whole)
    assert len(plain) > 20
    assert len([name for name in recorded if name.endswith("recorded")]) > 10

"""Dependencies point one way: notebooks -> views -> lesson -> wrappers -> _native -> C."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tools import REPO

PACKAGE = REPO / "ngram_core"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path.name != "_build.py")

# From the bottom up. A module may import from its own layer and those below it. The values
# are plain records and names; all other modules of the package are wrappers.
LAYERS = ["values", "_ngram", "_native", "wrappers", "lesson", "views"]
VALUES = {"errors", "rule", "toggles", "trace"}

# Command line: on top of the wrappers, beside the lessons. Nothing may import it.
TOP = {"cli", "__main__"}

WIDGETS = {"ipywidgets", "anywidget", "plotly", "IPython", "traitlets"}


def name_of(path: Path) -> str:
    parts = path.relative_to(REPO).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(path: Path) -> set[str]:
    """All modules a file imports, wherever in the file, with relative names resolved."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    module = name_of(path).split(".")
    package = module if path.name == "__init__.py" else module[:-1]
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            origin = ".".join([*base, *([node.module] if node.module else [])])
            found.add(origin)
            found |= {f"{origin}.{alias.name}" for alias in node.names}
    return found


def layer(module: str) -> int:
    """Which layer a module of ours belongs to; the package itself stands with the wrappers."""
    part = module.partition(".")[2].partition(".")[0]
    if part in VALUES:
        return LAYERS.index("values")
    return LAYERS.index(part) if part in LAYERS else LAYERS.index("wrappers")


def ours(modules: set[str]) -> set[str]:
    return {name for name in modules if name.split(".")[0] == "ngram_core"}


def roots(modules: set[str]) -> set[str]:
    return {name.split(".")[0] for name in modules}


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_no_arrow_points_backward(path: Path) -> None:
    me = name_of(path)
    for imported in ours(imports(path)):
        if me.split(".")[1:2] and me.split(".")[1] in TOP:
            continue
        assert imported.split(".")[1:2] == [] or imported.split(".")[1] not in TOP, imported
        assert layer(imported) <= layer(me), f"{me} imports {imported}"


def test_only_one_package_calls_the_engine() -> None:
    """Another loader (WebAssembly) can stand in for it one day."""
    callers = {
        name_of(path)
        for path in MODULES
        if any(name.startswith(("ngram_core._ngram", "cffi", "_cffi")) for name in imports(path))
    }
    assert callers == {"ngram_core._native.engine"}
    for path in MODULES:
        if "ngram_core._native.engine" in imports(path):
            assert path.parent.name == "_native", path


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_only_views_know_widgets(path: Path) -> None:
    if layer(name_of(path)) < LAYERS.index("views"):
        assert not roots(imports(path)) & WIDGETS


def test_import_is_light() -> None:
    """No widget, no tokenizer, nothing but numpy: the first cell of a lesson starts at once."""
    code = (
        "import sys; before = set(sys.modules); import ngram_core; "
        "print(*{name.split('.')[0] for name in set(sys.modules) - before})"
    )
    out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    foreign = set(out.stdout.split()) - sys.stdlib_module_names
    assert foreign == {"ngram_core", "numpy", "_cffi_backend"}


def test_how_long_an_import_takes(measured: Callable[[str], None]) -> None:
    """Of the processor's time, beyond numpy's own; 0.1 s is what was promised."""
    code = (
        "import time, numpy; begun = time.process_time(); import ngram_core; "
        "print(time.process_time() - begun)"
    )
    times = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3)]
    measured(f"import ngram_core: {min(times):.3f} s beyond numpy's own")
    assert min(times) < 1, "the rest is a busy machine"


@pytest.mark.parametrize("notebook", sorted((REPO / "notebooks").rglob("*.ipynb")), ids=str)
def test_notebooks_stay_above_the_engine(notebook: Path) -> None:
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    assert "ngram_core._" not in source
    assert "import _native" not in source


TESTS = sorted((REPO / "tests").rglob("*.py"))

# What `make test` does not install; tests that need it import it when they run.
BEYOND_THE_QUICK_TIER = {
    "axe_playwright_python",
    "huggingface_hub",
    "notebook",
    "pdoc",
    "playwright",
    "pyarrow",
    "tokenizers",
}


@pytest.mark.parametrize("path", TESTS, ids=lambda path: str(path.relative_to(REPO)))
def test_the_quick_tier_can_read_all_tests(path: Path) -> None:
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add(str(node.module))
    assert not roots(found) & BEYOND_THE_QUICK_TIER

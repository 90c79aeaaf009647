"""Puts the browser's part of a view together from the files in `web/`.

A widget takes one JavaScript module and one style sheet. Here each idea has a file of its own,
written as an ordinary module; joining them in order and leaving out the `import` and `export`
words makes one module, so no build step is needed.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache
from pathlib import Path

WEB = Path(__file__).parent / "web"

_IMPORT = re.compile(r"^import [^;]*? from \"\./(\w+)\.js\";\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
_NAME = re.compile(r"\b(NAME|SOURCE)\b(?=[\])])")


@cache
def script(name: str) -> str:
    """One module: `web/NAME.js` behind all that it imports, each file once; see `sharing.js`."""
    parts: list[str] = []
    _collect(name, parts, set())
    source = "\n".join(parts)
    values = {"SOURCE": source, "NAME": hashlib.sha256(source.encode()).hexdigest()}
    shared = (WEB / "sharing.js").read_text(encoding="utf-8")
    return _NAME.sub(lambda found: json.dumps(values[found[1]]), shared)


def _collect(name: str, parts: list[str], done: set[str]) -> None:
    if name in done:
        return
    done.add(name)
    source = (WEB / f"{name}.js").read_text(encoding="utf-8")
    for needed in _IMPORT.findall(source):
        _collect(needed, parts, done)
    parts.append(f"// {name}.js\n" + _EXPORT.sub("", _IMPORT.sub("", source)))


@cache
def style(*names: str) -> str:
    """One style sheet: the theme, then the named files."""
    return "\n".join(
        (WEB / f"{name}.css").read_text(encoding="utf-8") for name in ("theme", *names)
    )

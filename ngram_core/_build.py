"""Builds the C engine as the extension module ngram_core._ngram.

The declarations are the marked region of csrc/ngc.h, word for word: the header is the one
contract. With NGRAM_WERROR=1 (our own builds) a narrowed type is an error, too. With
NGRAM_QUICK_BUILD=1 the engine is compiled in a tenth of the time and runs several times as long:
for sanitizers, and for tests of the set-up, which measure nothing.
"""

import os
import re
import sys
from pathlib import Path

from cffi import FFI

root = Path(__file__).resolve().parent.parent
header = (root / "csrc" / "ngc.h").read_text(encoding="utf-8")
declarations = re.search(r"/\* CFFI-BEGIN \*/(.*?)/\* CFFI-END \*/", header, re.S)
assert declarations is not None, "csrc/ngc.h has lost its CFFI marks"

if sys.platform == "win32":
    flags = ["/std:c11", "/O2", "/W3"]
else:
    quick = os.environ.get("NGRAM_QUICK_BUILD") == "1"
    level = ["-O1", "-DNGC_CALLS", "-fno-inline"] if quick else ["-O3"]
    flags = ["-std=c11", *level, "-DNDEBUG", "-fvisibility=hidden", "-Wall", "-Wextra"]
    # cffi's own wrapper leaves fields out.
    flags += ["-Wno-missing-field-initializers"]
    if os.environ.get("NGRAM_WERROR") == "1":
        flags += ["-Wconversion", "-Wno-sign-conversion", "-Werror"]

ffibuilder = FFI()
ffibuilder.cdef(declarations[1])
ffibuilder.set_source(
    "ngram_core._ngram",
    '#include "ngc.h"',
    sources=sorted(path.relative_to(root).as_posix() for path in (root / "csrc").glob("*.c")),
    include_dirs=["csrc"],
    depends=sorted(path.relative_to(root).as_posix() for path in (root / "csrc").glob("*.h")),
    extra_compile_args=flags,
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)

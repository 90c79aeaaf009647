"""The compiled engine; nothing but this package loads it."""

from __future__ import annotations

try:
    from .._ngram import ffi as ffi
    from .._ngram import lib as lib
except ImportError as error:
    raise ImportError(
        "ngram_core's C engine is not built for this Python; in a checkout run "
        "`pip install -e .` (it needs a C compiler), elsewhere `pip install --force-reinstall "
        f"ngram-core` ({error})"
    ) from error

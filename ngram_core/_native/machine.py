"""What the engine knows of the machine."""

from __future__ import annotations

from .engine import ffi, lib


def clock_cost_ns() -> int:
    """What one reading of the engine's clock costs here, in ns, measured now."""
    return int(lib.ngc_clock_cost_ns())


def compiler() -> str:
    """Name and version of the compiler that built the engine."""
    return str(ffi.string(lib.ngc_compiler()).decode())

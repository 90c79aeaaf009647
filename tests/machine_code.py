"""Which conditional jumps of a compiled x86-64 function depend on what it reads from memory.

Its machine code is followed along all its ways: a register is *read* if what it holds was computed
from a value in memory, and so are the flags; a conditional jump on such flags is one that the
processor has to predict from data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from tools import run

CONDITIONAL = re.compile(r"j(?!mp)\w+")
FLAGS = "flags"

_WIDE = {
    short: f"r{name}"
    for name in ("ax", "bx", "cx", "dx", "si", "di", "bp", "sp")
    for short in (f"r{name}", f"e{name}", name, f"{name}l", f"{name[0]}l", f"{name[0]}h")
    if short not in ("sl", "bl", "dl", "sh", "bh", "dh") or name in ("bx", "dx")
}


@dataclass(frozen=True)
class Instruction:
    address: int
    name: str
    operands: tuple[str, ...]


def disassemble(obj: Path) -> dict[str, list[Instruction]]:
    """Each function of an object file."""
    functions: dict[str, list[Instruction]] = {}
    lines = run(["objdump", "-d", "--no-show-raw-insn", obj]).splitlines()
    for line in lines:
        if head := re.fullmatch(r"[0-9a-f]+ <(.+)>:", line):
            functions[head[1]] = []
        elif found := re.match(r"\s+([0-9a-f]+):\s+(?:rep |bnd |notrack )?(\w+)\s*([^#]*)", line):
            operands = re.findall(r"(?:[^,(]|\([^)]*\))+", found[3].strip())
            here = Instruction(int(found[1], 16), found[2], tuple(operands))
            functions[list(functions)[-1]].append(here)
    return functions


def registers(operand: str) -> set[str]:
    """Whole registers that an operand names, %eax and %al as rax, %r8d as r8."""
    names = re.findall(r"%(\w+)", operand)
    return {_WIDE.get(name, re.sub(r"^(r\d+)[dwb]$", r"\1", name)) for name in names}


def is_memory(operand: str) -> bool:
    return "(" in operand


def jumps_on_data(code: list[Instruction]) -> list[Instruction]:
    """The conditional jumps whose flags were computed from memory."""
    at = {here.address: i for i, here in enumerate(code)}
    known: list[set[str] | None] = [None] * len(code)
    known[0] = set()
    todo = [0]
    found: set[int] = set()
    while todo:
        i = todo.pop()
        here = code[i]
        before = known[i]
        assert before is not None
        after = _after(here, set(before))
        if CONDITIONAL.fullmatch(here.name) and FLAGS in before:
            found.add(i)
        follows = [i + 1] if here.name not in ("jmp", "ret", "hlt", "ud2") else []
        if here.name.startswith("j"):
            follows.append(at[int(here.operands[0].split()[0], 16)])
        for k in follows:
            if k < len(code) and (known[k] is None or not after <= (known[k] or set())):
                known[k] = after | (known[k] or set())
                todo.append(k)
    return [code[i] for i in sorted(found)]


def _after(here: Instruction, read: set[str]) -> set[str]:
    """What is read after an instruction, of what was before it. What is not known of it is assumed
    to compute its last operand and the flags from all of them."""
    name, operands = here.name, here.operands
    if name.startswith(("j", "nop", "endbr", "ret", "push", "cs", "data16", "hlt", "ud2")):
        return read
    assert not name.startswith("call"), "calls are not followed"
    target = registers(operands[-1]) if operands and not is_memory(operands[-1]) else set()
    if name.startswith("pop") or (name.startswith("xor") and len(set(operands)) == 1):
        return read - target - ({FLAGS} if name.startswith("xor") else set())
    takes_flags = name.startswith(("set", "cmov", "sbb", "adc"))
    moves = name.startswith(("mov", "lea", "set"))
    sources = operands[:-1] if moves else operands
    named = set().union(*map(registers, sources)) if sources else set()
    loads = not name.startswith("lea") and any(map(is_memory, sources))
    tainted = loads or bool(named & read) or (takes_flags and FLAGS in read)
    if name.startswith("sbb") and len(set(operands)) == 1:
        tainted = FLAGS in read
    changed = set() if name.startswith(("cmp", "test")) else target
    if not name.startswith(("mov", "lea", "set", "cmov", "not")):
        changed = changed | {FLAGS}
    return read | changed if tainted else read - changed

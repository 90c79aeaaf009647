"""Files of code that are edited: the file is in the prompt, the answer is the file again."""

from __future__ import annotations

from .base import Dice, Task

_PLACES = (
    *("Shelf", "Harbour", "Orchard", "Depot", "Library", "Kennel", "Workshop", "Archive"),
    *("Garage", "Pantry", "Studio", "Nursery", "Gallery", "Cellar", "Hangar", "Market"),
)
_THINGS = (
    *("parcel", "ticket", "recipe", "invoice", "sensor", "ferry", "tool", "painting"),
    *("seedling", "cable", "letter", "bottle", "engine", "lantern", "barrel", "medal"),
)
_SIZES = ("weight", "length", "price", "volume", "height", "charge", "age", "rating")

_HEAD = '''"""Keeps the {things} of the {title}."""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

log = logging.getLogger(__name__)

MAX_{THINGS} = {limit}
DEFAULT_{SIZE} = {size_default}


@dataclass
class {Thing}:
    name: str
    {size}: float = DEFAULT_{SIZE}
    labels: list[str] = field(default_factory=list)


class {Place}:
    """Holds {things} until somebody asks for them."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.{things}: dict[str, {Thing}] = {{}}
'''

# The others call these.
_BASIC = (
    """
    def add(self, {thing}: {Thing}) -> None:
        if len(self.{things}) >= MAX_{THINGS}:
            raise OverflowError(f"{{self.title}} is full")
        self.{things}[{thing}.name] = {thing}
        log.info("added %s", {thing}.name)
""",
    """
    def remove(self, name: str) -> {Thing}:
        try:
            return self.{things}.pop(name)
        except KeyError:
            raise LookupError(f"no {thing} is called {{name!r}}") from None
""",
    """
    def total_{size}(self) -> float:
        return sum({thing}.{size} for {thing} in self.{things}.values())
""",
    """
    def __len__(self) -> int:
        return len(self.{things})
""",
)

_OTHERS = (
    """
    def by_label(self) -> dict[str, list[{Thing}]]:
        groups: dict[str, list[{Thing}]] = defaultdict(list)
        for {thing} in self.{things}.values():
            for label in {thing}.labels:
                groups[label].append({thing})
        return dict(groups)
""",
    """
    def heaviest(self, count: int = {few}) -> list[{Thing}]:
        ranked = sorted(self.{things}.values(), key=lambda one: one.{size}, reverse=True)
        return ranked[:count]
""",
    """
    def rename(self, old: str, new: str) -> None:
        if new in self.{things}:
            raise ValueError(f"{{new!r}} is taken")
        {thing} = self.remove(old)
        {thing}.name = new
        self.add({thing})
""",
    """
    def save(self, path: Path) -> None:
        rows = [vars({thing}) for {thing} in self.{things}.values()]
        path.write_text(json.dumps({{"title": self.title, "rows": rows}}, indent=2))
""",
    """
    @classmethod
    def load(cls, path: Path) -> {Place}:
        content = json.loads(path.read_text())
        loaded = cls(content["title"])
        for row in content["rows"]:
            loaded.add({Thing}(**row))
        return loaded
""",
    """
    def find(self, text: str, limit: int = {many}) -> list[str]:
        wanted = text.casefold()
        hits = [name for name in self.{things} if wanted in name.casefold()]
        return sorted(hits)[:limit]
""",
    """
    def average_{size}(self) -> float | None:
        if not self.{things}:
            return None
        return self.total_{size}() / len(self.{things})
""",
    """
    def discard_below(self, {size}: float) -> int:
        small = [key for key, one in self.{things}.items() if one.{size} < {size}]
        for key in small:
            del self.{things}[key]
        log.info("discarded %d of them", len(small))
        return len(small)
""",
    """
    def __contains__(self, name: object) -> bool:
        return name in self.{things}
""",
    """
    def merge(self, other: {Place}) -> None:
        for name, {thing} in other.{things}.items():
            if name not in self.{things}:
                self.add({thing})
            elif {thing}.{size} > self.{things}[name].{size}:
                self.{things}[name] = {thing}
""",
    """
    def describe(self) -> str:
        lines = [f"{{self.title}}: {{len(self)}} {things}"]
        for name in sorted(self.{things}):
            lines.append(f"  {{name:<20}} {{self.{things}[name].{size}:8.2f}}")
        return "\\n".join(lines)
""",
)

_TAIL = """

def main() -> None:
    logging.basicConfig(level=logging.INFO)
    {place_lower} = {Place}("{title}")
    for i in range({few}):
        {place_lower}.add({Thing}(f"{thing} {{i}}", {size}=i * {step}))
    print(len({place_lower}.{things}))


if __name__ == "__main__":
    main()
"""

_NEW_METHOD = """
    def clear(self) -> None:
        self.{things}.clear()
"""


class _File:
    """A file of code: its parts, and the words in them."""

    def __init__(self, dice: Dice) -> None:
        place, thing, size = (dice.one_of(words) for words in (_PLACES, _THINGS, _SIZES))
        things = "ferries" if thing == "ferry" else thing + "s"
        self.words: dict[str, object] = {
            "Place": place,
            "place_lower": place.lower(),
            "thing": thing,
            "Thing": thing.capitalize(),
            "things": things,
            "THINGS": things.upper(),
            "size": size,
            "SIZE": size.upper(),
            "limit": dice.number(2, 90) * 10,
            "size_default": f"{dice.number(1, 9)}.{dice.number(0, 9)}",
            "few": dice.number(3, 9),
            "many": dice.number(20, 80),
            "step": f"0.{dice.number(1, 9)}",
            "title": f"{dice.one_of(('north', 'south', 'east', 'west'))} {place.lower()}",
        }
        methods = [*_BASIC, *dice.some_of(_OTHERS, dice.number(5, 8))]
        self.parts = [_HEAD, *dice.some_of(methods, len(methods)), _TAIL]

    @property
    def name(self) -> str:
        return f"{self.words['place_lower']}.py"

    def text(self) -> str:
        return "".join(self.parts).format(**self.words)


def copy(dice: Dice) -> Task:
    """The file again, letter for letter."""
    file = _File(dice)
    return _task(file.name, file.text(), "Print the file once more, without a change.", file.text())


def edit(dice: Dice) -> Task:
    """One line of the file is different."""
    file = _File(dice)
    before = file.text()
    limit = dice.number(2, 90) * 100 + 5
    wanted = f"Set MAX_{file.words['THINGS']} to {limit} and print the whole file."
    file.words["limit"] = limit
    return _task(file.name, before, wanted, file.text())


def rename(dice: Dice) -> Task:
    """An attribute has another name wherever it is used, and there is a new method."""
    file = _File(dice)
    before = file.text()
    wanted = "Rename the attribute labels to tags, add a method clear, and print the whole file."
    file.parts.insert(dice.number(2, len(file.parts) - 1), _NEW_METHOD)
    after = file.text().replace("labels", "tags")
    return _task(file.name, before, wanted, after)


def _task(name: str, file: str, wanted: str, answer: str) -> Task:
    return Task(
        f"This is {name}:\n\n```python\n{file}```\n\n{wanted}\n\n", f"```python\n{answer}```\n"
    )

"""Numbers in words and figures, written once for sentences and pictures alike."""

from __future__ import annotations

from fractions import Fraction


def percent(count: int, total: int, needed: int | None = None) -> str:
    """The share of `count` in `total` as "66.7 %", never on the wrong side of `needed`.

    The rule compares integers, 100 * count >= needed * total. A rounded share must not
    say otherwise, so decimals are added until it does not: 6597 of 10000 is 66.0 % at one
    decimal, which would seem to pass 66, and is shown as 65.97 %.

    >>> percent(3, 5), percent(2, 3, 66), percent(2, 3, 67), percent(6597, 10000, 66)
    ('60 %', '66.7 %', '66.7 %', '65.97 %')
    """
    share = Fraction(100 * count, total)
    if share.denominator == 1:
        return f"{share.numerator} %"
    limits = [0, 100] + ([] if needed is None else [needed])
    for decimals in range(1, 20):
        shown = Fraction(round(share * 10**decimals), 10**decimals)
        if all(shown != limit for limit in limits):
            break
    return f"{float(shown):.{decimals}f} %"


def times(n: int) -> str:
    """How often: "once", "twice", "5 times"."""
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def plural(n: int, word: str) -> str:
    """A number with its word: "1 guess", "3 guesses"."""
    ending = "es" if word.endswith(("s", "sh", "ch", "x")) else "s"
    return f"{n:,} {word}" if n == 1 else f"{n:,} {word}{ending}"

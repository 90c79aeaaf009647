"""Published figures, to stand beside what is measured here, always in another style.

Machines, compilers and corpora differ: compare ratios, never the figures themselves.
"""

from __future__ import annotations

SOURCE = (
    "Published: Apple M4 Pro, WikiText-103, Qwen2.5 tokens, context 4,096, 8 guesses, medians of"
    " 3 runs; github.com/jadidbourbaki/ngram-cache-bench, results of September 2026."
)

# µs per drafted token, drafting and counting; "constmap" was measured again with "precheck".
_TABLE = """
corpus_mb  upstream  nocopy  outermap  innervector  constmap  precheck
0              8.54    1.89      1.72         0.82      0.88      0.45
25            45.61    4.12      3.94         3.31      3.05      0.76
50            59.73    4.42      4.11         3.46      3.28      0.78
100           83.46    4.64      4.55         3.68      3.53      0.90
200          113.46    5.62      4.96         3.95      3.67      1.06
541          165.48    6.47      5.81         4.78      4.29      1.18
"""


def _read() -> dict[str, dict[int, float]]:
    head, *rows = (line.split() for line in _TABLE.strip().splitlines())
    return {
        stage: {int(row[0]): float(row[column]) for row in rows}
        for column, stage in enumerate(head[1:], 1)
    }


DRAFTING_US: dict[str, dict[int, float]] = _read()
"""Stage -> megabytes of corpus (0: no static cache) -> µs per drafted token."""

LONGEST_FOLLOWERS = 22_349
"""Followers of the 2-gram that has most, in the static cache of 541 MB; same source."""

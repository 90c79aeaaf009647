"""Tasks of chosen repetitiveness: how much of an answer stands in its prompt, or in itself.

    >>> task = WORKLOADS["json-lines"].task(seed=1)
    >>> task.output.splitlines()[0][:20]
    '{"order_id": 1152, "'

Drafting lives on repetition, so what it gives hangs on the task. Acceptance and tokens per pass
with the exact rule, Qwen2.5's tokens and 8 guesses, tasks 1 to 5 of each:

    copy             87 %   7.18
    code-edit        86 %   6.95
    code-rename      84 %   6.54
    json-lines       69 %   3.38
    html-list        65 %   3.02
    quoting          70 %   4.00
    extract          46 %   2.66
    server-log       38 %   2.48
    json-to-table    22 %   1.84
    prose            15 %   1.11
    random           12 %   1.01

All texts are our own.
"""

from __future__ import annotations

from . import code, listings, reading, words
from .base import Dice, Task, Workload
from .measured import Measured, measure

_ALL = (
    Workload("copy", "a file of code again, letter for letter: the most there is", code.copy),
    Workload("code-edit", "a file of code again with one line changed", code.edit),
    Workload("code-rename", "a file of code again, a name changed, a method added", code.rename),
    Workload("json-lines", "JSON objects with random values, one a line", listings.json_lines),
    Workload("html-list", "a list in HTML", listings.html_list),
    Workload("quoting", "sentences quoted from articles in the prompt", reading.quote),
    Workload("extract", "points taken loosely from articles in the prompt", reading.extract),
    Workload("server-log", "what a server writes, line by line", listings.log),
    Workload("json-to-table", "JSON in the prompt as a Markdown table", listings.table),
    Workload("prose", "an article that is made up: prose repeats little", words.prose),
    Workload("random", "words by chance: nothing to guess", words.random),
)

WORKLOADS: dict[str, Workload] = {workload.name: workload for workload in _ALL}

__all__ = ["WORKLOADS", "Dice", "Measured", "Task", "Workload", "measure"]

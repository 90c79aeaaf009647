"""A draft rule that the reader writes in a cell, compared with the engine, case by case.

Nothing that the reader's code does leaves this module as a traceback: what is wrong is said in
one line, and the first case that differs is told whole.
"""

from __future__ import annotations

import contextlib
import inspect
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from .. import reference
from ..trace import Row
from .asking import TooSlow, Trouble, ask, short, time_limit
from .cases import Case, Inputs, Stream, cases, random_streams, text_stream
from .misreadings import MISREADINGS, Drafting, misread
from .stepper import StepperModel
from .story import Settings, tell

SECONDS = 10.0
"""A rule that takes longer for all cases is stopped."""

MOST_CANDIDATES = 3
"""So many followers of an n-gram are told."""

MOST_PRINTED = 8
"""So many lines that a rule prints at a case are shown."""


@dataclass(frozen=True)
class Report:
    """What a comparison found; shows as its lines. `inputs` are those of the first difference."""

    right: bool
    lines: tuple[str, ...]
    inputs: Inputs | None = None

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def compare(rule: Drafting, model: StepperModel | None = None, seconds: float = SECONDS) -> Report:
    """Compare a rule with the engine, on every word of a text and on many random cases.

    Args:
        rule: a function of text, context, dynamic and static; see `Inputs`.
        model: a Stepper's model, for its text; the recipe if there is none.
        seconds: the rule is stopped after that long.
    """
    if not callable(rule):
        return Report(False, (f"✕ This is no function: {short(repr(rule))}.",))
    found = Findings(text_stream(model or StepperModel("recipe")))
    try:
        with time_limit(seconds), contextlib.redirect_stdout(_Nowhere()):
            found.look(rule)
    except Trouble as trouble:
        return Report(False, (f"✕ At {found.place} your rule {trouble}.",))
    except TooSlow:
        said = f"✕ Stopped after {seconds:g} s, at {found.place}. Is there a loop without an end?"
        return Report(False, (said,))
    except KeyboardInterrupt:
        return Report(False, (f"✕ You stopped it at {found.place}; nothing differed before.",))
    return found.report(rule)


def listing(report: Report) -> None:
    """Print the rule as `reference.py` has it, once the reader's own is right."""
    if report.right:
        print(inspect.getsource(reference.draft_one))
    else:
        print("Not yet: once your rule is right, ours is shown here.")


class _Nowhere(io.TextIOBase):
    """Takes what a rule prints, thousands of times over, and keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


class Findings:
    """The cases looked at so far, and where the rule and the engine differ."""

    def __init__(self, own: Stream) -> None:
        self.own = own
        self.place = "the first case"
        self.n_words = self.n_random = self.n_other_words = self.n_other_random = 0
        self.n_drafted = 0  #: by the engine, in all cases
        self.silent = True  #: the rule has drafted nothing yet
        self.first: tuple[Case, int | None] | None = None
        self.totals = self.engine_totals = (0, 0)  #: drafted and accepted on the text

    def look(self, rule: Drafting) -> None:
        """Ask the rule at every place of the text and of the random streams."""
        for stream in (self.own, *random_streams()):
            for case in cases(stream):
                self.place = case.place
                self._count(case, ask(rule, case.inputs))
        self.totals = replayed(rule, self.own)
        self.engine_totals = _engine_totals(self.own)

    def _count(self, case: Case, answer: int | None) -> None:
        other = answer != case.step.token
        if case.stream is self.own:
            self.n_words, self.n_other_words = self.n_words + 1, self.n_other_words + other
        else:
            self.n_random, self.n_other_random = self.n_random + 1, self.n_other_random + other
        self.n_drafted += case.step.token is not None
        self.silent &= answer is None
        if other and self.first is None:
            self.first = (_kept(case), answer)

    def report(self, rule: Drafting) -> Report:
        words, random = f"{self.n_words:,} words of the text", f"{self.n_random:,} random cases"
        if self.first is None:
            said = f"✓ Your rule drafts what the engine drafts, at all {words} and in all {random}."
            return Report(True, (said,))
        case, answer = self.first
        head = (
            f"✕ {self.n_other_words:,} of {words} and {self.n_other_random:,} of {random} differ."
        )
        if self.silent:
            said = "Not yet: your rule drafts nothing anywhere"
            places = self.n_words + self.n_random
            head = f"{said}; the engine drafts at {self.n_drafted:,} of {places:,} places."
        lines = (head, *told(case, answer), *_printed(rule, case), *self._likeness(rule))
        return Report(False, (*lines, *self._rates()), case.inputs)

    def _likeness(self, rule: Drafting) -> Iterator[str]:
        """The misreading that drafts just what this rule drafts, if there is one."""
        like = None if self.silent else next((h for h in MISREADINGS if self._same(rule, h)), None)
        if like is not None:
            yield f"It is just what would be drafted if {MISREADINGS[like]}."

    def _same(self, rule: Drafting, how: str) -> bool:
        other = misread(how)
        try:
            with time_limit(SECONDS), contextlib.redirect_stdout(_Nowhere()):
                return all(
                    ask(rule, case.inputs) == other(*case.inputs)
                    for stream in (self.own, *random_streams())
                    for case in cases(stream)
                )
        except (Trouble, TooSlow):  # it answers otherwise, or slower, than the first time
            return False

    def _rates(self) -> Iterator[str]:
        if self.totals != self.engine_totals:
            yield f"Up to 4 guesses a pass on the text: {self.rates()}."

    def rates(self) -> str:
        """What both come to on the text, in words."""
        (drafted, accepted), (engine, hits) = self.totals, self.engine_totals
        return f"{accepted} of {drafted} guesses right, the engine’s {hits} of {engine}"


def _printed(rule: Drafting, case: Case) -> Iterator[str]:
    """What the rule prints at this case, asked once more."""
    said = io.StringIO()
    quiet = contextlib.suppress(Trouble, TooSlow)
    with quiet, contextlib.redirect_stdout(said), time_limit(SECONDS):
        ask(rule, case.inputs)
    lines = said.getvalue().splitlines()
    for line in lines[:MOST_PRINTED]:
        yield f"  your rule prints  {short(line, 200)}"
    if len(lines) > MOST_PRINTED:
        yield f"  and {len(lines) - MOST_PRINTED:,} lines more"


def _kept(case: Case) -> Case:
    """The case with caches that stay as they are, as plain dicts that can be looked at."""
    text, *caches = case.inputs
    plain = [{ngram: dict(found) for ngram, found in cache.items()} for cache in caches]
    return Case(case.stream, Inputs(text, *plain), case.step)


def _engine_totals(stream: Stream, n_draft: int = 4) -> tuple[int, int]:
    totals = tell(stream.text, Settings(n_draft=n_draft), stream.earlier, stream.corpus).totals
    return totals.drafted, totals.accepted


def replayed(rule: Drafting, stream: Stream, n_draft: int = 4) -> tuple[int, int]:
    """Drafted and accepted when a rule drafts up to `n_draft` tokens a pass along a text."""
    dynamic: reference.Cache = {}
    reference.update(dynamic, stream.earlier, len(stream.earlier))
    static = reference.count_bigrams(stream.corpus)
    context: reference.Cache = {}
    text = list(stream.text[:1])
    drafted = accepted = 0
    while len(text) < len(stream.text):
        guesses: list[int] = []
        while len(text) >= 2 and len(guesses) < min(n_draft, len(stream.text) - len(text)):
            guess = ask(rule, Inputs((*text, *guesses), context, dynamic, static))
            if guess is None:
                break
            guesses.append(guess)
        hits = 0
        while hits < len(guesses) and guesses[hits] == stream.text[len(text) + hits]:
            hits += 1
        drafted, accepted = drafted + len(guesses), accepted + hits
        for token in stream.text[len(text) : len(text) + hits + 1]:
            text.append(token)
            reference.update(context, text, 1)
    return drafted, accepted


# ---- one difference in words ----------------------------------------------------------------


def told(case: Case, answer: int | None) -> Iterator[str]:
    """One difference: the text, both drafts, and each n-gram that the engine judged."""
    name, text = case.stream.name, case.inputs.text
    tail = " ".join(name(token).strip("“”") for token in text[-6:])
    ids = ", ".join(map(str, text[-6:]))
    yield f"The first is {case.place}, after “{'… ' * (len(text) > 6)}{tail}”, ids {ids}:"
    yield f"  your rule drafts  {case.named(answer)}"
    yield f"  the engine drafts {case.named(case.step.token)}"
    for row in case.step.rows:
        if row.best is not None:
            yield f"    {_judged(row, name)}"
    if not any(row.best is not None for row in case.step.rows):
        yield "    no cache has seen the last 4, 3, 2 or 1 tokens"


def _judged(row: Row, name: Callable[[int], str]) -> str:
    """One n-gram: who is best and why, both tests, the verdict."""
    weighed = any(candidate.weight != 1 for candidate in row.candidates)
    scores = ", ".join(
        f"{name(c.token)} {c.count}" + (f" × {c.weight} = {c.score}" if weighed else "")
        for c in row.candidates[:MOST_CANDIDATES]
    )
    hidden = row.n_followers - MOST_CANDIDATES
    more = f" and {hidden} more" if hidden > 0 else ""
    often = f"F = {row.sum} {'≥' if row.sum >= row.min_sum else '<'} {row.min_sum}"
    sure = f"100 × {row.best_count} {'≥' if row.share >= row.needed else '<'} {row.needed}"
    head = f"{row.cache} n = {row.n}: {scores}{more}; best {name(row.best or 0)}"
    return f"{head}; {often}, {sure}: {row.verdict}"

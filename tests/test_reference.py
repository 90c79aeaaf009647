"""The specification against what llama.cpp's own code drafts, and against steps worked by hand."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any, Literal

import golden
import pytest
from golden import Run
from libstdcpp_order import LibraryCache, library_ties, ngram_hash
from running import Recorded, Running, record

from ngram_core import reference
from ngram_core.errors import InputError
from ngram_core.rule import LLAMA_CPP, Rule
from ngram_core.trace import Row, Step

# ---- golden drafts --------------------------------------------------------------------


SHORT = 1500


def beginning(run: Run) -> tuple[list[int], Literal["keep", "drop"]]:
    """A part of the text (the reference is slow), and what to do with its tail.

    Whole chunks drop the tail as the golden runs do. The beginning of one chunk keeps it; there
    the last drafts, as many as a draft is long at most, end sooner than the golden ones.
    """
    tokens: list[int] = golden.read_tokens(run.tokens).tolist()
    if golden.SOAK or len(tokens) <= 2 * SHORT:
        return tokens, "drop"
    if run.n_ctx > SHORT:
        return tokens[:SHORT], "keep"
    return tokens[: SHORT // run.n_ctx * run.n_ctx + 1], "drop"


def replay(run: Run, caches: type[dict[Any, Any]]) -> None:
    """Replay with the reference and compare; `caches` makes one from a file's table."""
    load = getattr(caches, "load", caches)
    tokens, tail = beginning(run)
    result = reference.replay(
        tokens,
        static=load(golden.read_table(run.static)) if run.static else None,
        dynamic=load(golden.read_table(run.dynamic) if run.dynamic else {}),
        n_ctx=run.n_ctx,
        n_draft=run.n_draft,
        tail=tail,
        score=run.score,
    )
    whole = len(tokens) == len(golden.read_tokens(run.tokens))
    drafts = result.drafts[: -run.n_draft] if tail == "keep" else result.drafts
    golden.assert_drafts(run, drafts, whole)
    if whole:
        assert (result.n_drafted, result.n_accept) == (run.n_drafted, run.n_accept)
        assert run.n_calls in (None, result.n_calls)


def line_by_line(family: golden.Family, words: bool = True) -> list[Run]:
    """Runs whose drafts are kept; without `words`, those on synthetic streams."""
    runs = [run for run in golden.runs(family) if run.drafts]
    return [run for run in runs if words or not run.name.startswith(("py", "wiki"))]


@pytest.mark.parametrize("run", golden.params(line_by_line("innervector")))
def test_drafts_are_the_golden_ones(run: Run) -> None:
    replay(run, dict)


@pytest.mark.parametrize("run", golden.params(line_by_line("baseline", words=golden.SOAK)))
def test_drafts_with_the_library_s_order_are_the_golden_ones(run: Run) -> None:
    with library_ties():
        replay(run, LibraryCache)


@pytest.mark.parametrize("build", golden.params(golden.builds()))
def test_caches_with_the_library_s_order_are_the_golden_files(build: golden.Build) -> None:
    tokens = golden.read_tokens(build.tokens).tolist()
    if len(tokens) > 20_000 and not golden.SOAK:
        pytest.skip("a long stream: with NGRAM_SOAK=1 (the engine's tests build it)")
    cache = LibraryCache()
    if build.kind == "static":
        reference.update(cache, tokens, len(tokens), n_min=2, n_max=2)
    else:
        assert build.static is not None
        with library_ties():
            reference.replay(
                tokens,
                static=LibraryCache.load(golden.read_table(build.static)),
                dynamic=cache,
                n_ctx=build.n_ctx,
                n_draft=build.n_draft,
                tail="drop",
                score="int32",
            )
    assert golden.write_table(cache) == build.file.read_bytes()


# ---- the running text -----------------------------------------------------------------


@pytest.fixture(scope="module")
def running() -> Running:
    return Running()


@pytest.fixture(scope="module")
def worked_out() -> dict[str, Any]:
    """Texts, ids and 28 steps that were worked out apart from this code."""
    if not golden.RUNNING.is_file():
        pytest.skip(golden.WHY)
    parsed: dict[str, Any] = json.loads(golden.RUNNING.read_text(encoding="utf-8"))
    return parsed


@pytest.fixture(scope="module")
def recorded(running: Running) -> dict[str, list[Recorded]]:
    """All steps on text A: context alone ("c"), with dynamic and static ("cds")."""
    return {caches: list(record(running.drafter(caches), running.a)) for caches in ("c", "cds")}


def at_word(steps: list[Recorded], word: int) -> Step:
    """The step that guesses the word of this number from the true words before it.

    A draft that went on after a miss may have guessed it earlier, from wrong ones.
    """
    return [entry.step for entry in steps if entry.step.length + 1 == word][-1]


def as_worked(row: Row, words: dict[int, str]) -> dict[str, Any]:
    """A row in the form in which the steps were worked out."""
    worked: dict[str, Any] = {"cache": row.cache, "n": row.n}
    if row.verdict == "not seen":
        return {**worked, "found": False}
    assert row.rest_followers == 0
    return {
        **worked,
        "F": row.sum,
        "best": words[row.best] if row.best is not None else None,
        "counts": {words[c.token]: c.count for c in row.candidates},
        "score": {words[c.token]: c.score for c in row.candidates},
        "a": row.min_sum,
        "p": row.min_percent,
        "ok_a": row.sum >= row.min_sum,
        "ok_p": row.share >= row.needed,
    }


def test_the_texts_are_those_that_were_worked_on(
    running: Running, worked_out: dict[str, Any]
) -> None:
    assert running.ids == worked_out["ids"]
    for tokens, name in ((running.a, "text_a"), (running.b, "text_b")):
        assert [running.words[token] for token in tokens] == worked_out[name]


def test_all_worked_steps(
    running: Running, worked_out: dict[str, Any], recorded: dict[str, list[Recorded]]
) -> None:
    assert len(worked_out["steps"]) == 28
    for worked in worked_out["steps"]:
        # There, the first pass has a step too: one token stands, and the rule is not run.
        entry = recorded[worked["caches"]][worked["step"] - 2]
        step = entry.step
        assert (entry.pass_, step.length + 1) == (worked["pass_"], worked["word"])
        assert [running.words[t] for t in running.a[: step.length][-4:]] == worked["tail"]
        assert running.words.get(step.token) == worked["drafted"]  # type: ignore[arg-type]
        assert (step.source, step.n) == (worked["source"], worked["n"])
        rows = [as_worked(row, running.words) for row in step.rows if row.verdict != "too short"]
        if rows[-1] == {"cache": "static", "n": 2, "found": False}:
            rows.pop()  # reached, and empty
        assert rows == worked["rows"]


def test_passes_drafted_accepted(running: Running) -> None:
    assert running.totals("", replace(LLAMA_CPP, use_context=False)) == (116, 0, 0)
    assert running.totals("c") == (88, 50, 28)
    assert running.totals("cd") == (81, 56, 35)
    assert running.totals("cds") == (79, 64, 37)


def test_more_guesses_save_passes_and_lower_acceptance(running: Running) -> None:
    found = {n: running.totals("cds", n_draft=n) for n in (1, 2, 4, 8)}
    assert [passes for passes, _, _ in found.values()] == [94, 86, 79, 77]
    assert [int(100 * hits / drafted + 0.5) for _, drafted, hits in found.values()] == [
        *(69, 63, 58, 36)
    ]


def test_thresholds_of_lesson_1_and_2(running: Running) -> None:
    one_is_enough = running.totals("c", replace(LLAMA_CPP, context_sum=(1, 1, 1, 1)))
    assert one_is_enough[1:] == (95, 33)
    surer = running.totals("c", replace(LLAMA_CPP, context_percent=(67, 50, 50, 50)))
    assert surer[1:] == (46, 28)


def test_first_guess_first_hit(recorded: dict[str, list[Recorded]]) -> None:
    guesses = [e.step.length + 1 for e in recorded["c"] if e.step.token is not None]
    hits = [e.step.length + 1 for e in recorded["cds"] if e.accepted]
    assert (guesses[0], hits[0]) == (25, 25)


def test_weight_and_static_at_words_82_and_89(running: Running) -> None:
    def guess(word: int, caches: str, rule: Rule = LLAMA_CPP, **options: Any) -> str | None:
        drafter = running.drafter(caches, rule)
        drafter.feed(running.a[: word - 1])
        return running.words.get(drafter.step(1)[0].token)  # type: ignore[arg-type]

    weightless = replace(LLAMA_CPP, weight=0)
    assert [guess(82, "cds"), guess(82, "cds", weightless), guess(82, "cd")] == [
        *(None, "rest", "rest")
    ]
    assert [guess(89, "cds"), guess(89, "cds", weightless), guess(89, "cd")] == [
        *("tin", "bowl", "bowl")
    ]


def test_a_score_that_overflows_loses(running: Running) -> None:
    into_the, tin = (running.ids["into"], running.ids["the"]), running.ids["tin"]
    static = {**running.static, into_the: {tin: 21_474_837}}
    best = {}
    for score in ("int32", "exact"):
        drafter = reference.Drafter(static=static, dynamic=running.dynamic, score=score)
        drafter.feed(running.a[:88])
        row = drafter.step(1)[0].rows[-1]
        best[score] = running.words[row.best]  # type: ignore[index]
        if score == "int32":
            assert [c.score for c in row.candidates if c.token == tin] == [-2_147_483_596]
    assert best == {"int32": "bowl", "exact": "tin"}


def test_yesterday_s_secret_is_drafted(running: Running) -> None:
    drafter = running.drafter("cds")
    drafter.feed([99, *(running.ids[word] for word in ("do", "not", "tell"))])
    drafted = [running.words[token] for token in drafter.draft(4)]
    assert drafted == ["ada", "about", "the", "cake"]


@pytest.mark.parametrize("changed", [6, 9, 12])
def test_one_changed_word_makes_word_20_a_guess(running: Running, changed: int) -> None:
    text = list(running.a)
    text[changed - 1] = running.ids["flour"]
    step = at_word(list(record(running.drafter("c"), text)), 20)
    assert running.words.get(step.token) == "into"  # type: ignore[arg-type]
    assert step.rows[-1].sum == 2


def test_counts_of_the_lessons(running: Running, recorded: dict[str, list[Recorded]]) -> None:
    cache: reference.Cache = {}
    reference.update(cache, running.a, len(running.a))
    bigrams = [followers for ngram, followers in cache.items() if len(ngram) == 2]
    assert (len(cache), len(bigrams)) == (272, 68)
    assert sum(len(followers) == 1 for followers in bigrams) == 56
    assert len(cache[(running.ids["the"],)]) == 12
    hashes = [ngram_hash(ngram) for ngram in cache]
    assert sum(hashes.count(h) > 1 for h in hashes) == 36

    def copied(step: Step) -> int:
        """llama.cpp copies the weights once, and the followers of each row that has any."""
        rows = (*step.rows, *([step.weights] if step.weights else []))
        return sum(row.n_followers for row in rows)

    assert sum(copied(entry.step) for entry in recorded["cds"]) == 450
    assert copied(at_word(recorded["cds"], 86)) == 20
    assert at_word(recorded["cds"], 86).token is None


def test_what_checking_the_largest_count_first_would_save(
    recorded: dict[str, list[Recorded]],
) -> None:
    rows = [row for e in recorded["cds"] for row in e.step.rows if row.cache != "static"]
    rows = [row for row in rows if row.n_followers]
    hopeless = [
        row
        for row in rows
        if row.sum < row.min_sum or 100 * max(c.count for c in row.candidates) < row.needed
    ]
    assert not any(row.passes for row in hopeless)
    assert sum(row.n_followers for row in rows) == 392
    assert sum(row.n_followers for row in hopeless) == 325


def test_the_steps_of_the_lessons_do_not_hang_on_ids(running: Running) -> None:
    """Which id a word got decides none of these."""
    guesses = {
        **{20: None, 40: "tin", 42: "bake", 56: "the"},
        **{78: "pour", 82: None, 89: "tin", 102: "and"},
    }
    rng = random.Random(0)
    for _ in range(200 if golden.SOAK else 10):
        ids = list(running.words)
        rng.shuffle(ids)
        other = Running()
        other.a, other.b = [ids[t] for t in running.a], [ids[t] for t in running.b]
        words = {ids[token]: word for token, word in running.words.items()}
        steps = list(record(other.drafter("cds"), other.a))
        found = {w: words.get(at_word(steps, w).token) for w in guesses}  # type: ignore[arg-type]
        assert found == guesses


# ---- the rule's corners ---------------------------------------------------------------


def test_nothing_is_drafted_before_two_tokens() -> None:
    drafter = reference.Drafter(dynamic={(5,): {5: 100}, (5, 5): {5: 100}})
    for _ in range(2):
        assert drafter.step(4) == ()
        assert drafter.draft(4) == []
        drafter.feed([5])
    assert drafter.draft(4) == [5, 5, 5, 5]


def test_n_longer_than_the_text_is_skipped() -> None:
    drafter = reference.Drafter()
    drafter.feed([1, 2])
    assert [row.verdict for row in drafter.step(1)[0].rows] == [
        *("too short", "too short", "not seen", "not seen")
    ]


def test_both_tests_at_their_bounds() -> None:
    def verdict(counts: list[int], min_sum: int, min_percent: int) -> str:
        candidates = reference.as_counted(dict(enumerate(counts)))
        return reference.judge("context", 1, candidates, min_sum, min_percent).verdict

    assert verdict([2, 1], 3, 66) == "passes"  # 200 >= 198
    assert verdict([2, 1], 3, 67) == "too split"  # 200 < 201
    assert verdict([2, 1], 4, 66) == "too rare"
    assert verdict([2, 1], 4, 67) == "too rare and too split"
    assert verdict([1, 1], 2, 50) == "passes"


def test_the_tests_use_plain_counts_and_the_score_ranks() -> None:
    static = {1: 1, 2: 2}
    candidates = reference.give_scores({1: 4, 2: 2, 3: 90}, static, 100, "exact")
    assert [(c.weight, c.score) for c in candidates] == [(100, 400), (200, 400), (1, 90)]
    row = reference.judge("context", 1, candidates, 2, 4)
    assert (row.best, row.best_count, row.share, row.needed) == (1, 4, 400, 384)
    assert row.verdict == "passes"


def test_a_row_shows_twelve_candidates_and_sums_the_rest() -> None:
    row = reference.judge("context", 1, reference.as_counted({t: 20 - t for t in range(15)}), 1, 1)
    assert [c.token for c in row.candidates] == list(range(12))
    assert (row.n_followers, row.rest_followers, row.rest_sum) == (15, 3, 8 + 7 + 6)


def test_overflow_of_scores_and_of_the_fallback() -> None:
    assert reference.wrap_int32(2**31 - 1) == 2**31 - 1
    assert reference.wrap_int32(2**31) == -(2**31)
    static: reference.Cache = {(1, 2): {3: 21_474_837}}
    for score, token in (("exact", 3), ("int32", None)):
        drafter = reference.Drafter(static=static, score=score)  # type: ignore[arg-type]
        drafter.feed([1, 2])
        step = drafter.step(1)[0]
        assert step.token == token
        assert step.rows[-1].share == (2_147_483_700 if token else -2_147_483_596)

    dynamic = {(2,): {3: 5}}
    drafter = reference.Drafter(static=static, dynamic=dynamic, score="int32")
    drafter.feed([1, 2])
    row = drafter.step(1)[0].rows[-2]
    assert (row.cache, row.verdict, row.best, row.sum) == ("dynamic", "no score", None, 5)


def test_a_draft_ends_with_the_end_of_sequence() -> None:
    text = [1, 2, 3, 4, 9, 1, 2, 3, 4, 9, 1, 2]
    ends = reference.Drafter(replace(LLAMA_CPP, eos=9))
    goes_on = reference.Drafter()
    for drafter in (ends, goes_on):
        drafter.feed(text)
    assert goes_on.draft(5) == [3, 4, 9, 1, 2]
    assert ends.draft(5) == [3, 4, 9]


def test_rewinding_equals_never_having_fed() -> None:
    rng = random.Random(1)
    text = [rng.randrange(5) for _ in range(60)]
    drafter, fresh = reference.Drafter(), reference.Drafter()
    drafter.feed(text)
    drafter.rewind(20)
    fresh.feed(text[:20])
    assert (drafter.text, drafter.context) == (fresh.text, fresh.context)
    with pytest.raises(InputError, match="21"):
        drafter.rewind(21)


def test_counts_do_not_depend_on_how_the_text_was_appended() -> None:
    rng = random.Random(2)
    text = [rng.randrange(6) for _ in range(100)]
    tables = []
    for size in (1, 2, 7, 100):
        cache: reference.Cache = {}
        for end in range(size, 100 + size, size):
            part = text[:end]
            update_size = size if end <= 100 else size - (end - 100)
            reference.update(cache, part, update_size)
        tables.append(cache)
    assert tables[0] == tables[1] == tables[2] == tables[3]


def test_counts_stay_at_their_limit() -> None:
    cache: reference.Cache = {(1,): {2: 2**31 - 2}}
    for _ in range(3):
        reference.update(cache, [1, 2], 1, n_min=1, n_max=1)
    assert cache == {(1,): {2: 2**31 - 1}}
    reference.merge(cache, {(1,): {2: 5, 3: 7}})
    assert cache == {(1,): {2: 2**31 - 1, 3: 7}}


def test_merged_texts_are_kept_and_the_next_one_starts_empty() -> None:
    drafter = reference.Drafter(dynamic={})
    drafter.feed([1, 2, 3] * 4)
    drafter.reset()
    assert (drafter.length, drafter.context) == (0, {})
    drafter.feed([1, 2])
    step = drafter.step(1)[0]
    assert (step.token, step.source, step.n) == (3, "dynamic", 2)


# ---- replay ---------------------------------------------------------------------------


def test_replay_keeps_or_drops_the_tail() -> None:
    text = [1, 2, 3, 4] * 5  # 20 tokens
    kept = reference.replay(text, n_ctx=8, n_draft=4)
    dropped = reference.replay(text, n_ctx=8, n_draft=4, tail="drop")
    assert (kept.n_replayed, kept.n_left_out) == (20, 0)
    assert (dropped.n_replayed, dropped.n_left_out) == (16, 4)
    passes_and_hits = 16 - 2  # each chunk gives its first token
    assert dropped.n_calls + dropped.n_accept in range(passes_and_hits, passes_and_hits + 3)
    longest = max(len(draft) for draft in dropped.drafts)
    assert (longest, sum(map(len, kept.drafts)) < sum(map(len, dropped.drafts))) == (4, True)


def test_a_text_that_replays_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="smaller n_ctx"):
        reference.replay([1] * 117, n_ctx=117, tail="drop")
    with pytest.raises(InputError, match="replays nothing"):
        reference.replay([1])
    assert reference.replay([1] * 117, n_ctx=117).n_replayed == 117

"""The engine against golden drafts and cache files, on every stage."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import golden
import pytest
from golden import Build, Run
from running import Running, prechecked, record, scored

import ngram_core as ng
from ngram_core import reference
from ngram_core.toggles import Toggles

STAGES = [pytest.param(stage, id=name) for name, stage in ng.STAGES.items()]
CHAINED = [stage for stage in STAGES if stage.values[0].toggles.followers == "chained"]
LISTED = [stage for stage in CHAINED if stage.values[0].toggles.outer == "chained"]
"""The stages whose caches, the outer map too, keep the library's order."""

WHOLE_WIKITEXT = ("nocopy", "innervector")


def cases(family: golden.Family, stages: list[Any]) -> list[Any]:
    """Every golden run with every stage.

    The quick tier leaves out what says little more: natural text on stages whose followers
    are not those of the run's family, and the whole of WikiText on more than one of each.
    """
    found = []
    for run in golden.params(golden.runs(family)):
        for stage in stages:
            followers = "chained" if family == "baseline" else "sorted"
            related = stage.values[0].toggles.followers == followers
            marks = [*run.marks]
            if run.id.startswith("wikitext"):
                marks += [pytest.mark.slow] if stage.id not in WHOLE_WIKITEXT or not related else []
            elif run.id.startswith(("py", "wiki")) and not related:
                marks.append(pytest.mark.slow)
            values = (*run.values, *stage.values)
            found.append(pytest.param(*values, id=f"{run.id}-{stage.id}", marks=marks))
    return found


def run_replay(
    run: Run, toggles: Toggles, static_file: Path | None = None
) -> tuple[ng.Sample, list[Any]]:
    """Replay with caches loaded from files."""
    static_file = static_file or run.static
    with ExitStack() as stack:
        static = dynamic = None
        if static_file:
            static = stack.enter_context(ng.NgramCache.open(static_file, toggles, static=True))
        if run.dynamic:
            dynamic = stack.enter_context(ng.NgramCache.open(run.dynamic, toggles))
        replay = stack.enter_context(
            ng.Replay(
                golden.read_tokens(run.tokens),
                toggles=toggles,
                static=static,
                dynamic=dynamic,
                n_ctx=run.n_ctx,
                n_draft=run.n_draft,
                tail="drop",
                record_drafts=True,
            )
        )
        return replay.run(), replay.drafts()


def assert_golden(run: Run, toggles: Toggles) -> None:
    """Drafts and all counts are the golden ones."""
    sample, drafts = run_replay(run, toggles)
    golden.assert_drafts(run, drafts)
    assert (sample.n_drafted, sample.n_accept) == (run.n_drafted, run.n_accept)
    assert run.n_calls in (None, sample.n_calls)
    assert sample.n_calls == len(drafts)
    assert sample.n_replayed + sample.n_left_out == sample.n_tokens


@pytest.mark.parametrize(("run", "stage"), cases("baseline", CHAINED))
def test_library_ties_draft_what_llama_cpp_drafts(run: Run, stage: ng.Stage) -> None:
    assert_golden(run, stage.toggles.set(ties="library", score=run.score))


@pytest.mark.parametrize(("run", "stage"), cases("innervector", STAGES))
def test_token_ties_draft_what_the_sorted_variants_draft(run: Run, stage: ng.Stage) -> None:
    assert_golden(run, stage.toggles.set(ties="token", score=run.score))


def with_constmap_file() -> list[Run]:
    runs = [run for run in golden.runs("innervector") if run.static is not None]
    return [run for run in runs if constmap_file(run).is_file()]


def constmap_file(run: Run) -> Path:
    assert run.static is not None
    return run.static.with_name(run.static.name.replace(".legacy.", ".constmap."))


@pytest.mark.parametrize("run", golden.params(with_constmap_file()))
def test_the_fork_s_constmap_files_draft_the_same(run: Run) -> None:
    toggles = ng.stage("constmap").toggles.set(score=run.score)
    _, drafts = run_replay(run, toggles, static_file=constmap_file(run))
    golden.assert_drafts(run, drafts)


# ---- cache files ----------------------------------------------------------------------


@pytest.mark.parametrize("stage", LISTED)
@pytest.mark.parametrize("build", golden.params(golden.builds()))
def test_built_caches_are_the_golden_files_byte_for_byte(
    build: Build, stage: ng.Stage, tmp_path: Path
) -> None:
    toggles = stage.toggles.set(ties="library", score="int32")
    tokens = golden.read_tokens(build.tokens)
    out = tmp_path / "built.cache"
    if build.kind == "static":
        with ng.NgramCache.build_static(tokens, toggles) as cache:
            cache.save(out)
    else:
        assert build.static is not None
        with (
            ng.NgramCache.open(build.static, toggles, static=True) as static,
            ng.NgramCache(toggles) as dynamic,
        ):
            with ng.Replay(
                tokens,
                toggles=toggles,
                static=static,
                dynamic=dynamic,
                n_ctx=build.n_ctx,
                n_draft=build.n_draft,
                tail="drop",
            ) as replay:
                replay.run()
            dynamic.save(out)
    assert out.read_bytes() == build.file.read_bytes()


def all_files() -> list[Path]:
    folders = [golden.OWN, *([golden.GOLDEN] if golden.GOLDEN.is_dir() else [])]
    kinds = ("*.legacy.cache", "*.dynamic.cache")
    return [path for folder in folders for kind in kinds for path in sorted(folder.glob(kind))]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.name) for path in all_files()])
def test_loading_and_saving_gives_the_same_table(path: Path, tmp_path: Path) -> None:
    table = golden.read_table(path)
    out = tmp_path / "saved.cache"
    with ng.NgramCache.open(path) as cache:
        assert cache.load_report is not None
        assert cache.load_report.n_bytes == path.stat().st_size
        assert cache.n_grams == cache.load_report.n_grams == len(table)
        assert cache.n_followers == sum(map(len, table.values()))
        cache.validate()
        cache.save(out)
    assert golden.read_table(out) == table


def test_a_record_longer_than_the_pieces_it_is_read_and_written_in(tmp_path: Path) -> None:
    table = {(5,): dict.fromkeys(range(300_000), 1), (5, 6): {7: 1}}
    path, out = tmp_path / "long.cache", tmp_path / "saved.cache"
    path.write_bytes(golden.write_table(table))
    with ng.NgramCache.open(path) as cache:
        cache.save(out)
    assert golden.read_table(out) == table


def test_a_static_cache_leaves_other_sizes_out() -> None:
    path = golden.OWN / "phrases_prev.dynamic.cache"
    table = golden.read_table(path)
    bigrams = [ngram for ngram in table if len(ngram) == 2]
    with ng.NgramCache.open(path, static=True) as cache:
        assert cache.load_report is not None
        assert cache.load_report.n_left_out == len(table) - len(bigrams)
        assert cache.facts()["n_grams_by_n"] == (0, len(bigrams), 0, 0)


@golden.needs_golden
def test_a_cache_that_was_saved_again_drafts_differently(tmp_path: Path) -> None:
    """With the library's order a file is no perfect copy: list order is not file order."""
    again = tmp_path / "again.cache"
    run = next(r for r in golden.runs("baseline") if r.name == "wiki_test.static.c4096.d8")
    assert run.static is not None
    with ng.NgramCache.open(run.static) as cache:
        cache.save(again)
    toggles = ng.NOCOPY.toggles.set(ties="library", score="int32")
    sample, _ = run_replay(run, toggles, static_file=again)
    assert (sample.n_drafted, sample.n_accept) == (56_843, 8_207)
    assert (run.n_drafted, run.n_accept) == (56_874, 8_212)


# ---- the running text, by the engine --------------------------------------------------


def test_library_ties_at_word_48(tmp_path: Path) -> None:
    """`for`, `pour` and `whip` tie in the static cache: built, whip wins; loaded, pour."""
    running = Running()
    built = ng.NgramCache.build_static(running.b)
    built.save(tmp_path / "b.cache")
    loaded = ng.NgramCache.open(tmp_path / "b.cache", static=True)
    guesses = []
    for static in (built, loaded):
        with ng.Drafter(ng.NOCOPY.toggles, static=static) as drafter:
            drafter.feed(running.a[:47])
            guesses.append(running.words[int(drafter.draft(1)[0])])
    assert guesses == ["whip", "pour"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("caches", ["c", "cd", "cds"])
def test_every_step_on_the_running_text_is_the_reference_s(stage: ng.Stage, caches: str) -> None:
    running = Running()
    toggles = stage.toggles.set(ties="token", score="exact")
    dynamic = ng.NgramCache(toggles)
    dynamic.update(running.b)
    with ng.Drafter(
        toggles,
        dynamic=dynamic if "d" in caches else None,
        static=ng.NgramCache.build_static(running.b, toggles) if "s" in caches else None,
    ) as drafter:
        ours = list(record(drafter, running.a))
    assert any(row.bounded for each in ours for row in each.step.rows) == toggles.bound
    ours = [replace(each, step=scored(each.step)) for each in ours]
    expected = record(running.drafter(caches), running.a)
    if toggles.precheck:
        expected = (replace(entry, step=prechecked(entry.step)) for entry in expected)
    assert ours == list(expected)


def test_copies_that_lesson_3_counts() -> None:
    """450 followers are copied for text A by `upstream`, 20 of them at word 86; none else."""
    running = Running()
    for stage, whole, at_86 in ((ng.UPSTREAM, 450, 20), (ng.NOCOPY, 0, 0)):
        toggles = stage.toggles.set(ties="token", score="exact")
        dynamic = ng.NgramCache(toggles)
        dynamic.update(running.b)
        static = ng.NgramCache.build_static(running.b, toggles)
        copied = {}
        with ng.Drafter(toggles, static=static, dynamic=dynamic) as drafter:
            drafter.feed(running.a[:1])
            while drafter.length < len(running.a):
                left = len(running.a) - drafter.length
                copied[drafter.length + 1] = drafter.probe(min(4, left))["copied"]
                truth = running.a[drafter.length :]
                hits = 0
                for guess in drafter.draft(min(4, left)):
                    if guess != truth[hits]:
                        break
                    hits += 1
                drafter.feed(truth[: hits + 1])
        assert sum(copied.values()) == whole
        assert copied[86] == at_86


def test_copying_the_twelve_followers_of_one_word_takes_thirteen_allocations() -> None:
    """Twelve nodes and the buckets."""
    followers = range(10, 22)
    text = [token for follower in followers for token in (1, follower)] + [1]
    rule = ng.Rule(n_min=1, n_max=1)
    with ng.Drafter(ng.UPSTREAM.toggles, rule) as drafter:
        drafter.feed(text)
        before = drafter.copied()
        drafter.draft(1)
        after = drafter.copied()
    assert after.allocations - before.allocations == 13
    assert after.live_allocations == 0


def test_the_reference_s_own_count_is_what_the_engine_holds() -> None:
    tokens = golden.read_tokens(golden.OWN / "phrases.i32").tolist()
    table: reference.Cache = {}
    reference.update(table, tokens, len(tokens))
    with ng.NgramCache() as cache:
        cache.update(tokens)
        assert cache.n_grams == len(table)
        for ngram, followers in table.items():
            held, counts = cache.followers(ngram)
            assert dict(zip(held.tolist(), counts.tolist(), strict=True)) == followers

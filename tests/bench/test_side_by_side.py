"""Several systems in one run, on the same work; one that fails leaves the rest whole."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import runner
from pgmnemo.errors import UsageError
from pgmnemo.progress import QUIET, Progress
from runner.bench.measurement import systems_without_answers
from runner.records import RankedSegment, Retrieval
from runner.runs.results import Results, read_results
from runner.runs.run import Arm
from runner.systems import (
    SYSTEMS,
    Lessons,
    Match,
    Query,
    System,
    SystemContext,
    SystemSpec,
    missing_parts,
    spec_of,
)
from tests.helping import CURRENT

pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")
QUESTIONS, SCOPES = 6, ("conversation", "pool")
FEW = ("--limit", QUESTIONS)


class Odd(System):
    """Answers the whole scope in the order of the numbers, or as told."""

    def __init__(self, place: SystemContext, **told: Any) -> None:
        self.told = told
        self.lessons: list[Any] = []

    def _do(self, what: str, otherwise: Any) -> Any:
        return self.told[what]() if what in self.told else otherwise

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        for number, lesson in enumerate(lessons):
            if number == len(lessons) // 2:
                self._do("half", None)
            self.lessons.append(lesson)
        return self._do("load", {})  # type: ignore[no-any-return]

    def ask(self, query: Query, k: int) -> Any:
        inside = [one.number for one in self.lessons if query.project in (None, one.project)]
        found = [Match(number, -float(number)) for number in sorted(inside)[:k]]
        return self.told["ask"](query, found) if "ask" in self.told else found

    def facts(self) -> Mapping[str, str]:
        return self._do("facts", {"version": "7.1", "size": "odd"})  # type: ignore[no-any-return]

    def sizes(self) -> Mapping[str, int]:
        return self._do("sizes", {"all": 2_000_000})  # type: ignore[no-any-return]

    def close(self) -> None:
        self._do("close", None)


@pytest.fixture
def odd(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let a system be known as `odd` (or as another name), which does as told."""

    def known(name: str = "odd", **told: Any) -> None:
        options = {key: told.pop(key) for key in ("packages", "passages", "vectors") if key in told}

        def opened(place: SystemContext) -> System:
            if "open" in told:
                told["open"]()
            return Odd(place, **told)

        kind = SystemSpec("The odd one", "as told", opened, **{"vectors": False, **options})
        monkeypatch.setitem(SYSTEMS._members, name, kind)

    return known


def made(folder: Path) -> Results:
    """The one run in a folder."""
    [place] = folder.glob("*/manifest.json")
    return read_results(place.parent)


def counted(results: Results, arm: str) -> dict[str, int]:
    """Raw lines of an arm in each scope."""
    return {scope: number for (name, scope), number in results.counts.items() if name == arm}


def intact(results: Results, sql: Path) -> None:
    verification = runner.verify(results.folder, sql=sql)
    assert verification.intact, [answer.sentence for answer in verification.faults]


@pytest.fixture(scope="module")
def shared() -> dict[str, Results]:
    return {}


@pytest.fixture
def beside(
    shared: dict[str, Results], bench: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Results:
    """pgmnemo beside an older one, SQLite twice and Chroma: the run, made once."""
    for name in ("sqlite-hybrid", "chroma"):
        if sentence := missing_parts(spec_of(name)):
            pytest.skip(sentence)
    if not shared:
        folder = tmp_path_factory.mktemp("beside")
        ended = bench(
            "--baselines", "pgmnemo@0.6.1,pgmnemo@0.2.1,sqlite-hybrid,chroma", *FEW, "--output", folder
        )
        assert ended.code == 0, ended.err
        shared["run"] = made(folder)
    return shared["run"]


def test_every_system_answers_every_question_after_the_arms_of_the_one_under_test(beside: Results) -> None:
    arms = [arm.name for arm in beside.run.arms]
    assert arms[:7] == ["pgmnemo", "bm25", "keyword", "vector", "cosine", "random", "plain-bm25"]
    assert arms[7:] == [
        "pgmnemo@0.6.1", "pgmnemo@0.2.1", "sqlite-hybrid", "sqlite-hybrid+passages", "chroma",
        "chroma+passages",
    ]  # fmt: skip
    for arm in arms:
        assert counted(beside, arm) == dict.fromkeys(SCOPES, QUESTIONS)
    assert {timing.arm for timing in beside.timings} == {
        arm.name for arm in beside.run.arms if arm.role == "system"
    }


def test_each_row_says_what_it_is_and_what_it_cost(beside: Results) -> None:
    rows = {arm.name: arm for arm in beside.run.arms if arm.role == "system"}
    assert [rows[name].version for name in ("pgmnemo", "pgmnemo@0.6.1", "pgmnemo@0.2.1")] == [
        CURRENT, "0.6.1", "0.2.1",
    ]  # fmt: skip
    assert [len(rows[name].components) for name in ("pgmnemo", "pgmnemo@0.2.1", "chroma")] == [11, 5, 0]
    for row in rows.values():
        assert row.title
        assert row.words
        assert row.version
        assert not row.failed
        assert row.disk_bytes
    assert rows["sqlite-hybrid+passages"].facts["rows"] == "48"


def test_such_a_run_verifies_and_its_name_sets_it_apart(beside: Results, sql: Path) -> None:
    intact(beside, sql)
    assert beside.run.name.startswith(f"v{CURRENT}_")
    assert beside.run.name.endswith(f"_hash_limit{QUESTIONS}_side-by-side")
    assert {gate.status for gate in beside.run.gates} <= {"passed", "deviation"}


def test_the_one_under_test_is_what_it_is_alone(
    beside: Results, bench: Callable[..., Any], tmp_path: Path
) -> None:
    """To the byte: who stands beside it moves nothing."""
    assert bench(*FEW).code == 0
    alone = made(tmp_path / "results")
    own = {arm.name for arm in alone.run.arms}
    mine = [line for line in beside.raw if line["arm"] in own]
    assert mine == alone.raw
    figures = [row for row in beside.metrics["results"] if row["arm"] in own]
    assert figures == [row for row in alone.metrics["results"] if row["arm"] in own]


def test_every_system_has_figures_and_a_difference_to_the_one_under_test(beside: Results) -> None:
    systems = [arm.name for arm in beside.run.arms if arm.role == "system"]
    assert {row["arm"] for row in beside.metrics["results"]} >= set(systems)
    assert {row["baseline"] for row in beside.metrics["differences"]} >= set(systems[1:])
    report = beside.text("report.md")
    assert "## Systems side by side" in report
    assert all(f"`{name}`" in report for name in systems)


def fails(error: BaseException) -> Callable[..., Any]:
    def raising(*_: Any) -> Any:
        raise error

    return raising


def late(query: Query, found: list[Match]) -> list[Match]:
    """Goes wrong in the second scope alone."""
    if query.project is None:
        raise ConnectionError("the service went away\nat last")
    return found


FAILS: dict[str, tuple[dict[str, Any], str]] = {
    "opening": ({"open": fails(OSError("no such device"))}, "odd failed: OSError: no such device"),
    "loading half way": ({"half": fails(RuntimeError("lost"))}, "odd failed: RuntimeError: lost"),
    "not installed": ({"packages": ("no-such-package",)}, "odd is not installed: no-such-package"),
    "a late question": ({"ask": late}, "odd failed: ConnectionError: the service went away"),
    "wrong use of it": ({"open": fails(UsageError("odd needs its address"))}, "odd needs its address"),
    "a foreign number": (
        {"ask": lambda query, found: [Match(99)]},
        "odd answered question 1 with 99, which is no lesson that it was given",
    ),
    "hanging": (
        {"ask": lambda query, found: time.sleep(9)},
        "odd did not answer in time (no answer after 2 s; --time-limit gives it longer)",
    ),
    "its size": ({"sizes": fails(PermissionError("denied"))}, "odd failed: PermissionError: denied"),
    "its end": ({"close": fails(OSError("busy"))}, "odd failed: OSError: busy"),
}  # fmt: skip


@pytest.mark.parametrize("case", FAILS)
def test_a_system_that_fails_leaves_the_rest_whole(
    case: str, odd: Callable[..., None], bench: Callable[..., Any], sql: Path, tmp_path: Path
) -> None:
    told, words = FAILS[case]
    odd(**told)
    odd("after")
    limit = ("--time-limit", "2") if case == "hanging" else ()
    ended = bench("--baselines", "odd,after", "--limit", 3, *limit)
    results = made(tmp_path / "results")
    assert ended.code == 3
    assert ended.err.startswith("error: odd failed and has no ranking beside pgmnemo; mend what ")
    assert ended.err.endswith("/report.md says of it, or leave it out of --baselines\n")
    rows = {arm.name: arm for arm in results.run.arms}
    assert rows["odd"].failed.startswith(words)
    assert "\n" not in rows["odd"].failed
    assert f"odd: {rows['odd'].failed}" in ended.out.splitlines()
    assert counted(results, "odd") == {}
    assert not [timing for timing in results.timings if timing.arm == "odd"]
    for whole in ("pgmnemo", "random", "after"):
        assert counted(results, whole) == dict.fromkeys(SCOPES, 3)
    assert rows["odd"].failed in results.text("report.md")
    assert "odd" not in {row["arm"] for row in results.metrics["results"]}
    intact(results, sql)


def test_passages_that_fail_leave_the_lessons_of_the_same_system(
    odd: Callable[..., None], bench: Callable[..., Any], sql: Path, tmp_path: Path
) -> None:
    """48 pieces are too many for it."""

    def ask(query: Query, found: list[Match]) -> list[Match]:
        if any(match.number >= 39 for match in found):
            raise ValueError("too many")
        return found

    odd(passages=True, ask=ask)
    assert bench("--baselines", "odd", *FEW).code == 3
    results = made(tmp_path / "results")
    assert counted(results, "odd") == dict.fromkeys(SCOPES, QUESTIONS)
    assert counted(results, "odd+passages") == {}
    assert results.run.arms[-1].failed == "odd+passages failed: ValueError: too many"
    intact(results, sql)


def test_a_system_may_tell_of_itself_in_whatever_numbers_it_has(
    odd: Callable[..., None], bench: Callable[..., Any], sql: Path, tmp_path: Path
) -> None:
    facts: dict[Any, Any] = {"version": 3.5, "pool": np.int64(50), 7: None}
    odd(
        facts=lambda: facts, load=lambda: {"store": np.float32(0.25)}, sizes=lambda: {"all": np.int64(3)},
        ask=lambda query, found: [Match(np.int64(one.number), np.float32(one.score)) for one in found],
    )  # fmt: skip
    assert bench("--baselines", "odd", "--limit", 3).code == 0
    results = made(tmp_path / "results")
    row = results.run.arms[-1]
    assert (row.failed, row.version, row.facts) == ("", "3.5", {"pool": "50", "7": "None"})
    assert (row.load_seconds, row.disk_bytes) == ({"store": 0.25}, 3)
    intact(results, sql)


def test_answers_that_fall_short_are_remarked_whether_the_run_was_interrupted_or_not(
    odd: Callable[..., None], bench: Callable[..., Any], sql: Path, tmp_path: Path
) -> None:
    calls: Iterator[int] = iter(range(10_000))

    def once(query: Query, found: list[Match]) -> list[Match]:
        if next(calls) == 8:
            raise KeyboardInterrupt  # as if Ctrl-C came while it was asked
        return found[:5]

    odd(ask=lambda query, found: found[:5])
    assert bench("--baselines", "odd", *FEW, "--output", tmp_path / "whole").code == 0
    odd(ask=once)
    assert bench("--baselines", "odd", *FEW).code == 130
    [partial] = (tmp_path / "results").glob(".*.partial")
    assert bench("--baselines", "odd", *FEW, "--resume", partial).code == 0
    whole, resumed = made(tmp_path / "whole"), made(tmp_path / "results")
    assert whole.content("raw_retrievals.jsonl") == resumed.content("raw_retrievals.jsonl")
    remarks = ("12 of 12 answers name fewer lessons than were searched: the others did not match",)
    assert whole.run.arms[-1].remarks == resumed.run.arms[-1].remarks == remarks
    assert whole.run.arms[0].remarks == ()
    for results in (whole, resumed):
        intact(results, sql)


def test_a_system_that_never_finds_anything_is_known() -> None:
    def row(arm: str, *found: str) -> Retrieval:
        return Retrieval("q", "a", arm, "pool", "p", 9, ("x",), tuple(map(RankedSegment, found)))

    arms = [Arm("full", "", "system"), Arm("empty", "", "system"), Arm("gone", "", "system", failed="why")]
    assert systems_without_answers(arms, [row("full"), row("full", "y"), row("empty"), row("empty")]) == [
        "empty"
    ]


def test_a_setting_is_that_of_the_system_under_test_alone(bench: Callable[..., Any], tmp_path: Path) -> None:
    ended = bench("--set", "bm25_b=0.5", "--baselines", "pgmnemo@0.6.1,pgmnemo:bm25_k1=2")
    assert (ended.code, ended.err) == (0, "")
    results = made(tmp_path / "results")
    assert "scope: bm25_b = 0.5 (--set)" in results.run.deviations
    assert results.folder.name.endswith("_hash_bm25-b-0.5_side-by-side")
    assert results.run.choice.settings == {"bm25_b": "0.5"}
    assert results.run.guc_state["pgmnemo.bm25_b"] == "0.5"
    assert results.run.guc_defaults["pgmnemo.bm25_b"] == "0.4"
    scores = {
        arm: {line["question"]: line["ranking"][0][1] for line in results.raw if line["arm"] == arm}
        for arm in ("pgmnemo", "pgmnemo:bm25_k1=2")
    }
    assert scores["pgmnemo"] != scores["pgmnemo:bm25_k1=2"]

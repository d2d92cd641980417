"""Another system under test: what of the protocol concerns pgmnemo alone is left out, all else stands."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.paths import ROOT
from runner.protocol.editions import current
from runner.report.citation import command
from runner.runs.results import Results, read_results
from runner.systems import missing_parts, spec_of

pytestmark = pytest.mark.filterwarnings("ignore:legacy embedding function config:DeprecationWarning")
OWN_GATES = {"version", "settings"}


def made(folder: Path) -> Results:
    """The one run in a folder."""
    [place] = folder.glob("*/manifest.json")
    return read_results(place.parent)


def intact(results: Results, sql: Path, **options: Any) -> None:
    verification = runner.verify(results.folder, sql=sql, **options)
    assert verification.intact, [answer.sentence for answer in verification.faults]


def gates(results: Results) -> set[str]:
    return {gate.gate for gate in results.run.gates}


@pytest.fixture
def sqlite() -> None:
    if sentence := missing_parts(spec_of("sqlite-fts5")):
        pytest.skip(sentence)


def test_a_run_without_pgmnemo_needs_no_database_and_no_vectors(
    cli: Callable[..., Any], sqlite: None, sql: Path, tmp_path: Path
) -> None:
    nowhere = ("--dsn", "postgresql://127.0.0.1:1/nothing")
    ended = cli("sample", "--system", "sqlite-fts5", "--quiet", "--output", tmp_path / "results", *nowhere)
    assert (ended.code, ended.err) == (0, "")
    results = made(tmp_path / "results")
    run = results.run
    assert gates(results) == set(current().gates) - OWN_GATES
    assert [arm.name for arm in run.arms] == ["sqlite-fts5", "random", "plain-bm25"]
    assert (run.database, run.embedder, run.passages) == (None, None, None)
    assert not run.guc_state
    assert not run.components
    assert run.choice.mode == ""
    assert results.metrics["system"] == "sqlite-fts5"
    assert results.metrics["pgmnemo_version"] is None
    assert re.fullmatch(r"\d+\.\d+\.\d+", run.version)
    assert results.folder.name == f"sqlite-fts5_{run.version}_{run.started:%Y%m%d}_none"
    assert f"SQLite FTS5 {run.version}" in ended.out
    report = results.text("report.md")
    assert report.startswith(f"# the sample: SQLite FTS5 {run.version}, embedder none\n")
    assert "pgmnemo v" not in report
    intact(results, sql, corpus=ROOT / "benchmarks" / "sample")


def test_it_is_cited_by_its_own_name(
    cli: Callable[..., Any], sqlite: None, sql: Path, locomo_path: Path, tmp_path: Path
) -> None:
    words = ("--system", "sqlite-fts5", "--data", locomo_path, "--limit", 60, "--quiet")
    ended = cli("locomo", *words, "--output", tmp_path)
    assert ended.code == 0, ended.err
    results = made(tmp_path)
    lines = runner.cite(results.folder).text.splitlines()
    value = r"recall_any@10 = 0\.\d{3} \[0\.\d{3}, [01]\.\d{3}\]"
    assert re.fullmatch(rf"{value} \(sqlite-fts5 {re.escape(results.run.version)}\)\.", lines[2])
    assert lines[1] == "Corpus: LoCoMo, scope conversation, n = 60. Embedder: none."
    assert "embedder: none: keyword-only, without vectors" in lines[4]
    assert not any("pgmnemo v" in line for line in lines[1:])
    intact(results, sql, corpus=locomo_path)


@pytest.mark.parametrize("name", ["sqlite-hybrid", "chroma", "gin-hnsw"])
def test_a_system_that_takes_vectors_stands_beside_their_exact_cosine(
    name: str, bench: Callable[..., Any], sql: Path, tmp_path: Path
) -> None:
    if sentence := missing_parts(spec_of(name)):
        pytest.skip(sentence)
    assert bench("--system", name).code == 0
    results = made(tmp_path / "results")
    legs = ["keyword", "vector"] if spec_of(name).hybrid else []
    assert [arm.name for arm in results.run.arms] == [name, *legs, "cosine", "random", "plain-bm25"]
    assert [arm.role for arm in results.run.arms[1:]] == ["leg"] * len(legs) + ["control"] * 3
    assert gates(results) == set(current().gates) - OWN_GATES
    intact(results, sql)


def test_pgmnemo_may_stand_beside_another_system(
    bench: Callable[..., Any], sqlite: None, sql: Path, tmp_path: Path
) -> None:
    assert bench("--system", "sqlite-fts5", "--baselines", "pgmnemo,pgmnemo@0.2.1").code == 0
    results = made(tmp_path / "results")
    run = results.run
    assert [arm.name for arm in run.arms if arm.role == "system"] == [
        "sqlite-fts5", "pgmnemo", "pgmnemo@0.2.1",
    ]  # fmt: skip
    assert gates(results) == set(current().gates) - OWN_GATES
    assert [arm.version for arm in run.arms[-2:]] == [run.choice.version, "0.2.1"]
    assert [len(arm.components) for arm in run.arms[-2:]] == [11, 5]
    assert run.title.startswith("SQLite FTS5 3.")
    intact(results, sql)


def test_a_version_behind_the_name_is_the_version_under_test(
    bench: Callable[..., Any], sql: Path, tmp_path: Path
) -> None:
    assert bench("--system", "pgmnemo@0.6.1", "--limit", 5).code == 0
    results = made(tmp_path / "results")
    run = results.run
    assert results.folder.name.startswith("v0.6.1_")
    assert gates(results) == set(current().gates)
    assert (run.choice.version, run.version, run.title) == ("0.6.1", "0.6.1", "pgmnemo v0.6.1")
    assert run.database.pgmnemo == "0.6.1"
    intact(results, sql)


def test_the_command_that_makes_the_run_again_is_the_one_that_made_it(
    bench: Callable[..., Any], sqlite: None, tmp_path: Path
) -> None:
    words = ("--system", "sqlite-fts5", "--baselines", "pgmnemo", "--version", "v0.6.1", "--limit", 2)
    assert bench(*words).code == 0
    results = made(tmp_path / "results")
    assert command(results.run) == (
        "python -m runner sample --system sqlite-fts5 --version v0.6.1 --embedder hash --granularity session "
        "--baselines pgmnemo --limit 2"
    )
    assert command(results.run) in results.text("report.md")


def test_the_command_of_a_run_with_every_stage_is_taken_again(
    bench: Callable[..., Any], cli: Callable[..., Any], sqlite: None, tmp_path: Path
) -> None:
    stages = (
        "--baseline-scopes",
        "headline",
        "--rerank",
        "linear",
        "--rerank-depth",
        "20",
        "--rewrite",
        "words",
    )
    words = ("--system", "sqlite-fts5", "--baselines", "pgmnemo", "--limit", 2)
    assert bench(*words, *stages).code == 0
    again = shlex.split(command(made(tmp_path / "results").run))
    assert set(stages) <= set(again)
    ended = cli(*again[3:], "--dry-run")
    assert ended.code == 0, ended.err


TEXT = "dated-without-captions"


def test_another_text_is_a_labelled_deviation(
    bench: Callable[..., Any], sql: Path, locomo_path: Path, cli: Callable[..., Any], tmp_path: Path,
    sqlite: None,
) -> None:  # fmt: skip
    words = ("--data", locomo_path, "--system", "sqlite-fts5", "--limit", 60, "--quiet")
    for text in ((), ("--template", TEXT)):
        ended = cli("locomo", *words, *text, "--output", tmp_path / (text or ("full",))[-1])
        assert ended.code == 0, ended.err
    full, other = made(tmp_path / "full"), made(tmp_path / TEXT)
    assert f"_none_{TEXT}_limit60" in other.folder.name
    assert other.run.choice.template == TEXT
    [scope] = (gate for gate in other.run.gates if gate.gate == "scope")
    assert (scope.status, f"template {TEXT}" in scope.found) == ("deviation", True)
    assert f"template {TEXT}" in " ".join(other.run.deviations)
    assert (
        f"deviation: scope: only 60 questions, spread evenly (--limit); template {TEXT} (--template)"
        in ended.out
    )
    assert f"template {TEXT}" not in " ".join(full.run.deviations)
    assert full.run.corpus.sha256 == other.run.corpus.sha256
    assert full.content("raw_retrievals.jsonl") != other.content("raw_retrievals.jsonl")
    for results in (full, other):
        intact(results, sql, corpus=locomo_path)
    choice = json.loads(other.text("run.json"))["choice"]
    assert choice["template"] == TEXT

"""A run by each choice of suite, text, split and scope: recorded, labelled, and intact for `verify`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import runner
from runner.protocol.datasets.suite import PARITY
from runner.report.citation import command
from runner.runs.results import Results, read_results


def item(key: str, marked: bool = True) -> dict[str, Any]:
    """A LongMemEval item of three sessions, of which all items share the last."""
    tea = [
        {"role": "user", "content": f"I drink tea {key}.", "has_answer": True},
        {"role": "assistant", "content": "Noted, you like what is hot in the evening."},
    ]
    if not marked:
        del tea[0]["has_answer"]
    rain = [{"role": "user", "content": "Will there be rain?"}]
    return {
        "question_id": key, "question_type": "multi-session", "question": f"What do I drink, {key}?",
        "question_date": "2023/05/30 (Tue) 23:40", "answer": "tea", "answer_session_ids": [f"answer_{key}1"],
        "haystack_session_ids": [f"answer_{key}1", f"other{key}", "shared_1"],
        "haystack_dates": [f"2023/05/{day} (Mon) 10:00" for day in (20, 21, 22)],
        "haystack_sessions": [tea, rain, [{"role": "user", "content": "My dog barks."}]],
    }  # fmt: skip


KEYS = ("aa", "bb", "cc", "dd", "ee", "ff")


@pytest.fixture
def run(cli: Callable[..., Any], server: Any, sql: Path, tmp_path: Path) -> Callable[..., Results]:
    """Run a suite on some items, verify the run with its corpus, and read its command for the words."""

    def made(suite: str, items: list[dict[str, Any]], *words: object) -> Results:
        path, results = tmp_path / "corpus.json", tmp_path / "results"
        path.write_text(json.dumps(items))
        before = set(results.glob("*/manifest.json"))
        ended = cli(
            suite, "--quiet", "--data", path, "--dsn", server.dsn(), "--embedder", "hash",
            "--output", results, "--allow-unregistered-corpus", *words,
        )  # fmt: skip
        assert ended.code == 0, ended.err
        [place] = set(results.glob("*/manifest.json")) - before
        found = read_results(place.parent)
        verification = runner.verify(found.folder, sql=sql, corpus=path)
        assert verification.intact, [answer.sentence for answer in verification.faults]
        again = command(found.run)
        assert all(str(word) in again for word in words if word not in ("--jobs", 2)), again
        return found

    return made


def test_longmemeval_by_turns_in_two_scopes_with_passages_by_characters(run: Callable[..., Results]) -> None:
    items = [*map(item, KEYS[:5]), item("ff", marked=False)]
    found = run(
        "longmemeval", items, "--granularity", "turn", "--scopes", "haystack,pool", "--passages", "12/4",
        "--template", "undated", "--max-chars", 30, "--jobs", 2,
    )  # fmt: skip
    run_, choice = found.run, found.run.choice
    assert [scope.name for scope in run_.scopes] == ["haystack", "pool"]
    assert (choice.template, choice.passages, choice.max_chars) == ("undated", "12/4", 30)
    assert "_turn_undated_passages12-4_chars30_haystack-pool" in run_.name
    assert run_.corpus.shape["answerable"] == 5
    assert run_.passages.count > run_.corpus.segments
    readings = {
        row["metric"]: row for row in found.metrics["readings"] if row["reading"].startswith("unmark")
    }
    own = {
        row["metric"]: row["value"]
        for row in found.metrics["results"]
        if (row["arm"], row["scope"], row["view"], row["type"]) == ("pgmnemo", "haystack", "all", "all")
    }
    assert {metric: (row["n"], round(row["value"], 6)) for metric, row in readings.items()} == {
        metric: (6, round(own[metric] * 5 / 6, 6)) for metric in readings
    }
    pooled = [line for line in found.raw if (line["arm"], line["scope"]) == ("random", "pool")]
    assert {line["size"] for line in pooled} == {24}
    assert all(len(line["ranking"]) == len(set(line["ranking"])) == 19 for line in pooled)


def test_a_split_and_a_limit_ask_and_name_their_questions(run: Callable[..., Results]) -> None:
    wanted = [key for key in KEYS if PARITY["held-out"](key)]
    found = run("longmemeval", list(map(item, KEYS)), "--split", "held-out", "--limit", 2)
    assert {line["question"] for line in found.raw} == set(wanted[:2])
    assert "_held-out_limit2" in found.run.name
    [scope] = [gate.found for gate in found.run.gates if gate.gate == "scope"]
    assert "only 2 questions, spread evenly (--limit); only the split held-out (--split)" in scope
    assert "split: held-out. Splits of this corpus: development and held-out" in found.text("report.md")


def test_one_split_is_never_written_over_another(run: Callable[..., Results]) -> None:
    items = list(map(item, KEYS))
    names = [run("longmemeval", items, "--split", split).run.name for split in (*PARITY, "held-out")]
    assert [name.partition("hash_")[2] for name in names] == ["development", "held-out", "held-out_2"]


def test_a_strategy_under_test_has_its_legs_beside_it_and_is_intact(run: Callable[..., Results]) -> None:
    items = [item(key) for key in KEYS[:2]]
    name = "convex:anchor=built-in"
    left = run("longmemeval", items, "--system", name, "--baselines", "rrf")
    roles = {arm.name: (arm.role, arm.components) for arm in left.run.arms}
    parts = ("vector", "keyword", "recency", "temporal")
    assert [roles[one] for one in (name, "keyword", "vector", "rrf")] == [
        ("system", parts), ("leg", ()), ("leg", ()), ("system", parts),
    ]  # fmt: skip
    wanted = {"n": 2, "questions": []}  # no question names a time
    assert left.metrics["anchored"] == [{"arm": one, "scope": "haystack", **wanted} for one in (name, "rrf")]

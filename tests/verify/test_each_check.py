"""What each check finds by itself in a run of the engine with one thing changed.

Nothing is sealed anew: a check that is asked alone looks at no manifest.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from runner.runs.canonical import compact, pretty
from runner.runs.timings import Timing, latencies
from runner.verification import CHECKS, CheckResult, CheckStatus
from runner.verification.context import RunContext
from tests.verify.conftest import OLDER, RIVAL

CORPUS = Path(__file__).parents[2] / "benchmarks" / "sample" / "sample.json"
NAMES = ("raw_retrievals.jsonl", "timings.jsonl", "reranks.jsonl")
Lines = list[Any]
Change = Callable[[Any, Lines, Lines, Lines], object]


def asked(source: Path, home: Path, check: str, change: Change, corpus: Path | None = None) -> CheckResult:
    """What the check says once run.json, raw lines, timings or reranks have been changed."""
    folder = Path(shutil.copytree(source, home / source.name))
    run = json.loads((folder / "run.json").read_text())
    lines = {name: [json.loads(one) for one in (folder / name).read_text().splitlines()] for name in NAMES}
    change(run, *lines.values())
    (folder / "run.json").write_text(pretty(run))
    for name, changed in lines.items():
        (folder / name).write_text("".join(compact(one) + "\n" for one in changed))
    return CHECKS[check](RunContext(folder, corpus))


def block(raw: Lines, arm: str, scope: str = "pool") -> Lines:
    return [line for line in raw if (line["arm"], line["scope"]) == (arm, scope)]


def first(raw: Lines, arm: str = "pgmnemo") -> Any:
    return block(raw, arm)[0]


def name(rank: Any) -> str:
    return str(rank if isinstance(rank, str) else rank[0])


def put(path: str, to: Any) -> Change:
    def change(run: Any, *lines: Lines) -> None:
        *steps, last = path.split("/")
        for step in steps:
            run = run[int(step) if step.isdigit() else step]
        run[last] = to

    return change


def part(rank: int, component: str, by: float) -> Change:
    """So much more of one component, where the score stays."""

    def change(run: Any, raw: Lines, *more: Lines) -> None:
        values, place = first(raw)["ranking"][rank][2], run["arms"][0]["components"].index(component)
        values[place] = (values[place] or 0) + by

    return change


def reordered(arm: str) -> Change:
    """The first and the last of the ranking exchange their ids."""

    def change(run: Any, raw: Lines, *more: Lines) -> None:
        ranks = first(raw, arm)["ranking"]
        one, other = name(ranks[0]), name(ranks[-1])
        for place, new in ((0, other), (-1, one)):
            ranks[place] = new if isinstance(ranks[place], str) else [new, *ranks[place][1:]]

    return change


def cut(arm: str, to: int) -> Change:
    def change(run: Any, raw: Lines, *more: Lines) -> None:
        for line in block(raw, arm):
            del line["ranking"][to:]

    return change


def bare(run: Any, raw: Lines, *more: Lines) -> None:
    del first(raw)["ranking"][3][2:]


def without(arm: str) -> Change:
    def change(run: Any, *lines: Lines) -> None:
        run["arms"] = [one for one in run["arms"] if one["name"] != arm]

    return change


def said(arm: str, **facts: Any) -> Change:
    def change(run: Any, *lines: Lines) -> None:
        next(one for one in run["arms"] if one["name"] == arm).update(facts)

    return change


def setting(name: str, to: str, *groups: str) -> Change:
    def change(run: Any, *lines: Lines) -> None:
        for group in groups:
            run[group][f"pgmnemo.{name}"] = to

    return change


def view_without_a_type(run: Any, raw: Lines, *more: Lines) -> None:
    run["views"][0]["without_types"] = [raw[0]["type"]]


def fewer_timings(run: Any, raw: Lines, timings: Lines, reranks: Lines) -> None:
    """The slowest is gone, and the percentiles are those of the others."""
    timings.remove(max(timings, key=lambda one: float(one["seconds"])))
    run["latency"] = [asdict(one) for one in latencies([Timing(**one) for one in timings], 10)]


def raised(run: Any, raw: Lines, *more: Lines) -> None:
    """The pool answers as the conversation does, with what else it found behind."""
    for arm in ("pgmnemo", "keyword", "vector", "bm25"):
        for line, within in zip(block(raw, arm), block(raw, arm, "conversation"), strict=True):
            known = [name(rank) for rank in within["ranking"]]
            rest = [one for one in line["ranking"] if name(one) not in known]
            line["ranking"] = [*within["ranking"], *rest]


def unknown_gold(run: Any, raw: Lines, *more: Lines) -> None:
    """The reranker puts an id first that its base never found there."""
    line = block(raw, "pgmnemo+rerank", "conversation")[0]
    inside = {name(rank) for rank in line["ranking"]}
    strange = next(name(rank) for rank in first(raw)["ranking"] if name(rank) not in inside)
    line["ranking"][0] = [strange, *line["ranking"][0][1:]]


def told(**more: int) -> Change:
    """The first rerank cost something else."""

    def change(run: Any, raw: Lines, timings: Lines, reranks: Lines) -> None:
        reranks[0].update({what: reranks[0][what] + number for what, number in more.items()})

    return change


def renamed(new: str, **more: Any) -> Change:
    """The older pgmnemo beside gets another name, wherever it stands."""

    def change(run: Any, *lines: Lines) -> None:
        run["choice"]["baselines"] = [new if one == OLDER else one for one in run["choice"]["baselines"]]
        for arm in run["arms"]:
            if arm["name"].removesuffix("+rerank") == OLDER:
                arm.update(name=arm["name"].replace(OLDER, new), **more)

    return change


def without_passages(run: Any, *lines: Lines) -> None:
    run["arms"] = [arm for arm in run["arms"] if "+passages" not in arm["name"]]


SUMS: tuple[Change, ...] = (part(0, "bm25", 0.5), setting("cosine_weight", "9", "guc_state"))
FAULTS: tuple[tuple[str, Change, str], ...] = (
    ("scores", reordered("bm25"), "bm25, pool, "),
    ("scores", bare, "not each of the first ten has all components"),
    ("scores", raised, "words are worth the same in the pool as in a part of it"),
    ("raw", cut("keyword", 10), "ids in 10 ranks, not 39"),
    ("record", setting("bm25_b", "0.9", "guc_state"), "guc_state.pgmnemo.bm25_b is 0.9, made again "),
    ("record", setting("tenant_id", "0" * 8, "guc_state"), "tenant_id is 00000000, made again "),
    ("record", put("choice/level", "turn"), "name is "),
    ("record", put("embedder/name", "bge-m3"), "embedder.name is bge-m3, made again hash"),
    ("record", put("embedder", None), "the run chose hash, and run.json does not describe it"),
    ("record", put("reranker", None), "the run chose linear, and run.json does not describe it"),
    ("record", view_without_a_type, "views[all].without_types is "),
    ("record", put("corpus/clustered", True), "corpus.clustered is True, made again False"),
    ("record", put("corpus/title", "LoCoMo"), "corpus.title is LoCoMo, made again "),
    ("record", put("components/graph", "inactive: not needed"), "graph is inactive: not needed, made again"),
    ("record", put("components/recency", "inactive: no times"), "recency is inactive: no times, made again"),
    ("record", put("components/cosine", "inactive: keyword mode"), "made again active"),
    ("record", without("bm25"), "arms[1] is keyword, made again bm25"),
    ("record", said("bm25", words="Lucene"), "arms[bm25].words is Lucene, made again "),
    ("record", said("vector", failed="no answer"), "arms[vector].failed is no answer, made again "),
    ("record", said("pgmnemo", version="0.6.1"), "arms[pgmnemo].version is 0.6.1, made again "),
    ("record", put("choice/baselines", [RIVAL]), "is pgmnemo@0.6.1, made again bm25s"),
    ("record", without_passages, "made again bm25s+passages"),
    ("record", without("bm25s+rerank"), "made again bm25s+rerank"),
    ("record", said("bm25s+rerank", name="chroma+rerank"), "is chroma+rerank, made again bm25s+rerank"),
    ("record", said("bm25s+rerank", words="magic"), "arms[bm25s+rerank].words is magic, made again "),
    ("record", renamed("pgmnemo@0.2.1"), "arms[pgmnemo@0.2.1].version is 0.6.1, made again 0.2.1"),
    ("record", renamed("pgmnemo@0.2.1", version="0.2.1"), "arms[pgmnemo@0.2.1].components is "),
    ("record", said(OLDER, facts={}), "arms[pgmnemo@0.6.1].facts.fingerprint is nothing, made again"),
    ("code", put("code/commit", "0" * 40), "0000000000"),
    ("timings", fewer_timings, " that protocol "),
    ("reranks", unknown_gold, "is none of the ids of pgmnemo"),
    ("reranks", told(pairs=7), "20 pairs, 0 from the cache cannot be of 13 candidates"),
    ("reranks", told(calls=1), "1 calls, 13 pairs, 0 from the cache cannot be of 13 candidates"),
)  # fmt: skip


@pytest.mark.parametrize(("check", "change", "sentence"), FAULTS)
def test_a_fault_is_found_by_the_check_alone(
    measured: Path, tmp_path: Path, check: str, change: Change, sentence: str
) -> None:
    answer = asked(measured, tmp_path, check, change)
    assert answer.found is CheckStatus.WRONG
    assert sentence in answer.sentence


@pytest.mark.parametrize("change", SUMS, ids=["a component", "a weight"])
def test_a_score_that_is_no_sum_of_its_components_is_found(
    former: Path, tmp_path: Path, change: Change
) -> None:
    """In a run of a release whose score is one."""
    answer = asked(former, tmp_path, "scores", change)
    assert answer.found is CheckStatus.WRONG
    assert ", its components give " in answer.sentence


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (put("components/neighbours", "active"), "neighbours is active, made again inactive: no positions"),
        (put("choice/max_chars", 60), "made again v"),
        (put("passages/count", 40), "passages.count is 40, made again 48"),
    ],
)
def test_the_corpus_knows_more(measured: Path, tmp_path: Path, change: Change, sentence: str) -> None:
    answer = asked(measured, tmp_path, "corpus", change, CORPUS)
    assert answer.found is CheckStatus.WRONG
    assert sentence in answer.sentence


def test_an_honest_run_holds(measured: Path) -> None:
    evidence = RunContext(measured, CORPUS)
    answers = [check(evidence) for check in CHECKS.values()]
    assert [one.sentence for one in answers if one.found is CheckStatus.WRONG] == []
    assert [one.check for one in answers if one.found is CheckStatus.NOT_ASKED] == [
        "commit", "signature", "rewrites", "rerun",
    ]  # fmt: skip


def test_the_engine_itself_recalls_a_run(
    measured: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An embedded database, and no server that the environment names."""
    monkeypatch.setenv("PGMNEMO_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PGMNEMO_DSN", "postgresql://nobody@127.0.0.1:1/none")
    answer = CHECKS["rerun"](RunContext(measured, rerun=5))
    assert answer.found is CheckStatus.HOLDS, answer.sentence
    assert "by 14 of 14 arms" in answer.sentence

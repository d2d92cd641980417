"""What each check on rankings, settings and arms finds by itself in a committed run with one thing changed.

Nothing is sealed anew: a check that is asked alone looks at no manifest.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.editions import edition
from runner.runs.canonical import compact, pretty
from runner.verify import CHECKS, Answer, Found
from runner.verify.evidence import Evidence

ROOT = Path(__file__).parents[2]
RUN = ROOT / "benchmarks" / "sample" / "results" / "v0.4.0_20261122_minilm"
CORPUS = ROOT / "benchmarks" / "sample" / "sample.json"
REALTALK = ROOT / "benchmarks" / "realtalk" / "results"
PEERS = REALTALK / "v0.4.0_20261122_minilm_side-by-side"
RERANKED = REALTALK / "v0.4.1_20261123_minilm_rerank-linear_side-by-side"
TURNS = REALTALK / "v0.4.1_20261123_minilm_turn_rerank-linear_side-by-side"
Change = Callable[[Any, list[Any], list[Any]], object]


def asked(home: Path, check: str, change: Change, corpus: Path | None = None, source: Path = RUN) -> Answer:
    """What the check says once run.json, raw lines and timings (or what reranks cost) have been changed."""
    folder = Path(shutil.copytree(source, home / source.name))
    run = json.loads((folder / "run.json").read_text())
    names = ("raw_retrievals.jsonl", "reranks.jsonl" if run.get("reranker") else "timings.jsonl")
    lines = {name: [json.loads(one) for one in (folder / name).read_text().splitlines()] for name in names}
    change(run, *lines.values())
    (folder / "run.json").write_text(pretty(run))
    for name, changed in lines.items():
        (folder / name).write_text("".join(compact(one) + "\n" for one in changed))
    return CHECKS[check](Evidence(folder, corpus))


def block(raw: list[Any], arm: str, scope: str = "pool") -> list[Any]:
    return [line for line in raw if (line["arm"], line["scope"]) == (arm, scope)]


def first(raw: list[Any], arm: str = "pgmnemo", scope: str = "pool") -> Any:
    return block(raw, arm, scope)[0]


def put(*path: Any, to: Any) -> Change:
    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        inner = run
        for step in path[:-1]:
            inner = inner[step]
        inner[path[-1]] = to

    return change


def names(run: Any) -> list[str]:
    return list(run["arms"][0]["components"])


def part(rank: int, component: str, by: float, arm: str = "pgmnemo") -> Change:
    """So much more of one component, where the score stays."""

    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        values = first(raw, arm)["ranking"][rank][2]
        place = names(run).index(component)
        values[place] = (values[place] or 0) + by

    return change


def reordered(arm: str) -> Change:
    """The first and the last of the ranking exchange their ids."""

    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        line = first(raw, arm)
        ranks = line["ranking"]
        one, other = ranks[0], ranks[-1]
        bare = [rank if isinstance(rank, str) else rank[0] for rank in (one, other)]
        ranks[0] = bare[1] if isinstance(one, str) else [bare[1], *one[1:]]
        ranks[-1] = bare[0] if isinstance(other, str) else [bare[0], *other[1:]]

    return change


def cut(arm: str, to: int) -> Change:
    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        for line in block(raw, arm):
            del line["ranking"][to:]

    return change


def bare(run: Any, raw: list[Any], timings: list[Any]) -> None:
    del first(raw)["ranking"][3][2:]


def quickest(run: Any, raw: list[Any], timings: list[Any]) -> None:
    timings.remove(max(timings, key=lambda one: one["seconds"]))


def without(arm: str) -> Change:
    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        run["arms"] = [one for one in run["arms"] if one["name"] != arm]

    return change


def said(arm: str, **facts: Any) -> Change:
    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        next(one for one in run["arms"] if one["name"] == arm).update(facts)

    return change


def state(name: str, to: str, *groups: str) -> Change:
    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        for group in groups:
            run[group][f"pgmnemo.{name}"] = to

    return change


NO_TIMES = "inactive: no times"
LATER = {"version": "1.5.0", "sha256": edition("1.5.0").sha256, "pins_sha256": edition("1.5.0").pins_sha256}
FAULTS: tuple[tuple[str, Change, str], ...] = (
    ("score", part(0, "bm25", 0.5), ", its components give "),
    ("score", state("cosine_weight", "9", "guc_state"), ", its components give "),
    ("order", reordered("bm25"), "stands behind what has less of it under test"),
    ("order", reordered("cosine"), "cosine, pool, "),
    ("order", part(9, "bm25", 3.0), "under test"),
    ("agree", part(0, "recency", 0.01), " there and "),
    ("agree", bare, "not each of the first ten has all components"),
    ("raw", cut("keyword", 10), "ids in 10 ranks, not 39"),
    ("raw", cut("random", 0), "0 ids in 0 ranks, not 39"),
    ("settings", state("bm25_b", "0.9", "guc_state"), "guc_state: bm25_b is 0.9, by release"),
    ("settings", state("bm25_b", "0.9", "guc_state", "guc_defaults"), "guc_defaults: bm25_b is 0.9, by rel"),
    ("settings", state("tenant_id", "0" * 8, "guc_state"), "guc_state: tenant_id is 00000000, by release"),
    ("settings", put("choice", "level", to="turn"), "guc_state: tenant_id is "),
    ("identity", put("embedder", "name", to="bge-m3"), "the run chose the embedder minilm, and run.json des"),
    ("identity", put("embedder", "dimensions", to=768), "minilm: dimensions is 768, pinned 384"),
    ("identity", put("embedder", to=None), "the run chose the embedder minilm, and run.json describes none"),
    ("arms", without("bm25"), "beside the system under test stands "),
    ("arms", said("bm25", words="Lucene"), "beside the system under test stands ('bm25', 'leg', 'Lucene')"),
    ("arms", said("random", role="leg"), "by edition, version and mode ('random', 'control'"),
    ("arms", said("vector", failed="no answer"), "the leg vector is said to have failed"),
    ("arms", said("pgmnemo", version="0.3.1"), "mode hybrid, version 0.3.1"),
    ("arms", put("choice", "systems", to=["bm25s"]), "beside stand none; chosen were bm25s"),
    ("code", put("code", "commit", to="0" * 40), "0000000000"),
    ("code", put("protocol", to=LATER), "1.5.0, and PROTOCOL.md of commit 3f4ab11ec430 is another edition"),
    ("components", put("components", "graph", to="inactive: not needed"), "which no run says"),
    ("components", put("components", "recency", to=NO_TIMES), "is said to be inactive: no times, and has "),
    ("components", put("components", "graph", to="inactive: the corpus has no edges"), "; it is active"),
    ("components", put("components", "cosine", to="inactive: keyword mode"), "keyword mode, and has "),
    ("header", put("protocol", "version", to="1.3.0"), "0.4.0 is newer than 1.3.0: it came with 1.4.0"),
    ("timings", quickest, "are not the percentiles"),
)  # fmt: skip


@pytest.mark.parametrize(("check", "change", "sentence"), FAULTS)
def test_a_fault_is_found_by_the_check_alone(
    tmp_path: Path, check: str, change: Change, sentence: str
) -> None:
    answer = asked(tmp_path, check, change)
    assert answer.found is Found.WRONG
    assert sentence in answer.sentence


def raised(*arms: str) -> Change:
    """The pool answers as the conversation does, with what else it found behind."""

    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        for arm in arms:
            for line, within in zip(block(raw, arm), block(raw, arm, "conversation"), strict=True):
                first = [rank[0] if isinstance(rank, list) else rank for rank in within["ranking"]]
                rest = [
                    rank
                    for rank in line["ranking"]
                    if (rank[0] if isinstance(rank, list) else rank) not in first
                ]
                line["ranking"] = [*within["ranking"], *rest]

    return change


def unknown_gold(run: Any, raw: list[Any], reranks: list[Any]) -> None:
    """The reranker puts gold first that its base never found."""
    for line in block(raw, "pgmnemo+rerank", "conversation"):
        ids = [rank if isinstance(rank, str) else rank[0] for rank in line["ranking"]]
        if not set(line["gold"]) & set(ids):
            line["ranking"][0] = [line["gold"][0], *line["ranking"][0][1:]]


def told(**changes: int) -> Change:
    """The first rerank of run.json and reranks.jsonl cost something else."""

    def change(run: Any, raw: list[Any], reranks: list[Any]) -> None:
        for row in (reranks[0], *run["reranks"]):
            if (row["arm"], row["scope"]) == (reranks[0]["arm"], reranks[0]["scope"]) and (
                row.get("type", "all") == "all" or row["type"] == raw[0]["type"]
            ):
                row.update({name: row[name] + more for name, more in changes.items()})

    return change


def renamed(old: str, new: str, **more: Any) -> Change:
    """A system beside gets another name, wherever it stands."""

    def change(run: Any, raw: list[Any], reranks: list[Any]) -> None:
        run["choice"]["systems"] = [new if one == old else one for one in run["choice"]["systems"]]
        for arm in run["arms"]:
            if arm["name"].removesuffix("+rerank") == old:
                arm.update(name=arm["name"].replace(old, new), **more)

    return change


def without_passages(run: Any, raw: list[Any], timings: list[Any]) -> None:
    run["arms"] = [arm for arm in run["arms"] if not arm["name"].endswith("+passages")]


OLDER, NEWER = "pgmnemo@0.3.1", "pgmnemo@0.4.0"
OF_0_4_1 = json.loads((RERANKED / "run.json").read_bytes())["arms"][0]["facts"]["fingerprint"]
BESIDE: tuple[tuple[Path, str, Change, str], ...] = (
    (RUN, "agree", raised("pgmnemo"), "words are worth the same in the pool as in a part of it"),
    (TURNS, "reranks", unknown_gold, "is none of the ids of pgmnemo"),
    (RERANKED, "reranks", told(pairs=7), "21 pairs, 0 from the cache cannot be of 14 candidates"),
    (RERANKED, "reranks", told(pairs=-14), "0 pairs, 0 from the cache cannot be of 14 candidates"),
    (RERANKED, "reranks", told(calls=1), "1 calls, 14 pairs, 0 from the cache cannot be of 14 candidates"),
    (PEERS, "arms", without_passages, "beside stand pgmnemo@0.3.1, sqlite-fts5, sqlite-hybrid"),
    (PEERS, "arms", without("bm25s+passages"), "bm25s, chroma, chroma+passages"),
    (RERANKED, "arms", renamed(OLDER, NEWER), "pgmnemo@0.4.0 is of version 0.4.0, and said to be 0.3.1"),
    (RERANKED, "arms", renamed(OLDER, NEWER, version="0.4.0"), "its functions are those of 0.3.1"),
    (RERANKED, "arms", renamed(OLDER, "pgmnemo@0.9.0", version="0.9.0"), "its functions are those of 0.3.1"),
    (RERANKED, "arms", said(OLDER, facts={}), "its functions are of no release"),
    (RERANKED, "arms", without("rrf+rerank"), "rrf+rerank is missing"),
    (RERANKED, "arms", said("rrf+rerank", name="chroma+rerank"), "chroma+rerank: the run chose no"),
    (RERANKED, "arms", said("rrf+rerank", words="magic"), "rrf+rerank is said to be magic"),
    (RERANKED, "arms", renamed("rrf", "rrf:over=pgmnemo@0.3.1"), "is of version 0.3.1, and said to be 0.4.1"),
)  # fmt: skip


@pytest.mark.parametrize(("source", "check", "change", "sentence"), BESIDE)
def test_a_fault_beside_or_behind_is_found_by_the_check_alone(
    tmp_path: Path, source: Path, check: str, change: Change, sentence: str
) -> None:
    answer = asked(tmp_path, check, change, source=source)
    assert answer.found is Found.WRONG
    assert sentence in answer.sentence


def test_lessons_that_were_not_cut_as_said_have_other_passages(tmp_path: Path, realtalk_path: Path) -> None:
    cut = put("choice", "max_chars", to=60)
    for change, found in ((cut, Found.WRONG), (lambda run, raw, reranks: None, Found.HOLDS)):
        answer = asked(tmp_path / found, "corpus", change, realtalk_path, RERANKED)
        said = "passages as 645; they are 48" in answer.sentence
        assert (answer.found, said) == (found, found is Found.WRONG)


@pytest.mark.parametrize("check", dict.fromkeys(check for check, _, _ in FAULTS))
def test_an_honest_run_holds(tmp_path: Path, check: str) -> None:
    answer = asked(tmp_path, check, lambda run, raw, timings: None)
    assert answer.found in (Found.HOLDS, Found.NOT_ASKED), answer.sentence


def test_the_corpus_knows_which_components_are_active(tmp_path: Path) -> None:
    changed = put("components", "neighbours", to="active")
    answer = asked(tmp_path, "components", changed, CORPUS)
    assert (answer.found, "it is inactive: no positions" in answer.sentence) == (Found.WRONG, True)


def test_fewer_timings_with_their_own_percentiles_are_found(tmp_path: Path) -> None:
    from dataclasses import asdict

    from runner.runs.timings import Timing, latencies

    def change(run: Any, raw: list[Any], timings: list[Any]) -> None:
        quickest(run, raw, timings)
        run["latency"] = [asdict(one) for one in latencies([Timing(**one) for one in timings], 10)]

    answer = asked(tmp_path, "timings", change)
    assert (answer.found, "35 questions of pgmnemo in" in answer.sentence) == (Found.WRONG, True)

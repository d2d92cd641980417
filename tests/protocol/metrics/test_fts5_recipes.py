"""Published SQLite FTS5 baselines on LoCoMo, scored by our metric code, and beside trec_eval's.

The recipe, with a loader of its own so that only the metrics are under test:

- text `[date]` and one line `Speaker: text` for each turn, photo captions left out; at turn level one turn
  with its session's date line; empty sessions are skipped;
- an FTS5 table `porter unicode61` over all ten conversations, so that `bm25()` has one set of statistics;
- the question's lower-case `[a-z0-9]{2,}` terms, each quoted, repeats kept, joined by OR;
- `bm25()` ascending within the question's conversation, ties by row id, the first fifty;
- gold is every `D<session>:<turn>` (or `D:<session>:<turn>`) found in the evidence strings, at session level
  its session part. A turn id that does not exist is gold that is never found. Questions with empty evidence
  are left out (1,982 stay); at session level also the one whose only evidence is `D30:05` (1,981 stay).
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runner.protocol.editions import current
from runner.protocol.metrics import Metric, score
from runner.protocol.metrics.families.ranks import mrr, ndcg
from runner.protocol.metrics.families.recalls import recall_any, recall_frac
from runner.records import RankedSegment, Retrieval

Conversation = dict[str, Any]


def sessions(conversation: Conversation) -> Iterator[tuple[str, str, list[dict[str, str]]]]:
    talk = conversation["conversation"]
    for key in talk:
        if re.fullmatch(r"session_\d+", key) and talk[key]:
            yield f"D{key.removeprefix('session_')}", talk[f"{key}_date_time"], talk[key]


def documents(conversation: Conversation, by_turn: bool) -> Iterator[tuple[str, str]]:
    for id, date, turns in sessions(conversation):
        head = [f"[{date}]"]
        lines = [f"{turn['speaker']}: {turn['text']}" for turn in turns]
        if by_turn:
            yield from (
                (turn["dia_id"], "\n".join([*head, line])) for turn, line in zip(turns, lines, strict=True)
            )
        else:
            yield id, "\n".join(head + lines)


def index(corpus: list[Conversation], by_turn: bool) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE d USING fts5(c UNINDEXED, id UNINDEXED, body, tokenize='porter unicode61')"
    )
    for conversation in corpus:
        name = conversation["sample_id"]
        database.executemany(
            "INSERT INTO d VALUES (?, ?, ?)",
            [(name, *document) for document in documents(conversation, by_turn)],
        )
    return database


def search(database: sqlite3.Connection, conversation: str, question: str) -> list[str]:
    terms = " OR ".join(f'"{term}"' for term in re.findall(r"[a-z0-9]{2,}", question.lower()))
    found = database.execute(
        "SELECT id FROM d WHERE d MATCH ? AND c = ? ORDER BY bm25(d), rowid LIMIT 50", (terms, conversation)
    )
    return [id for (id,) in found]


def gold(evidence: list[str], by_turn: bool) -> tuple[str, ...]:
    cited = re.findall(r"D:?(\d+):(\d+)", " ".join(evidence))
    return tuple(sorted({f"D{s}:{t}" if by_turn else f"D{s}" for s, t in cited}))


def retrievals(corpus: list[Conversation], by_turn: bool) -> Iterator[Retrieval]:
    database = index(corpus, by_turn)
    for conversation in corpus:
        name = conversation["sample_id"]
        for number, item in enumerate(conversation["qa"]):
            if not item["evidence"] or (item["evidence"] == ["D30:05"] and not by_turn):
                continue
            yield Retrieval(
                question=f"{name}/q{number}", type=str(item["category"]), arm="fts5", scope="conversation",
                project=name, size=100, gold=gold(item["evidence"], by_turn),
                ranking=tuple(RankedSegment(id) for id in search(database, name, item["question"])),
            )  # fmt: skip
    database.close()


@pytest.fixture(scope="module", params=[False, True], ids=["session", "turn"])
def rows(request: pytest.FixtureRequest, locomo_path: Path) -> list[Retrieval]:
    return list(retrievals(json.loads(locomo_path.read_text()), request.param))


PUBLISHED = {1981: ("92.63", "96.77", "79.38"), 1982: ("58.73", "67.10", "44.80")}


def test_a_published_recipe_gets_its_published_figures(rows: list[Retrieval]) -> None:
    scores = score(rows, current(), views={"all": lambda key, type_: True}, clustered=True, cutoffs=[5, 10])
    found = {r.metric: r for r in scores.results if (r.arm, r.type) == ("fts5", "all")}
    n = found["recall_any@5"].n
    reciprocal = sum(mrr(10).value(frozenset(r.gold), [hit.id for hit in r.ranking]) for r in rows) / n
    values = (found["recall_any@5"].value, found["recall_any@10"].value, reciprocal)
    assert tuple(f"{100 * value:.2f}" for value in values) == PUBLISHED[n]


def test_agrees_with_ir_measures_on_every_question(rows: list[Retrieval]) -> None:
    """Fed by rank, since trec_eval breaks ties of score by descending id."""
    ir = pytest.importorskip("ir_measures")
    theirs: dict[object, Metric] = {ir.RR @ 50: mrr(50), ir.nDCG @ 10: ndcg(10)}
    for k in (1, 5, 10, 20, 50):
        theirs |= {ir.Success @ k: recall_any(k), ir.R @ k: recall_frac(k)}
    gold = {row.question: frozenset(row.gold) for row in rows}
    ranked = {row.question: [hit.id for hit in row.ranking] for row in rows}
    qrels = {key: dict.fromkeys(ids, 1) for key, ids in gold.items()}
    run = {key: {id: -float(rank) for rank, id in enumerate(ids)} for key, ids in ranked.items()}
    found = list(ir.iter_calc(list(theirs), qrels, run))
    mine = [theirs[one.measure].value(gold[one.query_id], ranked[one.query_id]) for one in found]
    assert mine == pytest.approx([one.value for one in found], abs=1e-12)
    assert len(mine) == len(theirs) * len(rows)

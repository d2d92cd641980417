"""Our figures beside trec_eval's on real rankings: SQLite FTS5 over all of LoCoMo's sessions."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

from runner.protocol.metrics import Metric
from runner.protocol.metrics.families.ranks import mrr, ndcg
from runner.protocol.metrics.families.recalls import recall_any, recall_frac
from runner.protocol.suites import SUITES
from runner.records import Corpus


def rankings(corpus: Corpus) -> dict[str, list[str]]:
    """The first fifty sessions of each scored question, by BM25 over all conversations."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE VIRTUAL TABLE d USING fts5(id UNINDEXED, body, tokenize='porter unicode61')")
    database.executemany("INSERT INTO d VALUES (?, ?)", ((s.id, s.text) for s in corpus.segments))
    found = {}
    for question in corpus.questions:
        if question.scored:
            terms = " OR ".join(f'"{term}"' for term in re.findall(r"[a-z0-9]{2,}", question.text.lower()))
            rows = database.execute(
                "SELECT id FROM d WHERE d MATCH ? ORDER BY rank, rowid LIMIT 50", (terms,)
            )
            found[question.key] = [id for (id,) in rows]
    database.close()
    return found


def test_agrees_with_ir_measures_on_every_question(locomo_path: Path) -> None:
    """Fed by rank, since trec_eval breaks ties of score by descending id."""
    ir = pytest.importorskip("ir_measures")
    corpus = SUITES["locomo"].load(locomo_path)
    gold = {question.key: frozenset(question.gold) for question in corpus.questions if question.scored}
    ranked = rankings(corpus)
    theirs: dict[object, Metric] = {ir.RR @ 50: mrr(50), ir.nDCG @ 10: ndcg(10)}
    for k in (1, 5, 10, 20, 50):
        theirs |= {ir.Success @ k: recall_any(k), ir.R @ k: recall_frac(k)}
    qrels = {key: dict.fromkeys(ids, 1) for key, ids in gold.items()}
    run = {key: {id: -float(rank) for rank, id in enumerate(ids)} for key, ids in ranked.items()}
    seen, worst = 0, 0.0
    for found in ir.iter_calc(list(theirs), qrels, run):
        mine = theirs[found.measure].value(gold[found.query_id], ranked[found.query_id])
        worst, seen = max(worst, abs(mine - found.value)), seen + 1
    print(f"\n{seen:,} values of {len(gold):,} questions, largest difference {worst:.1e}")
    assert worst <= 1e-12
    assert seen == len(theirs) * 1982

"""How the default of pgmnemo.cosine_weight was chosen, and what it is worth on conversations it never saw.

    python benchmarks/locomo/fit_cosine_weight.py [--data DIR] [--embedder minilm]

Recalls every question of LoCoMo within its conversation, takes all components of every session from the
extension, and tries each weight of a coarse grid by the sum of recall_any@5, recall_any@10 and MRR@50. The
leave-one-conversation-out line chooses on nine conversations and scores the tenth; it is the honest figure.
All other settings stay at their defaults: k1 = 0.9 and b = 0.4 are those of Anserini, not fitted here.
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from runner.protocol import load_protocol

from runner.database import open_database
from runner.embedders import EMBEDDERS, EmbedderOptions, default_cache_dir, embed_corpus
from runner.progress import Progress
from runner.records import COMPONENTS
from runner.suites import SUITES
from runner.systems import Asked, Inputs, Recall, open_tenant

GRID = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0)
METRICS = ("recall_any@5", "recall_any@10", "MRR@50")
EVERYTHING_ELSE = {"importance_weight": "0", "graph_weight": "0"}  # LoCoMo gives them nothing to act on


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question: its conversation, `components` (sessions, 5) in tie order, which sessions are gold."""

    conversation: str
    components: NDArray[np.float64]
    gold: NDArray[np.bool_]

    def scores(self, weight: float, recency_weight: float) -> tuple[float, float, float]:
        """Hit at 5, hit at 10 and reciprocal rank with this cosine weight."""
        parts = {name: self.components[:, place] for place, name in enumerate(COMPONENTS)}
        score = parts["bm25"] + weight * np.maximum(parts["cosine"], 0) + recency_weight * parts["recency"]
        rank = int(np.argmax(self.gold[np.argsort(-score, kind="stable")])) + 1
        return float(rank <= 5), float(rank <= 10), 1 / rank


def recalled(data: Path | None, embedder: str) -> list[Ranked]:
    """Every scored question of LoCoMo with the components of every session of its conversation."""
    protocol, suite, progress = load_protocol(), SUITES["locomo"], Progress()
    corpus = suite.load(suite.locate(data, os.environ))
    model = EMBEDDERS[embedder](EmbedderOptions())
    vectors = embed_corpus(corpus, model, default_cache_dir(os.environ), progress)
    inputs = Inputs(corpus, vectors, protocol.depth, protocol.seed)
    settings = {name: str(value) for name, value in protocol.settings.items()} | EVERYTHING_ELSE
    asked = [Asked(place, question) for place, question in enumerate(corpus.questions) if question.scored]
    with (
        open_database("0.2.1", environ=os.environ, progress=progress) as database,
        open_tenant(database, inputs, settings, protocol.width) as tenant,
    ):
        tenant.ingest(progress)
        answers = list(Recall(tenant, "hybrid", "pgmnemo", "").answers(asked, corpus.scopes[0]))
    external = {segment.id: segment.external_id for segment in corpus.segments}
    rows = []
    for one, answer in zip(asked, answers, strict=True):
        hits = sorted(answer.ranking, key=lambda hit: external[hit.id])
        components = np.array([hit.components for hit in hits], dtype=float)
        gold = np.isin([hit.id for hit in hits], one.question.gold)
        rows.append(Ranked(one.question.project, components, gold))
    return rows


def main() -> None:
    """Print the sweep, then the leave-one-conversation-out figure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--embedder", default="minilm")
    options = parser.parse_args()
    rows = recalled(options.data, options.embedder)
    recency = float(load_protocol().settings["recency_weight"])
    table = {weight: np.array([row.scores(weight, recency) for row in rows]) for weight in GRID}
    print(f"LoCoMo within the conversation, {options.embedder}, n = {len(rows):,}: {' / '.join(METRICS)}")
    for weight, values in table.items():
        print(f"  cosine_weight {weight:<4} in-sample       {_figures(values)}")
    conversations = np.array([row.conversation for row in rows])
    unseen, chosen = np.empty_like(table[GRID[0]]), []
    for held in dict.fromkeys(conversations):
        best = max(GRID, key=lambda weight: table[weight][conversations != held].mean(axis=0).sum())
        unseen[conversations == held] = table[best][conversations == held]
        chosen.append(best)
    print(f"  leave-one-conversation-out       {_figures(unseen)}  chosen: {', '.join(map(str, chosen))}")


def _figures(values: NDArray[np.float64]) -> str:
    any5, any10, mrr = values.mean(axis=0)
    return f"{any5:.2%} / {any10:.2%} / {mrr:.4f}"


if __name__ == "__main__":
    main()

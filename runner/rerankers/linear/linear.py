"""The reranker `linear`: a candidate's features, weighed and added up. It loads no model and calls nobody."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from runner.records import RerankerIdentity
from runner.rerankers.linear.features import Reader
from runner.rerankers.linear.model import SHIPPED, read_model
from runner.rerankers.options import RerankOptions
from runner.rerankers.reranker import Pool, Reordered, Reranker, by_score


class Linear(Reranker):
    """Our own, trained by the command `train` (CARD.md says on what). `--rerank-model` names other weights.

    Whole texts are read, so `--rerank-chars` says nothing here.
    """

    def __init__(self, options: RerankOptions) -> None:
        path = Path(options.rerank_model).expanduser() if options.rerank_model else SHIPPED
        model = read_model(path)
        self._weights = np.array(model.weights)
        self._reader = Reader()
        self.identity = RerankerIdentity(
            name="linear",
            model=path.name if options.rerank_model else "pgmnemo-linear-1",
            revision=f"sha256:{model.sha256}",
            depth=options.rerank_depth,
            characters=0,
            note="a weighted sum of the system's score, words, speakers and neighbours",
        )

    def rerank(self, pool: Pool) -> Reordered:
        scores = self._reader.features(pool) @ self._weights
        return Reordered(*by_score([float(score) for score in scores]), pairs=len(pool.candidates))

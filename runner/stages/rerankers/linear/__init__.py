"""The project's own reranker: a weighted sum of the system's scores, the words, the speaker and the
neighbours.

It loads no model and makes no calls. The weights are from a file that the command `train` writes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path

import numpy as np

from pgmnemo.errors import ModelError
from runner.runs.storage import DOCUMENT, read_regular
from runner.stages.rerankers import Pool, Reordered, Reranker, RerankOptions, order_by_score
from runner.stages.rerankers.linear.features import FEATURES, FeatureReader

SCHEMA = "pgmnemo/linear-reranker/1"
SHIPPED = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Model:
    """A weight for each of FEATURES, in order, and the SHA-256 of the file with the weights."""

    weights: tuple[float, ...]
    sha256: str


def read_model(path: Path = SHIPPED) -> Model:
    """Return the weights in a file; raise ModelError if it has none, or those of other features."""
    mend = "name a file that `train` wrote, or leave --rerank-model out"
    try:
        content = read_regular(path, DOCUMENT, ModelError)
        document = json.loads(content)
        named = document["weights"] if document["schema"] == SCHEMA else {}
        weights = tuple(float(named[name]) for name in FEATURES)
    except ModelError as error:
        raise ModelError(f"the weights {error}; {mend}") from None
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        weights, named = (), {}
    if not weights or set(named) != set(FEATURES) or not all(map(isfinite, weights)):
        raise ModelError(
            f"{path} holds no weights of the linear reranker ({SCHEMA}, a number for each of "
            f"{', '.join(FEATURES)}); {mend}"
        )
    return Model(weights, sha256(content).hexdigest())


class Linear(Reranker):
    """The linear reranker, trained by the command `train` (see CARD.md).

    `--rerank-model` names other weights. Whole texts are read, so `--rerank-chars` has no effect.
    """

    def __init__(self, options: RerankOptions) -> None:
        path = Path(options.rerank_model).expanduser() if options.rerank_model else SHIPPED
        model = read_model(path)
        self._weights = np.array(model.weights)
        self._reader = FeatureReader()
        self.identity = options.identity(
            "linear",
            path.name if options.rerank_model else "pgmnemo-linear-1",
            f"sha256:{model.sha256}",
            characters=0,
            note="a weighted sum of the system's score, words, speakers and neighbours",
        )

    def rerank(self, pool: Pool) -> Reordered:
        scores = self._reader.features(pool) @ self._weights
        return Reordered(*order_by_score([float(score) for score in scores]), pairs=len(pool.candidates))

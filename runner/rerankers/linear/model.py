"""The weights of the linear reranker, and the file that holds them: `weights.json`, which `train` writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path

from runner.errors import ModelError
from runner.rerankers.linear.features import FEATURES
from runner.runs.regular import demand_regular

SCHEMA = "pgmnemo/linear-reranker/1"
SHIPPED = Path(__file__).with_name("weights.json")


@dataclass(frozen=True, slots=True)
class Model:
    """A weight for each of FEATURES, in their order; SHA-256 of the file that they were read from."""

    weights: tuple[float, ...]
    sha256: str


def read_model(path: Path = SHIPPED) -> Model:
    """The weights in a file; ModelError where it holds none, or those of other features."""
    try:
        demand_regular(path, ModelError)
        content = path.read_bytes()
        document = json.loads(content)
        named = document["weights"] if document["schema"] == SCHEMA else {}
        weights = tuple(float(named[name]) for name in FEATURES)
    except ModelError as error:
        raise ModelError(
            f"the weights {error}; name a file that `train` wrote, or leave --rerank-model out"
        ) from None
    except OSError as error:
        raise ModelError(
            f"the weights {path} cannot be read ({error.strerror}); name a file that `train` wrote, or leave "
            "--rerank-model out"
        ) from None
    except (ValueError, KeyError, TypeError):
        weights, named = (), {}
    if not weights or set(named) != set(FEATURES) or not all(map(isfinite, weights)):
        raise ModelError(
            f"{path} holds no weights of the linear reranker ({SCHEMA}, a number for each of "
            f"{', '.join(FEATURES)}); name a file that `train` wrote, or leave --rerank-model out"
        )
    return Model(weights, sha256(content).hexdigest())

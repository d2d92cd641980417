"""What each component adds: it alone switched off, the other weights unchanged, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.tune.layout import Floats
from runner.tune.scoring import Judge
from runner.tune.weights import RELEVANCE, Weights

VECTORS = ("passage_cosine_weight", "pair_cosine_weight", "cosine_weight")
WORDS = ("bm25_weight", "passage_terms_weight")
OFF: Mapping[str, Mapping[str, float]] = {
    **{f"no {name}": {f"{name}_weight": 0} for name in (*RELEVANCE, "context", "recency")},
    "no vector (mode keyword)": dict.fromkeys(VECTORS, 0),
    "no word": dict.fromkeys(WORDS, 0),
    "no word, no time (mode vector)": dict.fromkeys((*WORDS, "temporal_weight"), 0),
    "passage_terms without bonus": {"passage_term_bonus": 0},
    "passage_terms with bonus 1": {"passage_term_bonus": 1},
}
FORMS = "irregular forms not merged"


def ablations(judge: Judge, default: Weights) -> Iterator[tuple[str, Floats]]:
    """What is off, and the differences to the default, (questions, figures), in [-1, 1]."""
    whole = judge.figures(default)
    for name, changed in OFF.items():
        yield name, judge.figures({**default, **changed}) - whole
    yield FORMS, judge.figures(default, plain=True) - whole

"""The weights that are tuned, the grid that they may come from, and where the ascent starts.

The grid is coarse on purpose: ten conversations cannot tell 0.75 from 0.8. One unit of the lesson's BM25 is
the measure of the others, so its own weight stays 1; recency, importance and graph keep theirs, for the
corpora here hold nothing that could set them.
"""

from __future__ import annotations

from collections.abc import Mapping

Weights = Mapping[str, float]

GRID: Mapping[str, tuple[float, ...]] = {
    "passage_term_bonus": (1, 1.5, 2),
    "passage_terms_weight": (0.5, 0.75, 1),
    "passage_cosine_weight": (8, 10, 12, 15, 18, 22),
    "pair_cosine_weight": (0, 2, 4, 6, 8, 10),
    "cosine_weight": (0, 3, 5, 8, 10),
    "temporal_weight": (0, 4, 8, 10, 12),
    "context_weight": (0, 0.5, 0.7, 1, 1.5),
}
NEUTRAL: Mapping[str, float] = {  # keywords, the best passage's cosine, and nothing else
    "passage_term_bonus": 1,
    "passage_terms_weight": 0.5,
    "passage_cosine_weight": 8,
    "pair_cosine_weight": 0,
    "cosine_weight": 0,
    "temporal_weight": 0,
    "context_weight": 0,
}
RELEVANCE = ("bm25", "passage_terms", "passage_cosine", "pair_cosine", "cosine", "temporal")
BESIDES = ("recency", "importance", "graph")  # added to relevance and context, in this order
BONUSES = (0.0, *GRID["passage_term_bonus"])
NAMES = (*(f"{name}_weight" for name in (*RELEVANCE, "context", *BESIDES)), "passage_term_bonus")


def default_weights(settings: Mapping[str, str]) -> dict[str, float]:
    """The weights in force, from the extension's own list of settings."""
    return {name: float(settings[f"pgmnemo.{name}"]) for name in NAMES}


def neutral_weights(default: Weights) -> dict[str, float]:
    """Where an ascent starts that knows nothing of the default."""
    return {**default, **NEUTRAL}


def short(value: float) -> str:
    """Such as `18`, `0.75`."""
    return f"{value:g}"

"""The weights that are tuned, the grid that they may come from, and where the ascent starts.

The grid is coarse on purpose: ten conversations cannot tell 0.75 from 0.8. One unit of the lesson's BM25 is
the measure of the others, so its own weight stays 1; recency, importance and graph keep theirs, for the
corpora here hold nothing that could set them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

Weights = Mapping[str, float]

GRID: Mapping[str, tuple[float, ...]] = {
    "length_pivot": (50, 70, 90),
    "passage_term_bonus": (1, 1.5, 2),
    "passage_terms_weight": (0.5, 0.75, 1),
    "passage_cosine_weight": (8, 10, 12, 15, 18, 22),
    "pair_cosine_weight": (0, 2, 4, 6, 8, 10),
    "cosine_weight": (0, 3, 5, 8, 10),
    "temporal_weight": (0, 4, 8, 10, 12),
    "context_weight": (0, 0.5, 0.7, 1, 1.5),
    "neighbours_weight": (0, 0.1, 0.2, 0.3),
    "assistant_weight": (0.7, 0.8, 0.9, 1),
}
NEUTRAL: Mapping[str, float] = {  # keywords, the best passage's cosine, and nothing else
    "length_pivot": 50,
    "passage_term_bonus": 1,
    "passage_terms_weight": 0.5,
    "passage_cosine_weight": 8,
    "pair_cosine_weight": 0,
    "cosine_weight": 0,
    "temporal_weight": 0,
    "context_weight": 0,
    "neighbours_weight": 0,
    "assistant_weight": 1,
}
WORDS = ("bm25", "passage_terms")
RELEVANCE = (*WORDS, "passage_cosine", "pair_cosine", "cosine", "temporal")
OTHERS = ("context", "neighbours")  # what comes to a lesson from others
BESIDES = ("recency", "importance", "graph")
COMPONENTS = (*RELEVANCE, *OTHERS, *BESIDES)  # in the order in which pgmnemo._contributions has them
SHAPES = ("length_pivot", "passage_term_bonus")  # settings in which the score is not linear
UNMOVED_BONUS = 0.0  # that an ablation looks at besides the grid's
NAMES = (*(f"{name}_weight" for name in (*COMPONENTS, "assistant")), *SHAPES)


def default_weights(settings: Mapping[str, str]) -> dict[str, float]:
    """The weights in force, from the extension's own list of settings."""
    return {name: float(settings[f"pgmnemo.{name}"]) for name in NAMES}


def neutral_weights(default: Weights) -> dict[str, float]:
    """Where an ascent starts that knows nothing of the default."""
    return {**default, **NEUTRAL}


def shapes(default: Weights) -> Iterator[dict[str, float]]:
    """Every pivot and bonus for which words are asked for: the grid's, the default, and no bonus."""
    pivots = dict.fromkeys((default["length_pivot"], *GRID["length_pivot"]))
    bonuses = dict.fromkeys((default["passage_term_bonus"], *GRID["passage_term_bonus"]))
    for pivot in pivots:
        yield from ({"length_pivot": pivot, "passage_term_bonus": bonus} for bonus in bonuses)
    yield {"length_pivot": default["length_pivot"], "passage_term_bonus": UNMOVED_BONUS}


def shaped(name: str, weights: Weights) -> str:
    """Under what name a component is kept: of the words it says for which pivot, and for which bonus."""
    if name not in WORDS:
        return name
    parts: Sequence[str] = [short(weights["length_pivot"])]
    if name == "passage_terms":
        parts = [*parts, short(weights["passage_term_bonus"])]
    return f"{name}~{'+'.join(parts)}"


def short(value: float) -> str:
    """Such as `18`, `0.75`."""
    return f"{value:g}"

"""The weights that are tuned, the grid of their values, and what an ablation disables.

The grid is coarse on purpose: ten conversations cannot distinguish 0.75 from 0.8. One unit of the lesson's
BM25 is the unit of the other weights, so its own weight stays 1; recency, importance and graph keep theirs,
because these corpora have nothing that could set them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

Weights = Mapping[str, float]

GRID: Mapping[str, tuple[float, ...]] = {
    "length_pivot": (50, 70, 90),
    "passage_term_bonus": (1, 1.5, 2),
    "passage_terms_weight": (0.5, 0.75, 1),
    "full_coverage": (0.3, 0.4, 0.5, 0.7, 1),
    "passage_cosine_weight": (7, 10, 13, 16, 20),
    "pair_cosine_weight": (0, 3, 5, 7, 9, 12),
    "cosine_weight": (0, 3, 5, 7, 9, 12),
    "temporal_weight": (0, 4, 8, 10, 12),
    "context_weight": (0, 0.5, 0.7, 1, 1.5),
    "neighbours_weight": (0, 0.1, 0.2, 0.3),
    "assistant_weight": (0.7, 0.8, 0.9, 1),
}
NEUTRAL: Weights = {  # only keywords and the best passage's cosine
    **{name: values[0] for name, values in GRID.items()},
    "assistant_weight": 1,
}
WORDS = ("bm25", "passage_terms")
BREVITY = "brevity"
COVER = (*(f"{name}_reach" for name in WORDS), BREVITY)  # of each question: its words' coverage
RELEVANCE = (*WORDS, "passage_cosine", "pair_cosine", "cosine", "temporal")
OTHERS = ("context", "neighbours")  # relevance that a lesson gets from other lessons
BESIDES = ("recency", "importance", "graph")
COMPONENTS = (*RELEVANCE, *OTHERS, *BESIDES)  # in the order of pgmnemo._contributions
NAMES = (
    *(f"{name}_weight" for name in (*COMPONENTS, "assistant")),
    "length_pivot", "passage_term_bonus", "full_coverage",  # the score is not linear in these
)  # fmt: skip
PLAIN, TENANT, SCOPE = "plain", "tenant", "project"  # other readings of the question's words

SAID = tuple(f"{name}_weight" for name in WORDS)
OFF: Mapping[str, Weights] = {
    **{f"no {name}": {f"{name}_weight": 0} for name in (*RELEVANCE, *OTHERS, "recency")},
    "neither context nor neighbours": {f"{name}_weight": 0 for name in OTHERS},
    "assistants counted in full": {"assistant_weight": 1},
    "no vector (mode keyword)": {"passage_cosine_weight": 0, "pair_cosine_weight": 0, "cosine_weight": 0},
    "no word": dict.fromkeys(SAID, 0),
    "no word, no time (mode vector)": dict.fromkeys((*SAID, "temporal_weight"), 0),
    "words without coverage": {"full_coverage": 0},
    "long questions undamped": {BREVITY: 0},  # an exponent of this module, not a setting
    "passage_terms without bonus": {"passage_term_bonus": 0},
    "passage_terms with bonus 1": {"passage_term_bonus": 1},
}
READ = {
    "cut as English, irregular forms not merged": PLAIN,
    "rarity counted in the tenant alone": TENANT,
    "rarity counted in the scope alone": SCOPE,
}

TRIALS, SEED, QUESTIONS = 4, 42, 60  # draws of weights; evenly spread questions of a task for each draw


def default_weights(settings: Mapping[str, str]) -> dict[str, float]:
    """Return the extension's default weights, from its own list of settings."""
    return {name: float(settings[f"pgmnemo.{name}"]) for name in NAMES}


def shapes(default: Weights) -> Iterator[dict[str, float]]:
    """Yield every pivot and bonus for which words are collected: the grid's, the default, and no bonus."""
    pivots = dict.fromkeys((default["length_pivot"], *GRID["length_pivot"]))
    bonuses = dict.fromkeys((default["passage_term_bonus"], *GRID["passage_term_bonus"]))
    for pivot in pivots:
        yield from ({"length_pivot": pivot, "passage_term_bonus": bonus} for bonus in bonuses)
    yield {"length_pivot": default["length_pivot"], "passage_term_bonus": 0.0}


def shaped(name: str, weights: Weights) -> str:
    """Return the name of a stored component; for words it includes the pivot and the bonus."""
    if name not in (*WORDS, *COVER):
        return name
    bonus = f"+{weights['passage_term_bonus']:g}" if name.startswith("passage_terms") else ""
    return f"{name}~{weights['length_pivot']:g}{bonus}"


def trials(default: Weights) -> dict[str, dict[str, float]]:
    """Return random weights of the grid, for comparing scores with the extension's.

    The contribution of edges follows relevance at the default, so its weight is 0 here.
    """
    random = np.random.default_rng(SEED)
    return {
        f"trial {number}": {
            **default,
            **{name: float(random.choice(values)) for name, values in GRID.items()},
            "graph_weight": 0.0,
        }
        for number in range(TRIALS)
    }


def tried_rows(questions: int) -> list[int]:
    """Return the indexes of the questions that are asked under random weights."""
    spread = np.linspace(0, questions - 1, min(questions, QUESTIONS))
    return [int(place) for place in np.unique(spread.astype(int))]

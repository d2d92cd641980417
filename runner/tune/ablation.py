"""What each component adds: it alone switched off, the other weights unchanged, question by question."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runner.tune.collecting import PLAIN, SCOPE, TENANT
from runner.tune.layout import Floats
from runner.tune.scoring import Judge
from runner.tune.weights import OTHERS, RELEVANCE, WORDS, Weights

SAID = tuple(f"{name}_weight" for name in WORDS)
VECTORS = ("passage_cosine_weight", "pair_cosine_weight", "cosine_weight")
OFF: Mapping[str, Mapping[str, float]] = {
    **{f"no {name}": {f"{name}_weight": 0} for name in (*RELEVANCE, *OTHERS, "recency")},
    "neither context nor neighbours": {f"{name}_weight": 0 for name in OTHERS},
    "assistants counted in full": {"assistant_weight": 1},
    "no vector (mode keyword)": dict.fromkeys(VECTORS, 0),
    "no word": dict.fromkeys(SAID, 0),
    "no word, no time (mode vector)": dict.fromkeys((*SAID, "temporal_weight"), 0),
    "passage_terms without bonus": {"passage_term_bonus": 0},
    "passage_terms with bonus 1": {"passage_term_bonus": 1},
}
READ = {  # other readings of the question's words
    "irregular forms not merged": PLAIN,
    "rarity counted in the tenant alone": TENANT,
    "rarity counted in the scope alone": SCOPE,
}


def ablations(judge: Judge, default: Weights) -> Iterator[tuple[str, Floats]]:
    """What is off, and the differences to the default, (questions, figures), in [-1, 1]."""
    whole = judge.figures(default)
    for name, changed in OFF.items():
        yield name, judge.figures({**default, **changed}) - whole
    for name, words in READ.items():
        yield name, judge.figures(default, words=words) - whole

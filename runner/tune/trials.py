"""Weights drawn at random from the grid, under which the scores here are held against the extension's too."""

from __future__ import annotations

import numpy as np

from runner.tune.weights import GRID, Weights

NUMBER = 4
SEED = 42
QUESTIONS = 60  # of a task, evenly spread, for each drawing


def trials(default: Weights) -> list[dict[str, float]]:
    """NUMBER drawings; what edges add goes by relevance at the default, so its weight is 0 here."""
    random = np.random.default_rng(SEED)
    return [
        {
            **default,
            **{name: float(random.choice(values)) for name, values in GRID.items()},
            "graph_weight": 0.0,
        }
        for _ in range(NUMBER)
    ]


def trial(number: int) -> str:
    """Under what name the scores of a drawing are kept."""
    return f"trial {number}"


def tried_rows(questions: int) -> list[int]:
    """The questions that are asked, by place."""
    spread = np.linspace(0, questions - 1, min(questions, QUESTIONS))
    return [int(place) for place in np.unique(spread.astype(int))]

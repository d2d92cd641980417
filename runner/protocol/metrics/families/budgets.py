"""Metrics within a budget of tokens: what a prompt gets that has room for so many tokens of memories.

A reader takes the segments of a ranking from the top, each whole. One that no longer fits is left out, and
the next is tried, as the client's `context` does. The share of tokens that is evidence is the token precision
of Smith and Troynikov (2024), "Evaluating Chunking Strategies for Retrieval", over whole segments.
"""

from __future__ import annotations

import numpy as np

from runner.protocol.metrics.metric import Family, Metric


def budget_any(tokens: int) -> Metric:
    """Return the metric budget_any@tokens."""
    return Metric(
        name=f"budget_any@{tokens}",
        k=tokens,
        definition=f"Share of questions with at least one gold segment within {tokens:,} tokens.",
        formula=lambda found: (found.read(tokens).gold > 0).astype(float),
        needs_lengths=True,
    )


def budget_all(tokens: int) -> Metric:
    """Return the metric budget_all@tokens."""
    return Metric(
        name=f"budget_all@{tokens}",
        k=tokens,
        definition=f"Share of questions with every gold segment within {tokens:,} tokens.",
        formula=lambda found: (found.read(tokens).gold == found.gold).astype(float),
        needs_lengths=True,
    )


def budget_precision(tokens: int) -> Metric:
    """Return the metric budget_precision@tokens."""
    return Metric(
        name=f"budget_precision@{tokens}",
        k=tokens,
        definition=f"Share of the tokens read within {tokens:,} that is of gold segments, averaged.",
        formula=lambda found: found.read(tokens).evidence / np.maximum(found.read(tokens).tokens, 1),
        needs_lengths=True,
    )


FAMILIES = tuple(
    Family(made.__name__, made, lambda pins, _: pins.budgets)
    for made in (budget_any, budget_all, budget_precision)
)

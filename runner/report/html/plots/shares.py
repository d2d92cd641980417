"""Shares of a whole as one bar a row, from the best part on the left to the worst."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from runner.report.html import svg

HEIGHT = 26
ROOM = 0.075  # a part narrower than this has no room for its figure


def shares(parts: Sequence[tuple[str, float]], label: str) -> Markup:
    """One bar; `parts` are (name, share), shares of 1, in order of shade."""
    drawn, left = [], 0.0
    for place, (name, share) in enumerate(parts):
        shade = "none" if place == len(parts) - 1 else str(place)
        if share > 0:
            drawn.append(svg.bar(left, 0, share, HEIGHT, f"shade-{shade}", f"{name}: {100 * share:.1f} %"))
        if share >= ROOM:
            words = f"{100 * share:.0f}"
            drawn.append(svg.text(left + share / 2, HEIGHT / 2 + 4.5, words, f"on-shade-{shade} middle"))
        left += share
    return svg.plot(HEIGHT, *drawn, label=label, class_="shares")


def buckets(ranks: Sequence[float], edges: Sequence[int]) -> list[float]:
    """Share of the ranks up to each edge and above the one before it; last, those beyond or nowhere (0)."""
    counts = [0] * (len(edges) + 1)
    for rank in ranks:
        counts[next((at for at, edge in enumerate(edges) if 0 < rank <= edge), len(edges))] += 1
    return [count / len(ranks) for count in counts] if ranks else [0.0] * len(counts)


def names(edges: Sequence[int], rest: str) -> list[str]:
    """`1`, `2–5`, `6–10`, …, and `rest`."""  # noqa: RUF002
    starts = [1, *(edge + 1 for edge in edges)]
    listed = [str(edge) if start == edge else f"{start}–{edge}"  # noqa: RUF001
              for start, edge in zip(starts, edges, strict=False)]  # fmt: skip
    return [*listed, rest]

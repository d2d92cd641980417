"""How figures are printed: recalls in percent with one decimal, other metrics with three decimals."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from runner.records import ALL, SearchScope
from runner.runs.canonical import METRIC_DIGITS, significant

CITED = "recall_any@10"  # the protocol's recall@10, which a citation names
MISSING = "–"  # noqa: RUF001
MINUS = "−"  # noqa: RUF001
HASH = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{28,52}\b")


def is_recall(metric: str) -> bool:
    """Whether `metric` is printed in percent."""
    return metric.startswith("recall_")


def figure(metric: str, value: float) -> str:
    """`94.4` for a recall of 0.944, `0.944` for any other metric."""
    return f"{100 * value:.1f}" if is_recall(metric) else f"{value:.3f}"


def percents(shares: Iterable[float]) -> list[float]:
    """Recalls as per cent with one decimal, each rounded as metrics.json and then `figure` round it."""
    return [float(f"{100 * significant(float(share), METRIC_DIGITS):.1f}") for share in shares]


def change(metric: str, value: float) -> str:
    """A difference with its sign, in percentage points for a recall: `+1.2`, `−0.3`, `0.0`."""  # noqa: RUF002
    text = figure(metric, abs(value))
    if not text.strip("0."):
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def interval(row: Mapping[str, Any]) -> str:
    """The 95 % interval of a result: `[93.3, 95.4]`."""
    return f"[{figure(row['metric'], row['ci95_low'])}, {figure(row['metric'], row['ci95_high'])}]"


def change_interval(row: Mapping[str, Any]) -> str:
    """The 95 % interval of a difference: `[+0.4, +2.0]`."""
    return f"[{change(row['metric'], row['ci95_low'])}, {change(row['metric'], row['ci95_high'])}]"


def p_text(p: float) -> str:
    """`0.012`, or `< 0.001`."""
    return "< 0.001" if p < 0.0005 else f"{p:.3f}"


def difference(metric: str, value: float, low: float, high: float) -> str:
    """A difference with its 95 % interval: `+1.2 [+0.4, +2.0]`."""
    return f"{change(metric, value)} [{change(metric, low)}, {change(metric, high)}]"


def count(number: int) -> str:
    """`1,982`."""
    return f"{number:,}"


def seconds(value: float) -> str:
    """`0.41 s`, `17.2 s`, `4 min 05 s`."""
    if value < 10:
        return f"{value:.2f} s"
    if round(value) < 120:
        return f"{value:.1f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} min {rest:02} s"


def shorten(text: str) -> str:
    """`text` with every long hash cut to its first twelve digits; the whole of it stands in run.json."""
    return HASH.sub(r"\1…", text)


def questions_of(view: str, singular: str = "questions") -> str:
    """`questions`, or `pointed questions` where a view is not of all."""
    return singular if view == ALL else f"{view} {singular}"


def scope_words(scope: SearchScope, segments: int) -> str:
    """`within the question's conversation` or `over the pool of 272 segments`."""
    if scope.pooled:
        return f"over the {scope.name} of {count(segments)} segments"
    return f"within the question's {scope.name}"

"""How digits, percent signs and points are written."""

from __future__ import annotations

MINUS = "−–"  # noqa: RUF001
PLAIN = r"(?:\d{1,3}(?:[.,]\d{1,12})?|\.\d{1,12})"
PERCENT = r"(?:%|percent\b|per cent\b|pct\b)"
POINTS = r"(?:percentage points?|points?\b|pp\b|p\.p\.|pts\b)"
WHOLE = r"\d{1,3}(?:,\d{3}){0,3}|\d{1,9}"
NEAR = 120  # characters in front of a number that say what it is


def plain(text: str) -> float:
    """The number that is written, whatever its signs and its decimal comma."""
    return float(text.strip(" %+").replace("−", "-").replace("–", "-").replace(",", "."))  # noqa: RUF001


def whole(text: str) -> int:
    """The whole number that is written, with or without its commas."""
    return int(text.replace(",", ""))

"""The canonical form of numbers, JSON and paths, so that the same facts always give the same bytes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pgmnemo.errors import OutputError

METRIC_DIGITS = 10  # significant digits of every figure in metrics.json: below the noise of summation order
SCORE_DIGITS = 6  # significant digits of a score in raw_retrievals.jsonl
COMPONENT_DECIMALS = 4


def significant(value: float, digits: int, what: str = "a figure") -> float:
    """Return `value` rounded to `digits` significant digits; -0.0 becomes 0.0.

    Raises OutputError, naming `what`, if the value is infinite or not a number.
    """
    return float(f"{_finite(value, what):.{digits}g}") + 0.0


def decimals(value: float, places: int, what: str = "a figure") -> float:
    """Return `value` rounded to `places` decimals; -0.0 becomes 0.0. Raises like `significant`."""
    return round(_finite(value, what), places) + 0.0


def _finite(value: float, what: str) -> float:
    if not math.isfinite(value):
        raise OutputError(f"{what} is {value}, which no artefact may hold: the arm that made it is at fault")
    return float(value)


def compact(document: Any) -> str:
    """Return JSON on one line without blanks, in ASCII, with keys in the given order."""
    return json.dumps(document, separators=(",", ":"), allow_nan=False)


def pretty(document: Mapping[str, Any]) -> str:
    """Return JSON for people: indented by 2, keys in the given order, UTF-8, a newline at the end."""
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def tabular(document: Mapping[str, Any], tables: Iterable[str]) -> str:
    """Return JSON like `pretty`, but with each member of the lists named in `tables` on one line."""
    named = frozenset(tables)
    entries = (f"  {json.dumps(key)}: {_entry(value, key in named)}" for key, value in document.items())
    return "{\n" + ",\n".join(entries) + "\n}\n"


def _entry(value: Any, table: bool) -> str:
    if not table or not value:
        return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False).replace("\n", "\n  ")
    rows = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in value)
    return "[\n    " + ",\n    ".join(rows) + "\n  ]"


# an absolute path of at least two parts, not the path of a URL nor the middle of a word such as conv-1/D3
ABSOLUTE = re.compile(r"(?<![\w.:/~-])~?/(?:[^\s/'\",;]+/)+([^\s/'\",;:)]+)/?")


def without_private_path(text: str) -> str:
    """Return `text` with every absolute path, and paths in the home folder, reduced to `…/<last part>`."""
    home = str(Path.home())
    known = text.replace(home + "/", "~/") if len(home) > 1 else text
    return ABSOLUTE.sub(r"…/\1", known)


def without_private_paths(document: Any) -> Any:
    """Return a JSON document with `without_private_path` applied to all of its texts."""
    if isinstance(document, str):
        return without_private_path(document)
    if isinstance(document, dict):
        return {name: without_private_paths(value) for name, value in document.items()}
    if isinstance(document, list | tuple):
        return [without_private_paths(value) for value in document]
    return document

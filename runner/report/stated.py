"""Which fields of a run nothing can check: those that its edition lists, where the run says anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runner.runs.run import Run


def stated(run: Run) -> tuple[str, ...]:
    """Names of the fields, with dots, in the order of the edition; none before 1.6.0."""
    document = run.document()
    return tuple(name for name in run.edition.stated if _said(document, name.split(".")))


def _said(value: Any, path: Sequence[str]) -> bool:
    """Whether something stands at the end of the path; of a list, in any of its members."""
    if isinstance(value, list):
        return any(_said(one, path) for one in value)
    if path:
        return isinstance(value, Mapping) and path[0] in value and _said(value[path[0]], path[1:])
    return value not in (None, "") and value != {}

"""What this checkout can verify: an artefact is held against the version that it names, not a newer.

A new metric code or template is a new line here, and the code of the old one stays where its line points.
Schemas stand in runner/artefacts/schemas, protocols in runner/protocol/versions.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from runner.claims.recompute import METRIC_CODES
from runner.registry import Registry
from runner.report import TEMPLATE, render

FIRST = "pgmnemo/report/1"
Renderer = Callable[[Mapping[str, Any], Mapping[str, Any]], str]

TEMPLATES: Registry[Renderer] = Registry(
    "report template", {FIRST: partial(render, template=FIRST), TEMPLATE: render}
)

__all__ = ["METRIC_CODES", "TEMPLATES"]

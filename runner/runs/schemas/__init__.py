"""The published JSON Schemas, one for each kind of artefact and version: `pgmnemo/run/1` is run-1.json.

The output of `compare --json` and `leaderboard --json` has its schemas here too. A published file never
changes; a changed form of an artefact is a new version. report.md and BLOCKED.md are for people: their
versions name a template, not a schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import fastjsonschema

from pgmnemo.registry import Registry

FOLDER = Path(__file__).parent
PREFIX = "pgmnemo/"

SCHEMAS: Registry[Path] = Registry(
    "schema", {f"{PREFIX}{path.stem.replace('-', '/')}": path for path in sorted(FOLDER.glob("*-*.json"))}
)


def schema_fault(schema: str | Path, document: Any) -> str | None:
    """Return the first fault of `document` against a schema, by name or file, as half a sentence.

    Returns None if valid. Raises UsageError for the name of a schema that is not published here.
    """
    try:
        _compiled(schema if isinstance(schema, Path) else SCHEMAS[schema])(document)
    except fastjsonschema.JsonSchemaValueException as error:
        return str(error.message)
    return None


def known_versions(kind: str) -> list[str]:
    """Return every published version of one kind: `run`, `metrics`, `raw`, `timings` or `manifest`."""
    return [name for name in SCHEMAS if name.startswith(f"{PREFIX}{kind}/")]


@cache
def _compiled(file: Path) -> Callable[[Any], Any]:
    compiled: Callable[[Any], Any] = fastjsonschema.compile(json.loads(file.read_text(encoding="utf-8")))
    return compiled

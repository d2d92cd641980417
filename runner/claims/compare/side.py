"""One of the two runs that are compared: its documents, and each question's value from the raw rankings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runner.artefacts import RAW, read_raw
from runner.errors import OutputError, RefusedError, UsageError
from runner.metrics.table import ScopeTable, arrange
from runner.records import Json, View


@dataclass(frozen=True, slots=True)
class Side:
    """A finished run. `tables` holds, by scope, where every arm placed the gold of each question."""

    run: Json
    metrics: Json
    tables: dict[str, ScopeTable]

    @property
    def name(self) -> str:
        """Name of the results folder."""
        return str(self.run["name"])

    @property
    def version(self) -> str:
        """Version of the extension, with its v."""
        return "v" + str(self.run["pgmnemo_version"]).removeprefix("v")

    @property
    def system(self) -> str:
        """The arm under test: the first."""
        return str(self.run["arms"][0]["name"])

    @property
    def keys(self) -> dict[str, frozenset[str]]:
        """The scored questions of each scope."""
        return {scope: frozenset(table.questions) for scope, table in self.tables.items()}

    @property
    def views(self) -> tuple[View, ...]:
        """The subsets of questions that the run gives figures for; "all" alone where it names none."""
        listed = self.run.get("views") or [{"name": "all"}]
        return tuple(
            View(v["name"], tuple(v.get("without_types", ())), v.get("without_key", "")) for v in listed
        )


def read_side(folder: Path) -> Side:
    """The run in `folder`.

    Raises UsageError when it is no results folder, RefusedError when the run was blocked, OutputError when a
    file is damaged.
    """
    if (folder / "BLOCKED.md").exists():
        raise RefusedError(f"{folder} is blocked and has no figure to compare: read its BLOCKED.md")
    run, metrics = (_document(folder, name) for name in ("run.json", "metrics.json"))
    if not (folder / RAW).is_file():
        raise UsageError(f"{folder} lacks {RAW}, from which every question's value comes: name a whole run")
    tables = {table.scope: table for table in arrange(read_raw(folder / RAW))}
    return Side(run, metrics, tables)


def _document(folder: Path, name: str) -> Json:
    try:
        document: Any = json.loads((folder / name).read_bytes())
    except OSError as error:
        raise UsageError(
            f"{folder} is no results folder ({name}: {error.strerror}); name one that a run has finished"
        ) from None
    except ValueError as error:
        raise OutputError(f"{folder / name} is not JSON ({error}); take it from its commit again") from None
    if not isinstance(document, dict):
        raise OutputError(f"{folder / name} is no JSON object; take it from its commit again")
    return document

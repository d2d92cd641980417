"""A results folder as a citation reads it: run.json and metrics.json, held against the manifest."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from runner.artefacts.manifest import MANIFEST
from runner.errors import OutputError, RefusedError, UsageError
from runner.records import Json
from runner.report.citation import CITABLE, refusal
from runner.report.figures import Figures

BLOCKED = "BLOCKED.md"
READ = ("run.json", "metrics.json")


@dataclass(frozen=True, slots=True)
class Results:
    """The two documents of one results folder."""

    folder: Path
    run: Json
    metrics: Json

    @property
    def figures(self) -> Figures:
        """The rows of metrics.json, looked up by what they are about."""
        return Figures(self.metrics)

    @property
    def verdict(self) -> str:
        """`verified`, `deviation` or `unverified`; a blocked folder has no Results."""
        return str(self.run["verdict"])


def read_results(folder: Path) -> Results:
    """The run in `folder`, both files as its manifest has them.

    Raises UsageError when it is no results folder, RefusedError when the run is blocked or a file is not the
    one that the manifest lists.
    """
    if (folder / BLOCKED).exists():
        raise RefusedError(f"{folder} is blocked and must not be cited (protocol §5): read its {BLOCKED}")
    run, metrics = (read_listed(folder, name) for name in READ)
    if run.get("verdict") != metrics.get("verdict") or "results" not in metrics:
        raise RefusedError(
            f"run.json and metrics.json of {folder} are not of one run: take the folder from its commit"
        )
    return Results(folder, run, metrics)


def citable(results: Results) -> Results:
    """`results` themselves; RefusedError with the usual sentence when nothing of the run may be cited."""
    reason = refusal(results.figures, results.run)
    if reason is None:
        return results
    if results.verdict not in CITABLE:
        reason += (
            " Its report.md says what the protocol does not know; a citable run has a registered corpus."
        )
    raise RefusedError(f"{results.folder}: {reason}")


def read_listed(folder: Path, name: str) -> Json:
    """The JSON file `name` of a results folder, as its manifest has it; raises like `read_results`."""
    if not folder.is_dir():
        raise UsageError(f"there is no results folder {folder}: name one that a run has left")
    listed = {entry["name"]: entry["sha256"] for entry in _entries(_json(folder, MANIFEST), folder)}
    document = _json(folder, name)
    if listed.get(name) != sha256((folder / name).read_bytes()).hexdigest():
        raise RefusedError(
            f"{folder / name} is not the file that {MANIFEST} lists: take it from the commit of the run"
        )
    return document


def _entries(manifest: Json, folder: Path) -> list[dict[str, Any]]:
    entries = manifest.get("files")
    if not isinstance(entries, list) or not all(
        isinstance(e, dict) and {"name", "sha256"} <= set(e) for e in entries
    ):
        raise RefusedError(f"{folder / MANIFEST} lists no files: take it from the commit of the run")
    return entries


def _json(folder: Path, name: str) -> Json:
    try:
        document = json.loads((folder / name).read_bytes())
    except OSError as error:
        raise UsageError(
            f"{folder} is no results folder: its {name} cannot be read ({error.strerror}); "
            "name one that a run has left"
        ) from None
    except ValueError as error:
        raise OutputError(
            f"{folder / name} is not JSON ({error}): take it from the commit of the run"
        ) from None
    if not isinstance(document, dict):
        raise OutputError(f"{folder / name} is no JSON object: take it from the commit of the run")
    return document

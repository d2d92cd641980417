"""manifest.json: the schema, size and SHA-256 of every other file of a results folder; written last."""

from __future__ import annotations

import hashlib
from pathlib import Path

from runner.artefacts.canonical import pretty
from runner.artefacts.raw import RAW
from runner.artefacts.storage import write_file
from runner.artefacts.timings import TIMINGS
from runner.records import Json

MANIFEST = "manifest.json"
SCHEMA = "pgmnemo/manifest/1"
SCHEMAS = {
    RAW: "pgmnemo/raw/2",
    TIMINGS: "pgmnemo/timings/1",
    "run.json": "pgmnemo/run/2",
    "metrics.json": "pgmnemo/metrics/1",
    "report.md": "pgmnemo/report/2",
    "BLOCKED.md": "pgmnemo/blocked/1",
}
DERIVED = ("report.html",)  # rendered from the others at any time, in a newer form too; never pinned
COMPLETE = (RAW, TIMINGS, "run.json", "metrics.json", "report.md")


def missing(folder: Path) -> list[str]:
    """Artefacts that a citable run must have besides its manifest and that `folder` lacks."""
    return [name for name in COMPLETE if not (folder / name).is_file()]


def write_manifest(folder: Path) -> None:
    """List every file of `folder` but the manifest itself and what is derived, in order of name."""
    unlisted = {MANIFEST, *DERIVED}
    present = (path for path in folder.iterdir() if path.is_file() and path.name not in unlisted)
    files = sorted(path for path in present if path.suffix != ".draft")
    write_file(folder / MANIFEST, pretty({"schema": SCHEMA, "files": [_entry(path) for path in files]}))


def _entry(path: Path) -> Json:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    size = path.stat().st_size
    return {"name": path.name, "schema": SCHEMAS.get(path.name), "bytes": size, "sha256": digest}

"""manifest.json: the schema, size and SHA-256 of every other file of a results folder; written last.

A signature is written later and is in no manifest.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from runner.protocol.editions.edition import SchemaPins
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.raw import RAW
from runner.runs.storage import write_file
from runner.runs.timings import RERANKS, REWRITES, TIMINGS

MANIFEST = "manifest.json"
DERIVED = ("report.html",)  # can be rendered again from the other files, in a newer form too; never pinned
SIGNATURE = "manifest.json.sig"  # signs the manifest, so it is written after it
COMPLETE = (RAW, TIMINGS, "run.json", "metrics.json", "report.md")


def is_pinned(name: str) -> bool:
    """Return whether a manifest lists a file with this name: no derived file, signature or manifest."""
    return name not in (MANIFEST, *DERIVED, SIGNATURE)


def write_manifest(folder: Path, schemas: SchemaPins, *, without: str = "") -> None:
    """Write the manifest of `folder`: every pinned file in order of name, except the file `without`."""
    present = (path for path in folder.iterdir() if path.is_file() and is_pinned(path.name))
    files = sorted(path for path in present if path.suffix != ".draft" and path.name != without)
    named = {
        RAW: schemas.raw,
        TIMINGS: schemas.timings,
        "run.json": schemas.run,
        "metrics.json": schemas.metrics,
        "report.md": schemas.report,
        RERANKS: schemas.reranks,
        REWRITES: schemas.rewrites,
        "BLOCKED.md": "pgmnemo/blocked/1",
    }
    entries = [_entry(path, named.get(path.name)) for path in files]
    write_file(folder / MANIFEST, pretty({"schema": schemas.manifest, "files": entries}))


def _entry(path: Path, schema: str | None) -> Json:
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return {"name": path.name, "schema": schema, "bytes": path.stat().st_size, "sha256": digest}


USUAL = 25  # questions to recall again by default

"""manifest.json: the schema, size and SHA-256 of every other file of a results folder; written last.

What comes after it is in no manifest: a signature, and rerun-N.json, that somebody recalled questions of the
run again and found the same; `rerun-N.json.sig` signs its bytes. A run has nine of them at most.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from runner.protocol.editions.edition import SchemaPins
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.costs import RERANKS, REWRITES, TIMINGS
from runner.runs.raw import RAW
from runner.runs.storage import write_file

MANIFEST = "manifest.json"
DERIVED = ("report.html",)  # rendered from the others at any time, in a newer form too; never pinned
SIGNATURE = "manifest.json.sig"  # over the manifest, so written after it, by whoever vouches for the run
RERUN = re.compile(
    r"rerun-[1-9]\.json(\.sig)?"
)  # records of who recalled the run again, and their signatures
COMPLETE = (RAW, TIMINGS, "run.json", "metrics.json", "report.md")


def pinned(name: str) -> bool:
    """Whether a manifest lists a file of this name: not what is derived or comes after it."""
    return name not in (MANIFEST, *DERIVED, SIGNATURE) and not RERUN.fullmatch(name)


def write_manifest(folder: Path, schemas: SchemaPins, *, without: str = "") -> None:
    """List every file of `folder` that is pinned, in order of name, but for one that will go."""
    present = (path for path in folder.iterdir() if path.is_file() and pinned(path.name))
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


SCHEMA = "pgmnemo/rerun/2"
SIGNED = ".sig"
MOST = 9
USUAL = 25  # questions that are recalled again where no number is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """Of the run with this manifest `questions` of `of` were recalled again in `scopes`, by `by`.

    `arms` are those that ranked as recorded. `tolerance` is how far scores, as a share of the best, and
    components may be apart; `commit` is that of the tools, None where they stood in no checkout.
    """

    manifest_sha256: str
    by: str
    when: datetime
    questions: int
    of: int
    scopes: tuple[str, ...]
    arms: tuple[str, ...]
    tolerance: Mapping[str, float]
    commit: str | None

    def document(self) -> Json:
        """The record as JSON."""
        return {"schema": SCHEMA, **asdict(self), "when": f"{self.when:%Y-%m-%dT%H:%M:%SZ}"}


def read_rerun(document: Json) -> Rerun:
    """A document that is of the schema, as a record; ValidationError for a moment that is none."""
    return msgspec.convert({name: value for name, value in document.items() if name != "schema"}, Rerun)


def reruns_of(folder: Path) -> list[str]:
    """The names of a run's records, in order of number."""
    named = sorted(path.name for path in folder.iterdir() if RERUN.fullmatch(path.name))
    return [name for name in named if not name.endswith(SIGNED)]

"""rerun-N.json: that somebody recalled questions of a finished run again, and found the same.

It stands beside the run, in no manifest, as a signature does; `rerun-N.json.sig` signs its bytes. A run has
nine of them at most.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from runner.records import Json
from runner.runs.manifest import RERUN

SCHEMA = "pgmnemo/rerun/2"
SIGNED = ".sig"
MOST = 9
USUAL = 25  # questions that are recalled again where no number is given


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerun:
    """Of the run with this manifest `questions` of `of` were recalled again in `scopes`, by `by`.

    `arms` are those that ranked as recorded; none in a record of version 1, which held the system under test
    alone and let an id pass that was not recalled. `tolerance` is how far scores, as a share of the best, and
    components may be apart; `commit` is that of the tools, None where they stood in no checkout.
    """

    manifest_sha256: str
    by: str
    when: datetime
    questions: int
    of: int
    scopes: tuple[str, ...]
    tolerance: Mapping[str, float]
    commit: str | None
    arms: tuple[str, ...] = ()

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

"""Does HISTORY.md hold the run's entry, with verdict, deviations and the manifest's hash? (§1)"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from runner.artefacts.manifest import MANIFEST
from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence

HISTORY = "HISTORY.md"
HEADING = re.compile(r"^## (\S+) · (\S+) · (.+)$", re.MULTILINE)
FIELD = re.compile(r"^- ([a-z0-9 ]+?): (.*)$", re.MULTILINE)
LATER = "; later it adds: "


@dataclass(frozen=True, slots=True)
class Entry:
    """One run's entry."""

    day: str
    suite: str
    name: str
    fields: tuple[tuple[str, str], ...]

    def values(self, field: str) -> list[str]:
        """Every value of one field."""
        return [value for name, value in self.fields if name == field]


def history(evidence: Evidence) -> str:
    """Looked up by suite and name: the run's own entry, then any deviation that became known later."""
    run, path = evidence.run, _path(evidence)
    found = [one for one in entries(path) if (one.suite, one.name) == (run["corpus"]["suite"], run["name"])]
    if not found:
        raise Wrong(f"{path.name} has no entry of the run {run['name']} of {run['corpus']['suite']}")
    own, *later = found
    digest = sha256(evidence.content(MANIFEST)).hexdigest()
    said = {
        "day": ([own.day], [run["started"][:10]]),
        "verdict": (own.values("verdict"), [run["verdict"]]),
        "deviations": (own.values("deviation"), [" ".join(text.split()) for text in run["deviations"]]),
        **{
            f"manifest sha256, entry {n}": (one.values("manifest sha256"), [digest])
            for n, one in enumerate(found, 1)
        },
    }
    for what, (logged, wanted) in said.items():
        if logged != wanted:
            raise Wrong(f"{what}: {path.name} says {_short(logged)}, the artefacts {_short(wanted)}")
    return f"{path.name} has the entry, with this manifest's sha256 {digest[:12]}…{_later(later, path)}"


def _later(entries: list[Entry], path: Path) -> str:
    """What became known after the run; an entry that adds nothing is one too many."""
    if not all(entry.values("deviation") for entry in entries):
        raise Wrong(f"{path.name} has the entry of the run twice")
    added = [deviation for entry in entries for deviation in entry.values("deviation")]
    return LATER + "; ".join(added) if added else ""


def entries(path: Path) -> list[Entry]:
    """Every entry of a run in a HISTORY.md; Wrong when it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Wrong(f"{path} cannot be read ({error})") from None
    starts = list(HEADING.finditer(text))
    ends = [*(start.start() for start in starts[1:]), len(text)]
    return [
        Entry(start[1], start[2], start[3].strip(), tuple(FIELD.findall(text[start.end() : end])))
        for start, end in zip(starts, ends, strict=False)  # without an entry there is an end alone
    ]


def _path(evidence: Evidence) -> Path:
    """The one that was named, else the nearest above the folder: the repository's, or one beside results."""
    if evidence.history_path is not None:
        return evidence.history_path
    for place in evidence.folder.parents:
        if (place / HISTORY).is_file():
            return place / HISTORY
    raise Wrong(f"there is no {HISTORY} beside or above the folder: name it with --history")


def _short(values: list[str]) -> str:
    text = "; ".join(values) or "nothing"
    return text if len(text) <= 80 else f"{text[:79]}…"

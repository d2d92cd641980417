"""rewrites.jsonl: what was asked in place of each question; its sums stand in run.json.

A line holds the SHA-256 of the words and not the words, for no text of a corpus stands in an artefact
(PROTOCOL.md §2). A question that could not be rewritten is asked as it stands.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from runner.records import ALL
from runner.runs.canonical import compact
from runner.runs.storage import decoded, write_file

REWRITES = "rewrites.jsonl"


@dataclass(frozen=True, slots=True)
class Rewrite:
    """One question. `changed`: it was asked in other words; `calls` of a model, or `cached` from before.

    `failed` says why it was asked as it stands; empty where it was rewritten.
    """

    question: str
    asked_sha256: str
    changed: bool
    calls: int = 0
    cached: int = 0
    failed: str = ""


@dataclass(frozen=True, slots=True)
class RewriteCount:
    """Sums over the questions of one type, or `all` of them."""

    type: str
    n: int
    changed: int
    calls: int
    cached: int
    failures: int


def asked_sha256(text: str) -> str:
    """What a line holds of the words that were asked: the SHA-256 of their UTF-8."""
    return sha256(text.encode()).hexdigest()


def write_rewrites(path: Path, rewrites: Iterable[Rewrite]) -> None:
    """The lines of a run, whole or not at all. Raises OutputError on a full disk."""
    write_file(path, "".join(f"{compact(asdict(one))}\n" for one in rewrites))


def read_rewrites(path: Path) -> Iterator[Rewrite]:
    """The lines of a run, in its order. Raises OutputError that names a malformed one."""
    return decoded(path.read_bytes(), path.name, Rewrite, "rewrite")


def counts(rewrites: Collection[Rewrite], types: Mapping[str, str]) -> tuple[RewriteCount, ...]:
    """The sums over all questions, then type by type in order of appearance; `types` by question."""
    groups: dict[str, list[Rewrite]] = {ALL: list(rewrites)} if rewrites else {}
    for one in rewrites:
        groups.setdefault(types[one.question], []).append(one)
    return tuple(_count(type, some) for type, some in groups.items())


def _count(type: str, some: Collection[Rewrite]) -> RewriteCount:
    return RewriteCount(
        type=type,
        n=len(some),
        changed=sum(one.changed for one in some),
        calls=sum(one.calls for one in some),
        cached=sum(one.cached for one in some),
        failures=sum(bool(one.failed) for one in some),
    )

"""The systems that can be measured: one registry, one file each."""

from __future__ import annotations

import re
from functools import partial
from importlib import metadata

from runner.perf.systems.by_hand import open_by_hand
from runner.perf.systems.chroma import open_chroma
from runner.perf.systems.pgmnemo import open_pgmnemo
from runner.perf.systems.sqlite import open_sqlite
from runner.perf.systems.system import Client, Kind, Place, System
from runner.registry import Registry

REMEDY = "install the perf extra: pip install -c constraints.txt -e .[perf]"

KINDS: Registry[Kind] = Registry(
    "system",
    {
        "pgmnemo": Kind(
            "pgmnemo",
            "one text and one vector a lesson, no passages; one call of recall_lessons as an ordinary role, "
            "policies active",
            open_pgmnemo,
            postgres=True,
        ),
        "sqlite": Kind(
            "SQLite FTS5 + sqlite-vec",
            "one file; FTS5 porter unicode61, bm25, OR of the question's words; vec0, exact; fused by rank",
            open_sqlite,
            packages=("apsw", "sqlite-vec"),
            approximate=False,
        ),
        "chroma": Kind(
            "ChromaDB (vectors only)",
            "persistent client, HNSW, tenant by metadata; no keywords and no text",
            open_chroma,
            packages=("chromadb",),
            hybrid=False,
        ),
        "by-hand": Kind(
            "GIN + ts_rank_cd + HNSW",
            "same PostgreSQL, one table written by hand; OR of the words; fused by rank in one statement",
            open_by_hand,
            postgres=True,
        ),
        "pgmnemo-passages": Kind(
            "pgmnemo, two passages a lesson",
            "the same texts, stored with two passages: three vectors a lesson, which no peer holds",
            partial(open_pgmnemo, passages=True),
            postgres=True,
            since=(0, 3, 0),
        ),
    },
)


def missing(kind: Kind, version: str) -> str | None:
    """Why the system cannot be measured here and how to mend it, in one sentence; None if it can."""
    if kind.since > tuple(int(part) for part in re.findall(r"\d+", version)[:3]):
        first = ".".join(map(str, kind.since))
        return f"pgmnemo {version} cannot do this; measure --version v{first} or later"
    absent = [package for package in kind.packages if not _installed(package)]
    if not absent:
        return None
    return f"{' and '.join(absent)} not installed; {REMEDY}"


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


__all__ = ["KINDS", "Client", "Kind", "Place", "System", "missing"]

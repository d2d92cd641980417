"""Looking figures up in a performance document: one cell, its ratio to the reference, a row of the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from runner.records import Json

TENANTS = ("whole", "share", "fixed")
REFERENCE = "sqlite-hybrid"  # what every ratio is to: SQLite's hybrid in the same run


@dataclass(frozen=True, slots=True)
class Which:
    """One kind of reads; `writes` says whether somebody stored meanwhile."""

    tenant: str
    clients: int = 1
    writes: bool = False
    leg: str = "all"


def cell(system: Json, which: Which) -> Json | None:
    """The reads of that kind at the system's default setting, if they were measured."""
    for found in system["reads"]:
        kind = Which(found["tenant"], found["clients"], found["writes"] > 0, found["leg"])
        if kind == which and found["ef_search"] is None:
            made: Json = found
            return made
    return None


def sweep(system: Json) -> list[Json]:
    """Reads of the vector leg at each setting that was tried, by latency."""
    cells = [found for found in system["reads"] if found["ef_search"] is not None]
    return sorted(cells, key=lambda found: found["p50_ms"])


def ratio(document: Json, system: Json, which: Which) -> float | None:
    """How many times faster than the reference, by the p50 over the questions that every system is asked.

    Over each one's own questions where a document is of before those were told; None without either system.
    """
    reference = next((one for one in document["systems"] if one["name"] == REFERENCE), None)
    own, other = cell(system, which), cell(reference, which) if reference else None
    if not own or not other:
        return None
    key = "shared_p50_ms" if "shared_p50_ms" in own and "shared_p50_ms" in other else "p50_ms"
    return float(other[key] / own[key])


def kinds(document: Json) -> Iterator[tuple[str, Which]]:
    """The kinds of reads that a run measures, each with its words, in the order of the tables."""
    several = document["request"]["clients"]
    held = document["corpus"]["tenants"]
    for tenant in TENANTS:
        words = f"tenant with {held[tenant]:,}" + (" (everything)" if tenant == "whole" else "")
        yield f"{words}, 1 client", Which(tenant)
        if tenant == "fixed":
            continue
        if several > 1:
            yield f"{words}, {several} clients", Which(tenant, several)
        yield f"{words}, 1 client, under writes", Which(tenant, 1, True)
        if several > 1:
            yield f"{words}, {several} clients, under writes", Which(tenant, several, True)


def grown(documents: Sequence[Json]) -> pd.DataFrame:
    """A row for each run and system, the smallest run first.

    Of each tenant p50 in ms of one client's whole search, and how many times faster than the reference;
    NaN where there is none.
    """
    rows = []
    for document in sorted(documents, key=lambda document: document["request"]["memories"]):
        for system in document["systems"]:
            found = {tenant: cell(system, Which(tenant)) or {} for tenant in TENANTS}
            rows.append({
                "memories": document["request"]["memories"], "name": system["name"], "title": system["title"],
                **{tenant: reads.get("p50_ms") for tenant, reads in found.items()},
                **{f"{tenant} faster": ratio(document, system, Which(tenant)) for tenant in TENANTS},
                "load": system["load_seconds_total"], "megabytes": system["bytes_total"] / 1e6,
                "bytes": system["bytes_per_lesson"], "add": system["add_one"]["p50_ms"],
            })  # fmt: skip
    return pd.DataFrame(rows)

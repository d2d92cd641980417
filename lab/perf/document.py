"""The JSON document of a performance run, checked against its published schema, and its Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from lab.perf.generating import NOISE, RARE_WORDS, WINDOW
from lab.perf.request import PerfRequest, subject
from lab.perf.timing import RATE
from lab.perf.workload import PASSAGES, PerfWorkload, sizes
from pgmnemo.errors import OutputError, UsageError
from pgmnemo.postgres.server_process import durable_settings
from runner.markdown import align_tables
from runner.paths import ROOT
from runner.records import Json
from runner.report.render import template
from runner.runs.canonical import pretty
from runner.runs.environment import code, machine, packages
from runner.runs.schemas import schema_fault
from runner.runs.storage import DOCUMENT, read_regular

NAME, MARKDOWN = "performance.json", "performance.md"
TEMPLATE = Path(__file__).with_name("performance.md.j2")
SCHEMA = "pgmnemo/performance/1"
SCHEMA_FILE = Path(__file__).with_name("performance-1.json")

TENANTS = ("whole", "share", "fixed")  # the large tenants; since 0.6.0 a run also has "small" tenants
CONDITIONS = (
    ("request", "version"), ("request", "dimensions"), ("request", "k"), ("request", "tenants"),
    ("request", "small_tenants"), ("request", "seed"), ("corpus", "suite_sha256"), ("corpus", "embedder"),
    ("corpus", "noise"),
)  # fmt: skip
REFERENCE = "sqlite-hybrid"  # the reference of every ratio: SQLite's hybrid in the same run
FEW = 100  # with fewer questions no 95th percentile is given


def document(
    request: PerfRequest, workload: PerfWorkload, systems: Sequence[Json], missing: Mapping[str, str],
    estimated: float, began: datetime, seconds: float,
) -> Json:  # fmt: skip
    """Return the document of the run, the only source of the figures in tables and plots."""
    source = workload.source
    own = sorted({package for one in systems for package in subject(one["name"]).kind.packages})
    asked = ("memories", "tenants", "small_tenants", "dimensions", "k", "clients", "questions", "seed")
    return {
        "schema": SCHEMA,
        "began": began.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "estimated_seconds": round(estimated, 1),
        "request": {
            **{name: getattr(request, name) for name in asked},
            "version": request.number, "seconds_a_cell": request.seconds, "writes_a_second": RATE,
        },
        "corpus": {
            "suite": source.suite, "suite_sha256": source.sha256, "embedder": source.embedder,
            "passages": len(source.passages), "questions": len(workload.questions),
            "lines_a_passage": WINDOW, "passages_a_lesson": PASSAGES, "rare_words_a_passage": RARE_WORDS,
            "noise": NOISE, "digest": workload.digest,
            "tenants": {t.name.lower(): n for t, n in sizes(request.memories, request.tenants).items()},
        },
        "environment": {
            "machine": asdict(machine()), "code": asdict(code(ROOT)), "packages": packages(own),
            "postgresql": durable_settings(),
        },
        "systems": list(systems),
        "missing": dict(missing),
    }  # fmt: skip


def write(folder: Path, made: Json) -> None:
    """Write the document as `performance.json` in `folder`; OutputError if it breaks the schema."""
    if wrong := schema_fault(SCHEMA_FILE, made):
        raise OutputError(
            f"the results are not of the form {SCHEMA}: {wrong}; report it as the runner's fault"
        )
    (folder / NAME).write_text(pretty(made), encoding="utf-8")


def load(folder: Path) -> Json:
    """Return the document in `folder`; UsageError if it is missing or of another kind."""
    path = folder / NAME
    if folder.is_file():
        raise UsageError(f"{folder} is a file; name the folder that the command perf wrote")
    if not path.exists():
        raise UsageError(f"{folder} holds no {NAME}; name folders that the command perf wrote")
    try:
        made: Json = json.loads(read_regular(path, DOCUMENT, UsageError))
    except (UsageError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read: {error}; name another folder") from None
    if wrong := schema_fault(SCHEMA_FILE, made):
        raise UsageError(f"{path} is not of the form {SCHEMA}: {wrong}; measure anew")
    return made


def alike(folders: Sequence[Path], documents: Sequence[Json], conditions: Sequence[tuple[str, str]]) -> None:
    """Raise UsageError if the runs differ in one of `conditions`."""
    for part, key in conditions:
        found = {document[part].get(key) for document in documents}
        if len(found) > 1:
            told = sorted(found, key=lambda value: (value is not None, value))
            raise UsageError(
                f"the runs in {', '.join(map(str, folders))} differ in {key} "
                f"({', '.join(map(str, told))}); join runs of one kind"
            )


@dataclass(frozen=True, slots=True)
class Which:
    """A kind of reads: tenant, clients, leg; `writes`: lessons are stored at the same time."""

    tenant: str
    clients: int = 1
    writes: bool = False
    leg: str = "all"


def cell(system: Json, which: Which) -> Json | None:
    """Return the system's reads of this kind at its default setting; None if they were not measured."""
    for found in system["reads"]:
        kind = Which(found["tenant"], found["clients"], found["writes"] > 0, found["leg"])
        if kind == which and found["ef_search"] is None:
            made: Json = found
            return made
    return None


def ratio(document: Json, system: Json, which: Which) -> float | None:
    """Return how many times faster than the reference the system is, by p50; None if either is unknown.

    Returns None if one was not measured.
    """
    reference = next((one for one in document["systems"] if one["name"] == REFERENCE), None)
    own, other = cell(system, which), cell(reference, which) if reference else None
    return times(other, own, "p50_ms") if own and other else None


def pair(one: Json, other: Json, key: str) -> tuple[float, float]:
    """Return two systems' figures, if possible over the questions that all systems answered."""
    over = f"shared_{key}" if f"shared_{key}" in one.keys() & other.keys() else key
    return float(one[over]), float(other[over])


def times(one: Json, other: Json, key: str) -> float:
    """Return the ratio of two systems' figures."""
    first, second = pair(one, other, key)
    return first / second


def kinds(document: Json) -> Iterator[tuple[str, Which]]:
    """Yield the kinds of reads that a run measures, each with its description, in the order of the tables."""
    several = document["request"]["clients"]
    for tenant in TENANTS:
        words = f"tenant with {document['corpus']['tenants'][tenant]:,}"
        words += " (everything)" if tenant == "whole" else ""
        for writes in (False, True) if tenant != "fixed" else (False,):
            yield f"{words}, 1 client{', under writes' if writes else ''}", Which(tenant, 1, writes)
            if several > 1 and tenant != "fixed":
                also = ", under writes" if writes else ""
                yield f"{words}, {several} clients{also}", Which(tenant, several, writes)


def markdown(document: Json, plots: Sequence[str] = ()) -> str:
    """Return the measurement as Markdown: conditions, then all tables.

    `plots` are file names in the same folder.
    """
    text = template(TEMPLATE).render(
        d=document, plots=plots, kinds=list(kinds(document)), tenants=TENANTS, few=FEW, cell=cell,
        ratio=ratio, leg=lambda tenant: Which(tenant, leg="vector"), small=Which("small"),
    )  # fmt: skip
    return align_tables(text)

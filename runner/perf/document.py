"""The JSON of a performance run, held against its published schema whenever it is written or read."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from runner.database.durable import durable_settings
from runner.errors import OutputError, UsageError
from runner.perf.estimate import Estimate
from runner.perf.generating import NOISE, RARE_WORDS
from runner.perf.request import PerfRequest
from runner.perf.results import Result
from runner.perf.source import WINDOW
from runner.perf.subjects import subject
from runner.perf.workload import PASSAGES, Workload, sizes
from runner.perf.writing import RATE
from runner.places import ROOT
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.environment import code, machine, packages
from runner.runs.schemas import fault

NAME = "performance.json"
FORMER = {"pgmnemo-passages": "pgmnemo+passages", "sqlite": "sqlite-hybrid", "by-hand": "gin-hnsw"}
"""Names that systems had in documents before they had those of a run."""

SCHEMA = "pgmnemo/performance/1"
SCHEMA_FILE = Path(__file__).with_name("performance-1.json")


def document(
    request: PerfRequest, workload: Workload, results: Sequence[Result], missing: Mapping[str, str],
    needed: Estimate, began: datetime, seconds: float,
) -> Json:  # fmt: skip
    """Everything that is known of the run; every figure of tables and plots is computed from it alone."""
    source = workload.source
    own = sorted({package for result in results for package in subject(result.name).kind.packages})
    return {
        "schema": SCHEMA,
        "began": began.astimezone(UTC).isoformat(timespec="seconds"),
        "seconds": round(seconds, 1),
        "estimated_seconds": round(needed.seconds, 1),
        "request": {
            "memories": request.memories, "tenants": request.tenants, "version": request.number,
            "dimensions": request.dimensions, "k": request.k, "clients": request.clients,
            "questions": request.questions, "seconds_a_cell": request.seconds, "seed": request.seed,
            "writes_a_second": RATE,
        },
        "corpus": {
            "suite": source.suite, "suite_sha256": source.sha256, "embedder": source.embedder,
            "passages": len(source.passages), "questions": len(workload.questions),
            "lines_a_passage": WINDOW, "passages_a_lesson": PASSAGES, "rare_words_a_passage": RARE_WORDS,
            "noise": NOISE, "digest": workload.digest,
            "tenants": {t.name.lower(): n for t, n in sizes(request.memories, request.tenants).items()},
        },
        "environment": {
            "machine": asdict(machine()),
            "code": asdict(code(ROOT)),
            "packages": packages(own),
            "postgresql": durable_settings(),
        },
        "systems": [result.document() for result in results],
        "missing": dict(missing),
    }  # fmt: skip


def write(folder: Path, made: Json) -> None:
    """The document as `performance.json` in `folder`; OutputError for one that is not of the schema."""
    if wrong := fault(SCHEMA_FILE, made):
        raise OutputError(
            f"the results are not of the form {SCHEMA}: {wrong}; report it as the runner's fault"
        )
    (folder / NAME).write_text(pretty(made), encoding="utf-8")


def load(folder: Path) -> Json:
    """The document in `folder`; UsageError where there is none or it is another."""
    path = folder / NAME
    if folder.is_file():
        raise UsageError(f"{folder} is a file; name the folder that the command perf wrote")
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder} holds no {NAME}; name folders that the command perf wrote") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path} cannot be read: {error}; name another folder") from None
    if wrong := fault(SCHEMA_FILE, read):
        raise UsageError(f"{path} is not of the form {SCHEMA}: {wrong}; measure anew")
    made: Json = read
    for system in made["systems"]:
        system["name"] = FORMER.get(system["name"], system["name"])
    return made

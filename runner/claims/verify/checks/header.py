"""Does run.json agree with itself: name, times, counts, what it was asked?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from runner.artefacts import folder_name
from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence

STAGES = ("load", "check", "embed", "ingest", "recall", "time", "score")
ROUNDING = 0.005  # seconds, of each figure in resources
CLOCK = 2.0  # seconds by which two clocks, both cut to whole seconds, may be apart


def header(evidence: Evidence) -> str:
    """The first contradiction, if any."""
    for fault in _faults(evidence):
        raise Wrong(fault)
    return f"run.json agrees with itself and with the folder's name, {evidence.run['name']}"


def _faults(evidence: Evidence) -> Iterator[str]:
    run, request = evidence.run, evidence.request
    started, finished = (datetime.fromisoformat(run[moment]) for moment in ("started", "finished"))
    wanted = folder_name(request.version, started, request.embedder_name, request.labels())
    if not re.fullmatch(re.escape(wanted) + r"(_([2-9]|[1-9]\d+))?", run["name"]):
        yield f"the run is named {run['name']}, but by its version, day, embedder and options it is {wanted}"
    if run["name"] != evidence.folder.name:
        yield f"the run is named {run['name']}, its folder {evidence.folder.name}"
    yield from _times(run["resources"], (finished - started).total_seconds())
    corpus, suite = run["corpus"], request.suite_parts
    for what in ("segments", "questions"):
        if corpus[what] != corpus["shape"].get(what, corpus[what]):
            yield f"the corpus has {corpus[what]:,} {what}, but by its shape {corpus['shape'][what]:,}"
    if (corpus["title"], corpus["citable"]) != (suite.title, suite.citable):
        yield f"title or citable is not that of the suite {suite.name}"
    engine = request.engine
    if tuple(run["components"]) != engine.components:
        yield f"the components of the score are {', '.join(engine.components)}"
    if (run.get("passages") is not None) != engine.passages:
        yield f"an engine of version {request.number} is given {'' if engine.passages else 'no '}passages"
    if tuple(run["headline"]) != evidence.protocol.headline:
        yield f"the headline is {', '.join(run['headline'])}, not {', '.join(evidence.protocol.headline)}"


def _times(resources: dict[str, float], lasted: float) -> Iterator[str]:
    """Stages fit into the whole, and the whole between start and end (a resumed run has more between)."""
    stages = sum(resources[f"{stage}_seconds"] for stage in STAGES)
    if stages > resources["wall_seconds"] + ROUNDING * (len(STAGES) + 1):
        yield f"the stages took {stages:.2f} s, the whole {resources['wall_seconds']:.2f} s"
    if resources["wall_seconds"] > lasted + CLOCK:
        yield f"the run took {resources['wall_seconds']:.2f} s, but ended {lasted:.0f} s after it began"

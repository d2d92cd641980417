"""Does run.json agree with itself, with its edition of the protocol and with its gates? (§5, §9)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from runner.database.releases import release_of
from runner.gates import check_all, deviations, gates_of, judge
from runner.records import GateResult, Verdict
from runner.runs.folder import folder_name
from runner.runs.privacy import public
from runner.runs.run import Resources
from runner.verify.check import Wrong
from runner.verify.evidence import Evidence
from runner.verify.facts import facts
from runner.versions import release

STAGES = ("load", "check", "embed", "ingest", "recall", "time", "score")
ROUNDING = 0.005  # seconds, of each figure in resources
CLOCK = 2.0  # seconds by which two clocks, both cut to whole seconds, may be apart


def protocol(evidence: Evidence) -> str:
    """run.json and metrics.json name one edition that is known here, by its text and by its pins."""
    cited, metrics, known = evidence.run.protocol, evidence.metrics, evidence.edition
    if (metrics["protocol_version"], metrics["protocol_sha256"]) != (cited.version, cited.sha256):
        raise Wrong("run.json and metrics.json cite two protocols")
    if cited.sha256 != known.sha256:
        raise Wrong(
            f"the run cites PROTOCOL.md {cited.version} with sha256 {cited.sha256[:12]}…; "
            f"that of {known.version} here is {known.sha256[:12]}…"
        )
    if cited.pins_sha256 and cited.pins_sha256 != known.pins_sha256:
        raise Wrong(
            f"the run cites the pins of {cited.version} with sha256 {cited.pins_sha256[:12]}…; "
            f"those of {known.version} here have {known.pins_sha256[:12]}…"
        )
    return f"protocol {known.version}, sha256 {known.sha256[:12]}…"


def header(evidence: Evidence) -> str:
    """The first contradiction of name, times and counts, if any.

    The run's name is the one in run.json, which follows from what it chose; a folder may be called otherwise.
    """
    for fault in _faults(evidence):
        raise Wrong(fault)
    name, folder = evidence.run.name, evidence.folder.name
    called = "" if folder == name else f"; its folder is called {folder}, and is of no run of that name"
    return f"run.json agrees with itself, as the run {name}{called}"


def _faults(evidence: Evidence) -> Iterator[str]:
    run, edition = evidence.run, evidence.edition
    wanted = folder_name(run)
    if not re.fullmatch(re.escape(wanted) + r"(_([2-9]|[1-9]\d+))?", run.name):
        yield f"the run is named {run.name}, but by its version, day, embedder and options it is {wanted}"
    if run.resources is None or run.finished is None:
        yield "run.json does not say what the run cost and when it ended"
    else:
        yield from _times(run.resources, (run.finished - run.started).total_seconds())
    for what, number in (("segments", run.corpus.segments), ("questions", run.corpus.questions)):
        if number != run.corpus.shape.get(what, number):
            yield f"the corpus has {number:,} {what}, but by its shape {run.corpus.shape[what]:,}"
    frozen = release_of(evidence.sql, run.choice.version) if run.choice.ours else None
    if frozen and frozen.edition and release(frozen.edition) > release(edition.version):
        yield f"pgmnemo {run.choice.version} is newer than {edition.version}: it came with {frozen.edition}"
    engine = edition.engine(run.choice.version)
    if run.choice.ours and not tuple(run.components) == run.arms[0].components == engine.components:
        yield f"the components of the score are {', '.join(engine.components)}"
    if run.choice.ours and (run.passages is not None) != engine.passages:
        yield f"an engine of version {run.version} is given {'' if engine.passages else 'no '}passages"


def _times(resources: Resources, lasted: float) -> Iterator[str]:
    """Stages fit into the whole, and the whole between start and end (a resumed run has more between)."""
    stages = sum(getattr(resources, f"{stage}_seconds") for stage in STAGES)
    if stages > resources.wall_seconds + ROUNDING * (len(STAGES) + 1):
        yield f"the stages took {stages:.2f} s, the whole {resources.wall_seconds:.2f} s"
    if resources.wall_seconds > lasted + CLOCK:
        yield f"the run took {resources.wall_seconds:.2f} s, but ended {lasted:.0f} s after it began"


def gates(evidence: Evidence) -> str:
    """Each gate looks at the facts that the artefacts hold; status and words are compared."""
    run = evidence.run
    known = {gate.name: gate for gate in gates_of(evidence.edition, run.choice.ours)}
    recorded = [gate.gate for gate in run.gates]
    if recorded != list(known):
        raise Wrong(f"run.json records the gates {', '.join(recorded)}, and not {', '.join(known)}")
    decided = [result for result in check_all(facts(evidence)) if not known[result.gate].needs_text]
    compare(run.gates, decided)
    texts = ", ".join(name for name, gate in known.items() if gate.needs_text)
    return f"{len(decided)} of {len(recorded)} gates decided again; {texts} need the corpus"


def compare(gates: Iterable[GateResult], decided: Iterable[GateResult]) -> None:
    """Wrong for the first gate that is not as recorded: its status, or its words, which deviations repeat."""
    recorded = {gate.gate: gate for gate in gates}
    for result in decided:
        found = recorded[result.gate]
        if found.status != result.status:
            raise Wrong(
                f"the gate {result.gate} is recorded as {found.status}; by the facts it is "
                f"{result.status}: expected {result.expected}, found {result.found}"
            )
        for words in ("expected", "found", "resolve", "where"):
            one, other = (_public(getattr(gate, words)) for gate in (found, result))
            if one != other:
                raise Wrong(
                    f"the gate {result.gate}: {words} is recorded as {one}; by the facts it is {other}"
                )


def _public(words: str) -> str:
    """Without the folder in which a corpus lay, which no artefact names."""
    return public(words).removeprefix("…/")


def verdict(evidence: Evidence) -> str:
    """The worst gate decides, and every departure is named."""
    run = evidence.run
    if run.verdict != (wanted := judge(run.gates)):
        raise Wrong(f"the verdict is {run.verdict}, but by its gates {wanted}")
    if run.deviations != deviations(run.gates):
        raise Wrong("the deviations are not those of the gates")
    named = len(run.deviations)
    verdict = Verdict(wanted)
    return f"{verdict}, with {named} deviation{'s' if named != 1 else ''}" if named else str(verdict)

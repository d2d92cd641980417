"""The check of run.json: derived again from its inputs, and compared as a whole. (§4, §5, §9)

The inputs are the run's configuration, its edition, its release, the lines of its other files, and the corpus
if it is available. Fields that follow from none of these stay as recorded: tests/verify/fields.py lists them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar
from uuid import uuid5

from pgmnemo.paths import release_numbers
from pgmnemo.postgres.releases import release_fingerprint, release_of, setting_defaults
from pgmnemo.records import EmbedderIdentity
from runner.bench.run_record import (
    ACTIVE,
    INACTIVE,
    NO_EDGES,
    NO_VECTOR,
    NO_WORDS,
    REASONS,
    component_states,
    passage_counts,
)
from runner.bench.workload import NAMESPACE, lessons_label
from runner.protocol.datasets import SUITES
from runner.protocol.gates import RunFacts, check_all, deviations, gates_of, overall_verdict
from runner.protocol.gates.of_setup import equal
from runner.records import (
    Corpus,
    GateResult,
    Question,
    RerankerIdentity,
    RewriterIdentity,
    SearchScope,
    Segment,
)
from runner.records import Evidence as Cited
from runner.runs.canonical import without_private_path
from runner.runs.config import NO_EMBEDDER
from runner.runs.folder import folder_name
from runner.runs.run import RUN, STAGES, CorpusPins, ProtocolPins, Resources, Run
from runner.runs.timings import latencies, rerank_counts, rewrite_counts
from runner.verification.checks.arms import expected_arms
from runner.verification.checks.scores import shown_values
from runner.verification.context import CheckFailed, RunContext, first_difference

ROUNDING = 0.005  # seconds; rounding of each figure in resources
CLOCK = 2.0  # seconds by which two clocks, both cut to whole seconds, may differ
ITSELF = ("context",)  # a lesson without companions is its own context: it has values, but no effect
FOLLOW = ("gates", "verdict", "deviations")  # they follow from other fields, so they are compared last
COUNTS = ("projects", "segments", "questions", "scored", "answerable", "turns", "edges")
PREFIX = "pgmnemo."

Identity = TypeVar("Identity", EmbedderIdentity, RerankerIdentity, RewriterIdentity)


def record(context: RunContext) -> str:
    """Check that run.json follows from configuration, edition, release and lines, and that its times are
    possible.
    """
    _check_expected_record(context, None)
    run, folder = context.run, context.folder.name
    for fault in _impossible(context):
        raise CheckFailed(fault)
    called = "" if folder == run.name else f"; its folder is called {folder}, and is of no run of that name"
    return f"{RUN} is made again under protocol {run.protocol.version}, as the run {run.name}{called}"


def corpus(context: RunContext) -> str:
    """Check run.json with the corpus: hash, counts, passages, scopes, and the gates that read its text."""
    own, recorded = context.require_corpus, context.run.corpus.sha256
    if own.sha256 != recorded:
        raise CheckFailed(f"{own.path} has sha256 {own.sha256[:12]}…, the corpus of the run {recorded[:12]}…")
    _check_expected_record(context, own)
    return f"sha256 {own.sha256[:12]}…; {RUN} is made again with its counts, passages and all gates"


def _check_expected_record(context: RunContext, corpus: Corpus | None) -> None:
    wanted = expected_record(context, corpus).document()
    ordered = {name: wanted[name] for name in (*(one for one in wanted if one not in FOLLOW), *FOLLOW)}
    if fault := first_difference(context.document, ordered):
        raise CheckFailed(f"{RUN}: {fault}")


def expected_record(context: RunContext, corpus: Corpus | None = None) -> Run:
    """Return the record that the run must have; fields that no input determines are kept."""
    run, edition, choice = context.run, context.edition, context.run.choice
    state, defaults = _settings(context)
    types = {line["question"]: line["type"] for line in context.raw}
    wanted = replace(
        run,
        name=_name(run),
        protocol=ProtocolPins(edition.version, edition.sha256, edition.pins_sha256),
        seed=edition.seed,
        corpus=_corpus(context, corpus),
        embedder=_embedder(context),
        reranker=_named(run.reranker, choice.rerank),
        rewriter=_named(run.rewriter, choice.rewrite),
        arms=expected_arms(context, corpus),
        scopes=_scopes(context, corpus),
        views=SUITES[choice.suite].views(edition),
        headline=edition.metrics.headline,
        components=_components(context, corpus),
        guc_state=state,
        guc_defaults=defaults,
        disclosures=edition.disclosures(run.embedder_name, choice.suite),
        latency=latencies(context.timings, edition.retrieval.timed_k),
        reranks=rerank_counts(context.reranks, context.rows, context.timings),
        rewrites=rewrite_counts(context.rewrites, types),
    )
    if choice.ours:
        takes = edition.engine(choice.version).passages
        counts = passage_counts(corpus) if corpus else run.passages
        wanted = replace(wanted, passages=counts if takes else None)
    gates = tuple(_gates(context, wanted, corpus))
    return replace(wanted, gates=gates, verdict=overall_verdict(gates), deviations=deviations(gates))


def _name(run: Run) -> str:
    """Return the recorded name if it follows from the configuration, with or without a number.

    Otherwise return the expected name.
    """
    wanted = folder_name(run)
    return run.name if re.fullmatch(re.escape(wanted) + r"(_([2-9]|[1-9]\d+))?", run.name) else wanted


def _named(recorded: Identity | None, name: str) -> Identity | None:
    """Return the recorded identity under the chosen name; None if no name was chosen.

    Raises CheckFailed if it is missing.
    """
    if not name:
        return None
    if recorded is None:
        raise CheckFailed(f"the run chose {name}, and {RUN} does not describe it")
    return replace(recorded, name=name)


def _corpus(context: RunContext, corpus: Corpus | None) -> CorpusPins:
    suite, recorded = SUITES[context.run.choice.suite], context.run.corpus
    shape = recorded.shape
    made = replace(
        recorded,
        segments=shape.get("segments", recorded.segments),
        questions=shape.get("questions", recorded.questions),
    )
    if pins := context.edition.suites.get(suite.name):
        made = replace(made, title=suite.title, citable=pins.citable, clustered=pins.clustered)
    if corpus is None:
        return made
    return replace(
        made,
        title=corpus.title or suite.title,
        segments=len(corpus.segments),
        questions=len(corpus.questions),
        clustered=corpus.clustered,
        shape=dict(corpus.shape),
        files=corpus.files,
    )


def _embedder(context: RunContext) -> EmbedderIdentity | None:
    """Return the embedder as the edition pins it.

    The revision of the suite's own embedder is checked by a gate.
    """
    run, choice = context.run, context.run.choice
    made = _named(run.embedder, "" if choice.embedder == NO_EMBEDDER else choice.embedder)
    pins, suite = context.edition.embedders.get(choice.embedder), context.edition.suites.get(choice.suite)
    if made is None or pins is None:
        return made
    own = suite is not None and choice.embedder == suite.embedder
    revision = made.revision if own else pins.revision
    return replace(made, model=pins.model, revision=revision, dimensions=pins.dimensions)


def _scopes(context: RunContext, corpus: Corpus | None) -> tuple[SearchScope, ...]:
    """Return the scopes of the corpus, or of the edition; a user's own corpus has its recorded scopes."""
    run = context.run
    if corpus is not None:
        return corpus.scopes
    if (pins := context.edition.suites.get(run.choice.suite)) is None:
        return run.scopes
    known = (*pins.scopes, *(scope.name for scope in SUITES[run.choice.suite].more_scopes))
    names = [name for name in known if name in run.choice.scopes] or pins.scopes
    return tuple(SearchScope(name, name == "pool") for name in names)


def _settings(context: RunContext) -> tuple[Mapping[str, str], Mapping[str, str]]:
    """Return the value and the default of every setting, by release, edition and configuration."""
    run, edition = context.run, context.edition
    known = setting_defaults(context.sql, run.choice.version) if run.choice.ours else {}
    if not known:
        return run.guc_state, run.guc_defaults
    corpus, choice = run.corpus, run.choice
    label = lessons_label(corpus.sha256, choice.level, choice.written, run.embedder)
    demanded = {name: str(value) for name, value in edition.settings.items()}
    state = {**known, **demanded, **choice.changed, "tenant_id": str(uuid5(NAMESPACE, label))}
    return _as_recorded(state, run.guc_state), _as_recorded(known, run.guc_defaults)


def _as_recorded(wanted: Mapping[str, str], recorded: Mapping[str, str]) -> dict[str, str]:
    """Return the settings by full name, with equal numbers written as recorded: 0.1 as 0.10."""
    found = ((f"{PREFIX}{name}", value) for name, value in wanted.items())
    return {name: recorded[name] if equal(recorded.get(name, ""), value) else value for name, value in found}


def _components(context: RunContext, corpus: Corpus | None) -> dict[str, str]:
    """Return the state of each component; without the corpus, as far as mode, edges and values show it."""
    run, choice = context.run, context.run.choice
    if not choice.ours:
        return {}
    names = context.edition.engine(choice.version).components
    if corpus is not None:
        return component_states(names, choice.mode, corpus)
    made, values = {}, shown_values(context)
    for name in names:
        said = run.components.get(name, "")
        idle = said.removeprefix(INACTIVE) in REASONS and (name in ITSELF or len(values[name]) < 2)
        made[name] = said if idle else ACTIVE
    if choice.mode == "keyword" and "cosine" in made:
        made["cosine"] = f"{INACTIVE}{NO_VECTOR}"
    if choice.mode == "vector" and "bm25" in made:
        made["bm25"] = f"{INACTIVE}{NO_WORDS}"
    if "graph" in made and "edges" in run.corpus.shape:
        made["graph"] = ACTIVE if run.corpus.shape["edges"] else f"{INACTIVE}{NO_EDGES}"
    return made


def _gates(context: RunContext, run: Run, corpus: Corpus | None) -> Iterator[GateResult]:
    """Yield a new result of each gate.

    Without the corpus, a gate that reads its text keeps the recorded result.
    """
    recorded = {gate.gate: gate for gate in context.run.gates}
    kept = {gate.name for gate in gates_of(run.edition, run.choice.ours) if gate.needs_text and not corpus}
    for result in check_all(gate_facts(context, run, corpus)):
        known = recorded.get(result.gate)
        same = known is not None and (result.gate in kept or _public(known) == _public(result))
        yield known if same and known else result


def _public(result: GateResult) -> list[str]:
    """Return the texts of a gate's result, without the path of the corpus, which no artefact contains."""
    texts = (result.expected, result.found, result.where, result.resolve)
    return [result.status, *(without_private_path(text).removeprefix("…/") for text in texts)]


def gate_facts(context: RunContext, run: Run, corpus: Corpus | None = None) -> RunFacts:
    """Return the facts for the gates.

    Without a corpus, a placeholder has the counts of run.json and no text.
    """
    return RunFacts(
        run=run,
        corpus=corpus or _stand_in(run),
        fingerprint=release_fingerprint(context.sql, run.choice.version),
        asked=len({line["question"] for line in context.raw}),
        retrievals=context.counts,
        artefacts=dict.fromkeys(context.names, True),
        history_ready=True,  # the check `history` looks for the entry
    )


def _stand_in(run: Run) -> Corpus:
    """Return a corpus of placeholders with the counts of run.json."""
    pins, shape = run.corpus, run.corpus.shape
    projects = [str(number) for number in range(shape["projects"])]
    more = [projects[-1]] * (pins.segments - len(projects))
    return Corpus(
        suite=run.choice.suite,
        path=pins.file,
        sha256=pins.sha256,
        granularity=run.choice.level,
        segments=tuple(Segment(project, "", "") for project in (*projects, *more)),
        questions=tuple(_questions(shape)),
        scopes=run.scopes,
        clustered=pins.clustered,
        shape=shape,
        files=pins.files,
    )


def _questions(shape: Mapping[str, int]) -> Iterator[Question]:
    """Yield placeholder questions by type; questions beyond the number of scored questions cite nothing."""
    types = {kind: number for kind, number in shape.items() if kind not in COUNTS}
    if sum(types.values()) > shape["questions"]:  # LongMemEval counts abstention in addition to the types
        types.pop("abstention", None)
    kinds = [kind for kind, number in types.items() for _ in range(number)]
    for number, kind in enumerate(kinds):
        yield Question("", "", "", kind, (Cited("", ""),) if number < shape["scored"] else ())


def _impossible(context: RunContext) -> Iterator[str]:
    """Yield the impossible claims of a run, about its times or about an edition older than its release."""
    run, edition = context.run, context.edition
    if run.resources is None or run.finished is None:
        yield "run.json does not say what the run cost and when it ended"
    else:
        yield from _times(run.resources, (run.finished - run.started).total_seconds())
    frozen = release_of(context.sql, run.choice.version) if run.choice.ours else None
    if frozen and frozen.edition and release_numbers(frozen.edition) > release_numbers(edition.version):
        yield f"pgmnemo {run.choice.version} is newer than {edition.version}: it came with {frozen.edition}"


def _times(resources: Resources, lasted: float) -> Iterator[str]:
    """Yield a fault if the stages exceed the whole, or the whole exceeds the time from start to end.

    A resumed run has more time between start and end.
    """
    stages = sum(getattr(resources, f"{stage}_seconds") for stage in STAGES)
    if stages > resources.wall_seconds + ROUNDING * (len(STAGES) + 1):
        yield f"the stages took {stages:.2f} s, the whole {resources.wall_seconds:.2f} s"
    if resources.wall_seconds > lasted + CLOCK:
        yield f"the run took {resources.wall_seconds:.2f} s, but ended {lasted:.0f} s after it began"

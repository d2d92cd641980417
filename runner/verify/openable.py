"""What of a run can be opened again here: its own request, its embedder, its systems and its reranker."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from runner.bench.request import Request
from runner.database.scripts import changed
from runner.database.server_files import check_release
from runner.embedders import Embedder, EmbedderOptions
from runner.errors import EmbedderError, RunnerError
from runner.progress import Progress
from runner.rerankers import RERANKERS, Reranker, RerankOptions
from runner.rerankers.options import CHARACTERS
from runner.runs.choice import OURS
from runner.runs.reranks import SUFFIX
from runner.runs.run import Arm, Run
from runner.systems import absent, beneath, kind_of
from runner.verify.evidence import Evidence

HASH = "hash"  # the embedder whose width is an option


def beside(run: Run) -> list[Arm]:
    """The systems beside the one under test that answered, without their reranked arms."""
    return [one for one in run.systems[1:] if not (one.failed or one.name.endswith(SUFFIX))]


def lacking(evidence: Evidence, environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The systems of the run that cannot be opened here, each with the reason."""
    for arm in (evidence.run.arms[0], *beside(evidence.run)):
        if why := _missing(arm.name, evidence, environ):
            yield arm.name, why


def _missing(name: str, evidence: Evidence, environ: Mapping[str, str]) -> str:
    try:
        kind, own = kind_of(name), beneath(name)
        if kind.address is not None:
            kind.address(None)
        if own.system != OURS:
            return absent(kind, environ)
        version = own.version or evidence.run.choice.version
        check_release(evidence.sql, version)
        return changed(evidence.sql, version) or ""
    except RunnerError as error:
        return str(error)


def reranker_of(run: Run, left: dict[str, str], progress: Progress) -> Reranker | None:
    """The reranker of the run, loaded; None where it had none, or is not at hand, which `left` then says."""
    identity = run.reranker
    if identity is None:
        return None
    options = RerankOptions(rerank_depth=identity.depth, rerank_chars=identity.characters or CHARACTERS)
    try:
        made = RERANKERS[identity.name](options)
        made.load(progress)
        if replace(made.identity, note=identity.note) == identity:
            return made
        why = f"the reranker {identity.name} that is here is not the run's"
    except RunnerError as error:
        why = str(error)
    left |= {arm.name: why for arm in run.systems if arm.name.endswith(SUFFIX)}
    return None


def requested(run: Run, left: Collection[str] = ()) -> Request:
    """The run's own request, without the systems beside the one under test that are `left`."""
    choice, identity = run.choice, run.embedder
    options = EmbedderOptions(max_tokens=choice.max_tokens)
    if identity is not None:
        options = replace(
            options,
            dimensions=identity.dimensions if identity.name == HASH else None,
            batch_size=identity.batch_size,
            query_prefix=identity.query_prefix,
            document_prefix=identity.document_prefix,
        )
    return Request(
        choice.suite,
        system=choice.system,
        version=choice.version,
        systems=tuple(name for name in choice.systems if name not in left),
        beside=choice.beside,
        rerank=choice.rerank or None,
        set=tuple(f"{name}={value}" for name, value in choice.settings.items()),
        mode=choice.mode or None,
        granularity=choice.level,
        text=choice.text,
        passages=choice.passages,
        max_chars=choice.max_chars,
        types=choice.types,
        split=choice.split,
        limit=choice.limit,
        scopes=choice.scopes,
        embedder=choice.embedder,
        embedder_options=options,
    )


def embedder_of(request: Request, run: Run) -> Embedder | None:
    """The embedder of the run; EmbedderError where the one at hand is another."""
    embedder = request.make_embedder()
    if embedder is not None and embedder.identity != run.embedder:
        raise EmbedderError(
            f"the embedder {request.embedder_name} that is here is not the run's: {embedder.identity}, and "
            f"run.json has {run.embedder}"
        )
    return embedder

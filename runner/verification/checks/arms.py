"""The arms that a run must have, derived from edition, version, mode and configuration. (§4.6)"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from pgmnemo.postgres.releases import release_fingerprints
from runner.naming import SystemName
from runner.records import Corpus
from runner.runs.config import OURS, RunConfig
from runner.runs.run import Arm
from runner.runs.timings import SUFFIX
from runner.systems import SYSTEMS, base_of, spec_of
from runner.systems.controls import controls_among
from runner.systems.wrappers import PASSAGES
from runner.verification.context import RunContext

PARTED = f"+{PASSAGES}"
FINGERPRINT = "fingerprint"
WORDS_ALONE = "bm25"  # a retriever with one component: its score is that component
RETRIEVER_WORDS = {
    "bm25": "the BM25 leg of the same extension alone",
    "keyword": "the same extension in mode keyword",
    "vector": "the same extension in mode vector",
    "cosine": "exact cosine of the same vectors alone",
    "plain-bm25": "BM25 over plain words, the same for every version",
    "random": "a random order, from the seed",
}  # equal in every edition


def expected_arms(context: RunContext, corpus: Corpus | None) -> tuple[Arm, ...]:
    """Return the arms that the run must have, in order; facts that only a system reports are kept."""
    run, choice = context.run, context.run.choice
    found = {arm.name: arm for arm in run.arms}
    tested = _system(context, found, choice.system)
    if choice.ours:
        words = f"pgmnemo.recall_lessons, mode {choice.mode}"
        tested = replace(tested, words=words, version=choice.version)
        retrievers = list(_retrievers(context))
    else:  # another system defines its own retrievers
        retrievers = [replace(arm, failed="") for arm in run.arms if arm.role == "leg"]
    baselines = [_system(context, found, name) for name in _baselines(context, corpus, [*found])]
    return (
        tested,
        *retrievers,
        *_controls(context),
        *_reranked(context, found, tested),
        *(one for arm in baselines for one in (arm, *_reranked(context, found, arm))),
    )


def _retrievers(context: RunContext) -> Iterator[Arm]:
    """Yield the retrievers of pgmnemo: BM25, and each other mode if the engine takes passages."""
    run = context.run
    engine, vectors = context.edition.engine(run.choice.version), run.embedder is not None
    modes = {"keyword", *(["vector"] if vectors else [])} - {run.choice.mode} if engine.passages else set()
    for name in context.edition.arms:
        if name == WORDS_ALONE or name in modes:
            parts = () if name == WORDS_ALONE else engine.components
            yield Arm(name, RETRIEVER_WORDS[name], "leg", components=parts)


def _controls(context: RunContext) -> Iterator[Arm]:
    for name in controls_among(context.edition.arms, vectors=context.run.embedder is not None):
        yield Arm(name, RETRIEVER_WORDS[name])


def _baselines(context: RunContext, corpus: Corpus | None, found: Sequence[str]) -> Iterator[str]:
    """Yield the names of the baselines, and of their `+passages` arms if lessons have several passages."""
    choice, several = context.run.choice, _several_passages(context, corpus)
    if several is None:  # then the recorded arms decide for all systems
        several = any(name.removesuffix(SUFFIX).endswith(PARTED) for name in {*found} - {*choice.named})
    for name in choice.baselines:
        yield name
        if several and _takes_passages(choice, name, found):
            yield f"{name}{PARTED}"


def _several_passages(context: RunContext, corpus: Corpus | None) -> bool | None:
    """Return whether any lesson has more than one passage; None if neither corpus nor counts show it."""
    if corpus is not None:
        return any(len(segment.passages) > 1 for segment in corpus.segments)
    counts = context.run.passages
    return True if counts is not None and counts.count > context.run.corpus.segments else None


def _takes_passages(config: RunConfig, name: str, found: Sequence[str]) -> bool:
    """Return whether a run also asks a system with passages.

    For an unknown system the recorded arms decide.
    """
    parts = SystemName.of(name)
    if f"{name}{PARTED}" in config.named:
        return False
    if parts.system not in SYSTEMS:
        return f"{name}{PARTED}" in found
    return spec_of(name).passages and PASSAGES not in parts.wrappers


def _system(context: RunContext, found: Mapping[str, Arm], name: str) -> Arm:
    """Return the arm of a system with its title.

    Over pgmnemo also with the release's fingerprint and components.
    """
    arm = replace(found.get(name, Arm(name, "")), role="system")
    if SystemName.of(name).system not in SYSTEMS:
        return arm
    return _released(context, replace(arm, title=spec_of(name).title), name)


def _released(context: RunContext, arm: Arm, name: str) -> Arm:
    """Return the arm with the version, fingerprint and components of the pgmnemo inside it, if it has one."""
    own = base_of(name)
    if own.system != OURS or arm.failed:
        return arm
    version, known = own.version or context.run.choice.version, release_fingerprints(context.sql)
    printed = arm.facts.get(FINGERPRINT, "")
    if version in known:
        facts = {**arm.facts, FINGERPRINT: known[version]}
    else:  # then its functions must not be those of a release
        facts = {**arm.facts, FINGERPRINT: "" if printed in known.values() else printed}
    arm = replace(arm, version=version, facts=facts)
    plain = SystemName.of(name).system == OURS and not SystemName.of(name).wrappers and name == arm.name
    return replace(arm, components=context.edition.engine(version).components) if plain else arm


def _reranked(context: RunContext, found: Mapping[str, Arm], base: Arm) -> Iterator[Arm]:
    """Yield the reranked arm, if the run chose a reranker and the base answered."""
    if not context.run.choice.rerank or base.failed:
        return
    name, words = f"{base.name}{SUFFIX}", f"{base.words}; the first "
    arm = replace(found.get(name, Arm(name, "")), role="system", title=base.title)
    told = arm.words if arm.failed or arm.words.startswith(words) else words
    known = SystemName.of(base.name).system in SYSTEMS
    yield _released(context, replace(arm, words=told), base.name) if known else replace(arm, words=told)

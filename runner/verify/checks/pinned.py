"""Is everything that an edition or a release decides as these decide it? Each has one source."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any
from uuid import uuid5

from runner.bench.material import NAMESPACE, label_of
from runner.database.releases import release_fingerprints, setting_defaults
from runner.gates.settings import equal
from runner.naming import Name
from runner.records import View
from runner.runs.choice import NO_EMBEDDER, OURS, Choice
from runner.runs.reranks import SUFFIX
from runner.runs.run import Arm
from runner.suites import SUITES
from runner.systems import SYSTEMS, beneath, kind_of
from runner.systems.wrappers import PASSAGES
from runner.verify.check import NotAsked, Wrong
from runner.verify.evidence import Evidence

PARTED = f"+{PASSAGES}"
LEG_WORDS = {
    "bm25": "the BM25 leg of the same extension alone",
    "keyword": "the same extension in mode keyword",
    "vector": "the same extension in mode vector",
    "cosine": "exact cosine of the same vectors alone",
    "random": "a random order, from the seed",
}  # as every edition has them


def views(evidence: Evidence) -> str:
    """What is counted and what is said with it: views, headline, scopes, clusters and disclosures. (§4)"""
    run = evidence.run
    for what, (found, wanted) in _counted(evidence).items():
        if found != wanted:
            raise Wrong(
                f"{what}: run.json has {_words(found)}, protocol {run.protocol.version} {_words(wanted)}"
            )
    every = [line["question"] for line in evidence.raw[: len(evidence.raw) // max(1, len(evidence.counts))]]
    rows = [row for row in evidence.metrics["results"] if row["view"] == row["type"] == "all"]
    if wrong := next((row for row in rows if row["n"] != len(every)), None):
        raise Wrong(f"the view all has {wrong['n']:,} questions, the raw rankings {len(every):,}")
    return (
        f"{', '.join(view.name for view in run.views)}, and what else protocol {run.protocol.version} counts"
    )


def _counted(evidence: Evidence) -> dict[str, tuple[Any, Any]]:
    """By name: what run.json has, and what the run's edition says."""
    run, edition = evidence.run, evidence.edition
    suite, pins = SUITES[run.choice.suite], edition.suites.get(run.choice.suite)
    wanted: dict[str, tuple[Any, Any]] = {
        "views": (run.views, suite.views(edition)),
        "headline": (run.headline, edition.metrics.headline),
        "disclosures": (run.disclosures, edition.disclosures(run.embedder_name, run.choice.suite)),
    }
    if pins is None:  # a corpus of the user's own: it says the rest itself
        return wanted
    known = (*pins.scopes, *(scope.name for scope in suite.more_scopes))
    names = tuple(name for name in known if name in run.choice.scopes) or pins.scopes
    return wanted | {
        "title": (run.corpus.title, suite.title),
        "citable": (run.corpus.citable, pins.citable),
        "clustered": (run.corpus.clustered, pins.clustered),
        "scopes": (tuple(scope.name for scope in run.scopes), names),
        "pooled scopes": (
            tuple(scope.name for scope in run.scopes if scope.pooled),
            tuple(name for name in names if name == "pool"),
        ),
    }


def _words(value: Any) -> str:
    """A pinned value as people read it."""
    return ", ".join(_word(one) for one in value) or "none" if isinstance(value, tuple) else str(value)


def _word(one: Any) -> str:
    if not isinstance(one, View):
        return str(one)
    left = [*one.without_types, *([f"*{one.without_key}*"] if one.without_key else [])]
    return f"{one.name} (without {', '.join(left)})" if left else one.name


def settings(evidence: Evidence) -> str:
    """The settings of pgmnemo are the release's defaults, but for what edition and choice say."""
    run = evidence.run
    if not run.choice.ours:
        raise NotAsked("the system under test has no settings of pgmnemo")
    defaults = setting_defaults(evidence.sql, run.choice.version)
    if not defaults:
        raise NotAsked(f"the defaults of pgmnemo {run.choice.version} are not known here")
    _same("guc_defaults", run.guc_defaults, defaults)
    demanded = {name: str(value) for name, value in evidence.edition.settings.items()}
    tenant = {"tenant_id": str(uuid5(NAMESPACE, _label(evidence)))}
    _same("guc_state", run.guc_state, {**defaults, **demanded, **run.choice.changed, **tenant})
    return f"{len(run.guc_state)} settings are those of pgmnemo {run.choice.version}, edition and choice"


def _same(what: str, found: Mapping[str, str], wanted: Mapping[str, str]) -> None:
    bare = {name.removeprefix("pgmnemo."): value for name, value in found.items()}
    for name in dict.fromkeys([*wanted, *bare]):
        one, other = bare.get(name), wanted.get(name)
        if one is None or other is None or not equal(one, other):
            raise Wrong(
                f"{what}: {name} is {one or 'not there'}, by release, edition and choice {other or 'not'}"
            )


def _label(evidence: Evidence) -> str:
    """Of whose lessons the rows were: the tenant's uuid is made of it."""
    run = evidence.run
    return label_of(run.corpus.sha256, run.choice.level, run.choice.written, run.embedder)


def identity(evidence: Evidence) -> str:
    """The embedder is the one that the run chose, as the edition sets it up."""
    run = evidence.run
    if run.embedder is None:
        if run.choice.embedder != NO_EMBEDDER:
            raise Wrong(f"the run chose the embedder {run.choice.embedder}, and run.json describes none")
        return "no embedder: words alone"
    if run.embedder.name != run.choice.embedder:
        raise Wrong(
            f"the run chose the embedder {run.choice.embedder}, and run.json describes {run.embedder.name}"
        )
    pins = evidence.edition.embedders.get(run.embedder.name)
    if pins is None:
        return f"{run.embedder.name} was chosen; no pin says what it is, so the run alone does"
    own = (
        run.embedder.name == evidence.edition.suites[run.choice.suite].embedder if _known(evidence) else False
    )
    for fact in ("model", "dimensions") if own else ("model", "revision", "dimensions"):
        if getattr(run.embedder, fact) != getattr(pins, fact):
            raise Wrong(
                f"{run.embedder.name}: {fact} is {getattr(run.embedder, fact)}, pinned {getattr(pins, fact)}"
            )
    return f"{run.embedder.name} is {pins.model}, as protocol {run.protocol.version} pins it"


def _known(evidence: Evidence) -> bool:
    return evidence.run.choice.suite in evidence.edition.suites


def arms(evidence: Evidence) -> str:
    """The arms are those of edition, version and mode, with their words, then the systems beside."""
    run = evidence.run
    wanted = list(_controls(evidence))
    found = [(arm.name, arm.role, arm.words) for arm in run.arms[1 : 1 + len(wanted)]]
    if run.arms[0].role != "system" or run.arms[0].name != run.choice.system:
        raise Wrong(f"the arm under test is {run.arms[0].name}, the run chose {run.choice.system}")
    if silent := next((arm for arm in run.arms if arm.failed and arm.role != "system"), None):
        raise Wrong(f"the {silent.role} {silent.name} is said to have failed, which would have ended the run")
    if run.choice.ours and (run.arms[0].words, run.arms[0].version) != (
        f"pgmnemo.recall_lessons, mode {run.choice.mode}", run.choice.version,
    ):  # fmt: skip
        raise Wrong(f"{run.arms[0].name} is said to be {run.arms[0].words}, version {run.arms[0].version}")
    if run.choice.ours and run.arms[0].title != OURS:
        raise Wrong(f"{run.arms[0].name} is called {run.arms[0].title}")
    if run.choice.ours and found != wanted:
        one = next((pair for pair in zip_longest(found, wanted) if pair[0] != pair[1]), (None, None))
        raise Wrong(f"beside the system under test stands {one[0]}, by edition, version and mode {one[1]}")
    rest = run.arms[1 + len(wanted) :] if run.choice.ours else [a for a in run.arms[1:] if a.role == "system"]
    _beside(evidence, [arm for arm in rest if not arm.name.endswith(SUFFIX)])
    _reranked(evidence, [arm for arm in rest if arm.name.endswith(SUFFIX)])
    for arm in run.systems:
        _released(evidence, arm)
    return f"{len(run.arms)} arms, each as edition, version, mode and choice have it"


def _controls(evidence: Evidence) -> Iterator[tuple[str, str, str]]:
    """(name, role, words) of the legs of pgmnemo, then of the controls."""
    run, vectors = evidence.run, evidence.run.embedder is not None
    for name in evidence.edition.arms:
        passages = evidence.edition.engine(run.choice.version).passages
        mode = name in ("keyword", "vector") and passages and name != run.choice.mode
        if run.choice.ours and (name == "bm25" or (mode and (vectors or name == "keyword"))):
            yield name, "leg", LEG_WORDS[name]
    for name in evidence.edition.arms:
        if name == "random" or (name == "cosine" and vectors):
            yield name, "control", LEG_WORDS[name]


def _beside(evidence: Evidence, rest: Sequence[Arm]) -> None:
    """The systems that were chosen, with their passages where lessons have several, none left out."""
    run, found = evidence.run, [arm.name for arm in rest if arm.name != evidence.run.system]
    several = _several_passages(evidence)
    if several is None:  # then of all systems or of none
        several = any(name.endswith(PARTED) and name not in run.choice.named for name in found)
    wanted = [
        arm
        for name in run.choice.systems
        for arm in (
            [name, f"{name}{PARTED}"] if several and _takes_passages(run.choice, name, found) else [name]
        )
    ]
    if found != wanted:
        raise Wrong(f"beside stand {', '.join(found) or 'none'}; chosen were {', '.join(wanted) or 'none'}")
    for arm in rest:
        kind = kind_of(arm.name) if Name.of(arm.name).system in SYSTEMS else None
        if arm.role != "system" or (kind is not None and arm.title != kind.title):
            raise Wrong(
                f"{arm.name} is called {arm.title}, {arm.role}; it is {kind.title if kind else 'a system'}"
            )


def _several_passages(evidence: Evidence) -> bool | None:
    """Whether any lesson has more than one passage; None where neither corpus nor counts can say."""
    if evidence.corpus is not None:
        return any(len(segment.passages) > 1 for segment in evidence.corpus.segments)
    counts = evidence.run.passages
    return True if counts is not None and counts.count > evidence.run.corpus.segments else None


def _takes_passages(choice: Choice, name: str, found: Sequence[str]) -> bool:
    """Whether a run asks a system once more with passages; of one that is unknown here, what was found."""
    parts = Name.of(name)
    if f"{name}{PARTED}" in choice.named:
        return False
    if parts.system not in SYSTEMS:
        return f"{name}{PARTED}" in found
    return kind_of(name).passages and PASSAGES not in parts.wrappers


def _released(evidence: Evidence, arm: Arm) -> None:
    """What searches by pgmnemo has the version of its name, and that release's functions and components."""
    name = Name.of(arm.name.removesuffix(SUFFIX))
    searching = beneath(str(name)) if name.system in SYSTEMS else name
    if searching.system != OURS or arm.failed or not (arm.facts or arm.name != evidence.run.system):
        return  # runs before edition 1.3.0 say less of the system under test
    version = searching.version or evidence.run.choice.version
    printed, known = arm.facts.get("fingerprint", ""), release_fingerprints(evidence.sql)
    if arm.version != version:
        raise Wrong(f"{arm.name} is of version {version}, and said to be {arm.version}")
    if printed != known.get(version, printed) or (version not in known and printed in known.values()):
        of = next((f"those of {one}" for one, found in known.items() if found == printed), "of no release")
        raise Wrong(f"{arm.name} is of version {version}, and its functions are {of} ({printed[:12]}…)")
    parts = evidence.edition.engine(version).components
    own = name.system == OURS and not name.wrappers and not arm.name.endswith(SUFFIX)
    if own and arm.components != parts:
        raise Wrong(f"{arm.name} has {len(arm.components)} components of a score, and {version} {len(parts)}")


def _reranked(evidence: Evidence, found: Sequence[Arm]) -> None:
    """Behind each system that answered its reranked arm, where the run chose a reranker, and no other."""
    run = evidence.run
    behind = {
        f"{arm.name}{SUFFIX}": arm
        for arm in run.arms
        if run.choice.rerank and arm.role == "system" and not arm.failed and not arm.name.endswith(SUFFIX)
    }
    if {arm.name for arm in found} - set(behind):
        strange = ", ".join(arm.name for arm in found if arm.name not in behind)
        raise Wrong(f"{strange}: the run chose no reranker behind it")
    for name, base in behind.items():
        one = next((arm for arm in found if arm.name == name), None)
        if one is None or (one.role, one.title) != ("system", base.title):
            raise Wrong(f"{name} is {'missing' if one is None else f'called {one.title}, {one.role}'}")
        if not one.failed and not one.words.startswith(f"{base.words}; the first "):
            raise Wrong(f"{name} is said to be {one.words}, and what it reorders {base.words}")

"""Is the corpus that was given the one of the run, and do its gates still say what run.json records?"""

from __future__ import annotations

from runner.claims.verify.check import NotAsked, Wrong
from runner.claims.verify.checks.gates import compare
from runner.claims.verify.evidence import Evidence
from runner.claims.verify.facts import facts
from runner.gates import GATES, OF_THE_CORPUS
from runner.records import Corpus


def given(evidence: Evidence) -> Corpus:
    """The corpus; NotAsked where none was given."""
    if evidence.corpus is None:
        raise NotAsked("give --corpus PATH")
    return evidence.corpus


def corpus(evidence: Evidence) -> str:
    """Hash, counts, scopes, and the gates that look at the corpus alone."""
    own, pins = given(evidence), evidence.run["corpus"]
    if own.sha256 != pins["sha256"]:
        raise Wrong(f"{own.path} has sha256 {own.sha256[:12]}…, the corpus of the run {pins['sha256'][:12]}…")
    counts = {
        "segments": len(own.segments),
        "questions": len(own.questions),
        "clustered": own.clustered,
        "shape": dict(own.shape),
    }
    for name, value in counts.items():
        if pins[name] != value:
            raise Wrong(f"run.json gives the corpus's {name} as {pins[name]}; they are {value}")
    scopes = [{"name": scope.name, "pooled": scope.pooled} for scope in own.scopes]
    if evidence.run["scopes"] != scopes:
        raise Wrong("the scopes of run.json are not those of the corpus")
    known = facts(evidence, own)
    compare(evidence, [GATES[name](known) for name in OF_THE_CORPUS])
    return f"sha256 {own.sha256[:12]}…, its counts and the gates {', '.join(OF_THE_CORPUS)}"

"""Is the embedder the canonical one, as the protocol sets it up? (§3)"""

from __future__ import annotations

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding
from runner.protocol import EmbedderPins
from runner.records import EmbedderIdentity, Status

FACTS = ("model", "revision", "dimensions", "max_tokens", "batch_size", "query_prefix", "document_prefix")


def embedder(facts: RunFacts) -> Finding:
    """DEVIATION for another embedder, none, or a canonical name with another model, limit or prefix."""
    wanted = facts.pins.embedder if facts.pins else "one that the protocol names"
    if facts.embedder == "none":
        return _departs(wanted, "none: keyword-only, without vectors")
    if facts.embedder != wanted:
        return _departs(wanted, facts.embedder)
    differences = _differences(facts.identity, facts.protocol.embedders[wanted])
    if differences:
        return _departs(wanted, f"{wanted} with {differences}")
    return Finding(Status.PASSED, wanted, _revision(facts.identity))


def _departs(wanted: str, found: str) -> Finding:
    return Finding(Status.DEVIATION, wanted, found, resolve=f"use --embedder {wanted}, without options")


def _differences(identity: EmbedderIdentity | None, pins: EmbedderPins) -> str:
    """What of a known identity is not as pinned, in words."""
    if identity is None:
        return ""
    pairs = [(fact, getattr(identity, fact), getattr(pins, fact)) for fact in FACTS]
    return ", ".join(f"{fact} {found!r} instead of {want!r}" for fact, found, want in pairs if found != want)


def _revision(identity: EmbedderIdentity | None) -> str:
    return f"{identity.model}, revision {identity.revision}" if identity else "as expected"

"""Is the embedder the canonical one, as the protocol sets it up? (§3)

A suite that the protocol does not know has no canonical embedder, so that none departs from it.
"""

from __future__ import annotations

from runner.editions import EmbedderPins
from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.records import EmbedderIdentity, Status
from runner.runs.choice import NO_EMBEDDER

ANY = "any: the protocol names none for this suite"
FACTS = ("model", "revision", "dimensions", "max_tokens", "batch_size", "query_prefix", "document_prefix")


def embedder(facts: Facts) -> Finding:
    """DEVIATION for another embedder, none, or a canonical name with another model, limit or prefix."""
    name = facts.run.choice.embedder
    if facts.pins is None:
        return Finding(Status.PASSED, ANY, name)
    wanted = facts.pins.embedder
    if name == NO_EMBEDDER:
        return _departs(wanted, "none: keyword-only, without vectors")
    if name != wanted:
        return _departs(wanted, name)
    if wanted not in facts.edition.embedders:
        return _departs(f"{wanted}, whose model the protocol pins", name)
    differences = _differences(facts.run.embedder, facts.edition.embedders[wanted])
    if differences:
        return _departs(wanted, f"{wanted} with {differences}")
    return Finding(Status.PASSED, wanted, _revision(facts.run.embedder))


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


GATE = Gate("embedder", embedder)

"""Which engine a version of the extension is: what it is given, and the components of its score.

What an engine answers with is a fact about it, not about the protocol that it was measured under: the
protocol in force says it for runs under former protocols as well.
"""

from __future__ import annotations

from runner.protocol.load import load_protocol
from runner.protocol.pins import EnginePins
from runner.protocol.required import release


def engine(version: str) -> EnginePins:
    """The newest engine that is not newer than `version`; the oldest for a version before them all."""
    oldest, *newer = sorted(load_protocol().engines.values(), key=lambda one: release(one.since))
    found = oldest
    for one in newer:
        found = one if release(one.since) <= release(version) else found
    return found

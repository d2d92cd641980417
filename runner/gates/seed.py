"""Is the seed the protocol's, for Python's hashes too? (§3.2, §5)"""

from __future__ import annotations

from runner.gates.facts import RunFacts
from runner.gates.gate import Finding
from runner.records import Status


def seed(facts: RunFacts) -> Finding:
    """PASSED when PYTHONHASHSEED and the run's seed are both the protocol's."""
    wanted = facts.protocol.seed
    expected = f"PYTHONHASHSEED={wanted} and seed {wanted}"
    found = f"PYTHONHASHSEED={facts.hash_seed or '(not set)'} and seed {facts.seed}"
    if facts.hash_seed == str(wanted) and facts.seed == wanted:
        return Finding(Status.PASSED, expected, found)
    resolve = f"set PYTHONHASHSEED={wanted} before Python starts; the command line does so by itself"
    return Finding(Status.FAILED, expected, found, "environment of the process", resolve)

"""Is the seed the protocol's, for Python's hashes too? (§3.2, §5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate
from runner.records import Status


def seed(facts: Facts) -> Finding:
    """PASSED when PYTHONHASHSEED and the run's seed are both the protocol's."""
    wanted = facts.edition.seed
    expected = f"PYTHONHASHSEED={wanted} and seed {wanted}"
    found = f"PYTHONHASHSEED={facts.run.python_hash_seed or '(not set)'} and seed {facts.run.seed}"
    if facts.run.python_hash_seed == str(wanted) and facts.run.seed == wanted:
        return Finding(Status.PASSED, expected, found)
    resolve = f"set PYTHONHASHSEED={wanted} before Python starts; the command line does so by itself"
    return Finding(Status.FAILED, expected, found, "environment of the process", resolve)


GATE = Gate("seed", seed)

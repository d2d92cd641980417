"""Is the installed extension the release that was asked for, and not another of the same name? (§5)"""

from __future__ import annotations

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate, not_yet
from runner.records import DatabaseFacts, Status


def version(facts: Facts) -> Finding:
    """PASSED when asked = installed, from that release's scripts, and its functions have its fingerprint."""
    wanted = facts.run.choice.version
    expected = f"pgmnemo {wanted} of this repository, fingerprint {facts.fingerprint or 'unknown'}"
    database = facts.run.database
    if database is None:
        return not_yet(expected)
    found = f"pgmnemo {database.pgmnemo}, fingerprint {database.fingerprint}"
    release = (wanted, facts.fingerprint, None)
    if facts.fingerprint and (database.pgmnemo, database.fingerprint, facts.changed) == release:
        return Finding(Status.PASSED, expected, found, _where(database))
    fault, resolve = _fault(facts, database, wanted)
    return Finding(Status.FAILED, expected, f"{found}: {fault}", _where(database), resolve)


def _where(database: DatabaseFacts) -> str:
    return f"database {database.database} ({database.origin})"


def _fault(facts: Facts, database: DatabaseFacts, wanted: str) -> tuple[str, str]:
    """What is wrong, and how to mend it."""
    if facts.fingerprint is None:
        return f"{wanted} is no release of this repository", "name a version that sql/releases.toml lists"
    if facts.changed is not None:
        return (
            facts.changed,
            "restore the file as it is committed (git checkout), or give the change a version of its own",
        )
    if facts.recognised is False:
        return (
            "the public upstream extension of that name, or another that borrows it",
            "install sql/ from this repository on a server without it (make -C sql install), or use no --dsn",
        )
    if database.pgmnemo != wanted:
        return "another version", f"ask for v{database.pgmnemo}, or name a server without that database"
    if facts.recognised:
        return (
            "a patched copy: its functions are not those of the release",
            f"drop the database {database.database} if it may go; the runner installs the release anew",
        )
    return (
        "functions of no release: a patched copy, or the upstream extension of that name",
        "install sql/ from this repository (make -C sql install), or use no --dsn",
    )


GATE = Gate("version", version)

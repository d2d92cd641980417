"""Gates of the setup: release, seed, settings, embedder, options and commit. (§3, §4, §5)"""

from __future__ import annotations

from collections.abc import Mapping

from pgmnemo.postgres.releases import default_version
from pgmnemo.records import DatabaseFacts, EmbedderIdentity
from runner.protocol.editions import EmbedderPins
from runner.protocol.gates.gate import Gate, GateFinding, RunFacts, not_yet
from runner.records import Status
from runner.runs.config import NO_EMBEDDER

TENANT = "tenant_id"
ANY = "any: the protocol names none for this suite"
FACTS = ("model", "revision", "dimensions", "max_tokens", "batch_size", "query_prefix", "document_prefix")
COMMITTED = "a known commit without uncommitted changes in the code"


def version(facts: RunFacts) -> GateFinding:
    """PASSED when asked = installed, from that release's scripts, and its functions have its fingerprint."""
    wanted = facts.run.choice.version
    expected = f"pgmnemo {wanted} of this repository, fingerprint {facts.fingerprint or 'unknown'}"
    database = facts.run.database
    if database is None:
        return not_yet(expected)
    found = f"pgmnemo {database.pgmnemo}, fingerprint {database.fingerprint}"
    release = (wanted, facts.fingerprint, None)
    if facts.fingerprint and (database.pgmnemo, database.fingerprint, facts.changed) == release:
        return GateFinding(Status.PASSED, expected, found, _where(database))
    if facts.fingerprint is None and database.pgmnemo == wanted == default_version():
        return GateFinding(
            Status.DEVIATION, expected, f"{found}: {wanted} is in development", _where(database),
            "measure a release, or publish no number of this run",
        )  # fmt: skip
    fault, resolve = _fault(facts, database, wanted)
    return GateFinding(Status.FAILED, expected, f"{found}: {fault}", _where(database), resolve)


def _where(database: DatabaseFacts) -> str:
    return f"database {database.database} ({database.origin})"


def _fault(facts: RunFacts, database: DatabaseFacts, wanted: str) -> tuple[str, str]:
    """Return what is wrong with the installed version, and how to fix it."""
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


def seed(facts: RunFacts) -> GateFinding:
    """PASSED when PYTHONHASHSEED and the run's seed are both the protocol's."""
    wanted = facts.edition.seed
    expected = f"PYTHONHASHSEED={wanted} and seed {wanted}"
    found = f"PYTHONHASHSEED={facts.run.python_hash_seed or '(not set)'} and seed {facts.run.seed}"
    if facts.run.python_hash_seed == str(wanted) and facts.run.seed == wanted:
        return GateFinding(Status.PASSED, expected, found)
    resolve = f"set PYTHONHASHSEED={wanted} before Python starts; the command line does so by itself"
    return GateFinding(Status.FAILED, expected, found, "environment of the process", resolve)


def settings(facts: RunFacts) -> GateFinding:
    """FAILED when a demanded setting is not recorded, DEVIATION when any has another value than it should."""
    wanted = {name: str(value) for name, value in facts.edition.settings.items()}
    expected = (
        ", ".join(f"{name} = {value}" for name, value in wanted.items()) + ", a tenant of the run's own"
    )
    if not facts.run.guc_state:
        return not_yet(expected)
    found, defaults = _bare(facts.run.guc_state), _bare(facts.run.guc_defaults)
    missing = [name for name in (*wanted, TENANT) if not found.get(name)]
    if missing:
        resolve = "record every pgmnemo setting in guc_state"
        return GateFinding(
            Status.FAILED, expected, f"no value for {', '.join(missing)}", "guc_state", resolve
        )
    demanded = {**{name: value for name, value in defaults.items() if name != TENANT}, **wanted}
    drifted = {name: value for name, value in demanded.items() if not equal(found.get(name, value), value)}
    if not drifted:
        return GateFinding(Status.PASSED, expected, "as expected, the others at their defaults", "guc_state")
    words = ", ".join(f"{name} = {found[name]} instead of {value}" for name, value in drifted.items())
    return GateFinding(
        Status.DEVIATION, expected, words, "guc_state", "reset the setting to the value demanded"
    )


def _bare(values: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix("pgmnemo."): value for name, value in values.items()}


def equal(one: str, other: str) -> bool:
    """Return whether two settings are equal as numbers (`0.10` and `0.1`) or else as text."""
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


def embedder(facts: RunFacts) -> GateFinding:
    """DEVIATION for another embedder, none, or a canonical name with another model, limit or prefix."""
    name = facts.run.choice.embedder
    if facts.pins is None:
        return GateFinding(Status.PASSED, ANY, name)
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
    return GateFinding(Status.PASSED, wanted, _revision(facts.run.embedder))


def _departs(wanted: str, found: str) -> GateFinding:
    return GateFinding(Status.DEVIATION, wanted, found, resolve=f"use --embedder {wanted}, without options")


def _differences(identity: EmbedderIdentity | None, pins: EmbedderPins) -> str:
    """Return the facts of a known identity that differ from the pins, as text."""
    if identity is None:
        return ""
    pairs = [(fact, getattr(identity, fact), getattr(pins, fact)) for fact in FACTS]
    return ", ".join(f"{fact} {found!r} instead of {want!r}" for fact, found, want in pairs if found != want)


def _revision(identity: EmbedderIdentity | None) -> str:
    return f"{identity.model}, revision {identity.revision}" if identity else "as expected"


def scope(facts: RunFacts) -> GateFinding:
    """DEVIATION for a part of the questions, a missing cutoff, or any option that departs."""
    cutoffs = ", ".join(map(str, facts.edition.metrics.cutoffs))
    expected = f"every question, at k = {cutoffs}, without a departing option"
    departures = list(facts.run.choice.departures(facts.edition))
    if not departures:
        return GateFinding(Status.PASSED, expected, "as expected")
    return GateFinding(Status.DEVIATION, expected, "; ".join(departures), resolve="leave these options out")


def tree(facts: RunFacts) -> GateFinding:
    """DEVIATION when the commit is unknown or the code differs from it."""
    code = facts.run.code
    if code.commit is None:
        resolve = "run from a git checkout of the repository"
        return GateFinding(
            Status.DEVIATION, COMMITTED, "no commit is known: not a git checkout", resolve=resolve
        )
    if code.dirty is not False:
        resolve = "commit the changes, or put them away, and run again"
        return GateFinding(
            Status.DEVIATION, COMMITTED, f"uncommitted changes on top of {code.commit}", resolve=resolve
        )
    return GateFinding(Status.PASSED, COMMITTED, code.commit)


GATES = (
    Gate("version", version),
    Gate("seed", seed),
    Gate("settings", settings),
    Gate("embedder", embedder),
    Gate("scope", scope),
    Gate("tree", tree),
)

"""Are the extension's settings the protocol's, and recorded? (§4.3)"""

from __future__ import annotations

from collections.abc import Mapping

from runner.gates.facts import Facts
from runner.gates.gate import Finding, Gate, not_yet
from runner.records import Status

TENANT = "tenant_id"


def settings(facts: Facts) -> Finding:
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
        return Finding(Status.FAILED, expected, f"no value for {', '.join(missing)}", "guc_state", resolve)
    demanded = {**{name: value for name, value in defaults.items() if name != TENANT}, **wanted}
    drifted = {name: value for name, value in demanded.items() if not equal(found.get(name, value), value)}
    if not drifted:
        return Finding(Status.PASSED, expected, "as expected, the others at their defaults", "guc_state")
    words = ", ".join(f"{name} = {found[name]} instead of {value}" for name, value in drifted.items())
    return Finding(Status.DEVIATION, expected, words, "guc_state", "reset the setting to the value demanded")


def _bare(values: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix("pgmnemo."): value for name, value in values.items()}


def equal(one: str, other: str) -> bool:
    """Equal as numbers (`0.10` and `0.1`) or else as text."""
    try:
        return float(one) == float(other)
    except ValueError:
        return one == other


GATE = Gate("settings", settings)

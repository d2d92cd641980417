"""Checks of roles, grants and settings: access to tenants' memories."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from pgmnemo import calls
from pgmnemo.postgres.doctor.finding import FAULT, OK, WARNING, DoctorFinding, DoctorTarget
from pgmnemo.postgres.install.install import GATE

UNBOUND = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = %s"
KEEPER = "SELECT pg_get_userbyid(extowner)::text FROM pg_extension WHERE extname = 'pgmnemo'"
# 1.0.0 lists names as SQL quotes them, and each version a role that was dropped by its number.
GRANTEE = "JOIN pg_roles r ON grantee IN (r.rolname, quote_ident(r.rolname))"
REACHED = f"""
SELECT DISTINCT tenant_id FROM pgmnemo.list_grants() {GRANTEE} WHERE pg_has_role(%s, r.oid, 'USAGE')
"""
SEES_ALL = "SELECT pg_has_role(current_user, %s, 'USAGE')"
DROPPED = f"SELECT tenant_id, grantee FROM pgmnemo.list_grants() LEFT {GRANTEE} WHERE r.oid IS NULL"


def reachable_tenants(examined: DoctorTarget, role: str) -> set[UUID]:
    """Return the tenants that a role can access; a login other than the owner sees only its own access."""
    return {row[0] for row in examined.target.session.execute(REACHED, (role,))}


def owner(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    name = examined.target.owner
    if examined.target.fetch_value(UNBOUND, name):
        told = (
            f"no row-level security binds {name}, whose rights the verbs have: they alone keep tenants apart"
        )
        mend = "dump the database and restore it with an ordinary owner (sql/README.md, Dump and restore)"
        yield DoctorFinding("owner", WARNING, told, mend)
    other = examined.target.fetch_value(KEEPER)
    if other not in (None, name):
        told = (
            f"the extension belongs to {other}, as pg_upgrade leaves it, and all that is in it to {name}, "
            "who cannot update it"
        )
        mend = "give it back as a superuser (docs/howto/operating.md, By pg_upgrade)"
        yield DoctorFinding("owner", WARNING, told, mend)


def role(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    name = examined.role
    unbound = examined.target.fetch_value(UNBOUND, name)
    if unbound is None:
        yield DoctorFinding("role", FAULT, f"there is no role {name}", f"CREATE ROLE {name} LOGIN")
    elif unbound:
        told = f"no row-level security binds role {name}: the verbs alone keep it to its tenants"
        yield DoctorFinding("role", WARNING, told, "log in as an ordinary role (CREATE ROLE … LOGIN)")
    else:
        yield DoctorFinding("role", OK, f"row-level security binds role {name}")


def grants(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    target, name, tenant = examined.target, examined.role, examined.tenant
    found = reachable_tenants(examined, name)
    mend = f"have {target.owner} run SELECT pgmnemo.grant_tenant('{tenant or '…'}', '{name}')"
    what = f"the tenant {tenant}" if tenant else f"{len(found)} tenants"
    if tenant in found or (tenant is None and found):
        yield DoctorFinding("grants", OK, f"role {name} reaches {what}")
    elif name != target.role and not target.fetch_value(SEES_ALL, target.owner):
        yield DoctorFinding("grants", WARNING, f"role {target.role} may not see the grants of {name}", mend)
    else:
        state = FAULT if tenant else WARNING
        yield DoctorFinding(
            "grants", state, f"role {name} does not reach {what if tenant else 'any tenant'}", mend
        )
    for of, number in target.session.execute(DROPPED):
        mend = f"have {target.owner} run SELECT pgmnemo.revoke_tenant('{of}', '{number}')"
        yield DoctorFinding("grants", WARNING, f"the tenant {of} is granted to a role that was dropped", mend)


def settings(examined: DoctorTarget) -> Iterator[DoctorFinding]:
    target = examined.target
    gate = target.fetch_value(GATE)
    hidden = ", which hides lessons without provenance" if gate == "enforce" else ""
    yield DoctorFinding(
        "gate_strict", OK, f"{gate} for SQL by this login{hidden}; the client sets it for each call"
    )
    for name, value, warning in calls.execute(
        target.session, calls.list_settings("name", "value", "warning")
    ):
        if warning:
            mend = f"ALTER ROLE … RESET {name}, or ALTER DATABASE {target.session.info.dbname} RESET {name}"
            state = FAULT if "error" in warning else WARNING
            yield DoctorFinding("settings", state, f"{name} is {value!r}: {warning}", mend)

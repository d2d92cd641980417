"""Install or update pgmnemo in one database, and grant tenants there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pgmnemo import calls
from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.paths import release_numbers
from pgmnemo.postgres.connections import connect, database_errors, dsn_label
from pgmnemo.postgres.extension import LOCK, SUPERUSER, become_owner
from pgmnemo.postgres.install import methods
from pgmnemo.postgres.install.checks import (
    check_may_create,
    check_owner,
    check_release,
    check_schema_free,
    ensure_vector,
)
from pgmnemo.postgres.install.target import InstallTarget
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_checks import check_server
from pgmnemo.probe import EXTENSION, CatalogRow, check_not_newer
from pgmnemo.progress import QUIET, Progress

LOCKS = "SET LOCAL lock_timeout = '30s'"  # readers and writers queue behind a waiting update
GATE = "SELECT coalesce(nullif(current_setting('pgmnemo.gate_strict', true), ''), 'off')"
REACHED = """
SELECT tenant_id FROM pgmnemo.list_grants()
 WHERE %(role)s = current_user OR grantee IN (%(role)s, quote_ident(%(role)s))
"""


@dataclass(frozen=True, slots=True)
class InstallResult:
    """The state of a database after an installation.

    `way` is the method, a value of METHODS; `former` is the version before, None if there was none. `role`
    has access to the tenants `granted`. `gate` is the login's value of gate_strict.
    """

    way: str
    version: str
    former: str | None
    owner: str
    role: str
    granted: tuple[UUID, ...]
    gate: str

    @property
    def changed(self) -> bool:
        """Return whether anything was installed or updated."""
        return self.version != self.former


def install_into_database(
    conninfo: Mapping[str, Any],
    *,
    tenants: Sequence[UUID] = (),
    role: str | None = None,
    way: str | None = None,
    progress: Progress = QUIET,
) -> InstallResult:
    """Install the package's pgmnemo, or update an older version; grant `tenants` to `role` (None: the login).

    One transaction does everything but the grants, which come last. `way` is a value of METHODS, by default
    the first that the server permits. Raise DatabaseError for an obstacle, UsageError for an unknown method.
    """
    if way not in (None, *methods.METHODS):
        raise UsageError(
            f"there is no way {way!r} to install pgmnemo; choose one of: {', '.join(methods.METHODS)}"
        )
    where = f"the database at {dsn_label(conninfo)}"
    with connect(conninfo, mend="start it, or correct the DSN") as session, database_errors(where):
        session.prepare_threshold = None  # a pooler may be in between
        target = InstallTarget(session, where, default_version())
        with target.transaction():
            check_server(session, where)
            session.execute("SELECT pg_advisory_xact_lock(%s)", (LOCK,))
            before = target.catalog_row()
            how = _ensure(target, before, way, progress)
            version = target.catalog_row().version or ""
            check_release(target, version)
        with target.transaction():
            grantee = role or target.role
            _grant(target, tenants, grantee)
            return InstallResult(
                how, version, before.version, target.owner, grantee, tuple(tenants), target.fetch_value(GATE)
            )


def _ensure(target: InstallTarget, seen: CatalogRow, way: str | None, progress: Progress) -> str:
    """Install, update or keep the extension, and return the method of its installation.

    A newer patch release is kept.
    """
    version = seen.version
    if version is None:
        return _install(target, seen, way, progress)
    if release_numbers(version) < release_numbers(target.version):
        return _update(target, seen, version, progress)
    check_not_newer(version, target.where, target.version)
    return methods.installed_method(target, seen)


def _install(target: InstallTarget, seen: CatalogRow, way: str | None, progress: Progress) -> str:
    """Install the extension and return the method.

    Its owner is an ordinary role, which is subject to policies, even if a superuser installs it.
    """
    check_may_create(target, seen)
    ensure_vector(target)
    chosen = methods.choose_method(target, way)
    progress.say(f"installing pgmnemo {target.version} into {target.where} ({chosen})")
    if chosen == methods.PG_TLE:
        methods.register(target)
    if target.fetch_value(SUPERUSER):
        become_owner(target.session)
    check_schema_free(target, seen)
    if not seen.schema:
        target.execute("CREATE SCHEMA pgmnemo")
    methods.create(target, chosen)
    return chosen


def _update(target: InstallTarget, seen: CatalogRow, former: str, progress: Progress) -> str:
    """Update the extension as its owner; return the method of its installation."""
    way = methods.installed_method(target, seen)
    if way == EXTENSION and (refused := methods.files_refusal(target)):
        raise DatabaseError(refused)
    check_owner(target, former)
    progress.say(f"updating pgmnemo {former} to {target.version} in {target.where} ({way})")
    if way == methods.PG_TLE:
        methods.register(target)
    target.execute(LOCKS)
    target.execute("SET LOCAL ROLE {}", target.owner)
    methods.update(target, way, former)
    return way


def _grant(target: InstallTarget, tenants: Sequence[UUID], role: str) -> None:
    """Grant the tenants with the owner's rights.

    A login without these rights raises DatabaseError, unless the tenants are granted already.
    """
    if not tenants:
        return
    if target.fetch_value(
        "SELECT has_function_privilege('pgmnemo.grant_tenant(uuid, name, text)', 'EXECUTE')"
    ):
        _check_role(target, role)
        for tenant in tenants:
            calls.execute(target.session, calls.grant_tenant(tenant, role))
        return
    reached = {row[0] for row in target.session.execute(REACHED, {"role": role})}
    for tenant in tenants:
        if tenant not in reached:
            raise DatabaseError(
                f"role {target.role} may not grant tenants in {target.where}; have {target.owner} run "
                f"SELECT pgmnemo.grant_tenant('{tenant}', '{role}')"
            )


def _check_role(target: InstallTarget, role: str) -> None:
    if not target.fetch_value("SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = %s)", role):
        raise DatabaseError(f"there is no role {role!r} in {target.where}; have one made with CREATE ROLE")

"""Import existing data: a database with tenants as a shard, or the shards of a lost directory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg import errors, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.connections import database_errors, dsn_label
from pgmnemo.postgres.server_checks import Session, value
from pgmnemo_shards import addresses
from pgmnemo_shards.addresses import scram_verifier
from pgmnemo_shards.constants import ROUTER_ROLE
from pgmnemo_shards.installing import (
    IS_SHARD,
    NewShard,
    check_new,
    create_logins,
    install_shard,
    next_number,
    open_operator,
    register,
    shard_session,
)

TENANT_IDS = "SELECT tenant_id FROM pgmnemo.tenant_grant UNION SELECT tenant_id FROM pgmnemo.lesson"
KNOWN = "SELECT tenant_id, shard FROM directory.tenant WHERE tenant_id = ANY (%s) ORDER BY 1 LIMIT 1"
INSERT_TENANTS = "INSERT INTO directory.tenant (tenant_id, shard) SELECT unnest(%s::uuid[]), %s"
BLOCKS = """
SELECT block, max(id) FROM (SELECT id >> 40 AS block, id FROM pgmnemo.lesson
                            UNION ALL SELECT last_value >> 40, last_value FROM pgmnemo.lesson_id_seq) AS given
 GROUP BY block
"""
BLOCK = "SELECT last_value >> 40 FROM pgmnemo.lesson_id_seq"
ADVANCE_IDS = "SELECT setval('pgmnemo.lesson_id_seq', %s) FROM pgmnemo.lesson_id_seq WHERE last_value < %s"
LOGINS = """
SELECT rolname, rolpassword FROM pg_authid WHERE rolcanlogin AND NOT rolsuper AND rolname <> %s ORDER BY 1
"""
IDENTITY = "SELECT name, address, capacity FROM pgmnemo_shard.identity"
TENANTS = """
SELECT t.tenant_id, t.lessons, t.closed,
       EXISTS (SELECT FROM pgmnemo_shard.mark m WHERE m.tenant_id = t.tenant_id AND m.target = %s)
  FROM pgmnemo_shard.tenants() t
"""
INSERT_MOVE = "INSERT INTO directory.move (tenant_id, source, target, state) VALUES (%s, %s, %s, %s)"


def import_database(router: Session, new: NewShard, version: str) -> list[str]:
    """Make a database with tenants a shard, and return notes for its operator.

    The directory learns the shard, all its tenants and its logins, with their passwords, in one transaction.
    Lessons keep their ids, and no shard will assign such an id again.
    """
    check_new(router, new.name)
    with open_operator(new.conninfo) as shard, database_errors(f"the database at {dsn_label(new.conninfo)}"):
        if value(shard, "SELECT to_regclass('pgmnemo.lesson') IS NULL"):
            raise UsageError(
                f"the database at {dsn_label(new.conninfo)} has no pgmnemo; "
                "pgmnemo-shards add makes it a shard"
            )
        _check_unknown(router, new.name, _tenants(shard))
        blocks: dict[int, int] = dict(shard.execute(BLOCKS).fetchall())
        own = value(shard, BLOCK)
    highest = max(blocks)
    number = next_number(router, highest if highest == own else highest + 1)
    install_shard(new, number, version, again=True)
    notes = create_logins(router, new)
    with shard_session(new.name, new.operator) as shard:
        _reserve_ids(router, dict(shard.execute(BLOCKS).fetchall()))
        tenants, logins = _tenants(shard), shard.execute(LOGINS, (ROUTER_ROLE,)).fetchall()
        known = _register_with_tenants(router, new, number, tenants, dict(logins))
        if (made := scram_verifier(shard, new.secret)) is not None:
            for login, _ in logins:
                shard.execute(_role("ALTER ROLE {} PASSWORD {}", login, made))
    for login, _ in logins:
        router.execute("SELECT pgmnemo.create_login(%s)", (login,))  # on the other shards
    notes.append(f"the directory knows {len(tenants)} tenants of shard {new.name} now")
    if known:
        notes.append(
            f"these logins were on the router already and keep their passwords there: {', '.join(known)}"
        )
    return notes


def _tenants(shard: Session) -> list[UUID]:
    return [tenant for (tenant,) in shard.execute(TENANT_IDS).fetchall()]


def _check_unknown(router: Session, name: str, tenants: list[UUID]) -> None:
    found = router.execute(KNOWN, (tenants,)).fetchone()
    if found is not None:
        raise DatabaseError(
            f"tenant {found[0]} lies on shard {found[1]}, and the database of {name} holds it too; nothing "
            "was taken over: see which one shall have it, and delete its rows and grants on the other"
        )


def _reserve_ids(router: Session, blocks: Mapping[int, int]) -> None:
    """Advance the id sequence of each shard with ids of existing lessons in its block."""
    rows = router.execute("SELECT name, number, operator FROM directory.shard").fetchall()
    for name, number, operator in rows:
        if number in blocks:
            with shard_session(name, operator) as shard, shard.transaction():
                shard.execute("SET LOCAL lock_timeout = '10s'")
                shard.execute("LOCK TABLE pgmnemo.lesson IN SHARE MODE")  # no session draws an id meanwhile
                shard.execute(ADVANCE_IDS, (blocks[number], blocks[number]))


def _register_with_tenants(
    router: Session, new: NewShard, number: int, tenants: list[UUID], logins: Mapping[str, str | None]
) -> list[str]:
    """Register the shard, its tenants and logins in one transaction; return the existing logins."""
    try:
        with router.transaction():
            register(router, new, number)
            router.execute(INSERT_TENANTS, (tenants, new.name))
            return _make_logins(router, logins)
    except errors.UniqueViolation:
        _check_unknown(router, new.name, tenants)
        raise


def _make_logins(router: Session, logins: Mapping[str, str | None]) -> list[str]:
    known = {name for (name,) in router.execute("SELECT rolname FROM pg_roles").fetchall()}
    for login, kept in logins.items():
        if login not in known:
            router.execute(_role("CREATE ROLE {} LOGIN PASSWORD {}", login, kept))
    return sorted(known & logins.keys())


def _role(statement: str, login: str, kept: str | None) -> sql.Composed:
    return sql.SQL(statement).format(sql.Identifier(login), sql.Literal(kept))


@dataclass(frozen=True, slots=True)
class Holder:
    """A shard with rows of a tenant, and the number of its `lessons`.

    `closed` means that the shard refuses calls for the tenant, `incoming` that it is the target of an
    unfinished move.
    """

    shard: str
    lessons: int
    closed: bool
    incoming: bool

    def __str__(self) -> str:
        return f"{self.shard} ({self.lessons} lessons{', closed there' if self.closed else ''})"


def rebuild(router: Session, operators: Sequence[str], keep: Mapping[UUID, str]) -> list[str]:
    """Fill an empty directory from its shards, in one transaction; return notes for the operator.

    `keep` maps each tenant that is on two shards to the shard that serves it. `recover` deletes the rows on
    the other shard; after a move it first proves that the kept shard has all of them.
    """
    if value(router, "SELECT EXISTS (SELECT FROM directory.shard)"):
        raise UsageError("the directory names shards already; only an empty one can be rebuilt")
    found: dict[str, NewShard] = {}
    holders: dict[UUID, list[Holder]] = {}
    logins: dict[str, None] = {}
    numbers: dict[str, int] = {}
    for words in operators:
        shard, number, held, roles = _read_shard(words)
        if shard.name in found:
            raise UsageError(f"shard {shard.name} is named twice; name each shard once")
        found[shard.name], numbers[shard.name] = shard, number
        logins |= roles
        for tenant, holder in held.items():
            holders.setdefault(tenant, []).append(holder)
    placed = {tenant: _choose_shard(tenant, has, keep.get(tenant)) for tenant, has in holders.items()}
    with router.transaction():
        for name, shard in found.items():
            register(router, shard, numbers[name])
        for name in found:
            router.execute(INSERT_TENANTS, ([tenant for tenant, at in placed.items() if at == name], name))
        for tenant, has in holders.items():
            if len(has) > 1:
                kept, other = sorted(has, key=lambda holder: holder.shard != placed[tenant])
                servers = (other, kept, "switched") if kept.incoming else (kept, other, "copying")
                router.execute(INSERT_MOVE, (tenant, servers[0].shard, servers[1].shard, servers[2]))
        known = _make_logins(router, dict.fromkeys(logins))
    for tenant, at in placed.items():
        if all(holder.closed for holder in holders[tenant] if holder.shard == at):
            with shard_session(at, found[at].operator) as session:
                session.execute("DELETE FROM pgmnemo_shard.away WHERE tenant_id = %s", (tenant,))
    return _notes(found, placed, holders, sorted(logins.keys() - set(known)))


def _read_shard(words: str) -> tuple[NewShard, int, dict[UUID, Holder], dict[str, None]]:
    """Return the definition, number, tenants and logins of a shard, read from its database."""
    operator = addresses.operator_address(words, "the address of a shard")
    given = conninfo_to_dict(operator)
    where = dsn_label(given)
    with open_operator(given) as session, database_errors(f"the database at {where}"):
        if not value(session, IS_SHARD):
            raise UsageError(f"the database at {where} is no shard; pgmnemo-shards import takes it over")
        name, address, capacity = session.execute(IDENTITY).fetchall()[0]
        rows = session.execute(TENANTS, (name,)).fetchall()
        logins = dict.fromkeys(login for login, _ in session.execute(LOGINS, (ROUTER_ROLE,)).fetchall())
        number = int(value(session, BLOCK))
    if address is None:
        address = make_conninfo("", **{word: one for word, one in given.items() if word != "user"})
    held = {tenant: Holder(name, *notes) for tenant, *notes in rows}
    return NewShard(name, address, operator, capacity), number, held, logins


def _choose_shard(tenant: UUID, holders: Sequence[Holder], kept: str | None) -> str:
    """Return the shard that will serve a tenant: its only holder, or `kept`.

    Raise DatabaseError if several shards have it and `kept` is None, UsageError if `kept` does not decide.
    """
    if len(holders) == 1:
        return holders[0].shard
    names = [holder.shard for holder in holders]
    if kept is None:
        raise DatabaseError(
            f"tenant {tenant} lies on {' and on '.join(map(str, holders))}; see which one is whole, and "
            f"say so by --keep {tenant}={names[0]} (then recover deletes the others)"
        )
    if kept not in names or len(holders) > 2:
        raise UsageError(
            f"--keep {tenant}={kept} settles nothing: it lies on {' and on '.join(map(str, holders))}"
        )
    return kept


def _notes(
    found: Mapping[str, NewShard], placed: Mapping[UUID, str], holders: Mapping[UUID, list[Holder]],
    made: Sequence[str],
) -> list[str]:  # fmt: skip
    notes = [f"the directory knows {len(placed)} tenants on {len(found)} shards"]
    if made:
        notes.append(f"these logins were made anew on the router, without a password: {', '.join(made)}")
    if any(len(has) > 1 for has in holders.values()):
        notes.append("tenants are held twice still: run pgmnemo-shards recover")
    notes.append("replicas are to be named again: pgmnemo-shards replica")
    return notes

"""`mnemo doctor`: what is well and what is not, from this package to what the tenant holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgmnemo.cli.open_scope import memory_folder, open_memory, open_scope
from pgmnemo.cli.options import LOCAL, Embedder, MemoryFlags
from pgmnemo.cli.output import document, lessons, print_answer, version, wrap_sentence
from pgmnemo.client.naming import parse_name, tenant_id
from pgmnemo.errors import PgmnemoError
from pgmnemo.redaction import redact, rules, summary

if TYPE_CHECKING:
    from pgmnemo.postgres.doctor import DoctorFinding

HERE = MemoryFlags()
MARGIN = 20  # columns before a finding's sentence


def doctor(*, secrets: bool = False, where: MemoryFlags = HERE, embedder: Embedder = LOCAL) -> int:
    """Check installation, connection and grants, and say what to repair.

    The command changes nothing, except that it updates a folder of an
    older pgmnemo, as every command does. It exits with 1 if it finds a
    fault.

    Args:
        secrets: instead, look for keys, tokens and passwords in the
            tenant's lessons; each lesson with a secret is a fault
    """
    from pgmnemo.postgres.doctor import FAULT

    found = list(_secrets(where) if secrets else _findings(where, embedder))
    print_answer(where.json, found, *(line for one in found for line in _lines(one)))
    return int(any(one.state == FAULT for one in found))


def _lines(one: DoctorFinding) -> Iterator[str]:
    yield f"{one.state:<7} {one.what:<11} {wrap_sentence(one.told, MARGIN).strip()}"
    if one.mend:
        yield wrap_sentence(f"→ {one.mend}", MARGIN)


def _findings(where: MemoryFlags, embedder: str) -> Iterator[DoctorFinding]:
    from pgmnemo.client.location import resolve_location
    from pgmnemo.client.memory_embedder import memory_embedder
    from pgmnemo.postgres.doctor import FAULT, OK, DoctorFinding, diagnose, fault_finding

    made = None
    yield DoctorFinding("package", OK, version())
    try:
        made = memory_embedder(embedder)
        told = f"{made.name} ({made.model})" if made else "none: lessons are found by their words alone"
        yield DoctorFinding("embedder", OK, told)
    except PgmnemoError as error:
        yield fault_finding("embedder", error)
    try:
        with _login_parameters(where) as conninfo:
            tenant, place = parse_name(where.tenant), resolve_location(where.memory)
            folder = place if isinstance(place, Path) else None
            found = diagnose(conninfo, tenant=tenant_id(tenant), name=where.tenant, folder=folder)
            yield from found
            if not any(one.state == FAULT for one in found):
                yield _tenant_finding(where, made.name if made else None)
    except PgmnemoError as error:
        yield fault_finding("memory", error)


def _secrets(where: MemoryFlags) -> Iterator[DoctorFinding]:
    """Yield a finding for each lesson of the tenant that holds a secret: its key and the kinds."""
    from pgmnemo.postgres.doctor import FAULT, OK, DoctorFinding

    number, mend = 0, "revoke it where it was made, then store the text without it or forget it for good"
    with open_memory(where.memory, where.quiet) as opened:
        for one in opened.tenant(parse_name(where.tenant)).list(include_inactive=True):
            number += 1
            fields = (one.text, one.topic or "", document(one.metadata))
            if counted := sum((redact(field)[1] for field in fields), Counter[str]()):
                told = f"{redact(one.key)[0]} of project {one.project}: {summary(counted)}"
                yield DoctorFinding("secrets", FAULT, told, mend)
    yield DoctorFinding("secrets", OK, f"looked at {lessons(number)} of {where.tenant}, by {rules()}")


@contextmanager
def _login_parameters(where: MemoryFlags) -> Iterator[Mapping[str, Any]]:
    """Yield the login parameters of a database, or of a folder's server, which runs in the block."""
    from pgmnemo.client.location import resolve_location
    from pgmnemo.postgres.embedded import EmbeddedServer

    if isinstance(given := resolve_location(where.memory), dict):
        yield given
        return
    with open_scope(where) as here:
        here.count()
        server = EmbeddedServer.open(memory_folder(where.memory))
        try:
            yield server.conninfo
        finally:
            server.close()


def _tenant_finding(where: MemoryFlags, own: str | None) -> DoctorFinding:
    """Return a finding on the tenant: its lessons, and whether the embedder made its vectors."""
    from pgmnemo.postgres.doctor import FAULT, OK, DoctorFinding

    with open_scope(where) as here:
        held = here.stats()
    by = f"vectors are of {held.embedder} ({held.dimensions} numbers)" if held.embedder else "no vectors yet"
    told = f"{where.tenant} holds {lessons(held.everything)} in {where.project}; {by}"
    if own and held.embedder and held.embedder != own:
        mend = f"--embedder {held.embedder}, or another tenant for vectors of {own}"
        return DoctorFinding("tenant", FAULT, told, mend)
    return DoctorFinding("tenant", OK, told)

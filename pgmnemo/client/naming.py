"""Names of tenants and projects, which the database knows as uuids.

A `uuid.UUID` is unchanged. A text is a name, Unicode NFC and without blanks around it; RFC 9562's version 5
makes it a uuid: a tenant's in NAMESPACE, a project's in the uuid of its tenant. So the same names lead to the
same rows from every program, and no list of names is kept. A text in the form of a uuid is also a name: a
user name that a program passes on cannot address another user's tenant.
"""

from __future__ import annotations

import re
from unicodedata import normalize
from uuid import UUID, uuid5

from pgmnemo.errors import UsageError

NAMESPACE = UUID("3c2f5ee1-5d0c-5c5f-9a1f-6a3b6e1d7c55")
LONGEST = 1000  # characters of a name
UUIDS = re.compile(r"[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}", re.ASCII | re.IGNORECASE)


def tenant_id(name: str | UUID) -> UUID:
    """Return the uuid of a tenant; raise UsageError for an invalid name."""
    return _name_uuid(NAMESPACE, name, "tenant")


def project_id(tenant: UUID, name: str | UUID) -> UUID:
    """Return the uuid of a project of a tenant; raise UsageError for an invalid name."""
    return _name_uuid(tenant, name, "project")


def parse_name(text: str) -> str | UUID:
    """Return a tenant or project from the command line: a uuid from its text form, other texts as a name."""
    return UUID(text) if UUIDS.fullmatch(text) else text


def nfc(name: str) -> str:
    """Return a name in Unicode's composed form (NFC), in which the extension keeps keys, topics and roles."""
    return normalize("NFC", name)


def _name_uuid(space: UUID, name: object, kind: str) -> UUID:
    if isinstance(name, UUID):
        return name
    if not isinstance(name, str) or not (told := nfc(name).strip()) or len(told) > LONGEST:
        raise UsageError(
            f"a {kind} is named by a text of 1 to {LONGEST:,} characters or a uuid.UUID, not "
            f"{_short_repr(name)}"
        )
    if "\0" in told or any("\ud800" <= one <= "\udfff" for one in told):
        raise UsageError(
            f"the {kind} {_short_repr(name)} has a character that no database takes; name another"
        )
    return uuid5(space, told)


def _short_repr(name: object) -> str:
    told = repr(name)
    return told if len(told) <= 40 else f"{told[:40]}…"

"""Create, list and revoke the tokens of tenants, in one file that contains only their hashes.

A token is `mnemo_`, its id and 256 random bits. The file contains the SHA-256 of the token. A fast hash is
enough: 256 random bits cannot be guessed; slow hashes are for passwords, which people choose. A token is
found by its id, which is not secret, and its hash is compared in constant time.
"""

from __future__ import annotations

import fcntl
import hmac
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, Literal, Self
from uuid import UUID

import msgspec

from pgmnemo.client.naming import parse_name, project_id, tenant_id
from pgmnemo.errors import GrantError, PgmnemoError, UsageError, os_errors
from pgmnemo.http.json_types import TIME
from pgmnemo.http.ownership import check_ownership

PREFIX = "mnemo_"
SECRET = 32  # bytes
NO_HASH = "0" * 64  # no token has this hash


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """The owner of a token: a tenant, or one `project` of a tenant.

    access: `write`, or `read` for the verbs that change nothing.
    others, other_ids: tenants that a recall spans, too, given as names or as uuids.

    `tenant_id` and `project_id` are set if they were given as uuids, not as names.
    """

    id: str
    tenant: str
    project: str | None = None
    name: str = ""
    made_at: TIME
    tenant_id: UUID | None = None
    project_id: UUID | None = None
    access: Literal["read", "write"] = "write"
    others: tuple[str, ...] = ()
    other_ids: tuple[UUID, ...] = ()

    @classmethod
    def of(
        cls, tenant: str | UUID, project: str | UUID | None = None, *, others: Sequence[str | UUID] = (),
        **more: Any,
    ) -> Self:  # fmt: skip
        """Return a new principal with `more` fields; raise UsageError for an invalid tenant or project."""
        whose = tenant_id(tenant)
        if project is not None:
            project_id(whose, project)
        for other in others:
            tenant_id(other)
        return cls(
            tenant=str(tenant), project=None if project is None else str(project), made_at=datetime.now(UTC),
            tenant_id=tenant if isinstance(tenant, UUID) else None,
            project_id=project if isinstance(project, UUID) else None,
            others=tuple(one for one in others if isinstance(one, str)),
            other_ids=tuple(one for one in others if isinstance(one, UUID)), **more,
        )  # fmt: skip

    def scope(self, memory: Any, project: str | None = None) -> Any:
        """Return the scope of a Memory or AsyncMemory that the principal can access.

        It is all of a tenant, or a project of it, given by its name or uuid. Raise GrantError for another
        project than the token's, UsageError for an invalid name.
        """
        whole = memory.tenant(self.tenant_id or self.tenant).with_(*self.others, *self.other_ids)
        own = None if self.project is None else whole.project(self.project_id or self.project)
        asked = None if project is None else whole.project(parse_name(project))
        if own and asked and own.project_id != asked.project_id:
            raise GrantError(f"this token is for the project {self.project!r} alone; leave project out")
        return own or asked or whole

    def check_access(self, *, reads: bool) -> None:
        """Raise GrantError if the verb does not only read, and the principal may."""
        if self.access == "read" and not reads:
            raise GrantError("this token may only read; whoever runs the server makes one that may write")


class _StoredToken(Principal, frozen=True, kw_only=True):
    sha256: str

    @property
    def principal(self) -> Principal:
        given = {name: getattr(self, name) for name in Principal.__struct_fields__}
        return Principal(**given)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tokens: tuple[_StoredToken, ...] = ()


class TokenFile:
    """The tokens of a file, which is read again after a change. A missing file has no tokens."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._seen: tuple[int, ...] | None = None
        self._kept: dict[str, _StoredToken] = {}

    def create(
        self, tenant: str | UUID, project: str | UUID | None = None, name: str = "",
        access: Literal["read", "write"] = "write", others: Sequence[str | UUID] = (),
    ) -> str:  # fmt: skip
        """Return a new token for a tenant, or for one of its projects; it cannot be shown again.

        With `access` read it serves the verbs that change nothing; a recall spans the tenants `others`, too.

        A tenant may have several tokens, so that a new token can be distributed before the old token is
        revoked. Raise UsageError for an invalid tenant or project.
        """
        number = secrets.token_hex(8)
        token = f"{PREFIX}{number}_{secrets.token_urlsafe(SECRET)}"
        made = _StoredToken.of(
            tenant, project, others=others, access=access, id=number, name=name, sha256=_token_hash(token)
        )
        with self._write_locked() as kept:
            kept[number] = made
        return token

    def revoke(self, id: str) -> bool:
        """Revoke the token with an id, effective at once; return whether it existed."""
        with self._write_locked() as kept:
            return kept.pop(id, None) is not None

    def principals(self) -> list[Principal]:
        """Return the principals of all tokens, oldest first."""
        return sorted((one.principal for one in self._read().values()), key=lambda one: one.made_at)

    def principal(self, token: str) -> Principal | None:
        """Return the principal of a token; None for an unknown or revoked token."""
        number = token.removeprefix(PREFIX).partition("_")[0]
        kept = self._read().get(number)
        same = hmac.compare_digest(_token_hash(token), kept.sha256 if kept else NO_HASH)
        return kept.principal if kept and same else None

    async def verify(self, token: str) -> Principal | None:
        """Return the principal of a token; None for an unknown or revoked token."""
        return self.principal(token)

    def is_revoked(self, token: str) -> bool:
        """Return whether a token that was accepted is no longer valid."""
        try:
            return self.principal(token) is None
        except PgmnemoError:
            return True

    @property
    def challenge(self) -> str:
        """Further parameters of a 401 answer: none."""
        return ""

    def _read(self) -> dict[str, _StoredToken]:
        with os_errors(f"{self.path} cannot be read ({{why}}); name a file of tokens", UsageError):
            try:
                state = self.path.stat()
            except FileNotFoundError:
                self._seen, self._kept = None, {}
                return self._kept
            seen = (state.st_mtime_ns, state.st_ino, state.st_size)
            if not self.path.is_file():
                raise UsageError(f"{self.path} is no file; name a file of tokens")
            if seen != self._seen:
                check_ownership(self.path)
                self._kept = _read_file(self.path)
                self._seen = seen
        return self._kept

    @contextmanager
    def _write_locked(self) -> Iterator[dict[str, _StoredToken]]:
        """Yield the tokens to change, one process at a time; readers see a complete change or none."""
        with os_errors(f"{self.path} cannot be written ({{why}}); name another file", UsageError):
            home = Path(os.path.realpath(self.path))  # the target of a link: readers follow it
            folder = os.open(home.parent, os.O_RDONLY)
            try:
                check_ownership(self.path)
                fcntl.flock(folder, fcntl.LOCK_EX)
                kept = dict(self._read())
                yield kept
                _write(home, kept)
            finally:
                os.close(folder)


def _write(home: Path, kept: dict[str, _StoredToken]) -> None:
    told = msgspec.json.format(msgspec.json.encode(_File(tuple(kept.values()))), indent=1)
    with NamedTemporaryFile(dir=home.parent, prefix=f".{home.name}.", delete=False) as file:
        try:
            file.write(told + b"\n")  # the file's mode is 0600
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).replace(home)
        except BaseException:
            Path(file.name).unlink(missing_ok=True)
            raise


def _token_hash(token: str) -> str:
    return sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def _read_file(path: Path) -> dict[str, _StoredToken]:
    try:
        return {one.id: one for one in msgspec.json.decode(path.read_bytes(), type=_File).tokens}
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise UsageError(f"{path} is no file of tokens ({error}); make one by mnemo token make") from None

"""Access tokens of an OAuth 2.1 authorization server: verified, and mapped to a tenant.

    tokens = OAuthTokens.discover("https://login.example.org", "https://memory.example.org/mcp")

The server is a resource server as MCP's specification wants it: it issues no token and registers no client. A
token is a JSON Web Token (RFC 9068) that is signed with a key of the issuer and names this server as its
audience (RFC 8707). Its subject is the tenant; the scope `memory.write` allows everything, `memory.read` what
changes nothing. The issuer's metadata (RFC 8414, OpenID Connect) say where its keys are.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Self
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import jwt

from pgmnemo.errors import UsageError
from pgmnemo.http.error_response import ErrorResponse, RequestError
from pgmnemo.http.tokens import Principal
from pgmnemo.integrations.scopes import exact_name

READ, WRITE = "memory.read", "memory.write"
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
REQUIRED = ("exp", "iss", "aud", "sub")
LEEWAY = 30  # seconds by which clocks may differ
REFRESH_INTERVAL = 30.0  # least seconds between two downloads of the keys
TIMEOUT = 5.0  # seconds of a download
MAX_BYTES = 1 << 20
LOOPBACK = ("localhost", "127.0.0.1", "::1")
NO_SCOPE = ErrorResponse(
    403, "refused", f"this token has neither the scope {READ} nor {WRITE}; ask for one of them",
    {"www-authenticate": f'Bearer realm="mnemo", error="insufficient_scope", scope="{READ} {WRITE}"'},
)  # fmt: skip


def download_json(url: str) -> dict[str, Any]:
    """Return the JSON object at a URL; raise UsageError with the URL if it returns no object."""
    try:
        with urlopen(Request(url, headers={"accept": "application/json"}), timeout=TIMEOUT) as answer:
            found = json.loads(answer.read(MAX_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"{url} cannot be read ({error}); name the issuer as its tokens do") from None
    if not isinstance(found, dict):
        raise UsageError(f"{url} holds no JSON object; name the issuer as its tokens do")
    return found


def check_url(option: str, url: str) -> None:
    """Raise UsageError unless a URL is https, or http on this machine."""
    parts = urlsplit(url)
    secure = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)
    if not secure or not parts.hostname or parts.query or parts.fragment:
        raise UsageError(f"{option} is {url!r}, but must be an https URL without query and fragment")


def issuer_metadata(issuer: str) -> dict[str, Any]:
    """Return an issuer's metadata; raise UsageError if they are not found or of another issuer."""
    parts = urlsplit(issuer)
    path, host = parts.path.rstrip("/"), f"{parts.scheme}://{parts.netloc}"
    with suppress(UsageError):
        return _own_metadata(issuer, f"{host}/.well-known/oauth-authorization-server{path}")
    return _own_metadata(issuer, f"{issuer.rstrip('/')}/.well-known/openid-configuration")


def _own_metadata(issuer: str, url: str) -> dict[str, Any]:
    found = download_json(url)
    if str(found.get("issuer")).rstrip("/") != issuer.rstrip("/") or not isinstance(
        found.get("jwks_uri"), str
    ):
        raise UsageError(
            f"{url} is not of the issuer {issuer}, or names no jwks_uri; name the issuer exactly"
        )
    return found


@dataclass
class OAuthTokens:
    """The tokens of one issuer for one resource, with the issuer's public keys by their id."""

    issuer: str
    resource: str
    jwks_url: str
    keys: Mapping[str | None, Any]
    _read_at: float = field(default_factory=time.monotonic)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock)

    @classmethod
    def discover(cls, issuer: str, resource: str) -> Self:
        """Return the tokens of an issuer, after reading its metadata and keys; raise UsageError."""
        check_url("--issuer", issuer)
        check_url("--resource", resource)
        metadata = issuer_metadata(issuer)
        check_url("jwks_uri", metadata["jwks_uri"])
        keys = read_keys(metadata["jwks_uri"])
        return cls(str(metadata["issuer"]), resource, metadata["jwks_uri"], keys)

    @property
    def challenge(self) -> str:
        """The parameter of a 401 answer that leads a client to the issuer (RFC 9728)."""
        parts = urlsplit(self.resource)
        place = f"{parts.scheme}://{parts.netloc}{self.metadata_path}"
        return f', resource_metadata="{place}"'

    @property
    def metadata_path(self) -> str:
        """The path of this resource's metadata."""
        return "/.well-known/oauth-protected-resource" + urlsplit(self.resource).path.rstrip("/")

    @property
    def metadata(self) -> dict[str, Any]:
        """This resource's metadata; clients compare the issuer letter by letter."""
        return {
            "resource": self.resource, "authorization_servers": [self.issuer], "resource_name": "pgmnemo",
            "scopes_supported": [READ, WRITE], "bearer_methods_supported": ["header"],
        }  # fmt: skip

    async def verify(self, token: str) -> Principal | None:
        """Return the principal of a token, None if the token is not valid here.

        Raise RequestError for a valid token without a scope of the memory.
        """
        try:
            head = jwt.get_unverified_header(token)
            if head.get("alg") not in ALGORITHMS:
                return None
            key = await self._key(head.get("kid"))
            claims = key and jwt.decode(
                token, key, algorithms=[key.algorithm_name], audience=self.resource, issuer=self.issuer,
                leeway=LEEWAY, options={"require": list(REQUIRED)},
            )  # fmt: skip
        except (jwt.PyJWTError, ValueError, RecursionError):
            return None
        return _principal(claims) if claims else None

    def is_revoked(self, token: str) -> bool:
        """Return False: a signed token is valid until it expires."""
        return False

    async def _key(self, number: str | None) -> Any:
        """Return a key by its id; if it is unknown, read the issuer's keys again, but not too often."""
        if number not in self.keys:
            async with self._reading:
                if number not in self.keys and time.monotonic() >= self._read_at + REFRESH_INTERVAL:
                    self._read_at = time.monotonic()
                    with suppress(UsageError):
                        self.keys = await asyncio.to_thread(read_keys, self.jwks_url)
        return self.keys.get(number)


def read_keys(url: str) -> dict[str | None, Any]:
    """Return the keys at a URL that verify a signature by one of ALGORITHMS, by their id."""
    found = {}
    for one in download_json(url).get("keys") or ():
        with suppress(jwt.PyJWTError, ValueError, TypeError, AttributeError):  # a key of another kind
            key = jwt.PyJWK(one)
            if key.algorithm_name in ALGORITHMS and one.get("use", "sig") == "sig":
                found[one.get("kid")] = key
    if not found:
        raise UsageError(f"{url} holds no key for signatures; name the issuer as its tokens do")
    return found


def _principal(claims: Mapping[str, Any]) -> Principal:
    told = claims.get("scope", claims.get("scp", ""))  # scp: Entra ID, Okta
    scopes = told.split() if isinstance(told, str) else told if isinstance(told, list) else []
    if READ not in scopes and WRITE not in scopes:
        raise RequestError(NO_SCOPE)
    subject = str(claims["sub"])
    return Principal(
        id=sha256(subject.encode()).hexdigest()[:16], tenant=exact_name(subject), made_at=datetime.now(UTC),
        access="write" if WRITE in scopes else "read",
    )  # fmt: skip

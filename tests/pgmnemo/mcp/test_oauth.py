"""OAuth: the SDK's own authorization server and client, and tokens that are not good enough."""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.server.auth.provider import AuthorizationCode, AuthorizationParams, construct_redirect_uri
from mcp.server.auth.routes import create_auth_routes
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyHttpUrl, AnyUrl
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

from pgmnemo.errors import UsageError
from pgmnemo.http import oauth
from pgmnemo.http.oauth import OAuthTokens
from pgmnemo.mcp.http import build_app
from pgmnemo.mcp.server import memory_server
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.mcp.asking import opening, serving, told
from tests.pgmnemo.mcp.test_http import LIST, post

RESOURCE = "http://127.0.0.1/mcp"
CALLBACK = "http://localhost:1/callback"
KEYS = {"one": rsa.generate_private_key(65537, 2048), "two": ec.generate_private_key(ec.SECP256R1())}
ALGORITHM = {"one": "RS256", "two": "ES256"}


def public_keys(*names: str) -> dict[str, Any]:
    made = []
    for name in names:
        kind = jwt.algorithms.RSAAlgorithm if name == "one" else jwt.algorithms.ECAlgorithm
        told = kind.to_jwk(KEYS[name].public_key(), as_dict=True)  # type: ignore[attr-defined]
        made.append({**told, "kid": name, "use": "sig", "alg": ALGORITHM[name]})
    return {"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}, *made]}


def signed(issuer: str, subject: str, key: str = "one", **claims: Any) -> str:
    now = int(time.time())
    given = {"iss": issuer, "sub": subject, "aud": RESOURCE, "iat": now, "exp": now + 300}
    given |= {"scope": "memory.read memory.write"} | claims
    told = {name: value for name, value in given.items() if value is not None}
    return jwt.encode(told, KEYS[key], ALGORITHM[key], headers={"kid": key})


class Issuer:
    """The provider of the SDK's authorization server: one client, one user, tokens that are signed."""

    def __init__(self) -> None:
        self.url, self.user, self.published = "", "", ["one"]
        self.client = OAuthClientInformationFull(
            client_id="agent", token_endpoint_auth_method="none", redirect_uris=[AnyUrl(CALLBACK)],
            scope="memory.read memory.write",
        )  # fmt: skip
        self.codes: dict[str, AuthorizationCode] = {}

    async def get_client(self, number: str) -> OAuthClientInformationFull | None:
        return self.client if number == "agent" else None

    async def authorize(self, client: OAuthClientInformationFull, params: AuthorizationParams) -> str:
        code = secrets.token_urlsafe(24)
        self.codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or [], expires_at=time.time() + 60, client_id="agent",
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True, resource=params.resource, subject=self.user,
        )  # fmt: skip
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client: Any, code: str) -> AuthorizationCode | None:
        return self.codes.get(code)

    async def exchange_authorization_code(self, client: Any, code: AuthorizationCode) -> OAuthToken:
        del self.codes[code.code]
        token = signed(self.url, self.user, aud=code.resource, scope=" ".join(code.scopes))
        return OAuthToken(access_token=token, scope=" ".join(code.scopes))

    async def load_access_token(self, token: str) -> None:
        return None

    def app(self, url: str) -> Starlette:
        self.url = url
        routes = create_auth_routes(self, AnyHttpUrl(url))  # type: ignore[arg-type]

        async def keys(request: Any) -> JSONResponse:
            return JSONResponse(public_keys(*self.published))

        async def metadata(request: Any) -> JSONResponse:
            own = {
                "issuer": url,
                "authorization_endpoint": f"{url}/authorize",
                "token_endpoint": f"{url}/token",
            }
            own |= {"jwks_uri": f"{url}/keys", "code_challenge_methods_supported": ["S256"]}
            return JSONResponse(own | {"response_types_supported": ["code"]})

        known = "/.well-known/oauth-authorization-server"
        return Starlette(routes=[Route("/keys", keys), Route(known, metadata), *routes])


class Storage:
    """What a client keeps: its registration, made by hand, and its tokens."""

    def __init__(self, client: OAuthClientInformationFull) -> None:
        self.client, self.tokens = client, None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull:
        return self.client

    async def set_client_info(self, client: Any) -> None:
        raise AssertionError("dynamic registration is off")


class Late:
    """An application that is made once the address is known at which it is served."""

    def __init__(self) -> None:
        self.app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})


@asynccontextmanager
async def issuing() -> AsyncIterator[Issuer]:
    issuer, late = Issuer(), Late()
    async with serving(late) as url:
        late.app = issuer.app(url.removesuffix("/mcp"))
        yield issuer


async def discovered(issuer: Issuer, resource: str = RESOURCE) -> OAuthTokens:
    return await asyncio.to_thread(OAuthTokens.discover, issuer.url, resource)


@asynccontextmanager
async def served(place: Place, tokens: OAuthTokens) -> AsyncIterator[str]:
    """The URL of a server, which is the tokens' resource from now on."""
    made, late = opening(place), Late()
    async with serving(late) as url:
        tokens.resource = url
        async with build_app(memory_server(made), made, tokens) as late.app:
            yield url


def login(issuer: Issuer, url: str) -> OAuthClientProvider:
    """The SDK's client: it finds the issuer by the server's 401, and authorizes with PKCE."""
    landed: dict[str, list[str]] = {}

    async def visit(there: str) -> None:
        async with httpx2.AsyncClient() as http:
            answer = await http.get(there, follow_redirects=False)
        landed.update(parse_qs(urlsplit(answer.headers["location"]).query))

    async def callback() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(code=landed["code"][0], state=landed["state"][0])

    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], token_endpoint_auth_method="none")
    return OAuthClientProvider(url, metadata, Storage(issuer.client), visit, callback)


async def test_the_sdks_client_logs_in_and_reaches_its_users_memory(place: Place) -> None:
    async with issuing() as issuer:
        issuer.user = name = place.tenant()
        tokens = await discovered(issuer)
        async with served(place, tokens) as url:
            async with (
                httpx2.AsyncClient(auth=login(issuer, url), timeout=60) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                await told(client, "remember", text="The port is 8443.", key="k")
                found = await told(client, "recall", query="Which port?")
                assert [one["key"] for one in found["memories"]] == ["k"]
            other = signed(issuer.url, f"{name}'s neighbour", aud=url)
            assert "8443" not in (await post(url, CALL_RECALL, other)).text


CALL_RECALL = {
    **LIST, "method": "tools/call", "params": {"name": "recall", "arguments": {"query": "Which port?"}},
}  # fmt: skip


def forged(issuer: str) -> dict[str, Callable[[], str]]:
    """Tokens that are not good enough, each by what is wrong with it."""
    now, public = int(time.time()), KEYS["one"].public_key()
    pem = public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    claims = {"iss": issuer, "sub": "ada", "aud": RESOURCE, "exp": now + 300, "scope": "memory.write"}
    head = {"kid": "one"}
    return {
        "another audience": lambda: signed(issuer, "ada", aud="https://elsewhere.example/mcp"),
        "no audience": lambda: signed(issuer, "ada", aud=None),
        "another issuer": lambda: signed("https://elsewhere.example", "ada"),
        "expired": lambda: signed(issuer, "ada", exp=now - 60),
        "no end": lambda: signed(issuer, "ada", exp=None),
        "not yet": lambda: signed(issuer, "ada", nbf=now + 600),
        "no subject": lambda: signed(issuer, None),  # type: ignore[arg-type]
        "another's key": lambda: jwt.encode(
            claims, rsa.generate_private_key(65537, 2048), "RS256", headers=head
        ),
        "unsigned": lambda: jwt.encode(claims, None, "none", headers=head),
        "the public key as a secret": lambda: _hmac(claims, pem, head),
        "the shared key": lambda: jwt.encode(claims, b"secret" * 8, "HS256", headers={"kid": "shared"}),
        "an unknown key": lambda: signed(issuer, "ada", key="two"),
        "no token": lambda: "x.y.z",
    }


def _hmac(claims: dict[str, Any], secret: bytes, head: dict[str, str]) -> str:
    import hmac
    from base64 import urlsafe_b64encode
    from hashlib import sha256

    parts = [{"alg": "HS256", "typ": "JWT", **head}, claims]
    body = b".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mark = urlsafe_b64encode(hmac.digest(secret, body, sha256)).rstrip(b"=")
    return (body + b"." + mark).decode()


async def test_no_forged_token_is_taken(place: Place) -> None:
    async with issuing() as issuer:
        tokens = await discovered(issuer)
        for what, make in forged(issuer.url).items():
            assert await tokens.verify(make()) is None, what
        found = await tokens.verify(signed(issuer.url, " ada"))
        assert found is not None
        assert (found.tenant, found.access) == ('" ada"', "write")  # another tenant than that of "ada"


async def test_scopes_say_read_or_write(place: Place) -> None:
    async with issuing() as issuer:
        tokens = await discovered(issuer)
        for given, access in (
            ({"scope": "openid memory.read"}, "read"), ({"scope": None, "scp": ["memory.read"]}, "read"),
            ({"scope": "memory.write"}, "write"),
        ):  # fmt: skip
            found = await tokens.verify(signed(issuer.url, "ada", **given))
            assert found is not None
            assert found.access == access
        async with served(place, tokens) as url:
            answer = await post(url, LIST, signed(issuer.url, "ada", aud=url, scope="openid"))
            assert (answer.status_code, "memory.read" in answer.text) == (403, True)
            assert 'error="insufficient_scope"' in answer.headers["www-authenticate"]


async def test_a_new_key_of_the_issuer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    async with issuing() as issuer:
        tokens = await discovered(issuer)
        token = signed(issuer.url, "ada", key="two")
        issuer.published.append("two")
        assert await tokens.verify(token) is None  # the keys were read a moment ago
        monkeypatch.setattr(oauth, "REFRESH_INTERVAL", 0.0)
        assert await tokens.verify(token) is not None


async def test_who_has_no_token_is_led_to_the_issuer(place: Place) -> None:
    async with issuing() as issuer:
        tokens = await discovered(issuer)
        async with served(place, tokens) as url:
            answer = await post(url, LIST)
            assert answer.status_code == 401
            told_of = answer.headers["www-authenticate"].split('resource_metadata="')[1].rstrip('"')
            async with httpx2.AsyncClient() as http:
                metadata = (await http.get(told_of)).json()
            assert metadata["resource"] == url
            assert [one.rstrip("/") for one in metadata["authorization_servers"]] == [issuer.url]
            assert metadata["scopes_supported"] == ["memory.read", "memory.write"]


@pytest.mark.parametrize(
    ("issuer", "resource", "said"),
    [
        ("http://login.example.org", RESOURCE, "must be an https URL"),
        ("https://127.0.0.1:1", "http://memory.example.org/mcp", "--resource"),
        ("https://127.0.0.1:1", RESOURCE, "cannot be read"),
        ("login", RESOURCE, "must be an https URL"),
    ],
)
def test_an_issuer_that_cannot_be_meant_is_told(
    issuer: str, resource: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said):
        OAuthTokens.discover(issuer, resource)

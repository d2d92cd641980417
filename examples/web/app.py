"""A backend of many tenants: logins, notes, and a memory of each tenant, in one database.

Row-level security keeps tenants apart, in the table of this program as in the memory's. A note and what is
remembered of it are stored in one transaction. Where DSN leads may be PgBouncer.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import scrypt, sha256
from pathlib import Path

from psycopg import Connection, Error, connect, sql
from psycopg_pool import AsyncConnectionPool
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from pgmnemo import AsyncMemory
from pgmnemo.client.naming import tenant_id
from pgmnemo.embedders import EMBEDDERS, EmbedderOptions
from pgmnemo.errors import UsageError

ROLE, LONGEST, POST = os.environ.get("ROLE", "web"), 10_000, ["POST"]
EMBEDDER = EMBEDDERS["minilm-int8"](EmbedderOptions())


def add_user(owner: Connection, name: str, tenant: str, password: str) -> None:
    """Let somebody in, and the backend's role work for the tenant."""
    tables, salt = Path(__file__).with_name("tables.sql").read_text(), secrets.token_bytes(16)
    owner.execute(sql.SQL(tables).format(role=sql.Identifier(ROLE)))
    owner.execute("SELECT pgmnemo.grant_tenant(%s, %s)", (tenant_id(tenant), ROLE))
    owner.execute("INSERT INTO login VALUES (%s, %s, %s, %s)", (name, tenant, salt, hashed(password, salt)))


def hashed(password: str, salt: bytes) -> bytes:
    return scrypt(password.encode(), salt=salt, n=2**14, r=8, p=1)


async def login(request: Request) -> JSONResponse:
    given, pool = await body(request, "name", "password"), request.app.state.pool
    query = "SELECT tenant, salt, hash FROM login WHERE name = %s"
    async with pool.connection() as connection:
        found = await (await connection.execute(query, [given["name"]])).fetchone()
    tenant, salt, kept = found or ("", b"", b"")  # a name that nobody has takes as long as another
    if not secrets.compare_digest(await asyncio.to_thread(hashed, given["password"], salt), kept):
        raise HTTPException(401, "no such name and password")
    token = secrets.token_urlsafe(32)
    async with pool.connection() as connection:
        query = "INSERT INTO session VALUES (%s, %s, now() + interval '1 day')"
        await connection.execute(query, [sha256(token.encode()).digest(), tenant])
    return JSONResponse({"token": token})


async def add(request: Request) -> JSONResponse:
    tenant, given = await tenant_of(request), await body(request, "text")
    async with request.app.state.pool.connection() as connection:  # one transaction
        await connection.execute("SELECT set_config('app.tenant', %s, true)", [tenant])
        query = "INSERT INTO note (text) VALUES (%s) RETURNING id"
        (number,) = await (await connection.execute(query, [given["text"]])).fetchone()
        memory = await AsyncMemory.open(connection, embedder=EMBEDDER)
        await memory.tenant(tenant).project("notes").add(given["text"], key=f"note/{number}")
    return JSONResponse({"id": number}, 201)


async def notes(request: Request) -> JSONResponse:
    tenant, query = await tenant_of(request), request.query_params.get("q")
    if query:
        hits = await request.app.state.memory.tenant(tenant).project("notes").recall(query[:LONGEST], k=5)
        return JSONResponse([{"key": hit.key, "text": hit.text, "score": hit.score} for hit in hits])
    async with request.app.state.pool.connection() as connection:
        await connection.execute("SELECT set_config('app.tenant', %s, true)", [tenant])
        found = await connection.execute("SELECT id, text FROM note ORDER BY id DESC LIMIT 50")
        return JSONResponse([{"key": f"note/{key}", "text": text} for key, text in await found.fetchall()])


async def tenant_of(request: Request) -> str:
    token = request.headers.get("authorization", "").removeprefix("Bearer ")
    query = "SELECT tenant FROM session WHERE hash = %s AND until > now()"
    async with request.app.state.pool.connection() as connection:
        found = await (await connection.execute(query, [sha256(token.encode()).digest()])).fetchone()
    if found is None:
        raise HTTPException(401, "log in first", {"WWW-Authenticate": "Bearer"})
    return str(found[0])


async def body(request: Request, *names: str) -> dict[str, str]:
    try:
        given = await request.json()
        told = {name: given[name].encode().decode() for name in names}
    except (ValueError, LookupError, TypeError, AttributeError):
        raise HTTPException(400, f"give an object of JSON with {', '.join(names)}") from None
    if any(not text.strip() or "\0" in text or len(text) > LONGEST for text in told.values()):
        raise HTTPException(400, f"a text has 1 to {LONGEST:,} characters, and none is NUL")
    return told


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    given = {"prepare_threshold": None}  # behind PgBouncer each transaction may meet another process
    async with AsyncConnectionPool(os.environ["DSN"], kwargs=given, open=False) as app.state.pool:
        app.state.memory = await AsyncMemory.open(app.state.pool, embedder=EMBEDDER)
        yield


ROUTES = [Route("/login", login, methods=POST), Route("/add", add, methods=POST), Route("/notes", notes)]
REFUSED = {UsageError: lambda _, error: JSONResponse({"error": str(error)}, 400)}
app = Starlette(routes=ROUTES, lifespan=lifespan, exception_handlers=REFUSED)

if __name__ == "__main__":
    if len(sys.argv) != 3 or "OWNER_DSN" not in os.environ:
        sys.exit("OWNER_DSN=… python app.py NAME TENANT, with the password on standard input")
    try:
        with connect(os.environ["OWNER_DSN"]) as owner:
            add_user(owner, sys.argv[1], sys.argv[2], sys.stdin.readline().strip())
    except (Error, UsageError) as error:
        sys.exit(f"app.py: {error}")

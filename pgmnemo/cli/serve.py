"""Commands that serve a memory over HTTP, and make the tokens for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from pgmnemo.cli.open_scope import check_has_memory
from pgmnemo.cli.options import LOCAL, Embedder, Json, Others, Quiet
from pgmnemo.cli.output import day, join_parts, one_line, print_answer, print_note
from pgmnemo.client.naming import parse_name
from pgmnemo.client.records import to_builtins
from pgmnemo.errors import MissingError, PgmnemoError, UsageError

if TYPE_CHECKING:
    from pgmnemo import AsyncMemory
    from pgmnemo.http.auth import Limits
    from pgmnemo.http.tokens import Principal, TokenFile

PORT = 7437
BENCHMARK = "benchmark"
MAINTENANCE_PAUSE = 60.0  # seconds
MAINTENANCE_VECTORS = 100_000  # at most, in the five seconds that a call takes of a tenant
File = Annotated[str | None, Parameter(metavar="FILE")]


def serve(
    memory: str | None = None, *, tokens: File = None, tenant: str | None = None, host: str = "127.0.0.1",
    port: int = PORT, body: int = 1 << 20, seconds: float = 30.0, rate: float = 100.0, concurrent: int = 256,
    benchmark: bool = False, min_fit: float | None = None, embedder: Embedder = LOCAL,
) -> None:  # fmt: skip
    """Serve a memory over HTTP, until it is stopped (Ctrl-C, SIGTERM).

    Each request needs a token, which names the tenant. Without --tokens
    only this machine is served, and every request works for --tenant.
    Requests are POST /v1/recall and so on; /openapi.json describes them.
    Each request is logged on standard error as a line of JSON, without
    its texts.

    Args:
        memory: a folder or DSN; else what PGMNEMO_MEMORY names, else the
            folder pgmnemo/memory among your data
        tokens: the file that `mnemo token make` writes; read again when
            it changes
        tenant: name or uuid of the tenant, without --tokens
        host: the address to listen on
        port: the port; 0: a free one
        body: maximum number of bytes of a request
        seconds: timeout until an answer begins, and between its parts
        rate: requests per second of a token, on average
        concurrent: maximum number of requests at once
        benchmark: serve only the routes of benchmarks' wrappers (POST
            /add, POST /search, …)
        min_fit: with --benchmark, find no lesson with a smaller fit, 0 to 1
    """
    from pgmnemo.models.runtime import demand

    demand("starlette", "mnemo serve", "serve")
    demand("uvicorn", "mnemo serve", "serve")
    from pgmnemo.http.auth import Limits

    if not all(0 < one < float("inf") for one in (body, seconds, rate, concurrent)):
        raise UsageError("--body, --seconds, --rate and --concurrent are more than 0, and finite")
    if benchmark and tokens:
        raise UsageError("--benchmark is for this machine alone, and takes no --tokens")
    if min_fit is not None and not benchmark:
        raise UsageError("--min-fit belongs to --benchmark; else each request names its own min_fit")
    if (tokens is None) == (tenant is None) and not benchmark:
        raise UsageError(
            "give --tokens FILE (mnemo token make makes one), or for this machine alone --tenant NAME"
        )
    known = token_file(host, tokens)
    principal = single_principal(tenant or BENCHMARK) if known is None else None
    limits = Limits(body, seconds, rate, concurrent)
    asyncio.run(_serve(memory, embedder, host, port, limits, known, principal, benchmark, min_fit))


async def _serve(
    place: str | None, embedder: str, host: str, port: int, limits: Limits, tokens: Any,
    principal: Principal | None, benchmark: bool, min_fit: float | None,
) -> None:  # fmt: skip
    from pgmnemo import AsyncMemory
    from pgmnemo.http.auth import AuthMiddleware
    from pgmnemo.http.logs import RequestLogMiddleware
    from pgmnemo.http.server import serve

    async with await AsyncMemory.open(check_has_memory(place), embedder=embedder) as memory:
        app = _application(memory, benchmark, min_fit, tokens is not None)
        guarded = AuthMiddleware(app, tokens, limits, principal=principal)
        paths = [route.path for route in app.routes]
        tasks = [asyncio.create_task(memory._warm()), asyncio.create_task(_maintain(memory))]
        try:
            await serve(RequestLogMiddleware(guarded, paths), host, port, limits.seconds)
        finally:
            for task in tasks:
                task.cancel()


async def _maintain(memory: AsyncMemory) -> None:
    """Maintain a folder every minute, as a scheduler maintains a database; requests do not wait for it."""
    if memory._scheduled:
        return
    memory._scheduled = True
    while True:
        await asyncio.sleep(MAINTENANCE_PAUSE)
        with suppress(PgmnemoError):
            await memory._executor.statement(f"CALL pgmnemo.maintain_all({MAINTENANCE_VECTORS})")


def _application(memory: AsyncMemory, benchmark: bool, min_fit: float | None, tokens: bool) -> Any:
    if benchmark:
        from pgmnemo.http import benchmark as wrapped

        return wrapped.build_app(memory, min_fit)
    from pgmnemo.http.app import build_app
    from pgmnemo.http.page import route

    return build_app(memory, route(tokens))


def token(
    do: Literal["make", "list", "revoke"], of: str | None = None, /, *,
    tokens: Annotated[str, Parameter(metavar="FILE")], project: str | None = None, name: str = "",
    access: Literal["read", "write"] = "write", others: Others = None,
    json: Json = False, quiet: Quiet = False,
) -> None:  # fmt: skip
    """Make, list or revoke the tokens of mnemo serve.

    A token is printed once, when it is made: the file has only its hash.
    A tenant may have several tokens, so that you can replace a token
    before you revoke it. A revoked token is refused at once.

    Args:
        do: make, list or revoke
        of: for make the tenant, a name or uuid; for revoke the id that
            list prints
        tokens: the file with the tokens
        project: for make: only this project of the tenant
        name: for make: a name for the token, such as laptop
        access: for make: read allows verbs that change nothing, write
            allows all
    """
    from pgmnemo.http.tokens import TokenFile

    file = TokenFile(tokens)
    if (of is None) != (do == "list"):
        raise UsageError("token takes one of: make TENANT, list, revoke ID")
    if do == "make":
        assert of is not None
        whole = None if project is None else parse_name(project)
        made = file.create(parse_name(of), whole, name, access, [parse_name(one) for one in others or ()])
        print_answer(json, {"token": made}, made)
        print_note(quiet, "this is the only time that it is shown")
    elif do == "list":
        held = file.principals()
        print_answer(json, [_token_record(one) for one in held], *(_line(one) for one in held))
    elif not file.revoke(str(of)):
        raise MissingError(f"there is no token of the id {of!r}; mnemo token list prints them")
    else:
        print_answer(json, {"revoked": of}, f"revoked {of}")


def _token_record(one: Principal) -> dict[str, Any]:
    import msgspec

    return to_builtins(msgspec.structs.asdict(one))  # type: ignore[no-any-return]


def _line(one: Principal) -> str:
    others = ", ".join([*one.others, *map(str, one.other_ids)])
    told = [one.access if one.access == "read" else None, others and f"with {others}", one.name]
    return one_line(join_parts([one.id, day(one.made_at), one.tenant, one.project, *told]))


def token_file(host: str, tokens: str | None) -> TokenFile | None:
    """Return the tokens in a file; None without a file.

    Raises UsageError if the file has no token, or if other machines could use the server without a token.
    """
    from pgmnemo.http.server import check_has_tokens
    from pgmnemo.http.tokens import TokenFile

    check_has_tokens(host, tokens)
    known = None if tokens is None else TokenFile(tokens)
    if known is not None and not known.principals():
        raise UsageError(f"{tokens} holds no token; make one by mnemo token make TENANT --tokens {tokens}")
    return known


def single_principal(
    tenant: str, project: str | None = None, others: Sequence[str] = (),
    access: Literal["read", "write"] = "write",
) -> Principal:  # fmt: skip
    """Return the principal of every request to a server without tokens."""
    from pgmnemo.http.tokens import Principal

    return Principal.of(
        parse_name(tenant), None if project is None else parse_name(project), id="-", access=access,
        others=[parse_name(one) for one in others],
    )  # fmt: skip

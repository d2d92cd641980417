"""The page of `mnemo serve`: one answer, under a policy that runs only its own script."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

FOLDER = Path(__file__).parent
POLICY = (
    "default-src 'none'; script-src {script}; style-src {style}; img-src data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def route(tokens: bool = True) -> Route:
    """Return the route `GET /`; `tokens` says whether the page asks for a token."""

    async def answer(request: Request) -> Response:
        body, headers = page(tokens)
        return Response(body, headers=headers)

    return Route("/", answer)


@cache
def page(tokens: bool = True) -> tuple[bytes, dict[str, str]]:
    """Return the body (UTF-8, with style and script) and headers; `tokens`: whether to ask for one."""
    style, script = _read("page.css"), _read("page.js")
    body = _read("index.html").replace('<link rel="stylesheet" href="page.css">', f"<style>{style}</style>")
    body = body.replace('<script type="module" src="page.js">', f'<script type="module">{script}')
    if not tokens:
        body = body.replace("<html ", '<html data-tokens="none" ')
    return body.encode(), {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": POLICY.format(script=_hash(script), style=_hash(style)),
        "cache-control": "no-cache",
        "cross-origin-opener-policy": "same-origin",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
    }


def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"

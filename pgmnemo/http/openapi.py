"""Generate the OpenAPI 3.1 description of the HTTP interface from the table of verbs."""

from __future__ import annotations

from functools import cache
from importlib import metadata
from typing import Any

import msgspec

from pgmnemo.http.verbs import VERBS, HttpVerb

DISTRIBUTION = "pgmnemo-memory"
JSON, JSON_LINES = "application/json", "application/jsonl"
WITHOUT_BODY = (400, 403, 405, 413, 415, 500, 503)  # statuses of a path that takes no body
STATUS_TEXTS = {
    400: "The request is not valid HTTP, or its body is no JSON.",
    401: "No token, or none that holds.",
    403: "The token, or the role of the database, may not do this.",
    404: "There is no such lesson.",
    405: "The path takes another method.",
    408: "The body came too slowly.",
    409: "Something that is there is in the way, or others wrote the same rows.",
    413: "The body is too long.",
    415: "The body is not declared as application/json.",
    422: "The body does not fit, or the memory refuses what is in it.",
    429: "Too many requests of one token.",
    500: "A fault of the server.",
    503: "The server is busy, or its database does not answer; try again.",
}
HEADERS = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}


class ErrorDetail(msgspec.Struct):
    """An error: `kind` in a word, `message` as a sentence."""

    kind: str
    message: str


class Error(msgspec.Struct):
    """The answer to a request that failed."""

    error: ErrorDetail


@cache
def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document as JSON objects."""
    types = [Error, *(verb.body for verb in VERBS), *(verb.answer for verb in VERBS)]
    shapes, components = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    bodies, answers = shapes[1 : len(VERBS) + 1], shapes[len(VERBS) + 1 :]
    paths = {
        verb.path: {"post": _operation(verb, body, answer)}
        for verb, body, answer in zip(VERBS, bodies, answers, strict=True)
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "mnemo",
            "summary": "A memory for agents, in PostgreSQL.",
            "version": metadata.version(DISTRIBUTION),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"token": []}],
        "paths": {**paths, "/healthz": {"get": _health()}, "/openapi.json": {"get": _openapi_operation()}},
        "components": {
            "schemas": components,
            "responses": {str(number): _error_response(number) for number in STATUS_TEXTS},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer", "description": "Made by `mnemo token make`."}
            },
        },
    }


def _operation(verb: HttpVerb, body: Any, answer: Any) -> dict[str, Any]:
    summary, _, more = verb.docstring.partition("\n")
    kind = JSON_LINES if verb.lines else JSON
    needed = any(field.required for field in msgspec.structs.fields(verb.body))
    return {
        "operationId": verb.name,
        "summary": summary,
        "description": more.strip() or summary,
        "requestBody": {"required": needed, "content": {JSON: {"schema": body, "example": verb.example}}},
        "responses": {"200": _response("What the verb answers.", kind, answer), **_references(STATUS_TEXTS)},
    }


def _response(about: str, kind: str, schema: Any) -> dict[str, Any]:
    return {"description": about, "content": {kind: {"schema": schema}}}


def _references(numbers: Any) -> dict[str, Any]:
    return {str(number): {"$ref": f"#/components/responses/{number}"} for number in numbers}


def _error_response(number: int) -> dict[str, Any]:
    told = _response(STATUS_TEXTS[number], JSON, {"$ref": "#/components/schemas/Error"})
    if name := HEADERS.get(number):
        told["headers"] = {name: {"schema": {"type": "string"}}}
    return told


def _health() -> dict[str, Any]:
    well = {"type": "object", "properties": {"status": {"const": "ok"}}, "required": ["status"]}
    return {
        "operationId": "health",
        "summary": "Whether the server and its database answer.",
        "security": [],
        "responses": {"200": _response("Both do.", JSON, well), **_references(WITHOUT_BODY)},
    }


def _openapi_operation() -> dict[str, Any]:
    return {
        "operationId": "openapi",
        "summary": "This description.",
        "security": [],
        "responses": {
            "200": _response("OpenAPI 3.1.", JSON, {"type": "object"}),
            **_references(WITHOUT_BODY),
        },
    }

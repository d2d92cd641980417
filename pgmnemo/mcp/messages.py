"""Malformed messages of JSON-RPC, and the error that answers each, with its id if that can be read.

The SDK takes a request with a bad id for a notification, and sends no answer on standard output to an
unreadable message; a client would wait forever.
"""

from __future__ import annotations

import json
from typing import Any

from mcp.types import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from mcp.types.jsonrpc import jsonrpc_message_adapter
from pydantic import ValidationError

LONGEST = 4 << 20  # bytes of a message
TOO_LONG = f"a message has {LONGEST:,} bytes at most"
NO_OBJECT = "a message is one object of JSON; there are no batches"
NO_ID = "the id of a request is a text or a whole number"
NO_REQUEST = 'a message has "jsonrpc": "2.0" and a method, or it is an answer'
NO_PARAMS = "params is an object, whose texts are Unicode and which is not nested too deeply"


def error_of(message: bytes) -> JSONRPCError | None:
    """Return the error that answers a malformed message; None for a well-formed message."""
    try:
        found = json.loads(message.decode())
    except (ValueError, RecursionError) as error:
        why = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        return error_for(None, PARSE_ERROR, f"a message is a line of JSON: {why}")
    if not isinstance(found, dict):
        return error_for(None, INVALID_REQUEST, NO_OBJECT)
    if "id" in found and _id(found) is None and "error" not in found:
        return error_for(None, INVALID_REQUEST, NO_ID)
    try:
        jsonrpc_message_adapter.validate_json(message, by_name=False)
    except ValidationError:
        whole = found.get("jsonrpc") == "2.0" and isinstance(found.get("method"), str) and "params" in found
        code, why = (INVALID_PARAMS, NO_PARAMS) if whole else (INVALID_REQUEST, NO_REQUEST)
        return error_for(_id(found), code, why)
    return None


def error_for(id: str | int | None, code: int, why: str) -> JSONRPCError:
    """Return an error response; characters that UTF-8 cannot encode are escaped."""
    told = why.encode("utf-8", "backslashreplace").decode()
    return JSONRPCError(jsonrpc="2.0", id=id, error=ErrorData(code=code, message=told))


def _id(message: dict[str, Any]) -> str | int | None:
    """Return the id of a message; None if it has no id that an answer can contain."""
    found = message.get("id")
    if isinstance(found, bool) or not isinstance(found, str | int):
        return None
    return found if str(found).isascii() or str(found).encode("utf-8", "replace").decode() == found else None

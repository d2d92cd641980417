"""The worker's side of the pipe: a request and an answer per line, both JSON. It needs only Python.

A request is `{"do": NAME, "with": [ARGUMENT, …]}`, the answer `{"result": …}` or `{"error": "one line"}`. A
vector is Base64 of float32, little-endian. The output of a library goes to standard error, the worker's log.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from array import array
from base64 import b64decode
from typing import Any


def serve(peer: object) -> None:
    """Answer requests with the methods of `peer` until the pipe is closed."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="ascii")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    for line in sys.stdin.buffer:
        answers.write(json.dumps(_answer(peer, json.loads(line))) + "\n")
        answers.flush()


def _answer(peer: object, request: Any) -> dict[str, Any]:
    try:
        return {"result": getattr(peer, request["do"])(*request["with"])}
    except Exception as error:
        traceback.print_exc()
        line = (str(error).strip().splitlines() or ["no reason given"])[0]
        return {"error": f"{type(error).__name__}: {line}"}


def floats(text: str) -> list[float]:
    """Return the vector of a request as a list."""
    values = array("f", b64decode(text))
    if sys.byteorder == "big":
        values.byteswap()
    return values.tolist()

"""What each hook reads and says: the event on standard input, and one line on standard error.

An agent waits for a hook, so this takes the standard library alone until there is something to say.
"""

from __future__ import annotations

import json
import sys
from typing import Any

MOST = 10_000_000  # bytes


def read_bytes() -> bytes:
    """Return the bytes of standard input; raise ValueError if there are none, or too many."""
    content = sys.stdin.buffer.read(MOST + 1)
    if not content.strip():
        raise ValueError("a coding agent gives it an object of JSON on standard input, and there was none")
    if len(content) > MOST:
        raise ValueError(f"the event on standard input has more than {MOST:,} bytes")
    return content


def read_event() -> dict[str, Any]:
    """Return the event; raise ValueError if standard input holds anything else."""
    content = read_bytes()
    try:
        event = json.loads(content)
    except (ValueError, RecursionError) as error:
        told = "nested too deeply" if isinstance(error, RecursionError) else "no JSON"
        raise ValueError(f"the event on standard input is {told}") from None
    if not isinstance(event, dict):
        raise ValueError("the event on standard input is JSON, but no object")
    return event


def print_note(act: str, sentence: str) -> None:
    """Print one line for the user about a hook."""
    from pgmnemo.escaping import escape_control_chars

    print(escape_control_chars(f"mnemo hook {act}: {' '.join(sentence.split())}"), file=sys.stderr)

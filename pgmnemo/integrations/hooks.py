"""Hooks of coding agents, Claude Code and Codex: save a session's messages, and wake up with the important
lessons.

An agent runs a hook with a JSON object on its standard input; the hook reads `transcript_path` and `cwd`. The
output of a hook of the event SessionStart goes into the prompt. A hook must neither break nor slow its agent:
every error is one line on standard error, and the exit code is 0. Other commands of this project differ,
because to these agents 2 means "do not compact" or "do not stop", and another code is an error that the user
is shown.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from pgmnemo.escaping import escape_control_chars

if TYPE_CHECKING:
    from pgmnemo import Scope
    from pgmnemo.client.records import BatchResult

GRACE = 5.0  # seconds for the cleanup after an interrupt
MOST = 10_000_000  # bytes of an event
BATCH = 50  # lessons per transaction, which stay stored after an interruption
MARK = 16  # hex digits of the text's hash in a rewritten message's key

Named = Annotated[str | None, Parameter(metavar="NAME")]
Tenant = Annotated[str, Parameter(metavar="NAME", env_var="PGMNEMO_TENANT")]
Embedder = Annotated[str, Parameter(metavar="NAME", env_var="PGMNEMO_EMBEDDER")]
Seconds = Annotated[float, Parameter(env_var="PGMNEMO_HOOK_SECONDS")]


def hook(
    act: Literal["save", "wake-up"], /, *, memory: Annotated[str | None, Parameter(metavar="PLACE")] = None,
    tenant: Tenant = "me", project: Named = None, embedder: Embedder = "local", max_tokens: int = 800,
    seconds: Seconds = 20.0,
) -> int:  # fmt: skip
    """Save a coding agent's session, or wake it up.

    Claude Code and Codex run this as a hook, with JSON on standard input.
    `save` stores what is new in the transcript, `wake-up` prints what is
    new and important. It ends with 0 whatever happens.

    Args:
        act: save or wake-up
        memory: folder or DSN of the memory; else what PGMNEMO_MEMORY
            names, else the folder pgmnemo/memory among your data
        tenant: whose memory it is; else what PGMNEMO_TENANT says
        project: which part of it; else the folder of the session
        embedder: what makes vectors; else what PGMNEMO_EMBEDDER says
        max_tokens: tokens that a wake-up may have
        seconds: after which it gives up, and what is missing is saved next
            time; else what PGMNEMO_HOOK_SECONDS says
    """
    try:
        with _time_limit(seconds):
            event = _event()
            scope = (memory, tenant, project or _folder(event))
            if act == "save":
                transcript = _transcript(event)
                with _scope(*scope, embedder=embedder, retry_timeout=seconds / 2) as here:
                    save(here, transcript)
            elif not _is_empty(memory):
                with _scope(*scope, embedder="none", retry_timeout=seconds / 2) as here:
                    print(here.context(max_tokens=max_tokens).text, end="", flush=True)
    except KeyboardInterrupt:
        _print_error(
            act, f"it was cut off, within {seconds:g} seconds; what is missing is saved the next time"
        )
    except Exception as error:
        _print_error(act, str(error) or type(error).__name__)
    return 0


def save(scope: Scope, transcript: Path) -> BatchResult:
    """Store the new messages of a transcript of Claude Code or Codex; stored lessons are not changed.

    A message is identified by its key, so a longer transcript adds only its new messages. A rewritten
    message, with another text under the same key, gets a key of its own. Damaged lines, such as the last line
    while the agent writes it, are left out.
    """
    from pgmnemo.client.records import Item
    from pgmnemo.client.scope_calls import text_digest
    from pgmnemo.importers import IMPORTERS, ImportOptions

    format = "codex" if transcript.name.startswith("rollout-") else "claude-code"
    items: dict[str, Item] = {}
    for found in IMPORTERS[format](transcript, options=ImportOptions(skip_faults=True)):
        items.setdefault(str(found.item.key), found.item)
    there = scope.known([*items])
    for key, item in [*items.items()]:
        mark = text_digest(str(item.text))
        if there.get(key, mark) != mark:
            again = f"{key}~{mark[:MARK]}"
            items[again] = replace(item, key=again)
    there |= scope.known([key for key in items if key not in there])
    return scope.add_many([item for key, item in items.items() if key not in there], batch=BATCH)


def _event() -> Mapping[str, Any]:
    """Return the JSON object that the agent writes to standard input."""
    try:
        event = json.loads(sys.stdin.buffer.read(MOST))
    except ValueError:
        event = None
    if not isinstance(event, dict):
        raise UsageError("a coding agent gives it an object of JSON on standard input, and there was none")
    return event


def _folder(event: Mapping[str, Any]) -> str:
    """Return the folder in which the agent was started, because its working folder changes with each `cd`."""
    return os.environ.get("CLAUDE_PROJECT_DIR") or str(event.get("cwd") or Path.cwd())


def _transcript(event: Mapping[str, Any]) -> Path:
    told = event.get("transcript_path")
    path = Path(told).expanduser() if isinstance(told, str) and told else None
    if path is None or not path.is_file():
        raise UsageError(f"there is no transcript {path or 'named'}; nothing was saved")
    return path


def _is_empty(memory: str | None) -> bool:
    """Return whether nothing was saved yet: the first `save` creates the folder of the memory."""
    from pgmnemo.client.location import resolve_location

    place = resolve_location(memory)
    folder = place.expanduser() if isinstance(place, Path) else None
    return folder is not None and not (folder.exists() and any(folder.iterdir()))


@contextmanager
def _scope(
    memory: str | None, tenant: str, project: str, *, embedder: str, retry_timeout: float
) -> Iterator[Scope]:
    from pgmnemo import Memory
    from pgmnemo.client.naming import parse_name

    made_of = None if embedder == "none" else embedder
    with Memory.open(memory, embedder=made_of, connections=1, retry_timeout=retry_timeout) as opened:
        yield opened.tenant(parse_name(tenant)).project(parse_name(project))


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in the block after `seconds`; exit the process if the block still runs GRACE
    later.
    """
    last = Timer(seconds + GRACE, os._exit, [0])
    last.daemon = True
    before = signal.signal(signal.SIGALRM, _cut)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        last.start()
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        last.cancel()


def _cut(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def _print_error(act: str, sentence: str) -> None:
    print(escape_control_chars(f"mnemo hook {act}: {' '.join(sentence.split())}"), file=sys.stderr)

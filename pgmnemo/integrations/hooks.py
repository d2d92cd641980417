"""Hooks of coding agents: save a session's messages, wake up with the important lessons, and recall what a
prompt is about.

An agent runs a hook with a JSON object on its standard input; the hook reads `transcript_path`, `cwd` and
`prompt`. The output of a hook of the events SessionStart and UserPromptSubmit goes into the prompt. A hook
must neither break nor slow its agent: every error is one line on standard error, and the exit code is 0.
Other commands of this project differ, because to these agents 2 means "do not compact", "do not stop" or "do
not send this prompt", and another code is an error that the user is shown.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from cyclopts import Parameter

from pgmnemo.errors import UsageError
from pgmnemo.integrations import prompt_recall
from pgmnemo.integrations.behind import run_behind
from pgmnemo.integrations.hook_event import print_note, read_event
from pgmnemo.integrations.prompt_recall import MOST_SECONDS, SAID, answer, folder_of
from pgmnemo.redaction import redact, summary

if TYPE_CHECKING:
    from pgmnemo import Scope
    from pgmnemo.client.records import BatchResult, Item

MAX_TOKENS, SECONDS = 800, 20.0
GRACE, RECALL_GRACE = 5.0, 1.0  # seconds for the cleanup after an interrupt
BATCH = 50  # lessons per transaction, which stay stored after an interruption
MARK = 16  # hex digits of the text's hash in a rewritten message's key

Named = Annotated[str | None, Parameter(metavar="NAME")]
Tenant = Annotated[str, Parameter(metavar="NAME", env_var="PGMNEMO_TENANT")]
Embedder = Annotated[str, Parameter(metavar="NAME", env_var="PGMNEMO_EMBEDDER")]
KeepSecrets = Annotated[bool, Parameter(env_var="PGMNEMO_KEEP_SECRETS")]
Seconds = Annotated[float | None, Parameter(env_var="PGMNEMO_HOOK_SECONDS")]


def hook(
    act: Literal["save", "wake-up", "recall"], /, *,
    memory: Annotated[str | None, Parameter(metavar="PLACE")] = None,
    tenant: Tenant = "me", project: Named = None, embedder: Embedder = "local", max_tokens: int | None = None,
    seconds: Seconds = None, agent: Literal["claude", "codex", "gemini", "opencode", "cursor"] = "claude",
    tools: bool = False, behind: bool = False, url: Annotated[str | None, Parameter(metavar="URL")] = None,
    token_file: Annotated[str | None, Parameter(metavar="FILE")] = None, min_fit: float = prompt_recall.FIT,
    keep_secrets: KeepSecrets = False,
) -> int:  # fmt: skip
    """Save a coding agent's session, or print memories for it.

    An agent runs this as a hook, with JSON on standard input; mnemo init
    AGENT sets it up. `save` stores the new messages of the transcript,
    `wake-up` prints new and important lessons, `recall` prints lessons
    that fit the prompt. The exit code is always 0.

    Args:
        act: save, wake-up or recall
        memory: folder or DSN of the memory; else what PGMNEMO_MEMORY
            names, else the folder pgmnemo/memory among your data
        tenant: name of the tenant; else the value of PGMNEMO_TENANT
        project: project of the tenant; else the folder of the session
        embedder: the embedder; else the value of PGMNEMO_EMBEDDER
        max_tokens: maximum tokens of a wake-up (800) or a recall (400)
        seconds: timeout; else the value of PGMNEMO_HOOK_SECONDS, else 20
            for save and wake-up, and for recall 1 with --url, 5 without
        agent: the agent that runs the hook
        tools: also save the output of tools; recall leaves it out
        behind: save without the agent waiting, within 300 seconds
        url: a running mnemo serve that recall asks; else what PGMNEMO_URL
            says; else the memory is opened, which is slower
        token_file: the file of a token for --url; else what PGMNEMO_TOKEN
            says
        min_fit: recall leaves out lessons with a smaller fit, 0 to 1
        keep_secrets: store keys, tokens and passwords as they are, not
            redacted; else what PGMNEMO_KEEP_SECRETS says
    """
    if act == "save" and behind:
        return run_behind(sys.argv[1:])
    usual = prompt_recall.OPEN_SECONDS if act == "recall" else SECONDS
    seconds = usual if seconds is None else seconds
    try:
        if not 0 < seconds < MOST_SECONDS:
            raise UsageError(f"--seconds is {seconds:g}, but is a number above 0 and below {MOST_SECONDS:,}")
        with _time_limit(seconds, RECALL_GRACE if act == "recall" else GRACE):
            event = read_event()
            scope = (memory, tenant, project or folder_of(event))
            if act == "save":
                items = _items(agent, event, tools)
                with _scope(*scope, embedder=embedder, retry_timeout=seconds / 2) as here:
                    redacted = Counter[str]()
                    _store_new(here, items, keep_secrets, redacted)
                if redacted:
                    print_note(act, f"redacted {summary(redacted)}")
            elif not _is_empty(memory):
                asks = act == "recall"
                model = embedder if asks else "none"
                with _scope(*scope, embedder=model, retry_timeout=seconds / 2) as here:
                    text = _recall(here, event, max_tokens, min_fit) if asks else _wake_up(here, max_tokens)
                    print(answer(agent, event, text), end="", flush=True)
    except KeyboardInterrupt:
        left = "; what is missing is saved the next time" if act == "save" else ""
        print_note(act, f"it was cut off, within {seconds:g} seconds{left}")
    except Exception as error:
        print_note(act, str(error) or type(error).__name__)
    return 0


def _wake_up(scope: Scope, max_tokens: int | None) -> str:
    return scope.context(max_tokens=max_tokens or MAX_TOKENS, filter=SAID).text


def _recall(scope: Scope, event: Mapping[str, Any], max_tokens: int | None, min_fit: float) -> str:
    """Return what the prompt is about, as `prompt_recall` asks it of a server."""
    prompt = prompt_recall.question_of(event)
    if prompt is None:
        return ""
    most = max_tokens or prompt_recall.MAX_TOKENS
    found = scope.context(prompt, max_tokens=most, k=prompt_recall.HITS, min_fit=min_fit, filter=SAID)
    return prompt_recall.select_notes(prompt, found.text, [hit.text for hit in found.hits])


def save(
    scope: Scope, transcript: Path, *, tools: bool = False, keep_secrets: bool = False,
    redacted: Counter[str] | None = None,
) -> BatchResult:  # fmt: skip
    """Store the new messages of a transcript of Claude Code or Codex; stored lessons are not changed.

    A message is identified by its key, so a longer transcript adds only its new messages. A rewritten
    message, with another text under the same key, gets a key of its own. Damaged lines, such as the last line
    while the agent writes it, are left out. With `tools` the output of tools is stored as well.
    Secrets of new messages are redacted, and counted by kind in `redacted`.
    """
    return _store_new(scope, _transcript_items(transcript, tools), keep_secrets, redacted)


def _items(agent: str, event: Mapping[str, Any], tools: bool) -> dict[str, Item]:
    """Return the lessons of an event: those of its transcript, or of the event itself."""
    from pgmnemo.integrations.turns import AGENTS, items_of_event

    return items_of_event(agent, event) if agent in AGENTS else _transcript_items(_transcript(event), tools)


def _transcript_items(transcript: Path, tools: bool) -> dict[str, Item]:
    """Return the lessons of a transcript by their keys; the first of a key counts."""
    from pgmnemo.importers import IMPORTERS, ImportOptions

    format = "codex" if transcript.name.startswith("rollout-") else "claude-code"
    items: dict[str, Item] = {}
    for found in IMPORTERS[format](transcript, options=ImportOptions(skip_faults=True, tools=tools)):
        items.setdefault(str(found.item.key), found.item)
    return items


def _store_new(
    scope: Scope, items: dict[str, Item], keep_secrets: bool, redacted: Counter[str] | None
) -> BatchResult:
    """Store the lessons that are new, as `save` says."""
    from pgmnemo.client.scope_calls import text_digest

    there = scope.known([*items])
    secrets: dict[str, Counter[str]] = {}
    for key, item in [*items.items()]:
        mark = text_digest(str(item.text))
        if there.get(key) == mark:
            continue
        if not keep_secrets:
            text, secrets[key] = redact(str(item.text))
            item, mark = replace(item, text=text), text_digest(text)
        again = key if there.get(key, mark) == mark else f"{key}~{mark[:MARK]}"
        items[again] = replace(item, key=again)
        secrets[again] = secrets.get(key, Counter())
    there |= scope.known([key for key in items if key not in there])
    new = [key for key in items if key not in there]
    stored = scope.add_many([items[key] for key in new], batch=BATCH)
    if redacted is not None:
        redacted.update(sum((secrets[key] for key in new), Counter[str]()))
    return stored


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

    with Memory.open(memory, embedder=embedder, connections=1, retry_timeout=retry_timeout) as opened:
        yield opened.tenant(parse_name(tenant)).project(parse_name(project))


@contextmanager
def _time_limit(seconds: float, grace: float) -> Iterator[None]:
    """Raise KeyboardInterrupt in the block after `seconds`; exit the process if the block still runs `grace`
    later.
    """
    last = Timer(seconds + grace, os._exit, [0])
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

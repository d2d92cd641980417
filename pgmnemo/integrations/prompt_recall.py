"""Recall at a prompt: the notes that a coding agent gets from its memory before it reads the prompt.

A prompt waits for this, so a running `mnemo serve` is asked with the standard library alone; only without a
server is the memory opened here. A hook never stops its agent: every error is one line on standard error,
the exit code is 0, and at the deadline the process ends, whatever it waits for.

FIT, HITS and NEW_WORDS were chosen on made-up sessions (`benchmarks/agents/recall.py`).
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from threading import Timer
from typing import Any, NoReturn

from pgmnemo.integrations.hook_event import print_note, read_event

MAX_TOKENS = 400
FIT = 0.2  # below this, what is found is rather chance than an answer
HITS = 5
NEW_WORDS = 3  # a lesson with fewer words that the prompt lacks adds nothing
LEAST_WORDS = 2  # a prompt of fewer words, such as "yes", asks for nothing
MOST_SECONDS = 86_400
SERVER_SECONDS, OPEN_SECONDS = 1.0, 5.0
MOST = 10_000_000  # bytes of an answer
LONGEST = 4_000  # characters of a prompt that are asked
SAID = {"metadata": {"from_tool": {"exists": False}}}  # not the output of tools, whose lessons have the field
WORD = re.compile(r"[\u0e00-\uffff]|[^\W\u0e00-\uffff]+")  # scripts without blanks: each character
NOTE, NUMBER = re.compile(r"^(?=\[\d+\])", re.MULTILINE), re.compile(r"^\[\d+\]")
TOKEN = re.compile("[!-~]+")
DAY = re.compile(r"\[\d+\] (\d{4}-\d\d-\d\d)\b")
END = "</memory>\n"
OPTIONS = {
    "--url", "--token-file", "--memory", "--tenant", "--project", "--embedder", "--max-tokens", "--min-fit",
    "--seconds", "--agent",
}  # fmt: skip


def start(arguments: Sequence[str]) -> int | None:
    """Answer `mnemo hook recall` from a server; return None if there is none or the options need the
    command's own messages.
    """
    options = _read_options(arguments)
    url = (options or {}).get("--url") or os.environ.get("PGMNEMO_URL")
    if options is None or not url:
        return None
    try:
        seconds = float(options.get("--seconds") or os.environ.get("PGMNEMO_HOOK_SECONDS") or SERVER_SECONDS)
        tokens, fit = int(options.get("--max-tokens", MAX_TOKENS)), float(options.get("--min-fit", FIT))
    except ValueError:
        return None
    if not 0 < seconds < MOST_SECONDS:
        return None
    deadline = end_at_deadline(seconds)
    try:
        event = read_event()
        if (prompt := question_of(event)) is not None:
            project = options.get("--project") or folder_of(event)
            question = {
                "query": prompt, "max_tokens": tokens, "k": HITS, "min_fit": fit, "filter": SAID,
                "project": project,
            }  # fmt: skip
            block, texts = _ask(url, _token(options.get("--token-file")), question)
            text = select_notes(prompt, block, texts)
            sys.stdout.write(answer(options.get("--agent", ""), event, text))
            sys.stdout.flush()
    except Exception as error:
        print_note("recall", str(error) or type(error).__name__)
    deadline.cancel()
    return 0


def question_of(event: Mapping[str, Any]) -> str | None:
    """Return the question that an event's prompt asks the memory; None for a command or a single word."""
    prompt = event.get("prompt")
    if not isinstance(prompt, str):
        raise ValueError("the event on standard input has no prompt")
    prompt = prompt.strip()[:LONGEST]
    return None if prompt.startswith("/") or len(WORD.findall(prompt)) < LEAST_WORDS else prompt


def folder_of(event: Mapping[str, Any]) -> str:
    """Return the folder in which the agent was started, because its working folder changes with each `cd`."""
    roots = event.get("workspace_roots")  # Cursor's
    first = roots[0] if isinstance(roots, list) and roots else None
    return os.environ.get("CLAUDE_PROJECT_DIR") or str(first or event.get("cwd") or os.getcwd())


def select_notes(prompt: str, block: str, texts: Sequence[str]) -> str:
    """Return a context block with the notes that add something to the prompt; empty if there are none.

    The latest day comes first, so that a correction stands before what it corrects.

    block: as `pgmnemo.client.rendering` renders it, a note for each of `texts`.
    """
    first, *notes = NOTE.split(block.removesuffix(END))
    if len(notes) != len(texts):
        raise ValueError("the server renders notes in another form; update pgmnemo on both sides")
    asked = {word.lower() for word in WORD.findall(prompt)}
    kept = [
        note
        for note, text in zip(notes, texts, strict=True)
        if sum(word.lower() not in asked for word in WORD.findall(text)) >= NEW_WORDS
    ]
    kept.sort(key=_day, reverse=True)
    numbered = (NUMBER.sub(f"[{number}]", note, count=1) for number, note in enumerate(kept, 1))
    return "".join([first, *numbered, END]) if kept else ""


def _day(note: str) -> str:
    """Return the date of a note, which begins with it; empty for a note without one."""
    found = DAY.match(note)
    return found[1] if found else ""


def answer(agent: str, event: Mapping[str, Any], text: str) -> str:
    """Return what to print for an agent on a hook's standard output: a text, or a JSON object with it."""
    name = str(event.get("hook_event_name") or "")
    if not text or agent not in ("gemini", "cursor"):
        return text
    if agent == "gemini":
        return json.dumps({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})
    more = {"continue": True} if name == "beforeSubmitPrompt" else {}
    return json.dumps({**more, "additional_context": text})


def end_at_deadline(seconds: float) -> Timer:
    """Start a timer that ends the process after `seconds`, unless it is cancelled before."""
    timer = Timer(seconds, _give_up, [seconds])
    timer.daemon = True
    timer.start()
    return timer


def _give_up(seconds: float) -> NoReturn:
    told = f"no answer within {seconds:g} seconds; the prompt goes on without its memory"
    os.write(2, f"mnemo hook recall: {told}\n".encode())
    os._exit(0)


def _read_options(arguments: Sequence[str]) -> dict[str, str] | None:
    """Return options of the form `--name value`; None if there is anything else."""
    names, values = arguments[::2], arguments[1::2]
    if len(names) != len(values) or not OPTIONS.issuperset(names):
        return None
    return dict(zip(names, values, strict=True))


def _token(file: str | None) -> str | None:
    """Return the token of a file, else that of PGMNEMO_TOKEN; raise ValueError, which never shows it."""
    place, token = file or "PGMNEMO_TOKEN", os.environ.get("PGMNEMO_TOKEN")
    try:
        if file is not None:
            with open(os.path.expanduser(file), encoding="utf-8", errors="replace") as opened:
                token = opened.read(1000)
    except OSError as error:
        raise ValueError(f"--token-file {file} cannot be read: {error.strerror}; name another") from None
    if (file or token) and not TOKEN.fullmatch(token := (token or "").strip()):
        raise ValueError(f"{place} holds no token of one ASCII line; put there what mnemo token make prints")
    return token


def _ask(url: str, token: str | None, question: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the block that a server renders for a question, and the texts in it."""
    status, found = _post(url, token, question)
    if status == 200:
        try:
            return str(found["text"]), [str(hit["text"]) for hit in found["hits"]]
        except (TypeError, KeyError):
            raise ValueError(f"what answers at {url} is no mnemo serve; give another --url") from None
    fault = found.get("error") if isinstance(found, dict) else None
    told = fault.get("message") if isinstance(fault, dict) else None
    way_on = "; give it by --token-file or PGMNEMO_TOKEN" if status == 401 else ""
    raise ValueError(f"{url} answers {status}: {told}{way_on}")


def _post(url: str, token: str | None, question: Mapping[str, Any]) -> tuple[int, Any]:
    """Return the status and the answer of POST /v1/context."""
    from http.client import HTTPConnection, HTTPException, HTTPSConnection
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    kind = {"http": HTTPConnection, "https": HTTPSConnection}.get(parts.scheme)
    if kind is None or not parts.hostname or "@" in parts.netloc:
        raise ValueError("--url is http://HOST:PORT of mnemo serve, without a password")
    connection = kind(parts.hostname, parts.port)
    headers = {"Content-Type": "application/json"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    try:
        connection.request("POST", f"{parts.path.rstrip('/')}/v1/context", json.dumps(question), headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read(MOST))
    except (OSError, HTTPException) as error:
        raise ValueError(f"no mnemo serve answers at {url}: {error}; start it, or name another") from None
    except ValueError:  # its text may have the header with the token
        raise ValueError(f"what answers at {url} is no mnemo serve; give another --url") from None
    finally:
        connection.close()

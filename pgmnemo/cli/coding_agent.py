"""`mnemo init AGENT`: write the settings of a coding agent, show them first, and undo them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from difflib import unified_diff
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from pgmnemo.cli.output import print_answer, print_note
from pgmnemo.errors import UsageError
from pgmnemo.escaping import escape_control_chars

if TYPE_CHECKING:
    from pgmnemo.integrations.coding_agents import Setup

NAMES = ("claude", "codex", "gemini", "opencode", "cursor")


@Parameter(name="*", group=Group("For a coding agent", sort_key=1))
@dataclass(frozen=True, kw_only=True)
class AgentFlags:
    """What its hooks and its MCP server are told.

    Args:
        scope: the settings of the user, or of the project in this folder
        memory: folder or DSN of the memory; else the usual one
        tenant: whose memory it is
        url: a running mnemo serve that answers at each prompt
        token_file: the file of a token for --url
        tools: save the output of the agent's tools, too
        yes: write without asking
        undo: remove what this command wrote
    """

    scope: Literal["user", "project"] = "user"
    memory: Annotated[str | None, Parameter(metavar="PLACE")] = None
    tenant: Annotated[str | None, Parameter(metavar="NAME")] = None
    url: Annotated[str | None, Parameter(metavar="URL")] = None
    token_file: Annotated[str | None, Parameter(metavar="FILE")] = None
    tools: bool = False
    yes: bool = False
    undo: bool = False

    def given(self) -> list[str]:
        """Return the options that were given."""
        names = (one.name for one in fields(self) if getattr(self, one.name) != one.default)
        return [f"--{name.replace('_', '-')}" for name in names]


def set_up_agent(agent: str, asked: AgentFlags, embedder: str | None, json: bool, quiet: bool) -> None:
    """Show what changes in the files of an agent, ask, and write them."""
    from pgmnemo.integrations.agent_files import read, write
    from pgmnemo.integrations.coding_agents import AGENTS, NOTES

    before: dict[Path, str | None] = {}
    after: dict[Path, str | None] = {}
    for edit in AGENTS[agent](_setup(asked, embedder)):
        if edit.path not in before:
            before[edit.path] = after[edit.path] = read(edit.path)
        after[edit.path] = (edit.undo if asked.undo else edit.apply)(after[edit.path])
    changed = [path for path in before if before[path] != after[path]]
    if not (quiet or json):
        for path in changed:
            print(escape_control_chars("\n".join(_diff(path, before[path], after[path]))))
    if changed and not asked.yes:
        _ask(changed)
    for path in changed:
        write(path, before[path], after[path])
    did = "removed from" if asked.undo else "set up in"
    lines = [f"{did} {path}" for path in changed] or ["nothing to change"]
    print_answer(json, {"agent": agent, "files": [str(path) for path in changed]}, *lines)
    if changed and not asked.undo:
        print_note(quiet, "sessions that run keep their settings; start the agent again")
        if agent in NOTES:
            print_note(quiet, NOTES[agent])


def _setup(asked: AgentFlags, embedder: str | None) -> Setup:
    from pgmnemo.client.location import resolve_location
    from pgmnemo.integrations.coding_agents import Setup

    place = [] if asked.memory is None else [asked.memory]
    if place and isinstance(found := resolve_location(asked.memory), Path):
        place = [str(found.expanduser().absolute())]
    named = {"--tenant": asked.tenant, "--embedder": embedder}
    common = [word for name, value in named.items() if value is not None for word in (name, value)]
    server = {"--url": asked.url, "--token-file": asked.token_file}
    if asked.token_file is not None:
        server["--token-file"] = str(Path(asked.token_file).expanduser().absolute())
    project = Path.cwd() if asked.scope == "project" else None
    return Setup(
        _command(),
        [*(["--memory", *place] if place else []), *common],
        ["--tools"] if asked.tools else [],
        [word for name, value in server.items() if value is not None for word in (name, value)],
        ["mcp", *place, *common, *(["--project", str(project)] if project else [])],
        project,
    )


def _command() -> list[str]:
    """Return this program by its full path, because an agent may have another PATH."""
    started = Path(sys.argv[0])
    if started.stem == "mnemo" and (found := which(str(started))):
        return [str(Path(found).absolute())]
    return [sys.executable, "-m", "pgmnemo"]


def _diff(path: Path, before: str | None, after: str | None) -> Iterator[str]:
    old, new = (str(path) if text is not None else "(no file)" for text in (before, after))
    return unified_diff((before or "").splitlines(), (after or "").splitlines(), old, new, lineterm="")


def _ask(changed: Sequence[Path]) -> None:
    """Raise UsageError unless the user agrees."""
    if not sys.stdin.isatty():
        raise UsageError("nothing was written; add --yes, because there is no terminal to ask at")
    try:
        answer = input(f"change these {len(changed)} files? [y/N] ")
    except EOFError:
        answer = ""
    if answer.strip().lower() not in ("y", "yes"):
        raise UsageError("nothing was written")

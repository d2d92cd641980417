"""The settings of coding agents that give them a memory: hooks and an MCP server, for a user or a project.

By the formats that their makers publish, looked up on 2026-11-29; no agent itself was at hand:
- Claude Code: code.claude.com/docs/en/hooks and /mcp; `timeout` in seconds
- Codex: developers.openai.com/codex/hooks and /mcp, and the schemas of openai/codex (codex-rs/hooks/schema)
- Gemini CLI: geminicli.com/docs/hooks/reference; `timeout` in milliseconds
- opencode: opencode.ai/docs/plugins and /mcp-servers, and npm's @opencode-ai/plugin 1.18.33
- Cursor: cursor.com/docs/hooks and /mcp; that a prompt's hook may add context is not on that page, but in the
  client 3.20 (docs/cursor-hooks.md of DietrichGebert/ponytail)
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgmnemo.integrations.agent_files import FileEdit, table_edit, whole_file_edit
from pgmnemo.integrations.json_settings import hook_edit, member_edit

SERVER = "pgmnemo"  # the name of the MCP server
PLUGIN = Path(__file__).with_name("opencode_plugin.js")
OWN = re.compile(r"mnemo\S* hook (?:save|wake-up|recall)\b|\.mnemo/(?:save|wake-up)\.sh\b")
WAKE_UP, RECALL, SAVE, SAVE_BEHIND = ["wake-up"], ["recall"], ["save"], ["save", "--behind"]


@dataclass(frozen=True, slots=True)
class Setup:
    """What is set up: the command, options of every hook and of recall alone, and the arguments of MCP.

    project: the folder of a project; None: the user's settings.
    """

    command: Sequence[str]
    options: Sequence[str]
    save: Sequence[str]
    recall: Sequence[str]
    mcp: Sequence[str]
    project: Path | None

    def argv(self, act: Sequence[str], agent: str) -> list[str]:
        """Return the command of a hook."""
        more = self.recall if act == RECALL else self.save if act[0] == "save" else ()
        return [*self.command, "hook", *act, "--agent", agent, *self.options, *more]

    def line(self, act: Sequence[str], agent: str) -> str:
        """Return the command of a hook for a shell."""
        return shlex.join(self.argv(act, agent))

    def server(self) -> dict[str, Any]:
        """Return the MCP server as most agents name it."""
        return {"command": self.command[0], "args": [*self.command[1:], *self.mcp]}

    def folder(self, variable: str | None, user: str, project: str) -> Path:
        """Return the agent's folder of settings; a variable of the environment may name the user's."""
        if self.project is not None:
            return self.project / project
        return Path((variable and os.environ.get(variable)) or Path.home() / user)


def is_own(handler: Any) -> bool:
    """Return whether a handler of hooks runs a command of this project."""
    command = handler.get("command") if isinstance(handler, dict) else None
    return isinstance(command, str) and bool(OWN.search(command))


def is_own_server(entry: Any) -> bool:
    """Return whether an MCP server is of this project."""
    command = entry.get("command") if isinstance(entry, dict) else None
    words = command if isinstance(command, list) else [command, *(entry.get("args") or ())] if command else []
    return "mcp" in words and any("mnemo" in str(word) for word in words[:3])


def _groups(setup: Setup, agent: str, acts: Mapping[str, tuple[Sequence[str], int]]) -> dict[str, Any]:
    """Return entries of hooks in the form that Claude Code, Codex and Gemini CLI share."""
    return {
        event: [{"hooks": [{"type": "command", "command": setup.line(act, agent), "timeout": timeout}]}]
        for event, (act, timeout) in acts.items()
    }


EVENTS = {  # of Claude Code and Codex: what runs, and the seconds that it may take
    "SessionStart": (WAKE_UP, 20), "UserPromptSubmit": (RECALL, 10), "PreCompact": (SAVE, 30),
    "SessionEnd": (SAVE_BEHIND, 3),
}  # fmt: skip


def _claude(setup: Setup) -> list[FileEdit]:
    folder = setup.folder("CLAUDE_CONFIG_DIR", ".claude", ".claude")
    settings = folder / ("settings.json" if setup.project is None else "settings.local.json")
    servers = Path.home() / ".claude.json" if setup.project is None else setup.project / ".mcp.json"
    if setup.project is None and "CLAUDE_CONFIG_DIR" in os.environ:
        servers = folder / ".claude.json"
    return [
        hook_edit(settings, _groups(setup, "claude", EVENTS), is_own),
        member_edit(servers, ["mcpServers", SERVER], {"type": "stdio", **setup.server()}, is_own_server),
    ]


def _codex(setup: Setup) -> list[FileEdit]:
    folder = setup.folder("CODEX_HOME", ".codex", ".codex")
    return [
        hook_edit(folder / "hooks.json", _groups(setup, "codex", EVENTS), is_own),
        table_edit(folder / "config.toml", ["mcp_servers", SERVER], setup.server(), is_own_server),
    ]


def _gemini(setup: Setup) -> list[FileEdit]:
    acts = {
        "SessionStart": (WAKE_UP, 20_000), "BeforeAgent": (RECALL, 10_000),
        "AfterAgent": (SAVE_BEHIND, 5_000),
    }  # fmt: skip
    settings = setup.folder(None, ".gemini", ".gemini") / "settings.json"
    return [
        hook_edit(settings, _groups(setup, "gemini", acts), is_own),
        member_edit(settings, ["mcpServers", SERVER], setup.server(), is_own_server),
    ]


def _cursor(setup: Setup) -> list[FileEdit]:
    entries = {
        event: [{"command": setup.line(act, "cursor"), "timeout": timeout} for act, timeout in acts]
        for event, acts in (
            ("sessionStart", [(WAKE_UP, 20)]), ("beforeSubmitPrompt", [(RECALL, 10), (SAVE_BEHIND, 5)]),
            ("afterAgentResponse", [(SAVE_BEHIND, 5)]),
        )
    }  # fmt: skip
    folder = setup.folder(None, ".cursor", ".cursor")
    return [
        hook_edit(folder / "hooks.json", entries, is_own, {"version": 1}),
        member_edit(folder / "mcp.json", ["mcpServers", SERVER], setup.server(), is_own_server),
    ]


def _opencode(setup: Setup) -> list[FileEdit]:
    if setup.project is None:
        top = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode"
        plugins = top / "plugins"
    else:
        top, plugins = setup.project, setup.project / ".opencode" / "plugins"
    config = top / "opencode.jsonc"
    config = config if config.exists() else top / "opencode.json"
    server = {"type": "local", "command": [*setup.command, *setup.mcp], "enabled": True}
    plugin = PLUGIN.read_text(encoding="utf-8")
    for name, act in (("RECALL", RECALL), ("SAVE", SAVE_BEHIND)):
        words = json.dumps(setup.argv(act, "opencode"))
        plugin = plugin.replace(f"const {name} = []", f"const {name} = {words}")
    return [
        member_edit(config, ["mcp", SERVER], server, is_own_server),
        whole_file_edit(plugins / "pgmnemo.js", plugin),
    ]


AGENTS: Mapping[str, Callable[[Setup], list[FileEdit]]] = {
    "claude": _claude, "codex": _codex, "gemini": _gemini, "opencode": _opencode, "cursor": _cursor,
}  # fmt: skip
NOTES = {
    "codex": "Codex runs new hooks after you trust them by /hooks, and a project's after you trust it, too",
}

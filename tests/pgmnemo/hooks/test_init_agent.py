"""`mnemo init AGENT`: the settings of each agent, shown, written, written again, and undone."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.cli.commands import main
from pgmnemo.integrations import jsonc
from tests.helping import until
from tests.pgmnemo.cli.conftest import Done
from tests.pgmnemo.hooks.conftest import Agent

ROOT = Path(__file__).parents[3]
AGENTS = ("claude", "codex", "gemini", "opencode", "cursor")
OTHER = '{"type": "command", "command": "say hi"}'
THEIRS = {  # what a user has there, by agent: in the forms that their makers publish
    "claude": {
        ".claude/settings.json": '{\n  "model": "opus",\n  "hooks": {\n    "SessionStart": [\n      '
        f'{{"matcher": "startup", "hooks": [{OTHER}]}}\n    ],\n    "PreToolUse": []\n  }},\n'
        '  "permissions": {"allow": ["Bash(ls)"]}\n}\n',
        ".claude.json": '{\n  "numStartups": 7,\n  "mcpServers": {\n    "github": {"command": "x"}\n  },\n'
        '  "projects": {}\n}\n',
    },
    "codex": {
        ".codex/config.toml": '# mine\nmodel = "m" # the best\n\n[mcp_servers.docs]\ncommand = "x"\n\n'
        '[projects."/src/boats"]\ntrust_level = "trusted"\n',
        ".codex/hooks.json": f'{{"hooks": {{"Stop": [{{"hooks": [{OTHER}]}}]}}}}\n',
    },
    "gemini": {
        ".gemini/settings.json": '{\n    // colours\n    "ui": {"theme": "GitHub"},\n    "hooks": {\n        '
        f'"BeforeAgent": [\n            {{"hooks": [{OTHER}]}},\n        ]\n    }}\n}}\n',
    },
    "opencode": {
        ".config/opencode/opencode.jsonc": '{\n  "$schema": "https://opencode.ai/config.json", // checked\n'
        '  "mcp": {\n    "docs": {"type": "remote", "url": "https://x"},\n  },\n}\n',
        ".config/opencode/plugins/theirs.js": "export const Theirs = async () => ({})\n",
    },
    "cursor": {
        ".cursor/hooks.json": '{\n  "version": 1,\n  "hooks": {\n    "stop": [\n      {"command": "./a.sh"}\n'
        '    ]\n  }\n}\n',
        ".cursor/mcp.json": '{\n  "mcpServers": {\n    "docs": {"url": "https://x"}\n  }\n}\n',
    },
}  # fmt: skip
Init = Callable[..., Done]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(home)
    return home


@pytest.fixture
def init(home: Path, capsys: pytest.CaptureFixture[str]) -> Init:
    def run(*arguments: str) -> Done:
        code = main(["init", *arguments])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_bytes().decode()
        for path in folder.rglob("*")
        if path.is_file()
    }


def put(home: Path, agent: str) -> dict[str, str]:
    for name, text in THEIRS[agent].items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(text.encode())
    return files(home)


def value(name: str, text: str) -> Any:
    return tomllib.loads(text) if name.endswith(".toml") else jsonc.parse(text).value


def commands(found: Any) -> list[str]:
    """Every command of this project in settings."""
    if isinstance(found, dict | list):
        inner = found.values() if isinstance(found, dict) else found
        return [command for one in inner for command in commands(one)]
    return [found] if isinstance(found, str) and "pgmnemo hook" in found else []


@pytest.mark.parametrize("agent", AGENTS)
def test_what_is_there_stays_and_a_second_time_changes_nothing(agent: str, init: Init, home: Path) -> None:
    before = put(home, agent)
    assert init(agent).code == 2  # no terminal to ask at
    assert files(home) == before
    done = init(agent, "--yes")
    assert done.code == 0
    after = files(home)
    for name, text in before.items():
        lines = iter(after[name].split("\n"))
        assert all(any(mine.rstrip(",") in line for line in lines) for mine in text.strip().split("\n")) or (
            name == ".codex/hooks.json"  # a file of one line
        )
    assert init(agent, "--yes") == Done(0, "nothing to change\n", "")
    assert files(home) == after
    assert init(agent, "--undo", "--yes").code == 0
    rest = files(home)
    assert [*rest] == [*before]
    for name, text in before.items():
        if name.endswith(".js"):
            assert rest[name] == text
        else:
            assert value(name, rest[name]) == value(name, text)
        if "//" in text or "#" in text:
            marks = re.findall(r"(?://|#) \w+", text)
            assert [mark for mark in marks if mark in rest[name]] == marks


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("agent", AGENTS)
def test_it_is_shown_and_without_settings_undone_without_a_trace(
    agent: str, scope: str, init: Init, home: Path
) -> None:
    done = init(agent, "--scope", scope, "--yes", "--memory", "here", "--tenant", "ada")
    for name in files(home):
        assert f"+++ {home / name}" in done.out
    assert f"{home / 'here'}" in done.out
    assert init(agent, "--scope", scope, "--undo", "--yes").code == 0
    assert files(home) == {}


MCP = "mcpServers"
KEPT = {  # by agent and file: texts that an undo restores
    ("cursor", ".cursor/mcp.json"): [
        "{}", f'{{"{MCP}": {{}}}}\n', f'{{ "{MCP}": {{}} }}', f'{{\n  "a": 1,\n  "{MCP}": {{}}, "b": 2\n}}\n',
        f'{{\n  "{MCP}": {{\n    // ask Bob\n  }}\n}}\n', '{\n  // ask Bob\n}\n', '{\n  "a": 1\n}',
    ],
    ("cursor", ".cursor/hooks.json"): [
        "{}", '{"version": 1}', '{\n  "a": 2\n}\n', '{\n  "version": 1,\n  "a": 2\n}\n',
        '{\n  "version": 2\n}\n', '{\n  "version": 1,\n  // none\n}\n',
    ],
    ("gemini", ".gemini/settings.json"): ["{}", '{\n  "hooks": {\n    // none\n  }\n}\n'],
    ("opencode", ".config/opencode/opencode.json"): ["{}", '{\n  "mcp": {} // none\n}\n'],
}  # fmt: skip


@pytest.mark.parametrize(("agent", "name", "text"), [(*at, one) for at in KEPT for one in KEPT[at]])
def test_an_undo_leaves_a_file_that_was_there(
    agent: str, name: str, text: str, init: Init, home: Path
) -> None:
    (home / name).parent.mkdir(parents=True)
    (home / name).write_text(text)
    assert (init(agent, "--yes").code, init(agent, "--undo", "--yes").code) == (0, 0)
    [rest] = files(home).values()
    assert value(name, rest) == value(name, text)
    assert re.sub(r"[\s,]", "", rest) == re.sub(r"[\s,]", "", text)


TABLE = '[mcp_servers.pgmnemo]\ncommand = "/bin/mnemo"\nargs = ["mcp"]\n'
AROUND = [  # texts before and after the table of this project
    ("", "\n# mine\n"), ("a = 1\n\n", "\n# mine\n# b = 2\n\n\n"), ("a = 1\n\n\n\n", ""),
    ("# mine\n\n", "# mine\n"), ("a = 1\r\n\r\n", "\r\n# mine\r\n[b]\r\n"), ("", "\n# mine\n[b]\n# c\n"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "after"), AROUND)
def test_comments_and_blank_lines_around_a_table_stay(
    before: str, after: str, init: Init, home: Path
) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_bytes(f"{before}{TABLE}{after}".encode())
    rest = before.removesuffix("\n").removesuffix("\r") + after
    for arguments in (("--tenant", "ada"), ("--undo",)):
        assert init("codex", "--yes", *arguments).code == 0
        found = path.read_bytes().decode()
        if "--tenant" in arguments:
            assert tomllib.loads(found)["mcp_servers"]["pgmnemo"]["args"][-1] == "ada"
            assert found.startswith(rest)
    assert found == rest


def test_a_text_that_only_looks_like_the_table_is_left_alone(init: Init, home: Path) -> None:
    path = home / ".codex/config.toml"
    path.parent.mkdir()
    path.write_text(text := f'{TABLE}[b]\nc = """\n{TABLE}[d]\n"""\n')
    done = init("codex", "--yes", "--undo")
    assert (done.code, "by hand" in done.err, path.read_text()) == (2, True, text)


def test_an_undo_removes_files_of_its_own_after_a_second_run_with_other_options(
    init: Init, home: Path
) -> None:
    for agent in AGENTS:
        init(agent, "--yes", "--url", "http://127.0.0.1:7437")
        init(agent, "--yes", "--tenant", "ada")
        init(agent, "--undo", "--yes")
    assert files(home) == {}


@pytest.mark.parametrize(("alone", "at"), [(True, 0), (True, 1), (False, 0)])
def test_an_undo_keeps_the_users_handler_in_a_file_of_its_own(
    alone: bool, at: int, init: Init, home: Path
) -> None:
    init("claude", "--yes")
    path = home / ".claude/settings.json"
    settings = json.loads(path.read_text())
    groups = settings["hooks"]["PreCompact"]
    if alone:
        groups.insert(at, {"hooks": [json.loads(OTHER)]})
    else:
        groups[0]["hooks"].append(json.loads(OTHER))
    path.write_text(json.dumps(settings, indent=2) + "\n")
    init("claude", "--undo", "--yes")
    assert json.loads(path.read_text()) == {"hooks": {"PreCompact": [{"hooks": [json.loads(OTHER)]}]}}


def test_the_settings_are_those_that_are_published(init: Init, home: Path) -> None:
    for agent in AGENTS:
        init(agent, "--yes", "--url", "http://127.0.0.1:7437", "--token-file", "token", "--tools")
    found = files(home)
    claude = json.loads(found[".claude/settings.json"])["hooks"]
    assert {*claude} == {"SessionStart", "UserPromptSubmit", "PreCompact", "SessionEnd"}
    [group] = claude["UserPromptSubmit"]
    [hook] = group["hooks"]
    assert (hook["type"], hook["timeout"]) == ("command", 10)
    words = shlex.split(hook["command"])
    assert words[-4:] == ["--url", "http://127.0.0.1:7437", "--token-file", str(home / "token")]
    assert claude["SessionEnd"][0]["hooks"][0]["command"].endswith("save --behind --agent claude --tools")
    assert {*json.loads(found[".codex/hooks.json"])["hooks"]} == {*claude}
    codex = tomllib.loads(found[".codex/config.toml"])["mcp_servers"]["pgmnemo"]
    assert codex == json.loads(found[".cursor/mcp.json"])["mcpServers"]["pgmnemo"]
    assert Path(codex["command"]).is_absolute()
    assert codex["args"][-1] == "mcp"
    gemini = json.loads(found[".gemini/settings.json"])
    assert gemini["hooks"]["BeforeAgent"][0]["hooks"][0]["timeout"] == 10_000  # milliseconds
    cursor = json.loads(found[".cursor/hooks.json"])
    prompted = [one["command"].split()[3:5] for one in cursor["hooks"]["beforeSubmitPrompt"]]
    assert (cursor["version"], len(prompted)) == (1, 2)
    assert {*cursor["hooks"]} == {"sessionStart", "beforeSubmitPrompt", "afterAgentResponse"}
    opencode = json.loads(found[".config/opencode/opencode.json"])["mcp"]["pgmnemo"]
    assert (opencode["type"], opencode["enabled"]) == ("local", True)
    assert opencode["command"] == [codex["command"], *codex["args"]]
    for text in found.values():
        assert "secret" not in text


def test_other_options_replace_what_is_there_once(init: Init, home: Path) -> None:
    put(home, "claude")
    init("claude", "--yes")
    init("claude", "--yes", "--tenant", "ada", "--embedder", "none")
    found = json.loads(files(home)[".claude/settings.json"])
    told = commands(found)
    assert len(told) == 4
    assert all("--tenant ada --embedder none" in one for one in told)
    assert found["hooks"]["SessionStart"][0]["hooks"][0]["command"] == "say hi"
    servers = json.loads(files(home)[".claude.json"])["mcpServers"]
    assert servers["pgmnemo"]["args"][-4:] == ["--tenant", "ada", "--embedder", "none"]


@pytest.mark.parametrize(
    ("agent", "name", "text", "word"),
    [
        ("claude", ".claude/settings.json", '{\n  "hooks": {,}\n}', "line 2, column 13"),
        ("claude", ".claude/settings.json", "[]", "object"),
        ("claude", ".claude/settings.json", "\xff", "UTF-8"),
        ("claude", ".claude/settings.json", '{"hooks": []}', "hooks"),
        ("claude", ".claude/settings.json", '{"hooks": {"SessionStart": {}}}', "SessionStart"),
        ("claude", ".claude/settings.json", '{"hooks": null}', "hooks is no object"),
        ("claude", ".claude/settings.json", '{"hooks": {"SessionStart": null}}', "SessionStart is no list"),
        ("claude", ".claude.json", '{"mcpServers": {"pgmnemo": {"command": "theirs"}}}', "another program"),
        ("claude", ".claude.json", '{"mcpServers": {"pgmnemo": null}}', "another program"),
        ("claude", ".claude.json", '{"a": ' + "1" * 5000 + "}", "digits"),
        *(("cursor", ".cursor/mcp.json", f'{{"mcpServers": {one}, "a": 1}}', "mcpServers is no object")
          for one in ("null", "[]", "[1]", '"x"', "5", "true")),
        ("opencode", ".config/opencode/opencode.json", '{"mcp": null}', "mcp is no object"),
        ("codex", ".codex/config.toml", "model = ", "TOML"),
        ("codex", ".codex/config.toml", "a = " + "1" * 5000, "TOML"),
        ("codex", ".codex/config.toml", "a = " + "[" * 5000, "TOML"),
        ("codex", ".codex/config.toml", 'mcp_servers = {docs = {command = "x"}}', "by hand"),
        ("codex", ".codex/config.toml", '[mcp_servers.pgmnemo]\ncommand = "x"', "another program"),
        ("opencode", ".config/opencode/plugins/pgmnemo.js", "// mine", "another program"),
        ("cursor", ".cursor/hooks.json", "[" * 100_000, "nested"),
    ],
)  # fmt: skip
def test_settings_that_cannot_be_edited_are_left_alone(
    agent: str, name: str, text: str, word: str, init: Init, home: Path
) -> None:
    path = home / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("latin-1"))
    done = init(agent, "--yes")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert str(path) in done.err
    assert word in done.err
    assert [one for one in home.rglob("*") if one.is_file()] == [path]
    assert path.read_bytes() == text.encode("latin-1")


@pytest.mark.parametrize("at", [0, 1])
def test_a_group_with_a_handler_of_the_users_is_edited_by_handlers(at: int, init: Init, home: Path) -> None:
    init("claude", "--yes")
    path = home / ".claude/settings.json"
    settings = json.loads(path.read_text())
    [group] = settings["hooks"]["PreCompact"]
    group["hooks"].insert(at, json.loads(OTHER))
    group["matcher"] = "auto"
    settings["hooks"]["SessionEnd"][0]["hooks"] *= 2
    path.write_text(json.dumps(settings))
    init("claude", "--yes", "--tenant", "ada")
    [group] = json.loads(path.read_text())["hooks"]["PreCompact"]
    assert group["hooks"].pop(at) == json.loads(OTHER)
    assert [one["command"].split()[-2:] for one in group["hooks"]] == [["--tenant", "ada"]]
    assert len(json.loads(path.read_text())["hooks"]["SessionEnd"][0]["hooks"]) == 1
    assert init("claude", "--yes", "--tenant", "ada").out == "nothing to change\n"
    init("claude", "--undo", "--yes")
    assert json.loads(path.read_text()) == {
        "hooks": {"PreCompact": [{"hooks": [json.loads(OTHER)], "matcher": "auto"}]}
    }


def test_a_setting_among_the_hooks_does_not_stop_an_undo(init: Init, home: Path) -> None:
    path = home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"enabled": true}}')
    assert (init("gemini", "--yes").code, init("gemini", "--undo", "--yes").code) == (0, 0)
    assert json.loads(path.read_text()) == {"hooks": {"enabled": True}}


@pytest.mark.parametrize(("typed", "code"), [("y\n", 0), ("YES\n", 0), ("n\n", 2), ("\n", 2), ("", 2)])
def test_it_asks_first(
    typed: str, code: int, init: Init, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = StringIO(typed)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    done = init("gemini")
    assert (done.code, "Traceback" in done.err) == (code, False)
    assert "+++" in done.out
    assert [*files(home)] == ([".gemini/settings.json"] if code == 0 else [])
    assert home.is_dir()


def test_a_file_that_changes_meanwhile_is_left_as_it_is(
    init: Init, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = put(home, "gemini")

    def type_while_another_writes(_: object) -> str:
        (home / ".gemini/settings.json").write_text("{}")
        return "y"

    monkeypatch.setattr("builtins.input", type_while_another_writes)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    done = init("gemini")
    assert (done.code, "meanwhile" in done.err) == (2, True)
    assert files(home) == dict.fromkeys(before, "{}")


def test_a_link_stays_a_link(init: Init, home: Path) -> None:
    (home / "dotfiles").mkdir()
    (home / "dotfiles" / "settings.json").write_text("{}")
    (home / ".gemini").symlink_to(home / "dotfiles")
    init("gemini", "--yes")
    assert (home / ".gemini").is_symlink()
    assert "mcpServers" in (home / "dotfiles" / "settings.json").read_text()


def test_a_name_is_an_agent_and_a_path_a_folder(init: Init, home: Path) -> None:
    (home / "cursor").mkdir()
    (home / "cursor" / "mnemo.json").write_text("{}")
    done = init("cursor", "--yes")
    assert (done.code, "./cursor" in done.err) == (2, True)
    for arguments, word in (
        (("./elsewhere", "--undo"), "--undo"), (("--scope", "project"), "--scope"),
        (("claude", "--grant", "ada"), "--grant"), (("claude", "--dsn", "postgresql:///x"), "not both"),
    ):  # fmt: skip
        done = init(*arguments)
        assert (done.code, word in done.err) == (2, True)
    assert [path.name for path in home.rglob("*")] == ["cursor", "mnemo.json"]


def test_a_folder_that_nobody_may_write_is_one_sentence(init: Init, home: Path) -> None:
    (home / ".codex").write_text("")  # root may write everywhere, but not below a file
    done = init("codex", "--yes")
    assert (done.code, done.err.count("\n")) == (3, 1)
    assert str(home / ".codex") in done.err


EVENTS: dict[str, list[tuple[str, dict[str, Any]]]] = {  # by agent: a session as each tells it
    "claude": [
        ("SessionEnd", {"reason": "clear"}), ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Which VPN does staging need?", "permission_mode": "default"}),
    ],
    "codex": [
        ("SessionEnd", {"model": "m"}), ("SessionStart", {"source": "startup", "model": "m"}),
        ("UserPromptSubmit", {"prompt": "Which VPN does staging need?", "turn_id": "t", "model": "m"}),
    ],
    "gemini": [
        ("AfterAgent", {"prompt": "Staging needs the VPN marina.", "prompt_response": "Noted.",
                        "stop_hook_active": False, "timestamp": "2026-11-29T10:00:00.000Z"}),
        ("SessionStart", {"source": "startup"}),
        ("BeforeAgent", {"prompt": "Which VPN does staging need?"}),
    ],
    "cursor": [
        ("beforeSubmitPrompt", {"prompt": "Staging needs the VPN marina.", "attachments": []}),
        ("sessionStart", {"is_background_agent": False}),
        ("beforeSubmitPrompt", {"prompt": "Which VPN does staging need?", "attachments": []}),
    ],
}  # fmt: skip


def context_of(agent: str, text: str) -> str:
    """What an agent takes from what a hook prints."""
    if not text or agent in ("claude", "codex"):
        return text
    told = json.loads(text)
    if agent == "cursor":
        assert told.pop("continue", True) is True
        return str(told["additional_context"])
    return str(told["hookSpecificOutput"]["additionalContext"])


@pytest.mark.parametrize("name", EVENTS)
def test_a_session_by_the_settings_that_were_written(name: str, agent: Agent, init: Init, home: Path) -> None:
    assert init(name, "--yes", "--embedder", "none").code == 0
    found = [
        value(file, text) for file, text in files(home).items() if file.endswith(("s.json", "hooks.json"))
    ]
    hooks = next(one["hooks"] for one in found if "hooks" in one)
    said = "Staging needs the VPN marina."
    agent.say("user", said)
    if name == "codex":
        body = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": said}]}
        lines = [{"type": "session_meta", "payload": {"id": "s"}}, {"type": "response_item", "payload": body}]
        (agent.home / "rollout-s.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    told = []
    for event, more in EVENTS[name]:
        path = "rollout-s.jsonl" if name == "codex" else agent.transcript.name
        given = agent.event(event, **{"transcript_path": str(agent.home / path), **more})
        for entry in hooks[event]:
            for hook in entry.get("hooks", [entry]):
                done = subprocess.run(
                    ["sh", "-c", hook["command"]], input=given, cwd=ROOT, capture_output=True, check=True,
                    env={**os.environ, **agent.environ, "HOME": str(home)},
                )  # fmt: skip
                assert done.stderr == b""
                told.append(context_of(name, done.stdout.decode()))
        until(lambda: said in agent.texts())
    assert [f"> {said}\n" in one for one in told if one] == [True, True]
    assert told[0] == ""


@pytest.mark.skipif(not shutil.which("node"), reason="opencode's plugins are of JavaScript")
def test_opencodes_plugin_adds_what_the_prompt_needs(agent: Agent, init: Init, home: Path) -> None:
    agent.scope.add("Staging answers only inside the VPN.", key="vpn")
    init("opencode", "--yes", "--embedder", "none")
    plugin = (home / ".config/opencode/plugins/pgmnemo.js").read_text()
    (home / "plugin.mjs").write_text(plugin)
    (home / "run.mjs").write_text("""
import { Pgmnemo } from "./plugin.mjs"
const hooks = await Pgmnemo({ directory: process.argv[2] })
for (const text of ["Which VPN does staging need?", "yes"]) {
  const parts = [{ type: "text", text }]
  await hooks["chat.message"]({ sessionID: "s" }, { message: { id: "m" }, parts })
  console.log(JSON.stringify(parts.slice(1)))
}
await hooks["experimental.text.complete"]({ sessionID: "s" }, { text: "Staging needs marina." })
""")
    environ = {**os.environ, **agent.environ, "HOME": str(home), "PYTHONSAFEPATH": ""}
    done = subprocess.run(
        ["node", str(home / "run.mjs"), agent.cwd], cwd=ROOT, env=environ, capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    first, second = map(json.loads, done.stdout.splitlines())
    assert "> Staging answers only inside the VPN.\n" in first[0]["text"]
    assert {**first[0], "text": "", "id": ""} == {
        "id": "", "sessionID": "s", "messageID": "m", "type": "text", "text": "", "synthetic": True,
    }  # fmt: skip
    assert second == []
    said = {"Which VPN does staging need?", "yes", "Staging needs marina."}
    until(lambda: {*agent.texts()} >= said)
    assert {(one.text, one.role) for one in agent.scope.list(role="assistant")} == {
        ("Staging needs marina.", "assistant")
    }
    assert sys.executable in plugin

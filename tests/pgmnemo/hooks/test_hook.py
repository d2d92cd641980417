"""The command `mnemo hook`: what it stores of a transcript, and that no fault of its own reaches an agent."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import Scope
from pgmnemo.cli.commands import main
from pgmnemo.integrations import behind
from pgmnemo.integrations.hooks import save
from tests.helping import until
from tests.pgmnemo.cli.conftest import Done, Typed
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.hooks.conftest import PATIENCE, Agent

Hook = Callable[..., Done]
BROKEN = (b"", b"{", [], b"\xff", b"[" * 9000, b"null", b"5", b"1" * 5000, b"NaN", b"\0" * 9, b"PK\3\4x")
NAMES = ("/w/acme", "/w/acme-corp", "/w/acm_", "/w/acme%", "/w/acme\\", "/w/acme'", "/w/\u0430cme", "/w/ACME")


@pytest.fixture
def hook(agent: Agent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Hook:
    """Run the command in this process, for the agent's tenant."""
    for name, value in agent.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)

    def run(act: str, event: Any, *options: str) -> Done:
        told = event if isinstance(event, bytes) else json.dumps(event).encode()
        monkeypatch.setattr(sys, "stdin", Typed(told))
        code = main(["hook", act, *options])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


def claude(*said: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """Lines with the ids and texts that are given."""
    for uuid, text in said:
        yield {"type": "user", "uuid": uuid, "sessionId": "s", "message": {"role": "user", "content": text}}


def codex(*said: str) -> Iterator[dict[str, Any]]:
    yield {"type": "session_meta", "payload": {"id": "s", "cwd": "/x"}}
    for text in said:
        content = [{"type": "input_text", "text": text}]
        yield {"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}}


CHANGES: dict[str, tuple[str, list[Iterator[dict[str, Any]]], list[str]]] = {
    "it grew": ("s", [claude(("1", "a")), claude(("1", "a"), ("2", "b"))], ["a", "b"]),
    "it shrank": ("s", [claude(("1", "a"), ("2", "b"), ("3", "c")), claude(("3", "c"))], ["a", "b", "c"]),
    "it shrank and grew": (
        "s", [claude(("1", "a"), ("2", "b")), claude(("2", "b"), ("3", "c"))], ["a", "b", "c"],
    ),
    "it was rewritten": ("s", [claude(("1", "a")), claude(("1", "x"))], ["a", "x"]),
    "it was rewritten back": (
        "s", [claude(("1", "a")), claude(("1", "x")), claude(("1", "a"), ("2", "b"))], ["a", "x", "b"],
    ),
    "lines without ids shrank": ("rollout-s", [codex("a", "ok", "b", "ok"), codex("b", "ok", "c")],
                                 ["a", "ok", "b", "ok", "c"]),
    "lines without ids grew": ("rollout-s", [codex("a"), codex("a", "a")], ["a", "a"]),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_a_transcript_that_changed_brings_what_is_new_and_changes_nothing(
    change: str, scope: Scope, tmp_path: Path
) -> None:
    name, versions, expected = CHANGES[change]
    path = tmp_path / f"{name}.jsonl"
    for version in versions:
        path.write_text("".join(f"{json.dumps(line)}\n" for line in version))
        save(scope, path)
        held = [(one.key, one.text) for one in scope.list()]
        assert save(scope, path).lessons == 0
        assert [(one.key, one.text) for one in scope.list()] == held
    assert sorted(text for _, text in held) == sorted(expected)


def test_odd_lines_are_left_out_and_one_that_is_finished_later_comes_then(
    scope: Scope, tmp_path: Path
) -> None:
    path = tmp_path / "s.jsonl"
    last = json.dumps(next(claude(("9", "the last"))))
    odd = (b"[]", b"no JSON", b"", b"\xff\xfe", b'{"type": "user"}', b"[" * 5000, b"\0", b"null")
    kept = [json.dumps(line).encode() for line in claude(("1", "a\0b"), ("1", "a copy"), ("2", " "))]
    path.write_bytes(b"\n".join([*odd, *kept, last[:-5].encode()]))
    save(scope, path)
    assert [one.text for one in scope.list()] == ["a\ufffdb"]
    with path.open("a") as file:
        file.write(f"{last[-5:]}\n")
    save(scope, path)
    assert [one.text for one in scope.list()][1:] == ["the last"]


def test_what_was_forgotten_stays_so(scope: Scope, tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) for line in claude(("1", "a secret"))))
    save(scope, path)
    scope.forget("claude-code/1")
    assert save(scope, path).lessons == 0
    assert list(scope.list()) == []


def test_the_sessions_of_codex_are_saved_too(hook: Hook, agent: Agent) -> None:
    path = agent.home / "rollout-2026-11-27T01-00-00-s.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in codex("Paint the boat red.")))
    event = {"session_id": "s", "transcript_path": str(path), "cwd": agent.cwd, "turn_id": "1", "model": "m"}
    assert hook("save", {**event, "hook_event_name": "Stop"}) == Done(0, "", "")
    woken = hook("wake-up", {**event, "transcript_path": None, "source": "startup"})
    assert (woken.code, woken.err) == (0, "")
    assert "> Paint the boat red.\n" in woken.out


def test_no_project_or_tenant_wakes_up_with_what_another_saved(
    hook: Hook, agent: Agent, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    for cwd in NAMES:
        path = agent.home / "s.jsonl"
        path.write_text(json.dumps(next(claude(("1", f"secret of {cwd}")))))
        assert hook("save", {"transcript_path": str(path), "cwd": cwd}) == Done(0, "", "")
    for cwd in NAMES:
        told = hook("wake-up", {"cwd": cwd}).out
        assert [line for line in told.splitlines() if "secret" in line] == [f"> secret of {cwd}"]
    assert hook("wake-up", {"cwd": NAMES[0]}, "--project", NAMES[1]).out.count("secret") == 1
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", NAMES[0])
    assert NAMES[0] in hook("wake-up", {"cwd": f"{NAMES[0]}/src"}).out
    monkeypatch.setenv("PGMNEMO_TENANT", place.tenant())
    assert hook("wake-up", {"cwd": NAMES[0]}).out == ""


def test_whatever_is_wrong_is_one_line_and_the_code_is_0(
    hook: Hook, agent: Agent, monkeypatch: pytest.MonkeyPatch, place: Place
) -> None:
    agent.say("user", "hello")
    good = json.loads(agent.event("PreCompact"))
    (agent.home / "file").write_text("")
    faults: list[tuple[str, Any, str]] = [
        *((act, event, "") for act in ("save", "wake-up") for event in BROKEN),
        ("save", {**good, "transcript_path": None}, ""), ("save", {**good, "transcript_path": 7}, ""),
        ("save", {**good, "transcript_path": str(agent.home / "none.jsonl")}, ""),
        *(("save", {**good, "transcript_path": one}, "") for one in (str(agent.home), "x" * 5000, [])),
        ("save", {**good, "transcript_path": "\0\u001b[2J\n"}, ""),
        ("save", {**good, "cwd": "x" * 10_000}, ""), ("wake-up", {**good, "cwd": "a\0b"}, ""),
        ("save", good, str(agent.home / "file")), ("save", good, str(agent.home / "file" / "below")),
        ("wake-up", good, str(agent.home / "file")), ("save", good, "postgresql://ada:secret@127.0.0.1:1/x"),
        ("wake-up", good, place.dsn("stranger")), ("save", good, "="),
    ]  # fmt: skip
    for act, event, memory in faults:
        monkeypatch.setenv("PGMNEMO_MEMORY", memory or agent.environ["PGMNEMO_MEMORY"])
        done = hook(act, event)
        assert (done.code, done.out, done.err.count("\n")) == (0, "", 1), (act, event, done)
        assert done.err.startswith(f"mnemo hook {act}: ")
        assert not any(word in done.err for word in ("secret", "\x1b", "Traceback"))
    assert agent.texts() == []


LARGE = b'{"prompt": "' + b"x" * 10_000_000 + b'"}'


@pytest.mark.parametrize(
    ("event", "told"),
    [(b"", "there was none"), (b" \n", "there was none"), (b"{", "no JSON"), (b"\xff", "no JSON"),
     (b"[]", "no object"), (b"[" * 100_000, "nested too deeply"), (LARGE, "more than 10,000,000 bytes"),
     (b"{}", "")],
    ids=["nothing", "blank", "half", "bytes", "list", "deep", "large", "empty"],
)  # fmt: skip
@pytest.mark.parametrize(
    "act",
    [["save"], ["save", "--behind"], ["wake-up"], ["recall"], ["recall", "--url", "http://127.0.0.1:1"]],
)
def test_a_wrong_event_is_told_as_it_is(act: list[str], event: bytes, told: str, agent: Agent) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pgmnemo", "hook", *act], input=event, env=agent.environ, capture_output=True,
        cwd=Path(__file__).parents[3], check=True,
    )  # fmt: skip
    if "--behind" in act and told in ("no JSON", "no object", "nested too deeply", ""):
        log = agent.home / ".local/state/mnemo-hooks.log"
        until(lambda: told in log.read_text() and "mnemo hook save" in log.read_text())
        assert done.stderr == b""
    else:
        assert (told in done.stderr.decode(), done.stdout) == (True, b"")
        assert done.stderr.count(b"\n") == (told != "" or act != ["wake-up"])


@pytest.mark.parametrize(
    "act", ["save", "save --behind", "wake-up", "recall", "recall --url http://127.0.0.1:1"]
)
def test_a_closed_standard_input_is_none(act: str, agent: Agent) -> None:
    done = subprocess.run(
        ["sh", "-c", f"mnemo hook {act} <&-"], env=agent.environ, capture_output=True, check=True
    )
    assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)
    assert b"there was none" in done.stderr


def test_closed_streams_end_no_command_with_a_traceback(agent: Agent) -> None:
    for command in (
        "mnemo add - <&-",
        "mnemo init claude <&-",
        "mnemo init claude --yes >&-",
        "mnemo hook save 2>&-",
    ):
        done = subprocess.run(["sh", "-c", command], env=agent.environ, capture_output=True, check=False)
        assert done.returncode == (2 if "<" in command else 0)
        assert (done.stdout if "2>" in command else b"") == b""
        assert b"Traceback" not in done.stderr


def test_the_log_keeps_faults_and_has_a_bound(
    agent: Agent, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    monkeypatch.setenv("PGMNEMO_HOOK_LOG", str(log))
    for text in ("a fault\n", "another\n"):
        with behind._open_log() as file:
            file.write(text.encode())
    assert log.read_text() == "a fault\nanother\n"
    log.write_bytes(b"x" * (behind.LONGEST_LOG + 1))
    with behind._open_log() as file:
        file.write(b"a fault\n")
    assert (log.read_text(), log.stat().st_mode & 0o777) == ("a fault\n", 0o600)
    assert (tmp_path / "log.1").stat().st_size == behind.LONGEST_LOG + 1
    assert len([*tmp_path.glob("log*")]) == 2


def test_before_anything_is_saved_there_is_nothing_to_wake_up_with(hook: Hook, agent: Agent) -> None:
    (agent.home / "empty").mkdir()
    for place in ("empty", "none"):
        event = {"cwd": agent.cwd}
        assert hook("wake-up", event, "--memory", str(agent.home / place)) == Done(0, "", "")
    assert not (agent.home / "none").exists()


@pytest.mark.parametrize("act", ["save", "wake-up"])
def test_it_gives_up_in_time(hook: Hook, agent: Agent, act: str) -> None:
    agent.say("user", "hello")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        dsn = f"postgresql://ada@127.0.0.1:{silent.getsockname()[1]}/x"
        start = time.monotonic()
        done = hook(act, agent.event("PreCompact"), "--memory", dsn, "--seconds", "0.5")
    assert time.monotonic() - start < 60
    assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)
    assert "cut off, within 0.5 seconds" in done.err


STUCK = """
import sys, time
from pgmnemo.integrations import hooks
hooks.GRACE = 0.5
def stuck(*_, **more):
    while True:
        try:
            time.sleep(60)
        except KeyboardInterrupt:
            pass
hooks.save = stuck
from pgmnemo.cli.commands import main
sys.exit(main(["hook", "save", "--seconds", "0.5"]))
"""


def test_even_what_cannot_be_cut_off_ends(agent: Agent) -> None:
    agent.say("user", "hello")
    done = subprocess.run(
        [sys.executable, "-c", STUCK], input=agent.event("PreCompact"), env=agent.environ, timeout=PATIENCE,
        capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, b"")


TOKEN, WORD = "gh" + "p_" + "a1B2" * 9, "hunter2xyz"
TOLD = f"Use {TOKEN}\nDB_PASSWORD={WORD}"


def test_secrets_are_not_stored_and_the_log_says_which_kinds_there_were(hook: Hook, agent: Agent) -> None:
    agent.say("user", TOLD)
    done = hook("save", agent.event("Stop"))
    assert (done.code, done.out) == (0, "")
    assert done.err == "mnemo hook save: redacted 1 github token, 1 secret variable\n"
    assert agent.texts() == ["Use [redacted: github token]\nDB_PASSWORD=[redacted: secret variable]"]
    agent.say("user", "No secret.")
    assert hook("save", agent.event("Stop")) == Done(0, "", "")
    assert len(agent.texts()) == 2


def test_secrets_stay_where_the_setting_says_so_and_nothing_is_stored_twice_afterwards(
    hook: Hook, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.say("user", TOLD)
    assert hook("save", agent.event("Stop"), "--keep-secrets") == Done(0, "", "")
    assert agent.texts() == [TOLD]
    assert hook("save", agent.event("Stop")) == Done(0, "", "")
    agent.say("user", f"And {TOKEN}")
    monkeypatch.setenv("PGMNEMO_KEEP_SECRETS", "yes")
    assert hook("save", agent.event("Stop")) == Done(0, "", "")
    assert agent.texts() == [TOLD, f"And {TOKEN}"]


TURNS: dict[str, tuple[dict[str, Any], list[tuple[str, str]]]] = {
    "gemini": (
        {"session_id": "s", "hook_event_name": "AfterAgent", "timestamp": "2026-11-29T10:00:00.000Z",
         "prompt": "Paint it red.", "prompt_response": "It is red.", "transcript_path": "/none"},
        [("user", "Paint it red."), ("assistant", "It is red.")],
    ),
    "cursor": (
        {"conversation_id": "s", "generation_id": "g", "hook_event_name": "afterAgentResponse",
         "text": "It is red.", "workspace_roots": [Agent.cwd], "cwd": ""},
        [("assistant", "It is red.")],
    ),
    "opencode": ({"session_id": "s", "prompt": "Paint it red."}, [("user", "Paint it red.")]),
}  # fmt: skip


@pytest.mark.parametrize("agent_name", TURNS)
def test_agents_without_a_readable_transcript_are_saved_by_their_events(
    agent_name: str, hook: Hook, agent: Agent
) -> None:
    event, expected = TURNS[agent_name]
    for _ in range(2 if "generation_id" in event or "timestamp" in event else 1):
        assert hook("save", {"cwd": agent.cwd, **event}, "--agent", agent_name) == Done(0, "", "")
    assert [(one.role, one.text) for one in agent.scope.list()] == expected
    assert {one.metadata["conversation"] for one in agent.scope.list()} == {"s"}
    for empty in ({}, {"prompt": 7, "text": None}, {"prompt": " "}):
        done = hook("save", {"cwd": agent.cwd, **empty}, "--agent", agent_name)
        assert (done.code, done.err.count("\n")) == (0, 1)
    assert len([*agent.scope.list()]) == len(expected)

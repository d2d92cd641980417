"""A coding agent's session with its hooks: what was said is recalled, and nothing is there twice."""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from pgmnemo.client.rendering import FIRST, about_tokens
from tests.helping import until
from tests.pgmnemo.hooks.conftest import PATIENCE, SETTINGS, Agent

TURNS = (
    ("Paint the boat red.", "It is red now."), ("We tie up at pier seven.", "Noted: pier seven."),
    ("The engine is a Volvo from 1998.", "Then its filter is a 3840525."),
    ("Never push to main on a Friday.", "I will not."), ("What is left to do?", "Only the sails."),
)  # fmt: skip


def test_what_was_said_is_recalled_and_nothing_is_there_twice(agent: Agent) -> None:
    assert agent.run("SessionStart", source="startup") == ""
    for asked, answered in TURNS:
        agent.say("user", asked)
        agent.say("assistant", answered)
    assert agent.run("PreCompact", trigger="auto", custom_instructions="") == ""
    said = [text for turn in TURNS for text in turn]
    assert agent.texts() == said

    agent.say("user", "This session is being continued from …", isCompactSummary=True)
    woken = agent.run("SessionStart", source="compact")
    assert woken.startswith(FIRST)
    assert about_tokens(woken) <= 800
    assert "Never push to main on a Friday." in woken
    agent.say("user", f"SessionStart hook additional context:\n{woken}", isMeta=True)
    agent.say("user", f"{woken}So who made the engine?")
    agent.say("assistant", f"Memory says:\n{woken}Volvo.")
    assert agent.run("SessionEnd", reason="clear") == ""
    said += ["So who made the engine?", "Memory says:\nVolvo."]
    until(lambda: len(agent.texts()) >= len(said))
    assert agent.texts() == said

    agent.session, agent.lines = "s2", 0
    for source in ("clear", "resume"):
        woken = agent.run("SessionStart", "--max-tokens 120 --seconds 200", source=source)
        assert "So who made the engine?" in woken
        assert about_tokens(woken) <= 120
    agent.transcript.write_bytes((agent.home / "s1.jsonl").read_bytes())  # a session that is resumed
    agent.say("user", "And who painted it?")
    agent.run("PreCompact", trigger="manual")
    assert agent.texts() == [*said, "And who painted it?"]
    assert agent.scope.recall("From which year is the Volvo?", k=1)[0].text == TURNS[2][0]
    assert (agent.home / ".local/state/mnemo-hooks.log").read_text() == ""


def test_hooks_at_once_and_killed_ones_leave_each_message_once(agent: Agent) -> None:
    said = [f"message {number}" for number in range(400)]
    for text in said:
        agent.say("user", text)
    command = ["mnemo", "hook", "save"]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, env=agent.environ, start_new_session=True)
        for _ in range(3)
    ]
    for one in started:
        assert one.stdin
        one.stdin.write(agent.event("SessionEnd"))
        one.stdin.close()
    until(lambda: bool(agent.texts()))
    started[0].kill()
    started[1].terminate()
    assert [one.wait(PATIENCE) for one in started][2] == 0
    assert sorted(agent.texts()) == sorted(said)
    agent.run("PreCompact")
    assert len(agent.texts()) == len(said)


def test_the_first_two_sessions_at_once_make_the_folder_of_the_memory(agent: Agent) -> None:
    with TemporaryDirectory(prefix="mnemo-hooks-") as room:
        Path(room).chmod(0o755)  # as root the server runs as another user
        agent.environ["PGMNEMO_MEMORY"] = f"{room}/memory"
        agent.say("user", "Sails are white.")
        with ThreadPoolExecutor() as pool:
            assert list(pool.map(agent.run, ["PreCompact"] * 2)) == ["", ""]
        assert agent.run("SessionStart").count("> Sails are white.") == 1


def test_every_event_has_its_script_and_a_bound(agent: Agent) -> None:
    hooks = {name: group["hooks"][0] for name, [group] in SETTINGS.items()}
    assert {name: hook["command"].split("/")[-1] for name, hook in hooks.items()} == {
        "SessionStart": 'wake-up.sh"', "PreCompact": 'save.sh"', "SessionEnd": 'save.sh" --behind',
    }  # fmt: skip
    assert "matcher" not in SETTINGS["SessionStart"][0]  # startup, resume, clear and compact
    assert hooks["SessionEnd"]["timeout"] <= 3  # the most that Codex gives
    start = time.monotonic()
    agent.say("user", "Bye.")
    agent.run("SessionEnd", reason="other")
    assert time.monotonic() - start < 15  # without a load some hundredths
    until(lambda: agent.texts() == ["Bye."])


def test_without_the_command_a_session_goes_on(agent: Agent) -> None:
    for name in SETTINGS:
        [hook] = SETTINGS[name][0]["hooks"]
        done = subprocess.run(
            ["/bin/sh", "-c", hook["command"]], input=agent.event(name), capture_output=True, check=False,
            env={**agent.environ, "PATH": "/usr/bin:/bin"}, timeout=PATIENCE,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (0, b"")
        assert len(done.stderr.splitlines()) == (name != "SessionEnd")
    until(lambda: "mnemo" in (agent.home / ".local/state/mnemo-hooks.log").read_text())

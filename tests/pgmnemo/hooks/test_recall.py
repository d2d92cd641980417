"""Recall at a prompt: what is added, how quickly a hook gives up, and that no fault reaches the agent."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from pgmnemo.cli.commands import main
from pgmnemo.client.rendering import FIRST, LAST, about_tokens
from pgmnemo.http.tokens import TokenFile
from pgmnemo.integrations import prompt_recall
from pgmnemo.integrations.prompt_recall import select_notes
from tests.pgmnemo.cli.conftest import Done, Typed
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.hooks.conftest import PATIENCE, Agent

ROOT = Path(__file__).parents[3]
MNEMO = [sys.executable, "-m", "pgmnemo"]
SAID = {
    "vpn": "Staging answers only inside the VPN: run wg-quick up marina before you deploy.",
    "cents": "Money is always stored as whole cents in integer columns.",
    "small": "ok, deploy staging",
}
PROMPT = "Deploy to staging, please."
Recall = Callable[..., Done]


@pytest.fixture
def sailor(agent: Agent) -> Agent:
    """An agent with something in its memory, and the output of a tool."""
    for key, text in SAID.items():
        agent.scope.add(text, key=key, role="user")
    agent.scope.add(
        "Bash: deploy staging\nstaging deploy staging", key="t", role="tool", metadata={"from_tool": "Bash"}
    )
    return agent


@pytest.fixture
def url(sailor: Agent, tmp_path: Path, place: Place) -> Iterator[str]:
    """A running `mnemo serve`, whose token is in the file `token`."""
    token = TokenFile(tmp_path / "tokens.json").create(sailor.tenant)
    (tmp_path / "token").write_text(f"{token}\n")
    command = [*MNEMO, "serve", place.dsn(), "--tokens", str(tmp_path / "tokens.json"), "--port", "0"]
    with subprocess.Popen([*command, "--embedder", "none"], cwd=ROOT, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        yield json.loads(process.stderr.readline())["url"]
        process.terminate()


@pytest.fixture
def recall(sailor: Agent, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Recall:
    """Run the hook in this process: what a server answers, else the whole command."""
    for name, value in sailor.environ.items():
        monkeypatch.setenv(name, value)
    for name in ("CLAUDE_PROJECT_DIR", "PGMNEMO_HOOK_SECONDS", "PGMNEMO_URL", "PGMNEMO_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    def run(prompt: Any, *options: str, event: str = "UserPromptSubmit") -> Done:
        told = prompt if isinstance(prompt, bytes) else sailor.event(event, prompt=prompt)
        monkeypatch.setattr(sys, "stdin", Typed(told))
        code = prompt_recall.start(options)
        if code is None:
            code = main(["hook", "recall", *options])
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return run


def test_a_prompt_gets_what_it_needs_and_another_nothing(url: str, recall: Recall, tmp_path: Path) -> None:
    by = ("--url", url, "--token-file", str(tmp_path / "token"), "--seconds", "60")
    found = recall(PROMPT, *by)
    assert (found.code, found.err) == (0, "")
    assert found.out.startswith(FIRST)
    assert found.out.endswith(f"{LAST}\n")
    assert f"> {SAID['vpn']}\n" in found.out
    assert not any(word in found.out for word in (SAID["small"], SAID["cents"], "Bash"))
    for prompt in ("yes", "/deploy staging", " ", "Paint the header blue."):
        assert recall(prompt, *by) == Done(0, "", "")
    all_of = recall("deploy staging cents columns", *by, "--min-fit", "0").out
    few = recall("deploy staging cents columns", *by, "--max-tokens", "80", "--min-fit", "0").out
    assert 0 < about_tokens(few) <= 80 < about_tokens(all_of) <= 400


def test_each_agent_is_answered_in_its_form(url: str, recall: Recall, tmp_path: Path) -> None:
    by = ("--url", url, "--token-file", str(tmp_path / "token"), "--seconds", "60", "--agent")
    plain = recall(PROMPT, *by, "claude").out
    assert recall(PROMPT, *by, "codex").out == plain
    assert json.loads(recall(PROMPT, *by, "gemini", event="BeforeAgent").out) == {
        "hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": plain}
    }
    assert json.loads(recall(PROMPT, *by, "cursor", event="beforeSubmitPrompt").out) == {
        "continue": True, "additional_context": plain,
    }  # fmt: skip
    assert recall("yes", *by, "gemini", event="BeforeAgent").out == ""


def test_without_a_server_the_memory_is_opened(recall: Recall) -> None:
    found = recall(PROMPT, "--seconds", str(PATIENCE))
    assert (found.code, found.err) == (0, "")
    assert f"> {SAID['vpn']}\n" in found.out
    assert "Bash" not in found.out
    assert recall("yes", "--seconds", str(PATIENCE)) == Done(0, "", "")


class Answers(BaseHTTPRequestHandler):
    """A server of something else."""

    bodies = (b"", b"<html>", b"null", b"[]", b'{"text": 1}', b'{"hits": [{}], "text": ""}', b"\xff")

    def do_POST(self) -> None:
        body = self.bodies[int(self.path.split("/")[1])]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def test_whatever_is_wrong_is_one_line_and_the_code_is_0(url: str, recall: Recall, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "wrong").write_text("mnemo_1_x")
    token = ("--token-file", str(tmp_path / "token"))
    for options, word in (
        (("--url", url), "token-file"), (("--url", url, "--token-file", str(tmp_path / "wrong")), "401"),
        (("--url", url, "--token-file", str(tmp_path / "empty")), "no token"),
        (("--url", url, "--token-file", str(tmp_path / "none")), "none"),
        (("--url", "127.0.0.1:7437", *token), "http://"),
        (("--url", "http://127.0.0.1:1", *token), "refused"),
        (("--url", url, *token, "--max-tokens", "0"), "422"), (("--url", "http://[x", *token), ""),
    ):  # fmt: skip
        done = recall(PROMPT, "--seconds", "60", *options)
        assert (done.code, done.out, done.err.count("\n")) == (0, "", 1), (options, done)
        assert done.err.startswith("mnemo hook recall: ")
        assert word in done.err
        assert (tmp_path / "token").read_text().strip() not in done.err
    for event in (b"", b"{", b"null", b'{"prompt": 5}', b"\xff"):
        assert recall(event, "--url", url, *token).err.count("\n") == 1


@pytest.mark.parametrize(
    "text", ["mnemo_1_x\nmnemo_2_y\n", "mnemo_\u2026", "mnemo_\xff", "mnemo_1 x", " ", "mnemo_1\0"]
)
def test_what_is_no_token_is_named_and_not_shown(
    text: str, recall: Recall, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_bytes(text.encode("latin-1" if "\xff" in text else "utf-8"))
    by = ("--url", "http://127.0.0.1:1")
    done = [recall(PROMPT, *by, "--token-file", str(tmp_path / "token"))]
    if "\0" not in text:
        monkeypatch.setenv("PGMNEMO_TOKEN", text)
        done.append(recall(PROMPT, *by))
    for one, place in zip(done, (str(tmp_path / "token"), "PGMNEMO_TOKEN"), strict=False):
        assert (one.code, one.out, one.err.count("\n")) == (0, "", 1)
        assert f"{place} holds no token" in one.err
        assert "mnemo_" not in one.err


def test_a_password_in_the_url_is_not_shown(recall: Recall) -> None:
    done = recall(PROMPT, "--url", "http://ada:hunter2@127.0.0.1:1")
    assert (done.out, done.err.count("\n"), "hunter2" in done.err) == ("", 1, False)


def test_a_server_of_something_else_is_one_line(recall: Recall) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        for number in range(len(Answers.bodies)):
            done = recall(PROMPT, "--url", f"http://127.0.0.1:{server.server_port}/{number}")
            assert (done.code, done.out, done.err.count("\n")) == (0, "", 1)
            assert "mnemo serve" in done.err
        server.shutdown()


def test_a_server_that_hangs_holds_a_prompt_up_for_a_second(sailor: Agent) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        start = time.monotonic()
        done = subprocess.run(
            [*MNEMO, "hook", "recall", "--url", f"http://127.0.0.1:{silent.getsockname()[1]}"],
            input=sailor.event("UserPromptSubmit", prompt=PROMPT), cwd=ROOT, capture_output=True, check=True,
        )  # fmt: skip
    assert 1 <= time.monotonic() - start < 10  # a second and the start of Python
    assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)
    assert b"within 1 seconds" in done.stderr


def test_wrong_options_do_not_stop_a_prompt(sailor: Agent) -> None:
    for options in (["--maxtokens", "3"], ["--max-tokens", "many"], ["--seconds"], ["more"]):
        done = subprocess.run(
            [*MNEMO, "hook", "recall", "--url", "http://127.0.0.1:1", *options],
            input=b"{}", cwd=ROOT, capture_output=True, check=True,
        )  # fmt: skip
        assert (done.stdout, done.stderr.count(b"\n")) == (b"", 1)


@pytest.mark.parametrize("options", [["recall", "--url", "http://127.0.0.1:1"], ["save", "--behind"]])
def test_what_an_agent_waits_for_loads_the_standard_library_alone(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGMNEMO_MEMORY", str(tmp_path / "none"))
    monkeypatch.setenv("PGMNEMO_HOOK_LOG", str(tmp_path / "log"))
    code = f"""
import sys
sys.argv = ["mnemo", "hook", *{options}]
from pgmnemo.cli import start
assert start() == 0
print(*sorted(name for name in sys.modules if name.split(".")[0] in
              ("psycopg", "numpy", "cyclopts", "msgspec", "rich", "urllib3", "platformdirs")))
"""
    event = json.dumps({"prompt": PROMPT})
    done = subprocess.run(
        [sys.executable, "-c", code], input=event, cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


def test_notes_that_repeat_the_prompt_are_left_out() -> None:
    def block(*texts: str) -> str:
        notes = (f"[{number}] k\n> {text}\n" for number, text in enumerate(texts, start=1))
        return "".join([f"{FIRST}\n", *notes, f"{LAST}\n"])

    good, small, chinese = "Run wg-quick up marina before.", "He tried again.", "船必须在星期五之前涂成红色"
    for texts, kept in (
        ((good, small), [good]), ((small, good), [good]), ((small,), []), ((good, chinese), [good, chinese]),
        ((good, small, chinese, small), [good, chinese]), ((), []),
    ):  # fmt: skip
        found = select_notes("Try again.", block(*texts) if texts else "", texts)
        assert [line[2:] for line in found.splitlines() if line.startswith("> ")] == kept
        assert found == "" or (found.startswith(FIRST) and found.endswith(f"{LAST}\n"))
        assert found.count(LAST) == bool(kept)


def test_the_latest_day_comes_first_and_notes_of_a_day_keep_their_order() -> None:
    said = {"the port was 8443 at first": "2026-11-01", "the port is 9443 since Monday": "2026-11-03",
            "and nobody told the others so": "2026-11-03", "a note that has no date at all": ""}  # fmt: skip
    notes = [
        f"[{number}] {day} · k{number}\n> {text}\n" for number, (text, day) in enumerate(said.items(), 1)
    ]
    found = select_notes("Which port?", f"{FIRST}\n{''.join(notes)}{LAST}\n", [*said])
    assert [line[:3] + line[-1] for line in found.splitlines() if line[0] == "["] == [
        "[1]2",
        "[2]3",
        "[3]1",
        "[4]4",
    ]
    assert found.startswith(f"{FIRST}\n[1]")
    assert found.endswith(f"\n{LAST}\n")

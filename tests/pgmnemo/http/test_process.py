"""`mnemo serve` as a process: signals, slow and rude clients, bodies without an end, tokens that go."""

from __future__ import annotations

import json
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from pgmnemo import Memory
from pgmnemo.cli.commands import main
from pgmnemo.client.naming import tenant_id
from pgmnemo.http.client_connections import MAX_HEAD
from pgmnemo.http.tokens import TokenFile
from pgmnemo.postgres.embedded import EmbeddedServer
from tests.helping import until
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.postgres.embedded.serving import new_base, value

SOON = 240.0  # seconds; a machine may be busy
GIGABYTE = 1 << 30
PART = b"x" * (1 << 20)
MNEMO = [sys.executable, "-m", "pgmnemo"]
SOON_MAINTAINED = """
import sys
from pgmnemo.cli import commands, serve
serve.MAINTENANCE_PAUSE = 0.1
sys.exit(commands.main())
"""


@dataclass
class Server:
    """One that runs, for the tenant of `token`."""

    process: subprocess.Popen[bytes]
    address: tuple[str, int]
    log: Path
    tokens: TokenFile
    token: str

    @property
    def url(self) -> str:
        return f"http://{self.address[0]}:{self.address[1]}"

    def post(self, verb: str, body: Any, timeout: float = SOON) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.token}"}
        return httpx.post(f"{self.url}/v1/{verb}", json=body, headers=headers, timeout=timeout)

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=SOON)

    def head(self, verb: str, *fields: str) -> bytes:
        lines = [
            f"POST /v1/{verb} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self.token}",
            "Content-Type: application/json", *fields,
        ]  # fmt: skip
        return "\r\n".join([*lines, "", ""]).encode()

    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.endswith("}")]


@contextmanager
def running(
    memory: str,
    folder: Path,
    *arguments: str,
    tenant: str = "nobody",
    tokens: bool = True,
    command: Sequence[str] = MNEMO,
    embedder: str = "none",
) -> Iterator[Server]:
    file = TokenFile(folder / "tokens.json")
    token = file.create(tenant, "kitchen")
    whose = ["--tokens", str(file.path)] if tokens else []
    log = folder / "log"
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [*command, "serve", memory, *whose, "--port", "0", "--embedder", embedder, *arguments],
            stderr=stream, stdout=stream,
        )  # fmt: skip
    try:
        server = Server(process, ("", 0), log, file, token)
        until(lambda: process.poll() is not None or any(one["event"] == "serving" for one in server.events()))
        assert process.poll() is None, log.read_text()
        host, _, port = server.events()[0]["url"].removeprefix("http://").rpartition(":")
        server.address = (host, int(port))
        yield server
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


@pytest.fixture(scope="module")
def server(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One whose requests have five seconds."""
    folder = tmp_path_factory.mktemp("served")
    with running(place.dsn(), folder, "--seconds", "5", "--rate", "1000", tenant=place.tenant()) as made:
        yield made


def test_the_model_is_loaded_before_the_first_question(place: Place, tmp_path: Path) -> None:
    with running(place.dsn(), tmp_path, tenant=place.tenant(), embedder="minilm-int8") as made:
        process = psutil.Process(made.process.pid)
        until(lambda: any("onnxruntime" in one.path for one in process.memory_maps()))


def test_a_folder_is_maintained_while_it_is_served(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SOON_MAINTAINED]
    with new_base() as base:
        with Memory.open(base / "memory", embedder=None) as memory:
            memory.tenant("ada").project("kitchen").add("note", key="k")
        with running(str(base / "memory"), tmp_path, tenant="ada", command=command) as server:
            beside = EmbeddedServer.open(base / "memory")
            began = "SELECT maintenance_began FROM pgmnemo.health"
            until(lambda: value(beside, began) is not None)
            assert server.post("count", {}).json()["lessons"] == 1
            beside.close()


def answer(connection: socket.socket) -> bytes:
    """All that comes until the other side ends."""
    found = b""
    with suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            found += part
    return found


def memory(process: subprocess.Popen[bytes]) -> int:
    found: int = psutil.Process(process.pid).memory_info().rss
    return found


@pytest.mark.parametrize("how", ["length", "chunked"])
def test_a_body_of_a_gigabyte_is_refused_and_never_held(server: Server, how: str) -> None:
    server.post("count", {})
    before, sent = memory(server.process), 0
    field = f"Content-Length: {GIGABYTE}" if how == "length" else "Transfer-Encoding: chunked"
    with server.connect() as connection:
        connection.sendall(server.head("add", field))
        part = PART if how == "length" else b"%x\r\n%b\r\n" % (len(PART), PART)
        with suppress(ConnectionError):  # which ends once the answer is there
            while sent < GIGABYTE:
                connection.sendall(part)
                sent += len(PART)
        found = answer(connection)
    assert b" 413 " in found.splitlines()[0]
    assert json.loads(found.split(b"\r\n\r\n", 1)[1])["error"]["kind"] == "too long"
    assert sent < GIGABYTE // 8
    assert memory(server.process) - before < 32 << 20
    assert server.post("count", {}).status_code == 200


def test_a_client_that_sends_all_before_it_reads_gets_the_refusal(server: Server) -> None:
    for _ in range(20):
        with server.connect() as connection:
            connection.sendall(server.head("add", f"Content-Length: {4 << 20}") + b"x" * (4 << 20))
            found = connection.recv(1 << 16, socket.MSG_WAITALL)
        assert b" 413 " in found.splitlines()[0]
        assert json.loads(found.split(b"\r\n\r\n", 1)[1])["error"]["kind"] == "too long"


def test_a_gigabyte_without_a_token_is_not_held_either(server: Server) -> None:
    before = memory(server.process)
    with server.connect() as connection, suppress(ConnectionError):
        connection.sendall(b"POST /v1/add HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % GIGABYTE)
        for _ in range(64):
            connection.sendall(PART)
        assert select.select([connection], [], [], SOON)[0]
        assert b" 401 " in connection.recv(1 << 16)
    assert memory(server.process) - before < 32 << 20


def test_a_body_that_comes_too_slowly_is_told_and_ended(server: Server) -> None:
    with server.connect() as connection:
        connection.sendall(server.head("add", "Content-Length: 1000"))
        stop = threading.Event()

        def drip() -> None:
            with suppress(OSError):
                while not stop.wait(0.3):
                    connection.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        began = time.monotonic()
        found = answer(connection)
        stop.set()
        dripping.join()
    assert b" 408 " in found.splitlines()[0]
    assert time.monotonic() - began < 30


def refusal(server: Server, sent: bytes) -> tuple[int, str]:
    """Return the status of the answer, and the kind of its error."""
    with server.connect() as connection:
        with suppress(ConnectionError):
            connection.sendall(sent)
        head, _, body = answer(connection).partition(b"\r\n\r\n")
    assert b"content-type: application/json" in head
    error = json.loads(body)["error"]
    assert set(error) == {"kind", "message"}
    return int(head.split()[1]), error["kind"]


@pytest.mark.parametrize("length", [1, 8_000, 70_000, 1_000_000])
def test_a_head_that_is_too_long_is_refused(server: Server, length: int) -> None:
    field = (MAX_HEAD + length - len(server.head("add", "X: "))) * "x"
    assert refusal(server, server.head("add", f"X: {field}")) == (400, "wrong use")


def test_the_longest_head_is_read(server: Server) -> None:
    fields = ["Content-Length: 2", "Connection: close", "X: "]
    fields[-1] += (MAX_HEAD - len(server.head("count", *fields))) * "x"
    with server.connect() as connection:
        connection.sendall(server.head("count", *fields) + b"{}")
        assert b" 200 " in answer(connection).splitlines()[0]


@pytest.mark.parametrize(
    "sent",
    [
        b"hello\r\n\r\n", b"\0\xff\r\n\r\n", b"GET /healthz HTTP/1.1\r\n\r\n",
        b"POST /v1/count HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
        b"POST /v1/count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n{}\r\n0\r\n\r\n",
        b"POST /v1/count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: "
        + b"x" * MAX_HEAD + b"\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_not_valid_http_is_refused_as_other_errors_are(server: Server, sent: bytes) -> None:
    assert refusal(server, sent) == (400, "wrong use")
    assert server.post("count", {}).status_code == 200
    assert not [one for one in server.events() if one["event"] == "fault" or "exception" in one["event"]]


def test_a_bad_chunk_ends_a_request_at_once(server: Server) -> None:
    began = time.monotonic()
    head = server.head("count", "Transfer-Encoding: chunked")
    assert refusal(server, head + b"z\r\n{}\r\n") == (400, "wrong use")
    with server.connect() as connection:
        connection.sendall(head)
        time.sleep(0.3)
        connection.sendall(b"z\r\n{}\r\n")
        assert b" 400 " in answer(connection).splitlines()[0]
    assert time.monotonic() - began < 3
    assert not [one for one in server.events() if one["event"] == "fault" or "exception" in one["event"]]


def test_heads_that_never_end_keep_nobody_out(place: Place, tmp_path: Path) -> None:
    few = "import resource, sys; resource.setrlimit(resource.RLIMIT_NOFILE, (200, 256))\n"
    few += "from pgmnemo.cli.commands import main; sys.exit(main())"
    with (
        running(place.dsn(), tmp_path, tenant=place.tenant(), command=[sys.executable, "-c", few]) as server,
        ExitStack() as open_ones,
    ):  # fmt: skip
        for _ in range(500):
            connection = open_ones.enter_context(server.connect())
            with suppress(ConnectionError):
                connection.sendall(b"POST /v1/count HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        for _ in range(10):
            began = time.monotonic()
            assert server.post("count", {}).status_code == 200
            assert time.monotonic() - began < 3
        assert psutil.Process(server.process.pid).num_fds() < 256
        log = server.log.read_text()
        assert "Traceback" not in log
        assert len(log) < 10_000


def test_the_head_of_a_request_has_five_seconds_however_it_comes(server: Server) -> None:
    for whole_one_before in (False, True):
        with server.connect() as connection:
            if whole_one_before:
                connection.sendall(server.head("count", "Content-Length: 2") + b"{}")
                found = b""
                while not found.endswith(b"}\n"):
                    found += connection.recv(1 << 16)
            began = time.monotonic()
            for byte in server.head("count")[:100]:
                with suppress(ConnectionError):
                    connection.sendall(bytes([byte]))
                if select.select([connection], [], [], 0.1)[0]:
                    break
            assert answer(connection) == b""
            assert 4 < time.monotonic() - began < 9


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\nHost: 127.0.0.1\n\n", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\nY: b\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\rY: b\r\n\r\n",
        b"POST /v1/count HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /v1/count HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",
        b"POST /v1/count HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /v1/count HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("after", ["alone", "after another", "in parts"])
def test_a_head_that_two_servers_would_read_in_two_ways_is_refused(
    server: Server, head: bytes, after: str
) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with server.connect() as connection:
        for part in {"alone": [head], "after another": [whole + head], "in parts": [head[:-3], head[-3:]]}[
            after
        ]:
            with suppress(ConnectionError):
                connection.sendall(part)
            time.sleep(0.05)
        found = answer(connection)
    statuses = re.findall(rb"HTTP/1\.1 (\d+) ", found)
    assert statuses == ([b"200", b"400"] if after == "after another" else [b"400"])


def test_who_says_nothing_is_not_waited_for() -> None:
    """The patience of the server is half a minute; here it is a second."""
    script = (
        "import asyncio, pgmnemo.http.server as s; s.PATIENCE = 1.0\n"
        "asyncio.run(s.serve(lambda *_: None, '127.0.0.1', 0, 1.0))"
    )
    process = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE)
    port = int(json.loads(process.stderr.readline())["url"].rpartition(":")[2])
    for sent in (b"", b"POST /v1/add HT", b"POST /v1/add HTTP/1.1\r\nHost: 127.0.0.1\r\n"):
        with socket.create_connection(("127.0.0.1", port), timeout=SOON) as connection:
            connection.sendall(sent)
            assert answer(connection) == b""
    process.send_signal(signal.SIGTERM)
    assert process.wait(SOON) == 0
    process.stderr.close()


def test_who_goes_away_takes_nothing_with_him(server: Server) -> None:
    for sent in (server.head("add", "Content-Length: 1000") + b'{"text', b"\0\xff\r\n\r\n", b"GET"):
        with server.connect() as connection:
            connection.sendall(sent)
    body = json.dumps({"query": "anything"}).encode()
    for _ in range(20):
        with server.connect() as connection:
            connection.sendall(server.head("recall", f"Content-Length: {len(body)}") + body)
    assert server.post("count", {}).status_code == 200
    assert httpx.get(f"{server.url}/healthz", timeout=SOON).json() == {"status": "ok"}
    assert not [one for one in server.events() if one["event"] == "fault"]


def test_a_database_that_hangs_is_let_go(place: Place, server: Server) -> None:
    with place.connect() as root, root.transaction():
        root.execute("LOCK TABLE pgmnemo.lesson IN ACCESS EXCLUSIVE MODE")
        found = server.post("add", {"text": "never", "key": "never"})
        assert (found.status_code, found.json()["error"]["kind"]) == (503, "too slow")
    assert server.post("get", {"key": "never"}).status_code == 404


def test_what_a_client_gives_up_is_ended_in_the_database(place: Place, tmp_path: Path) -> None:
    busy = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice' AND state = 'active'"
    with (
        running(place.dsn(), tmp_path, tenant=place.tenant()) as server, place.connect() as root,
        place.connect() as other,
    ):  # fmt: skip
        assert server.post("add", {"text": "note", "key": "k"}).status_code == 200
        with root.transaction():
            root.execute("LOCK TABLE pgmnemo.lesson IN ACCESS EXCLUSIVE MODE")
            body = json.dumps({"query": "anything"}).encode()
            held = [server.connect() for _ in range(16)]
            for connection in held:
                connection.sendall(server.head("recall", f"Content-Length: {len(body)}") + body)
            until(lambda: other.execute(busy).fetchone() == (4,))
            for connection in held:
                connection.close()
            until(lambda: other.execute(busy).fetchone() == (0,))
        assert server.post("count", {}).status_code == 200
        left = [one for one in server.events() if one.get("path") == "/v1/recall"]
        assert {one["status"] for one in left} == {499}
        assert max(one["ms"] for one in left) < 20_000


def test_a_stream_ends_at_once_when_its_token_is_revoked(place: Place, tmp_path: Path) -> None:
    with running(place.dsn(), tmp_path, tenant=place.tenant()) as server:
        items = [{"text": f"note{' ' * 50_000}{number}", "key": str(number)} for number in range(18)]
        for turn in range(40):
            told = [{**one, "key": f"{turn}/{one['key']}"} for one in items]
            assert server.post("add_many", {"items": told}).status_code == 200
        with server.connect() as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 16)
            connection.sendall(server.head("export", "Content-Length: 2") + b"{}")
            found = connection.recv(1 << 16)
            assert found.startswith(b"HTTP/1.1 200 ")
            server.tokens.revoke(server.tokens.principals()[0].id)
            until(lambda: any(one.get("path") == "/v1/export" for one in server.events()))
            found += answer(connection)
        [event] = [one for one in server.events() if one.get("path") == "/v1/export"]
        assert not event["whole"]
        assert not found.endswith(b"0\r\n\r\n")  # the end of a whole answer
        assert len(found) < 720 * 50_000
        assert server.post("count", {}).status_code == 401


def test_what_is_under_way_ends_before_the_server_does(place: Place, tmp_path: Path) -> None:
    with running(place.dsn(), tmp_path, tenant=place.tenant()) as server:
        body = json.dumps({"text": "the last word", "key": "last"}).encode()
        with server.connect() as connection:
            connection.sendall(server.head("add", f"Content-Length: {len(body)}") + body[:10])
            time.sleep(0.5)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1.0)
            connection.sendall(body[10:])
            found = answer(connection)
        assert found.startswith(b"HTTP/1.1 200 ")
        assert server.process.wait(SOON) == 0
        assert server.events()[-1]["event"] == "stopped"
    with running(place.dsn(), tmp_path) as again:
        again.token = server.token
        assert again.post("get", {"key": "last"}).json()["text"] == "the last word"


def test_a_server_waits_no_longer_than_a_request_may_last(place: Place, tmp_path: Path) -> None:
    with running(place.dsn(), tmp_path, "--seconds", "2") as server, server.connect() as connection:
        connection.sendall(server.head("add", "Content-Length: 1000") + b"{")
        time.sleep(0.3)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(SOON) == 0


def test_a_folder_is_served_and_is_whole_afterwards(tmp_path: Path) -> None:
    with new_base() as base:
        folder, token = str(base / "m"), TokenFile(tmp_path / "tokens.json").create("ada", "kitchen")
        subprocess.run([*MNEMO, "init", folder, "--quiet"], check=True, stdout=subprocess.DEVNULL)
        with running(folder, tmp_path) as server:
            server.token = token
            assert server.post("add", {"text": "kept", "key": "k"}).status_code == 200
            server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(SOON) == 0
        with Memory.open(folder, embedder=None) as memory:
            found = memory.tenant("ada").project("kitchen").get("k")
        assert found.text == "kept"


def test_without_tokens_pages_of_others_are_kept_out(place: Place, tmp_path: Path) -> None:
    tenant = place.tenant()
    with running(place.dsn(), tmp_path, "--tenant", tenant, tokens=False) as server:
        port = server.address[1]
        for headers, status in (
            ({}, 200), ({"host": "evil.example"}, 403), ({"origin": f"http://127.0.0.1:{port}"}, 200),
            ({"origin": f"http://127.0.0.1:{port + 1}"}, 403),
        ):  # fmt: skip
            answer = httpx.post(f"{server.url}/v1/count", headers=headers, timeout=SOON)
            assert answer.status_code == status, headers
        text = httpx.post(f"{server.url}/v1/forget", content=b"{}", headers={"content-type": "text/plain"})
        assert text.status_code == 415


REFUSED = [
    ([], 2, "--tokens FILE"), (["--tenant", "ada", "--tokens", "{tokens}"], 2, "--tenant NAME"),
    (["--tenant", "ada", "--host", "0.0.0.0"], 2, "without tokens anybody could"),
    (["--tenant", "ada", "--host", "::"], 2, "without tokens anybody could"),
    (["--benchmark", "--host", "0.0.0.0"], 2, "without tokens anybody could"),
    (["--benchmark", "--tokens", "{tokens}"], 2, "--benchmark is for this machine alone"),
    (["--tokens", "{no}"], 2, "holds no token"), (["--tokens", "{bad}"], 2, "is no file of tokens"),
    (["--tenant", "ada", "--rate", "0"], 2, "more than 0"), (["--tenant", " "], 2, "named by a text"),
    (["--tenant", "ada", "--rate", "nan"], 2, "finite"), (["--tenant", "a", "--seconds", "inf"], 2, "finite"),
    (["--tenant", "ada", "--port", "{taken}"], 2, "cannot be served"),
    (["--tenant", "ada", "--port", "99999"], 2, "cannot be served"),
    (["--tenant", "ada", "--host", "127.0.0.999"], 2, "other machines"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "code", "why"), REFUSED)
def test_what_cannot_be_served_is_one_sentence(
    place: Place, tmp_path: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], code: int, why: str
) -> None:
    tokens, bad = TokenFile(tmp_path / "tokens.json"), tmp_path / "bad.json"
    tokens.create("ada")
    bad.write_text("{")
    bad.chmod(0o600)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        names = {
            "tokens": tokens.path, "no": tmp_path / "no.json", "bad": bad, "taken": taken.getsockname()[1],
        }  # fmt: skip
        given = [one.format(**names) for one in arguments]
        assert main(["serve", place.dsn(), "--embedder", "none", *given]) == code
    told = capfd.readouterr().err
    assert why in told
    assert len(told.splitlines()) == 1


def test_tokens_are_made_listed_and_revoked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "tokens.json")

    def run(*arguments: str) -> Any:
        assert main(["token", *arguments, "--tokens", file, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    exact = str(tenant_id("bob"))
    first = run("make", "ada", "--project", "kitchen", "--name", "laptop")["token"]
    second = run("make", exact)["token"]
    one, other = run("list")
    assert (one["tenant"], one["project"], one["name"]) == ("ada", "kitchen", "laptop")
    assert (other["tenant_id"], other["project"]) == (exact, None)
    assert first not in Path(file).read_text()
    assert run("revoke", one["id"]) == {"revoked": one["id"]}
    assert TokenFile(file).principal(first) is None
    assert TokenFile(file).principal(second) is not None
    for wrong in (["revoke", "no"], ["revoke"], ["make"], ["list", "x"], ["make", ""]):
        assert main(["token", *wrong, "--tokens", file]) == 2
    assert main(["token", "list"]) == 2

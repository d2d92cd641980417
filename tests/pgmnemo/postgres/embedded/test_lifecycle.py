"""Opening, sharing, closing and killing: the server runs while anybody wants it, and what is stored stays."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psutil
import psycopg
import pytest

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres.embedded import EmbeddedServer, cluster, embedded_server
from pgmnemo.postgres.embedded.cluster import Cluster
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder
from pgmnemo.postgres.embedded.server_processes import folder_processes
from pgmnemo.postgres.releases import default_version
from pgmnemo.postgres.server_process import identity
from tests.pgmnemo.postgres.embedded.serving import (
    AS_ROOT,
    OTHER,
    ROOT,
    connected,
    first_process,
    kill,
    known,
    store,
    value,
)

Start = Callable[..., subprocess.Popen[str]]


def opened(process: subprocess.Popen[str]) -> bool:
    return process.stdout.readline() == "open\n"


def test_what_was_stored_is_there_when_it_is_opened_again(memory: Path) -> None:
    with closing(EmbeddedServer.open(memory)) as server:
        store(server, "second")
    assert folder_processes(MemoryFolder(memory)) == []
    with closing(EmbeddedServer.open(memory)) as server:
        assert known(server, "first", "second", "third") == ["first", "second"]


def test_the_last_one_out_stops_the_server(memory: Path, start: Start) -> None:
    other = start(memory)
    assert opened(other)
    with closing(EmbeddedServer.open(memory)) as server, closing(EmbeddedServer.open(memory)) as again:
        other.communicate()
        again.close()
        assert known(server, "first") == ["first"]
    assert folder_processes(MemoryFolder(memory)) == []


def test_a_killed_holder_leaves_the_server_to_the_next(memory: Path, start: Start) -> None:
    other = start(memory)
    assert opened(other)
    number = first_process(memory).pid
    other.kill()
    other.wait()
    with closing(EmbeddedServer.open(memory)) as server:
        assert first_process(memory).pid == number
        assert known(server, "first") == ["first"]
    assert folder_processes(MemoryFolder(memory)) == []


@pytest.mark.parametrize("whole", [False, True])
def test_a_killed_server_is_started_again(memory: Path, whole: bool) -> None:
    with closing(EmbeddedServer.open(memory)) as server, closing(EmbeddedServer.open(memory)) as other:
        store(server, "second")
        kill(folder_processes(MemoryFolder(memory)) if whole else [first_process(memory)])
        server.ensure_running()
        assert known(server, "first", "second") == ["first", "second"]
        number = first_process(memory).pid
        other.ensure_running()
        assert first_process(memory).pid == number


def test_a_process_of_the_server_that_is_killed_is_waited_for(memory: Path) -> None:
    with closing(EmbeddedServer.open(memory)) as server:
        checkpointer = next(
            one for one in folder_processes(MemoryFolder(memory)) if "checkpointer" in one.cmdline()[0]
        )
        checkpointer.kill()
        while psutil.pid_exists(
            checkpointer.pid
        ):  # a zombie until its parent has noticed; before, it lets in
            time.sleep(0.01)
        server.ensure_running()
        assert known(server, "first") == ["first"]


def test_a_used_again_process_id_is_no_server(memory: Path) -> None:
    with closing(EmbeddedServer.open(memory)):
        first_process(memory).kill()
        # a stranger whom the server's user could signal, as PostgreSQL asks
        stranger = subprocess.Popen(["sleep", "60"], **identity())
        for note in (memory / "pg18" / "postmaster.pid", memory / "sockets" / ".s.PGSQL.5432.lock"):
            lines = note.read_text().split("\n")
            note.write_text("\n".join([str(stranger.pid), *lines[1:]]))
        with closing(EmbeddedServer.open(memory)) as server:
            assert known(server, "first") == ["first"]
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_what_a_dead_server_left_running_is_ended_first(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "GRACE", 0.05)
    with closing(EmbeddedServer.open(memory)) as server:
        held = connected(server)
        number = held.info.backend_pid
        os.kill(number, signal.SIGSTOP)  # so that it does not notice
        first_process(memory).kill()
        server.ensure_running()
        assert known(server, "first") == ["first"]
        with pytest.raises(psycopg.OperationalError):
            held.execute("SELECT 1")
        held.close()


BESIDE = "exec -a 'postgres: {name}: writer' sleep 60"
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
namespaces = pytest.mark.skipif(
    not AS_ROOT or subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True).returncode != 0,
    reason="no PID namespace can be made here",
)


@namespaces
def test_the_server_of_a_container_is_left_alone(memory: Path, start: Start) -> None:
    other = start(memory, *NAMESPACE)
    assert opened(other)
    began = time.monotonic()
    with pytest.raises(DatabaseError, match="runs in another container"):
        EmbeddedServer.open(memory)
    assert time.monotonic() - began < 5
    other.communicate("")
    assert other.returncode == 0
    EmbeddedServer.open(memory).close()


@namespaces
def test_a_server_on_another_file_system_at_the_same_path_is_left_alone(base: Path, start: Start) -> None:
    mounting = f'mount -t tmpfs none {base} && chmod 755 {base} && exec "$@"'
    other = start(base / "new", "unshare", "--mount", "sh", "-c", mounting, "sh")
    assert opened(other)
    with closing(EmbeddedServer.open(base / "new")):
        assert servers_started_on(base) == [str(base / "new" / "pg18")] * 2
    other.communicate("")
    assert other.returncode == 0
    assert servers_started_on(base) == []


@namespaces
def test_from_a_container_the_server_outside_is_not_waited_for(memory: Path, start: Start) -> None:
    with closing(EmbeddedServer.open(memory)) as server:
        began = time.monotonic()
        assert not opened(start(memory, *NAMESPACE))
        assert time.monotonic() - began < 10
        assert known(server, "first") == ["first"]


def test_a_process_that_only_bears_the_title_is_not_ended(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "GRACE", 0.05)
    stranger = subprocess.Popen(["bash", "-c", BESIDE.format(name=MemoryFolder(memory).name)])
    lock = MemoryFolder(memory).server_lock()
    assert lock is not None
    monkeypatch.setattr(cluster, "START_LIMIT", 1)
    with pytest.raises(DatabaseError, match="neither starts nor ends"):
        EmbeddedServer.open(memory)
    os.close(lock)
    assert stranger.poll() is None
    stranger.kill()
    stranger.wait()


def test_a_fork_neither_ends_the_hold_nor_the_server(memory: Path) -> None:
    with closing(EmbeddedServer.open(memory)) as server:
        if (child := os.fork()) == 0:
            server.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert known(server, "first") == ["first"]
    assert folder_processes(MemoryFolder(memory)) == []


def test_a_closed_one_is_not_started_again(memory: Path) -> None:
    server = EmbeddedServer.open(memory)
    server.close()
    server.close()
    with pytest.raises(UsageError, match="was closed; open it again"):
        server.ensure_running()


def servers_started_on(memory: Path) -> list[str]:
    words = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    return [one[2] for one in words if one[1:2] == ["-D"] and one[2].startswith(str(memory))]


def test_the_server_of_a_moved_folder_ends_with_its_last_user(memory: Path) -> None:
    moved = memory.with_name("elsewhere")
    server, other = EmbeddedServer.open(memory), EmbeddedServer.open(memory)
    memory.rename(moved)
    with pytest.raises(DatabaseError, match="moved, deleted or replaced while it was open"):
        server.ensure_running()
    server.close()
    assert servers_started_on(memory)
    other.close()
    assert servers_started_on(memory) == []
    with closing(EmbeddedServer.open(moved)) as again:
        assert known(again, "first") == ["first"]


def test_a_moved_folder_opens_though_a_server_was_left(memory: Path, start: Start) -> None:
    other, moved = start(memory), memory.with_name("elsewhere")
    assert opened(other)
    memory.rename(moved)
    other.kill()
    other.wait()
    with closing(EmbeddedServer.open(moved)) as server:
        assert known(server, "first") == ["first"]
    assert servers_started_on(memory) == []


@pytest.mark.parametrize("deleted", [False, True])
def test_a_server_writes_nothing_into_a_memory_that_took_the_place_of_its_own(
    memory: Path, deleted: bool
) -> None:
    """PostgreSQL writes its control file through a path."""
    moved = memory.with_name("elsewhere")
    old = EmbeddedServer.open(memory)
    store(old, "second")
    shutil.rmtree(memory) if deleted else memory.rename(moved)
    with closing(EmbeddedServer.open(memory)) as new:
        store(new, "third")
        with pytest.raises(DatabaseError, match="moved, deleted or replaced while it was open"):
            old.ensure_running()
        old.close()
        assert known(new, "first", "second", "third") == ["third"]
    with closing(EmbeddedServer.open(memory)) as new:
        assert known(new, "first", "second", "third") == ["third"]
    if not deleted:
        with closing(EmbeddedServer.open(moved)) as again:
            assert known(again, "first", "second", "third") == ["first", "second"]
    assert servers_started_on(memory.parent) == []


def test_two_processes_may_make_it_at_once(base: Path, start: Start) -> None:
    both = [start(base / "new"), start(base / "new")]
    assert [opened(one) for one in both] == [True, True]
    for one in both:
        one.communicate()
    assert folder_processes(MemoryFolder(base / "new")) == []
    assert [path.name for path in (base / "new").glob("pg*")] == ["pg18"]


@pytest.mark.parametrize(
    ("where", "name"),
    [(Cluster, "install_data"), (embedded_server, "create_missing"), (MemoryFolder, "mark_complete")],
)
def test_an_interrupted_making_is_gone_on_with(
    base: Path, where: object, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(where, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            EmbeddedServer.open(base / "new")
    assert not (base / "new" / "mnemo.json").exists()
    assert folder_processes(MemoryFolder(base / "new")) == []
    with closing(EmbeddedServer.open(base / "new")) as server:
        store(server, "first")
        assert known(server, "first") == ["first"]


def test_who_logs_in_owns_all_and_is_no_superuser(memory: Path) -> None:
    with closing(EmbeddedServer.open(memory)) as server:
        query = "SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'pgmnemo'"
        assert value(server, query) == "pgmnemo"
        assert value(server, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") is False
        for name, wanted in {
            "pgmnemo.gate_strict": "off", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
            "listen_addresses": "", "data_checksums": "on",
        }.items():  # fmt: skip
            assert value(server, f"SELECT current_setting('{name}')") == wanted
        assert value(server, "SELECT to_tsvector('simple', 'ÄPFEL — “Zehn”')::text") == "'zehn':2 'äpfel':1"
        assert value(server, "SELECT current_user", user="postgres", dbname="postgres") == "postgres"
        assert value(server, "SELECT count(*) FROM pg_hba_file_rules WHERE auth_method <> 'peer'",
                     user="postgres") == 0  # fmt: skip


def test_lines_of_ones_own_win_over_the_settings(memory: Path) -> None:
    with (memory / "pg18" / "postgresql.conf").open("a") as file:
        file.write("work_mem = '7MB'\nmax_connections = 55\n")
    with closing(EmbeddedServer.open(memory)) as server:
        assert value(server, "SELECT current_setting('work_mem')") == "7MB"
        assert value(server, "SELECT current_setting('max_connections')") == "55"
        assert value(server, "SELECT current_setting('shared_buffers')") == "48MB"


@pytest.mark.parametrize("name", ["a, b 'c' \"d\" \\e $f %g", "n" * 90])
def test_a_folder_of_any_name_serves(base: Path, memory: Path, name: str) -> None:
    folder = memory.rename(base / name)
    with closing(EmbeddedServer.open(folder)) as server:
        assert known(server, "first") == ["first"]
        inside = str(folder) in server.conninfo["host"]
        assert inside == ("," not in name and len(name) < 80)
    assert not MemoryFolder(folder).sockets.exists()


def test_a_server_that_does_not_start_says_why(memory: Path) -> None:
    with (memory / "pg18" / "postgresql.conf").open("a") as file:
        file.write("nonsense = 1\n")
    with pytest.raises(DatabaseError, match=r"did not start: .*contains errors; .*server.log tells more"):
        EmbeddedServer.open(memory)
    assert folder_processes(MemoryFolder(memory)) == []


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server as another user")
def test_an_installation_that_the_server_cannot_read_is_copied(
    memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "serves_in_place", lambda *_: False)
    for _ in range(2):
        with closing(EmbeddedServer.open(memory)) as server:
            assert known(server, "first") == ["first"]
            assert str(memory / "server") in first_process(memory).cmdline()[0]
    assert len(list((memory / "server").iterdir())) == 1


# Interpreter and packages may lie where the user cannot look, so they are imported before the change.
ORDINARY = """
import os, sys
sys.path[:] = sys.argv[2:]
from contextlib import closing
from pathlib import Path
import encodings.idna, psycopg, msgspec, tomllib
from pgmnemo.postgres.embedded import EmbeddedServer, binaries
found = binaries.newest()
if os.environ.get("COPY"):
    from pgmnemo.postgres.server_files import stage_server
    names = [path.name for path in (found.home / "bin").iterdir()]
    home = stage_server(found.home, Path(sys.argv[1]).parent / "server", found.bundle, names)
    binaries._candidates = lambda: [binaries.Binaries(found.major, home, found.bundle)]
os.setgroups([]); os.setgid(65534); os.setuid(65534)
for _ in range(2):
    with closing(EmbeddedServer.open(Path(sys.argv[1]))) as server:
        with psycopg.connect(**server.conninfo) as connection:
            print(os.getuid(), *connection.execute("SELECT current_user, pgmnemo.version()").fetchone())
"""


@pytest.mark.skipif(not AS_ROOT, reason="only root can become another user")
def test_an_ordinary_user_has_a_memory_too(base: Path) -> None:
    (base / "home").mkdir()
    os.chown(base / "home", OTHER, OTHER)
    folder = base / "home" / "memory"
    done = subprocess.run(
        [sys.executable, "-B", "-c", ORDINARY, str(folder), *sys.path, str(ROOT)],
        cwd="/", env={"HOME": str(base / "home")}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines() == [f"{OTHER} pgmnemo {default_version()}"] * 2, done.stderr
    assert folder.stat().st_uid == (folder / "pg18").stat().st_uid == OTHER
    with pytest.raises(UsageError, match="belongs to nobody; open it as that user"):
        EmbeddedServer.open(folder)


def test_nothing_acknowledged_is_lost_to_kill_9(base: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / "local.py"), "--kills", "3", "--writers", "2"]
    done = subprocess.run(
        [*command, "--folder", str(base / "memory")], env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 lost, 0 stored twice, 0 complaints of check()\n" in done.stdout
    assert "\n0 writers ended by themselves, 0 processes of the server left\n" in done.stdout

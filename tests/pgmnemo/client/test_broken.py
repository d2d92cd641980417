"""Broken on purpose: one sentence says what is wrong, and nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import io
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from pgmnemo import AsyncMemory, Item, Memory
from pgmnemo.errors import DatabaseError, LostError, OutputError, PgmnemoError, UsageError
from pgmnemo.postgres.embedded import EmbeddedServer
from pgmnemo.probe import MIN_VERSION
from tests.helping import CURRENT
from tests.pgmnemo.client.driving import Place, Shell

pytestmark = pytest.mark.filterwarnings("ignore::pgmnemo.errors.ForeignProjectWarning")
NEWER = """
CREATE OR REPLACE FUNCTION pgmnemo.version() RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$ SELECT '9.1.0' $$
"""


def refused(call: Callable[[], Any]) -> str:
    """The one sentence of an error."""
    with pytest.raises(PgmnemoError) as raised:
        call()
    told = str(raised.value)
    assert raised.value.__cause__ is None
    return told


# Databases


@pytest.mark.parametrize(
    ("does", "sentence"),
    [
        ("SELECT", "has no pgmnemo; install it with mnemo init --dsn, or name the database that holds"),
        ("CREATE EXTENSION pgmnemo VERSION '0.6.1'",
         f"has pgmnemo 0.6.1, and this package needs {MIN_VERSION} or later; have its owner run "
         "mnemo init --dsn, or ALTER EXTENSION pgmnemo UPDATE"),
        (f"CREATE EXTENSION pgmnemo; {NEWER}",
         f"has pgmnemo 9.1.0, which is newer than this package ({CURRENT}); "
         "install it from a newer checkout"),
        ("CREATE SCHEMA pgmnemo CREATE TABLE note (text text)", "has a schema pgmnemo, which is not ours"),
    ],
    ids=["no extension", "an older one", "a newer one", "another's schema"],
)  # fmt: skip
def test_a_database_that_will_not_do_says_what_to_run(
    does: str, sentence: str, shell: Shell, place: Place
) -> None:
    place.server.create("broken")
    with place.server.connect("broken") as root:
        root.execute(does)
    told = refused(lambda: shell.open(place.dsn(dbname="broken")))
    assert told.startswith("the database at ")
    assert sentence in told


def test_a_role_that_may_not_connect_is_told_which_right_is_missing(shell: Shell, place: Place) -> None:
    place.server.create("private")
    with place.server.connect("private") as root:
        root.execute("REVOKE CONNECT ON DATABASE private FROM PUBLIC")
    told = refused(lambda: shell.open(place.dsn(dbname="private")))
    assert "GRANT CONNECT ON DATABASE private TO alice" in told


def test_a_database_that_loses_its_extension_is_told(shell: Shell, place: Place) -> None:
    place.server.install("lost", CURRENT, "SELECT 1")
    memory = shell.open(place.dsn(dbname="lost"), retry_timeout=0)
    with place.server.connect("lost") as root:
        root.execute("DROP EXTENSION pgmnemo CASCADE; DROP SCHEMA pgmnemo CASCADE")
    assert "pgmnemo" in refused(lambda: memory.tenant("ada").project("p").add("x"))


# Folders


@pytest.fixture(scope="module")
def ground() -> Iterator[Path]:
    """A folder that the server's user can walk through."""
    place = Path(tempfile.mkdtemp(prefix="pgmnemo-test-"))
    place.chmod(0o755)
    yield place
    shutil.rmtree(place, ignore_errors=True)


@pytest.fixture(scope="module")
def stays(ground: Path) -> Iterator[Path]:
    """A memory's folder, made once; whoever kills its server finds another one."""
    folder = ground / "memory"
    with Memory.open(folder, embedder=None):
        yield folder


def kill(folder: Path) -> None:
    """The postmaster, as the kernel would; its backends, which live on until they next wait, end before the
    return.
    """
    with suppress(FileNotFoundError, psutil.NoSuchProcess, IndexError):
        server = psutil.Process(int((folder / "pg18" / "postmaster.pid").read_text().split()[0]))
        backends = server.children()
        server.kill()
        psutil.wait_procs(backends, timeout=20)


def notes(count: int, folder: Path | None = None, at: int = -1) -> Iterator[Item]:
    """So many items; the server dies when the one `at` is asked for."""
    for number in range(count):
        if number == at and folder is not None:
            kill(folder)
        yield Item(f"note {number}", f"n{number:04}")


def test_a_server_that_dies_in_the_middle_of_many_is_started_again_and_nothing_is_lost(
    shell: Shell, stays: Path
) -> None:
    scope = shell.open(stays).tenant("patient").project(shell.kind)
    moved = scope.add_many(notes(400, stays, at=200), batch=50)
    assert moved.lessons == scope.count().lessons == 400
    assert [one.key for one in scope.list()] == [one.key for one in notes(400)]


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch, shell: Shell) -> None:
    """That a server has gone is seen only when it is called."""
    monkeypatch.setattr(
        f"pgmnemo.client.{shell.kind.replace('async', 'aio')}.connections.is_readable", lambda _: False
    )


@pytest.mark.usefixtures("unseen")
def test_without_patience_the_error_says_how_many_are_stored_and_all_can_be_given_again(
    shell: Shell, stays: Path
) -> None:
    scope = shell.open(stays, retry_timeout=0).tenant("impatient").project(shell.kind)
    with pytest.raises(LostError, match=r"the connection to the memory in .* was lost") as raised:
        scope.add_many(notes(400, stays, at=200), batch=50)
    stored = scope.count().lessons
    assert raised.value.__notes__ == [
        f"{stored} lessons before them are stored; give all again, with their keys"
    ]
    assert stored in range(200, 400, 50)  # processes of the server may outlive the first one by some batches
    assert scope.add_many(notes(400), batch=50).outcomes == {"unchanged": stored, "inserted": 400 - stored}


def test_an_opening_that_is_cancelled_leaves_no_server_behind(
    stays: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, go_on, opened, open_folder = threading.Event(), threading.Event(), [], EmbeddedServer.open

    def slowly(folder: Path, **given: Any) -> EmbeddedServer:
        began.set()
        go_on.wait()
        opened.append(open_folder(folder, **given))
        return opened[-1]

    async def cancel() -> None:
        task = asyncio.create_task(AsyncMemory.open(stays, embedder=None))
        await asyncio.to_thread(began.wait)
        task.cancel()
        go_on.set()
        with pytest.raises(asyncio.CancelledError):
            await task
        with pytest.raises(UsageError, match="was closed; open it again"):
            opened[0].ensure_running()

    monkeypatch.setattr(EmbeddedServer, "open", slowly)
    asyncio.run(cancel())


OTHER = """
import sys
from pgmnemo import Memory
with Memory.open(sys.argv[1], embedder=None) as memory:
    scope = memory.tenant("shared").project("p")
    print(scope.count().lessons, scope.add("from elsewhere", key=sys.argv[2]).outcome)
"""


def test_a_folder_that_is_open_elsewhere_is_shared(shell: Shell, stays: Path) -> None:
    scope = shell.open(stays).tenant("shared").project("p")
    before = scope.count().lessons
    command = [sys.executable, "-c", OTHER, str(stays), shell.kind]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(before), "inserted"]
    assert scope.get(shell.kind).text == "from elsewhere"


@pytest.fixture
def narrow(ground: Path) -> Iterator[Path]:
    """A file system of 220 MB; skip where none can be mounted."""
    place = ground / "narrow"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=220m,mode=755", "tmpfs", str(place)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a small file system is mounted by root alone, and in containers not even by him")
    yield place
    subprocess.run(["umount", str(place)], check=True)
    place.rmdir()


def test_a_full_disk_is_told_and_what_was_stored_before_is_there_afterwards(narrow: Path) -> None:
    with Memory.open(narrow / "memory", embedder=None, retry_timeout=5) as memory:
        scope = memory.tenant("ada").project("p")
        scope.add_many(notes(100))
        filler = narrow / "filler"
        with suppress(OSError), filler.open("wb") as file:
            while True:
                file.write(b"x" * (1 << 16))
        big = [Item(f"{number} " * 20_000, f"big {number}") for number in range(200)]
        told = refused(lambda: scope.add_many(big, batch=20))
        assert str(narrow) in told
        filler.unlink()
        assert scope.get("n0099").text == "note 99"
        assert scope.add("there is room again", key="k").outcome == "inserted"
        assert {one.key for one in notes(100)} <= {one.key for one in scope.list()}


# Exports


@pytest.fixture
def export(scope: Any) -> list[bytes]:
    """The lines of an export of twenty lessons."""
    scope.add_many(notes(20))
    file = io.BytesIO()
    scope.export(file)
    return file.getvalue().splitlines(keepends=True)


def imported(memory: Any, place: Place, lines: list[bytes]) -> Any:
    scope = memory.tenant(place.tenant())
    return scope, lambda: scope.import_(io.BytesIO(b"".join(lines)))


@pytest.mark.parametrize("cut", ["between lines", "in a line", "in a letter", "after the header", "all"])
def test_an_export_that_was_cut_off_is_told_and_can_be_given_again(
    cut: str, memory: Any, place: Place, export: list[bytes]
) -> None:
    parts = {
        "between lines": export[:11], "in a line": [*export[:11], export[11][:40]],
        "in a letter": [*export[:11], export[11].replace(b"note", "ä".encode()[:1])[:200]],
        "after the header": export[:1], "all": [],
    }  # fmt: skip
    scope, call = imported(memory, place, parts[cut])
    told = refused(call)
    assert told.startswith("the export")
    assert scope.import_(io.BytesIO(b"".join(export))).lessons == 20
    assert [one.text for one in scope.list()] == [f"note {number}" for number in range(20)]


@pytest.mark.usefixtures("unseen")
def test_an_import_that_is_cut_off_by_its_server_is_completed_by_another(
    shell: Shell, stays: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        f"pgmnemo.client.{'aio' if shell.kind == 'async' else 'sync'}.export_import.BATCH", 50
    )
    source = shell.open(stays, retry_timeout=0)
    there = source.tenant("there").project(shell.kind)
    there.add_many(notes(120))
    there.supersede("n0000", "n0001")
    there.link("n0002", "n0003")
    there.forget("n0004")
    file = io.BytesIO()
    assert there.export(file) == 120
    lines = file.getvalue().splitlines(keepends=True)

    class Dying(io.BytesIO):
        """The server dies when the hundredth line is read."""

        def readline(self, *given: Any) -> bytes:
            line = super().readline(*given)
            if line == lines[100]:
                kill(stays)
            return line

    here = source.tenant("here").project(shell.kind)
    with pytest.raises(DatabaseError):
        here.import_(Dying(file.getvalue()))
    assert here.import_(io.BytesIO(file.getvalue())).lessons == 120
    assert here.import_(io.BytesIO(file.getvalue())).outcomes == {"unchanged": 120}
    assert [one.key for one in here.list()] == [one.key for one in there.list()]
    assert (here.get("n0000").superseded_at, here.get("n0004").active) == (
        there.get("n0000").superseded_at, False)  # fmt: skip


def test_an_export_to_a_full_disk_is_told(memory: Any, place: Place) -> None:
    scope = memory.tenant(place.tenant()).project("p")
    scope.add_many([f"{number} " * 2000 for number in range(50)])
    with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OutputError, match="No space left"):
        scope.export(full)
    assert scope.count().lessons == 50


def test_an_export_never_replaces_a_file_and_leaves_none_that_is_not_whole(
    scope: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scope.add("x", key="k")
    there = tmp_path / "there.jsonl"
    there.write_text("precious")
    assert "is there already, and nothing is overwritten" in refused(lambda: scope.export(there))
    assert there.read_text() == "precious"
    assert "cannot be written" in refused(lambda: scope.export(tmp_path / "no" / "folder"))
    monkeypatch.setattr("pgmnemo.client.jsonl_rows.write_lines", broken)
    with pytest.raises(ZeroDivisionError):
        scope.export(tmp_path / "new.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["there.jsonl"]


def broken(*_: Any) -> None:
    raise ZeroDivisionError


def test_what_cannot_be_read_is_told(memory: Any, place: Place, tmp_path: Path) -> None:
    scope = memory.tenant(place.tenant())
    assert "cannot be read: No such file" in refused(lambda: scope.import_(tmp_path / "nothing"))
    assert "cannot be read: Is a directory" in refused(lambda: scope.import_(tmp_path))
    assert "open it with the mode 'rb'" in refused(lambda: scope.import_(io.StringIO("x")))
    assert "open it with the mode 'wb'" in refused(lambda: scope.export(io.StringIO()))
    with pytest.raises(UsageError):
        scope.import_(io.BytesIO(b"\x1f\x8b not json"))


def test_a_pipe_gets_an_export_whole(scope: Any) -> None:
    scope.add_many(notes(20))
    whole, (reading, writing) = io.BytesIO(), os.pipe()
    scope.export(whole)
    with os.fdopen(writing, "wb") as pipe:
        assert scope.export(pipe) == 20
    with os.fdopen(reading, "rb") as pipe:
        assert pipe.read() == whole.getvalue()

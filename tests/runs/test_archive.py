"""An archive is read as somebody else's: what no run would hold is refused, and nothing lies outside."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from pgmnemo.errors import OutputError
from runner.runs import archive
from runner.runs.archive import pack, unpacked

PLACE = "benchmarks/sample/results/v1"
FILES = {"HISTORY.md": b"# History\n", f"{PLACE}/run.json": b"{}", f"{PLACE}/metrics.json": b"[]" * 999}


def packed(files: dict[str, bytes]) -> bytes:
    into = io.BytesIO()
    pack(files, into)
    return into.getvalue()


def of(*members: tuple[str, bytes, str]) -> bytes:
    """An archive of members as named: name, type and where a link leads."""
    into = io.BytesIO()
    with tarfile.open(fileobj=into, mode="w:gz") as made:
        for name, kind, link in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, link
            made.addfile(member)
    return into.getvalue()


def regular(*names: str) -> bytes:
    return of(*((name, tarfile.REGTYPE, "") for name in names))


def test_what_was_packed_is_unpacked_and_gone_afterwards(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(packed(FILES))
    with unpacked(tmp_path / "a.tar.gz") as folder:
        assert folder.parts[-4:] == tuple(PLACE.split("/"))
        assert {path.name: path.read_bytes() for path in folder.iterdir()} == {
            "run.json": b"{}", "metrics.json": b"[]" * 999,
        }  # fmt: skip
        assert (folder.parents[3] / "HISTORY.md").read_bytes() == FILES["HISTORY.md"]
    assert not folder.exists()
    assert not folder.parents[4].exists()


def test_the_same_files_in_any_order_are_the_same_bytes() -> None:
    made = packed(FILES)
    assert packed(dict(reversed(FILES.items()))) == made
    assert made[4:8] == bytes(4)  # no time in the head of gzip
    with tarfile.open(fileobj=io.BytesIO(made)) as read:
        members = read.getmembers()
    assert [member.name for member in members] == sorted(FILES)
    assert {(one.mtime, one.uid, one.gid, one.uname, one.mode) for one in members} == {(0, 0, 0, "", 0o644)}


HOSTILE: dict[str, tuple[bytes, str]] = {
    "cut": (packed(FILES)[:-20], "is no whole archive"),
    "a member above": (regular(f"{PLACE}/../../../../../x"), "leads outside the run"),
    "a member of the repository": (regular("benchmarks/sample/ADDENDA/v1/x"), "leads outside the run"),
    "a name that steers": (regular(f"{PLACE}/\x1b[2J"), "leads outside the run"),
    "a HISTORY.md in the run": (regular(f"{PLACE}/HISTORY.md"), "leads outside the run"),
    "a device": (of((f"{PLACE}/x", tarfile.CHRTYPE, "")), "is no regular file"),
    "a member twice": (regular(f"{PLACE}/x", f"{PLACE}/x"), "is no whole archive"),
    "no run": (regular("HISTORY.md"), "holds 0 runs and not one"),
}


@pytest.mark.parametrize("cause", HOSTILE)
def test_what_no_run_would_hold_is_refused_in_a_sentence_and_leaves_nothing(
    cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, sentence = HOSTILE[cause]
    path, temporary = tmp_path / "a.tar.gz", tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    path.write_bytes(content)
    with pytest.raises(OutputError) as told, unpacked(path):
        pass
    assert str(told.value).startswith(str(path))
    assert sentence in str(told.value)
    assert "\x1b" not in str(told.value)
    assert {one.name for one in tmp_path.iterdir()} == {"a.tar.gz", "temporary"}
    assert not list(temporary.iterdir())


def test_an_error_of_the_reader_stays_its_own(tmp_path: Path) -> None:
    (tmp_path / "a.tar.gz").write_bytes(packed(FILES))
    with pytest.raises(PermissionError), unpacked(tmp_path / "a.tar.gz"):
        raise PermissionError


@pytest.mark.parametrize("bound", ["PACKED", "UNPACKED"])
def test_a_size_has_an_end(bound: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.tar.gz").write_bytes(packed(FILES))
    monkeypatch.setattr(archive, bound, 64)
    with pytest.raises(OutputError, match="more than"), unpacked(tmp_path / "a.tar.gz"):
        pass

"""`fetch` resumes, restarts, verifies and refuses, against a server on this machine."""

from __future__ import annotations

import json
import lzma
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from pgmnemo.errors import OutputError, UsageError
from pgmnemo.progress import Progress
from runner.commands import fetch as module
from runner.commands.fetch import fetch
from runner.errors import CorpusError
from runner.protocol.editions import current, list_digest

BODY = bytes(range(256)) * 9000  # 2.3 MB: more than one piece
NAME = "locomo10.json"


@dataclass
class Site:
    """A server of a file, or of several: how it behaves, and the ranges that it was asked for."""

    url: str = ""
    body: bytes = BODY
    ranges: bool = True
    status: int = 200
    cut: int | None = None  # bytes after which the connection breaks
    asked: list[str | None] = field(default_factory=list)
    bodies: dict[str, bytes] = field(default_factory=dict)  # by path, where the site has several files
    links: dict[str, str] = field(default_factory=dict)  # by path, the page after it


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    state = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            wanted = self.headers.get("Range")
            state.asked.append(wanted)
            if state.bodies and self.path not in state.bodies:
                self.send_error(404)
                return
            whole = state.bodies.get(self.path, state.body)
            start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and state.ranges else 0
            if state.status != 200 or start >= len(whole):
                self.send_error(state.status if state.status != 200 else 416)
                return
            body = whole[start:]
            self.send_response(206 if start else 200)
            self.send_header("Content-Length", str(len(body)))
            if self.path in state.links:
                self.send_header("Link", f'<{state.links[self.path]}>; rel="next"')
            if start:
                last = len(whole) - 1
                self.send_header("Content-Range", f"bytes {start}-{last}/{last + 1}")
            self.end_headers()
            self.wfile.write(body[: state.cut])

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        state.url = f"http://127.0.0.1:{server.server_address[1]}/{NAME}"
        pin(monkeypatch, state.url)
        yield state
        server.shutdown()
        thread.join()


def pin(monkeypatch: pytest.MonkeyPatch, url: str, size: int | None = len(BODY)) -> None:
    """Let the edition in force pin `url` and the hash of BODY, and let no proxy stand between."""
    edition = current()
    pins = replace(edition.suites["locomo"], url=url, sha256=sha256(BODY).hexdigest(), bytes=size)
    changed = replace(edition, suites={**edition.suites, "locomo": pins})
    monkeypatch.setattr(module, "current", lambda: changed)
    monkeypatch.setenv("no_proxy", "127.0.0.1")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_file_comes_down_whole_and_alone(site: Site, tmp_path: Path) -> None:
    path = fetch("locomo", tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / NAME
    assert path.read_bytes() == BODY
    assert names(path.parent) == [NAME]


def test_default_folder_is_where_locate_looks_last(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *args, **kwargs: str(tmp_path))
    assert fetch("locomo", environ={}) == tmp_path / "locomo" / NAME


@pytest.mark.parametrize(("body", "asked"), [(BODY, []), (BODY + b"!", [None])])
def test_what_a_run_would_find_is_not_downloaded_again(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: bytes, asked: list[str | None]
) -> None:
    monkeypatch.setattr("platformdirs.user_data_dir", lambda *args, **kwargs: str(tmp_path))
    (mine := tmp_path / "mine").mkdir()
    (mine / NAME).write_bytes(body)
    right = fetch("locomo", environ={"LOCOMO_DATA_DIR": str(mine)})
    assert (right.read_bytes(), right.parent == mine, site.asked) == (BODY, not asked, asked)


@pytest.mark.parametrize(
    ("part", "ranges"), [(BODY[:1000], True), (b"x" * 1000, False), (BODY + b"more", True)]
)
def test_a_part_is_continued_or_begun_afresh(site: Site, tmp_path: Path, part: bytes, ranges: bool) -> None:
    """The latter where the server ignores the range, and where there is more than the file has."""
    site.ranges = ranges
    (tmp_path / f"{NAME}.part").write_bytes(part)
    assert fetch("locomo", tmp_path).read_bytes() == BODY
    assert site.asked[0] == f"bytes={len(part)}-" or len(part) > len(BODY)
    assert names(tmp_path) == [NAME]


def test_broken_connection_keeps_the_part_and_the_next_call_continues(site: Site, tmp_path: Path) -> None:
    site.cut = 1_500_000
    with pytest.raises(CorpusError, match=r"broke off after 1,500,000 of 2,304,000 bytes; run .* again"):
        fetch("locomo", tmp_path)
    assert names(tmp_path) == [f"{NAME}.part"]
    site.cut = None
    assert fetch("locomo", tmp_path).read_bytes() == BODY
    assert site.asked == [None, "bytes=1500000-"]


@pytest.mark.parametrize("size", [None, len(BODY)])
def test_wrong_hash_keeps_nothing(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int | None
) -> None:
    pin(monkeypatch, site.url, size)
    site.body = BODY[:-1] + b"!"
    with pytest.raises(CorpusError, match=r"has another hash than the registered one .* nothing was kept"):
        fetch("locomo", tmp_path)
    assert names(tmp_path) == []


def test_hash_is_of_the_unpacked_bytes(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site.body = lzma.compress(BODY)
    pin(monkeypatch, site.url, None)
    assert lzma.decompress(fetch("locomo", tmp_path).read_bytes()) == BODY


def test_wrong_file_in_its_place_is_not_overwritten(site: Site, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"mine")
    with pytest.raises(CorpusError, match="is there already, but is not the registered file"):
        fetch("locomo", tmp_path)
    assert (tmp_path / NAME).read_bytes() == b"mine"


@pytest.mark.parametrize("status", [404, 503])
def test_refusal_by_the_server_is_one_sentence(site: Site, tmp_path: Path, status: int) -> None:
    site.status = status
    with pytest.raises(CorpusError, match=rf"{NAME} answered {status} \("):
        fetch("locomo", tmp_path)
    assert names(tmp_path) == []


def test_no_network_is_one_sentence_and_keeps_the_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    pin(monkeypatch, f"http://127.0.0.1:{port}/{NAME}")
    (tmp_path / f"{NAME}.part").write_bytes(BODY[:10])
    with pytest.raises(CorpusError, match=r"cannot be reached .*; check the network or the proxy"):
        fetch("locomo", tmp_path)
    assert (tmp_path / f"{NAME}.part").read_bytes() == BODY[:10]


def test_too_little_space_is_said_before_anything_is_written(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    with pytest.raises(OutputError, match="has 1,000,000 bytes free, but the download needs 2,304,000 more"):
        fetch("locomo", tmp_path)
    assert names(tmp_path) == []


@pytest.fixture
def chats(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """A pinned folder of two files, served under their names."""
    bodies = {"1/a b.json": b"[1]", "1/deep/c.json": BODY}
    site.bodies = {f"/chats/{name.replace(' ', '%20')}": body for name, body in bodies.items()}
    files = {name: sha256(body).hexdigest() for name, body in bodies.items()}
    edition, url = current(), site.url.replace(NAME, "chats/")
    pins = replace(edition.suites["beam"], url=url, file="all", sha256=list_digest(files))
    changed = replace(edition, suites={**edition.suites, "beam": pins})
    monkeypatch.setattr(module, "current", lambda: changed)
    monkeypatch.setattr(module, "registered_files", lambda edition, suite: files)
    return bodies


def test_a_folder_comes_down_file_by_file(
    site: Site, chats: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fetch("beam", tmp_path, Progress())
    assert place == tmp_path / "all"
    assert {path.relative_to(place).as_posix(): path.read_bytes()
            for path in place.rglob("*") if path.is_file()} == chats  # fmt: skip
    assert "holds all 2 files of BEAM 100K (20 chats), each with the right hash" in capsys.readouterr().err
    asked = len(site.asked)
    assert fetch("beam", tmp_path) == place
    (place / "1" / "chat.json").touch()  # by which a run knows the folder
    assert fetch("beam", environ={"BEAM_DATA_DIR": str(place)}) == place
    assert len(site.asked) == asked


def test_a_file_of_a_folder_with_another_hash_is_named(
    site: Site, chats: dict[str, bytes], tmp_path: Path
) -> None:
    site.bodies["/chats/1/deep/c.json"] = b"[]"
    with pytest.raises(CorpusError, match=r"c\.json sent has another hash .* get 1/deep/c\.json elsewhere"):
        fetch("beam", tmp_path)
    (tmp_path / "all" / "1" / "a b.json").write_bytes(b"mine")
    with pytest.raises(CorpusError, match=r"a b\.json is there already, but is not the registered file"):
        fetch("beam", tmp_path)
    del site.bodies["/chats/1/deep/c.json"]
    (tmp_path / "all" / "1" / "a b.json").unlink()
    with pytest.raises(CorpusError, match=r"chats/1/deep/c\.json answered 404"):
        fetch("beam", tmp_path)


@pytest.mark.parametrize("name", ["sample", "nonsense"])
def test_suite_without_a_source_lists_those_with_one(name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}'; choose one of: locomo, longmemeval"):
        fetch(name)


def test_pinned_sources_name_a_revision_and_not_a_branch() -> None:
    for name in ("locomo", "longmemeval", "realtalk", "beam", "beam-500k"):
        url = current().suites[name].url or ""
        assert url.startswith("https://")
        assert any(len(part) == 40 and set(part) <= set("0123456789abcdef") for part in url.split("/"))


# Corpora of which no hash is registered


def unhashed(monkeypatch: pytest.MonkeyPatch, site: Site, suite: str, **pins: Any) -> str:
    """Let the edition in force know a suite by addresses of the site alone; the site's own address."""
    top, edition = site.url.removesuffix(NAME), current()
    named = {name: f"{top}{value}" for name, value in pins.items()}
    changed = replace(edition, suites={**edition.suites, suite: replace(edition.suites[suite], **named)})
    monkeypatch.setattr(module, "current", lambda: changed)
    return top


def test_a_file_without_a_registered_hash_is_kept_and_its_hash_is_said(
    monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    unhashed(monkeypatch, site, "longmemeval-m", url="m.json")
    for said in ("is complete, sha256", "is there already (sha256"):
        path = fetch("longmemeval-m", tmp_path, Progress())
        assert path.read_bytes() == BODY
        told = capsys.readouterr().err
        assert said in told
        assert sha256(BODY).hexdigest() in told
        assert "of which the protocol registers no hash" in told


def test_a_folder_is_fetched_by_the_pages_of_the_hubs_list(
    monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path
) -> None:
    top = unhashed(monkeypatch, site, "convomem", url="resolve/", listing="tree?page=1")
    base, one, other = (
        "core/evidence_questions", "user_evidence/1_evidence/a.json", "changing_evidence/b.json",
    )  # fmt: skip
    pages = {
        "/tree?page=1": [{"type": "directory", "path": f"{base}/user_evidence"}, {"path": f"{base}/{one}"}],
        "/tree?page=2": [{"path": f"{base}/{other}"}, {"path": f"{base}/notes.md"}, {"path": "core/x.json"}],
    }
    site.links = {"/tree?page=1": f"{top}tree?page=2"}
    site.bodies = {path: json.dumps(page).encode() for path, page in pages.items()}
    site.bodies |= {f"/resolve/{one}": b"[1]", f"/resolve/{other}": b"[2]"}
    place = fetch("convomem", tmp_path)
    assert place == tmp_path / "evidence_questions"
    assert (place / one).read_bytes() == b"[1]"
    assert (place / other).read_bytes() == b"[2]"
    assert sorted(path.name for path in place.rglob("*.*")) == ["a.json", "b.json"]


def test_a_folder_is_fetched_by_the_tree_of_a_repository(
    monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path
) -> None:
    unhashed(monkeypatch, site, "membench", url="raw/MemData/", listing="trees/main")
    tree = [{"path": "README.md"}, {"path": "MemData/FirstAgent/simple.json"}, {"path": "MemData/../x.json"}]
    site.bodies = {
        "/trees/main": json.dumps({"tree": tree}).encode(),
        "/raw/MemData/FirstAgent/simple.json": b"{}",
    }
    place = fetch("membench", tmp_path)
    assert [path.relative_to(place).as_posix() for path in place.rglob("*.json")] == [
        "FirstAgent/simple.json"
    ]


@pytest.mark.parametrize(
    ("answer", "sentence"), [(b"no", "is no list of files"), (b"[]", "lists no file of MemBench")],
)  # fmt: skip
def test_a_list_that_names_no_file_is_one_sentence(
    monkeypatch: pytest.MonkeyPatch, site: Site, tmp_path: Path, answer: bytes, sentence: str
) -> None:
    unhashed(monkeypatch, site, "membench", url="raw/", listing="trees/main")
    site.bodies = {"/trees/main": answer}
    with pytest.raises(CorpusError, match=sentence):
        fetch("membench", tmp_path)
    assert not list(tmp_path.iterdir())

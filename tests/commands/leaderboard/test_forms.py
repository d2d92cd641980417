"""The leaderboard on the terminal, as Markdown, as HTML and as SVG."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from runner.cli import main
from runner.commands.leaderboard import Leaderboard, leaderboard
from runner.commands.leaderboard import command as module
from runner.commands.leaderboard.board import markdown
from runner.commands.leaderboard.page import link, page, picture

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="session")
def found(base: Path, check: Any) -> Leaderboard:
    return leaderboard([f"{base}/*"], check=check)


@pytest.fixture
def command(
    base: Path, check: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    monkeypatch.setattr(module, "leaderboard", partial(leaderboard, check=check))

    def run(*words: object) -> tuple[int, str]:
        code = main(["leaderboard", str(base / "*"), *map(str, words)])
        ended = capsys.readouterr()
        return code, ended.out or ended.err

    return run


def test_the_terminal_shows_every_run_and_why_one_stands_apart(command: Callable[..., Any]) -> None:
    code, out = command()
    words = re.sub(" +", " ", out)
    assert code == 0
    assert len(re.findall(r"^### Scope", out, re.MULTILINE)) == 4
    assert "Scope conversation, n = 36, by recall_any@10" in out
    assert "Apart from the first group: questions asked: 12, spread evenly against all; n: 12" in out
    assert "| not intact | verify: manifest" in words
    assert "| blocked | a gate failed" in words
    assert "| best | never | self-run | deviation |" in words
    assert "\n\n- deviation: embedder: hash" in out


def test_every_form_says_on_what_the_defaults_of_a_system_were_chosen(found: Leaderboard) -> None:
    row = replace(found.groups[0].boards[0].rows[0], tuned_on="chats 1 to 6")
    board = replace(found.groups[0].boards[0], rows=(row,))
    whole = replace(found, groups=(replace(found.groups[0], boards=(board,)),))
    assert "| chats 1 to 6 " in markdown(whole)
    assert "tuned on: chats 1 to 6" in page(whole)


def test_json_is_printed_and_every_form_is_written(command: Callable[..., Any], tmp_path: Path) -> None:
    code, out = command("--json")
    assert code == 0
    document = json.loads(out)
    for suffix in ("html", "svg", "md", "json"):
        assert command("--output", tmp_path / f"board.{suffix}")[0] == 0
    assert json.loads((tmp_path / "board.json").read_text()) == document
    assert (tmp_path / "board.md").read_text() == command("--markdown")[1]


def test_the_picture_is_well_formed_and_stands_alone(found: Leaderboard) -> None:
    text = picture(found)
    root = ElementTree.fromstring(text)
    rows = sum(len(board.rows) * 3 for group in found.groups for board in group.boards)
    assert len(list(root.iter(f"{SVG}circle"))) == rows
    assert {circle.get("class") for circle in root.iter(f"{SVG}circle")} == {
        "point ring"
    }  # the hash embedder
    assert not re.search(r"(?:href|src)=|url\(|<script|@import", text)
    assert (root.get("aria-label") or "").startswith("Recall leaderboard: ")


def test_a_picture_says_its_values_in_words_and_stays_within_its_axis(found: Leaderboard) -> None:
    root = ElementTree.fromstring(picture(found))
    drawn = [svg for svg in root.iter(f"{SVG}svg") if svg.get("role") == "img" and svg is not root]
    assert len(drawn) == 12
    for svg in drawn:
        said = svg.get("aria-label") or ""
        assert "deviation" in said
        assert "[" in said
    for mark in (mark for svg in drawn for mark in svg.iter(f"{SVG}line")):
        left, right = (float((mark.get(end) or "-1%").removesuffix("%")) for end in ("x1", "x2"))
        assert 0 <= left <= right <= 100


def test_the_page_loads_nothing_and_runs_its_own_script_alone(found: Leaderboard) -> None:
    text = page(found)
    assert page(found) == text
    assert not re.search(r"src=|url\(|@import|<link", text)
    assert all(address.startswith("#") for address in re.findall(r'href="([^"]*)"', text))
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    allowed = b64encode(sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{allowed}'; style-src 'unsafe-inline'" in text
    assert text.count("<svg") == 12


def test_each_deviation_stands_once_a_group_and_its_runs_refer_to_it(found: Leaderboard) -> None:
    long = "pool: " + "as many candidates as were asked for, " * 5
    groups = tuple(
        replace(group, boards=tuple(
            replace(board, rows=tuple(replace(row, deviations=(*row.deviations, long)) for row in board.rows))
            for board in group.boards))
        for group in found.groups
    )  # fmt: skip
    text = page(replace(found, groups=groups))
    listed = re.findall(r'<li id="deviation-1-(\d)">(.*?)</li>', text, re.DOTALL)
    assert [number for number, _ in listed] == ["1", "2"]
    assert listed[0][1].strip() == found.groups[0].boards[0].rows[0].deviations[0]
    assert re.search(rf"<summary>pool: .{{,90}} …</summary>{long}", listed[1][1])
    assert text.count('href="#deviation-1-2"') == 6  # three runs in two scopes


def test_runs_link_to_their_reports_from_where_the_page_lies(
    command: Callable[..., Any], base: Path, tmp_path: Path
) -> None:
    place = base.parent / "pages" / "of runs" / "board.html"
    place.parent.mkdir(parents=True)
    assert command("--output", place)[0] == 0
    addresses = set(re.findall(r'href="([^#"][^"]*)"', place.read_text()))
    assert len(addresses) == 6  # four runs on a board, the changed one and the blocked one
    assert all(address.startswith("../../results/") for address in addresses)
    targets = [(place.parent / unquote(address)).resolve() for address in addresses]
    assert all(target.is_file() for target in targets)
    assert sorted({target.name for target in targets}) == ["BLOCKED.md", "report.md"]


def test_a_run_without_a_report_or_without_a_path_to_it_is_not_linked(tmp_path: Path) -> None:
    run = tmp_path / "a run"
    run.mkdir()
    assert link(run, tmp_path / "board.html") is None
    (run / "report.md").touch()
    assert link(run, tmp_path / "board.html") == "a%20run/report.md"
    elsewhere = next(place for place in map(Path, ("/usr", "/opt")) if place not in tmp_path.parents)
    assert link(run, elsewhere / "board.html") is None


def test_what_a_run_says_is_escaped(found: Leaderboard) -> None:
    aside = replace(found.asides[0], reason="<script>alert(1)</script> | & more")
    hostile = replace(found, asides=(aside,))
    assert "<script>alert" not in page(hostile)
    assert "\\| & more" in markdown(hostile)

"""The leaderboard on the terminal and as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.commands.leaderboard import Leaderboard, leaderboard
from runner.commands.leaderboard import command as module
from runner.commands.leaderboard.board import leaderboard_markdown


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
    assert "Scope conversation, n = 36, by recall_any@1\n" in out
    assert "Apart from the first group: questions asked: 12, spread evenly against all; n: 12" in out
    assert "| not intact | verify: manifest" in words
    assert "| blocked | a gate failed" in words
    assert "| best | never | self-run | deviation |" in words
    assert "\n\n- deviation: embedder: hash" in out


def test_it_says_on_what_the_defaults_of_a_system_were_chosen(found: Leaderboard) -> None:
    row = replace(found.groups[0].boards[0].rows[0], tuned_on="chats 1 to 6")
    board = replace(found.groups[0].boards[0], rows=(row,))
    whole = replace(found, groups=(replace(found.groups[0], boards=(board,)),))
    assert "| chats 1 to 6 " in leaderboard_markdown(whole)


def test_what_a_run_says_is_escaped(found: Leaderboard) -> None:
    aside = replace(found.asides[0], reason="<script>alert(1)</script> | & more")
    hostile = replace(found, asides=(aside,))
    assert "<script>alert" not in leaderboard_markdown(hostile)
    assert "\\| & more" in leaderboard_markdown(hostile)

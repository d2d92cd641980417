"""The command line is documented, and reads well where it is not a terminal of any width."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner import Request
from runner.options import parser
from runner.suites import SUITES

README = (Path(__file__).parents[2] / "runner" / "README.md").read_text()
COMMANDS = README.partition("## Commands")[2].partition("## From Python")[0]
ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<words>.+?) \|", re.MULTILINE)
DOCUMENTED = {row["name"]: row["words"] for row in ROW.finditer(COMMANDS)}


def commands() -> dict[str, argparse.ArgumentParser]:
    [choices] = (action.choices for action in parser()._actions if action.dest == "suite")
    return dict(choices or {})  # type: ignore[arg-type]


def options(command: str) -> dict[str, argparse.Action]:
    named = {
        action.option_strings[-1]: action for action in commands()[command]._actions if action.option_strings
    }
    return {name: action for name, action in named.items() if name != "--help"}


def test_every_command_is_documented_and_every_documented_one_exists() -> None:
    assert {name.split(" ")[0] for name in DOCUMENTED if not name.startswith("--")} == set(commands())


def test_every_option_is_documented_with_its_value_and_exists() -> None:
    taken = {
        f"{name} {action.metavar}" if action.metavar else name
        for suite in SUITES
        for name, action in options(suite).items()
    }
    assert {name for name in DOCUMENTED if name.startswith("--")} == taken


def test_the_options_of_fetch_are_documented() -> None:
    sentence = COMMANDS.partition("`fetch` takes")[2].partition("\n")[0]
    assert set(re.findall(r"`(--\w+)", sentence)) == set(options("fetch"))


@pytest.mark.parametrize(
    ("option", "default"),
    [("--version", Request("sample").version), ("--mode", "hybrid"), ("--granularity", "session")],
)
def test_defaults_stand_in_the_documents(option: str, default: str) -> None:
    row = next(line for line in COMMANDS.splitlines() if line.startswith(f"| `{option} "))
    assert f"`{default}`" in row.split("|")[3]


def test_help_fits_80_columns(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["--help"], ["sample", "--help"], ["fetch", "--help"]):
        with pytest.raises(SystemExit) as ended:
            parser().parse_args(words)
        shown = capsys.readouterr().out
        assert ended.value.code == 0
        assert max(map(len, shown.splitlines())) <= 80


def test_a_run_ends_in_a_table_and_its_folder(
    bench: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = bench("--limit", 2)
    lines = ended.out.splitlines()
    assert ended.err == ""
    assert f"the sample, pgmnemo {Request('sample').version}: deviation" in lines[0]
    assert "deviation: scope: only the first 2 questions (--limit)" in lines
    assert lines[-1] == f"artefacts: {next((tmp_path / 'results').glob('v*'))}"
    assert max(map(len, lines[: lines.index("deviation: embedder: hash")])) <= 80


def test_progress_is_plain_lines_where_there_is_no_terminal(
    cli: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    words = ("--limit", 2, "--embedder", "hash", "--dsn", server.dsn(), "--output", tmp_path)
    ended = cli("sample", *words)
    assert "\x1b" not in ended.out + ended.err
    assert "pgmnemo, conversation: 2 done" in ended.err.splitlines()

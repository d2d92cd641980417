"""The command line is documented, and reads well where it is not a terminal of any width."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from cyclopts import App

from runner.cli import COMMANDS as OTHERS
from runner.cli import app, main
from runner.protocol.editions import current
from tests.helping import CURRENT

README = (Path(__file__).parents[2] / "runner" / "README.md").read_text()
COMMANDS = README.partition("## Commands")[2].partition("## From Python")[0]


def commands() -> dict[str, App]:
    top = app()
    return {name: top[name] for name in top if not name.startswith("-")}


def options(command: str) -> list[str]:
    """Every option that the help shows."""
    shown = (one for one in commands()[command].assemble_argument_collection() if one.show)
    return [one.name for one in shown if one.name.startswith("--")]


def test_every_command_is_documented_and_every_documented_one_exists() -> None:
    rows = re.findall(r"^\| (`.+?`) \|", COMMANDS, re.MULTILINE)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)", row)} == set(commands())


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["versify"], "there is no command 'versify' (did you mean verify?); see `python -m runner --help`"),
        (["score", "--suit", "sample"], "score needs --suite; did you mean --suite instead of --suit?;"),
        (["peers", "install"], "peers install needs NAME;"),
    ],
)
def test_what_a_command_line_lacks_is_named(
    cli: Callable[..., Any], arguments: list[str], sentence: str
) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert ended.err.startswith(f"wrong use: {sentence}")


def test_a_version_is_of_the_distribution_the_extension_and_the_protocol(cli: Callable[..., Any]) -> None:
    ended = cli("--version")
    ours = metadata.version("pgmnemo-bench")
    known = f"pgmnemo-bench {ours} (extension {CURRENT}, protocol {current().version})\n"
    assert (ended.code, ended.out) == (0, known)


@pytest.mark.parametrize(
    "words", [("--help",), ("history", "add", "--help"), ("sample", "--dry-run", "--quiet")]
)
def test_where_nobody_reads_a_command_ends_with_141(
    words: tuple[str, ...], sql: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    given = ("--embedder", "hash", "--dsn", server.dsn()) if "--dry-run" in words else ()
    with os.fdopen(writer, "w") as nobody:
        monkeypatch.setattr(sys, "stdout", nobody)
        assert main([*words, *given], sql=sql) == 141


def test_a_name_that_reads_like_markup_is_that_name(
    cli: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    session = {"id": "s1", "turns": [{"text": "my cat is called Tom"}]}
    question = {"text": "What is the cat called?", "evidence": ["s1"]}
    data = tmp_path / "mine.json"
    data.write_text(json.dumps({"name": "[/x] and [red]", "sessions": [session], "questions": [question]}))
    words = ("--data", data, "--embedder", "none", "--dsn", server.dsn(), "--output", tmp_path / "results")
    ended = cli("file", *words)
    assert (ended.code, "own data: [/x] and [red], pgmnemo" in ended.out) == (0, True)


def test_help_fits_80_columns(cli: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for words in (["--help"], ["sample", "--help"], ["fetch", "--help"]):
        ended = cli(*words)
        assert (ended.code, ended.err) == (0, "")
        assert ended.out.startswith("Usage: python -m runner ")
        assert max(map(len, ended.out.splitlines())) <= 80


def test_help_says_what_stands_in_the_code(cli: Callable[..., Any]) -> None:
    """No word is lost to a markup, and every option has words."""
    shown = " ".join(cli("sample", "--help").out.replace("│", " ").split())
    assert "folder for results (default: benchmarks/<suite>/local)" in shown
    for name in options("sample"):
        assert re.search(rf"{name} (?:[A-Z.]+ )?[\w\"]", shown), name


@pytest.mark.parametrize("command", [name for name in OTHERS if name != "check-system"])
def test_every_option_of_every_command_says_what_it_does(command: str, cli: Callable[..., Any]) -> None:
    top = commands()[command]
    below = [name for name in top if not name.startswith("-")]
    named = [((command,), top), *(((command, name), top[name]) for name in below)]
    for words, one in ((words, one) for words, one in named if one.default_command is not None):
        shown = " ".join(cli(*words, "--help").out.replace("│", " ").split())
        for argument in one.assemble_argument_collection():
            if argument.show and argument.name.startswith("--"):
                said = argument.parameter.help or re.search(rf"{argument.name} (?:[A-Z.]+ )?[\w\"]", shown)
                assert said, argument.name


def test_no_flag_has_an_opposite(cli: Callable[..., Any]) -> None:
    for word in ("--no-quiet", "--no-dry-run", "--empty-k"):
        assert cli("sample", word).sentence.startswith(f"wrong use: unknown option: {word}")


def test_a_run_ends_in_a_table_and_its_folder(
    bench: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = bench("--limit", 2)
    lines = ended.out.splitlines()
    assert ended.err == ""
    assert lines[0].strip().endswith(f"the sample, pgmnemo v{CURRENT}")
    assert "deviation" not in ended.out
    [says] = (number for number, line in enumerate(lines) if "proves that an installation works" in line)
    assert lines[-1] == f"artefacts: {next((tmp_path / 'results').glob('v*'))}"
    assert max(map(len, lines[:says])) <= 85


def test_progress_is_plain_lines_where_there_is_no_terminal(
    cli: Callable[..., Any], server: Any, tmp_path: Path
) -> None:
    words = ("--limit", 2, "--embedder", "hash", "--dsn", server.dsn(), "--output", tmp_path)
    ended = cli("sample", *words)
    assert "\x1b" not in ended.out + ended.err
    said = [line.partition(";") for line in ended.err.splitlines()]
    [share] = [rest for line, _, rest in said if line == "pgmnemo, conversation: 2 done"]
    assert re.fullmatch(r" 6% of all after \d+ s", share)

"""Help: what there is, soon, on a terminal of 80 columns."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pgmnemo.cli.commands import COMMANDS, main

NAMES = [name for commands in COMMANDS.values() for name in commands]
HEAVY = "numpy psycopg torch onnxruntime tokenizers psutil msgspec urllib3"
LOADED = f"""
import sys
from pgmnemo.cli.commands import main
main(["--help"])
print([name for name in {HEAVY.split()} if name in sys.modules], file=sys.stderr)
"""


@pytest.fixture(autouse=True)
def columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    told = capsys.readouterr().out
    rows = [line[2:].split()[0] for line in told.splitlines() if line.startswith("│ ") and line[2] != " "]
    assert [row for row in rows if not row.startswith("-")] == NAMES


def test_help_loads_nothing_that_is_heavy() -> None:
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_says_what_each_option_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert max(map(len, told)) <= 80
    rows = [line.strip("│ ").split("  ", 1) for line in told if line.startswith(("│ -", "│    -", "│ *"))]
    assert [row for row in rows if len(row) < 2 or not row[1].strip()] == []


def test_what_the_module_is_called_with_is_a_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pgmnemo", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("pgmnemo-memory ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(word in script for word in ("undo-supersede", "max-tokens", "all-projects"))


def test_completion_is_understood_by_bash(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["completion", "bash"])
    (tmp_path / "mnemo").write_text(capsys.readouterr().out)
    complete = (
        f"source {tmp_path}/mnemo; COMP_WORDS=(mnemo re); COMP_CWORD=1; COMP_LINE='mnemo re'; COMP_POINT=8; "
        "$(complete -p mnemo | sed 's/.*-F \\([^ ]*\\).*/\\1/') mnemo re mnemo; echo ${COMPREPLY[*]}"
    )
    done = subprocess.run(["bash", "-c", complete], capture_output=True, text=True, check=False)
    assert "recall" in done.stdout

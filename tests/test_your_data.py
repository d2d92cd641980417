"""The page on one's own data runs as it stands, and prints what it shows."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from runner.commands.cite import cite
from runner.errors import UnusableRunError
from tests.helping import free_port
from tests.reader import path

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "howto" / "your-data.md").read_text(encoding="utf-8")
STEPS = re.findall(r"```bash\n(.+?)```", PAGE, re.DOTALL)
ACTIVATE = "source .venv/bin/activate\n"
SHOWN = re.findall(r"```text\n(.+?)```", PAGE, re.DOTALL)


def test_every_step_runs_and_prints_what_is_shown(tmp_path: Path) -> None:
    places = {
        "PATH": path(), "OUT": str(tmp_path), "PORT": str(free_port()),
    }  # fmt: skip
    assert STEPS[0].startswith(ACTIVATE)
    steps = "".join(STEPS).removeprefix(ACTIVATE)  # the tests' environment stands for the reader's
    script = "trap 'kill $MEMORY 2> /dev/null || true' EXIT\n" + steps
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script],
        cwd=ROOT, env={**os.environ, **places}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    printed = {" ".join(line.split()) for line in (done.stdout + done.stderr).splitlines()}
    shown = {" ".join(line.split()) for block in SHOWN for line in block.splitlines()} - {"", "…"}
    assert shown <= printed, shown - printed
    [before] = (tmp_path / "before").glob("http*")
    run = json.loads((before / "run.json").read_bytes())
    assert (run["verdict"], run["corpus"]["title"]) == ("unverified", "own data: mine")
    with pytest.raises(UnusableRunError, match="Not to be cited: the run is unverified"):
        cite(before)
    assert [arm["name"] for arm in run["arms"] if arm["role"] == "system"][:2] == ["http", "sqlite-fts5"]


def test_the_page_names_every_key_of_the_schema() -> None:
    schema = json.loads((ROOT / "runner" / "protocol" / "datasets" / "file.schema.json").read_bytes())[
        "definitions"
    ]
    for part in ("session", "turn", "question"):
        for key in schema[part]["properties"]:
            assert f"`{key}`" in PAGE, key

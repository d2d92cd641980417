"""The workflow file runs what this checkout has: its targets, its command, its folders."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from runner.cli import app
from runner.options import parse_limits
from runner.runs.folder import results_base

ROOT = Path(__file__).parents[3]
WORKFLOW = ROOT / ".github" / "workflows" / "recall.yml"


@pytest.fixture(scope="module")
def workflow() -> dict[Any, Any]:
    yaml = pytest.importorskip("yaml")
    document: dict[Any, Any] = yaml.safe_load(WORKFLOW.read_text())
    return document


@pytest.fixture(scope="module")
def commands(workflow: dict[Any, Any]) -> list[list[str]]:
    steps = workflow["jobs"]["gate"]["steps"]
    return [shlex.split(step["run"].replace("\\\n", " ")) for step in steps if "run" in step]


def test_it_runs_on_pull_requests_and_pushes_with_the_least_rights(workflow: dict[Any, Any]) -> None:
    assert set(workflow[True]) == {"push", "pull_request"}  # YAML 1.1 reads the key `on` as true
    assert workflow["permissions"] == {"contents": "read"}


def test_every_target_it_makes_exists(commands: list[list[str]]) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    made = [words[1] for words in commands if words[0] == "make"]
    assert made == ["lint", "test", "bench"]
    assert set(made) <= set(targets)


def parsed(words: list[str]) -> dict[str, Any]:
    """The arguments of a command line by their names."""
    _, bound, _ = app().parse_args(words, exit_on_error=False, print_error=False)
    return dict(bound.arguments)


def test_its_commands_are_those_of_the_command_line(commands: list[list[str]]) -> None:
    [gate] = [words for words in commands if words[1:3] == ["-m", "runner"]]
    options = parsed(gate[3:])
    assert ROOT / options["baseline"] == results_base("sample", None, ROOT)
    assert parse_limits(options["max_drop"]) == {"recall_any@5": 0.03, "recall_any@10": 0.03, "MRR@50": 0.03}
    [bench] = [words for words in commands if words[:2] == ["make", "bench"]]
    arguments = next(word.partition("=")[2] for word in bench if word.startswith("ARGS="))
    run = parsed(["sample", *shlex.split(arguments)])
    assert run["options"].output == options["candidate"]

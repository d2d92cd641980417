"""What README.md and sql/README.md show of the extension works, word by word."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
import tomllib
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pgmnemo.client.naming import project_id, tenant_id
from tests.reader import PYTHON

ROOT = Path(__file__).resolve().parents[2]
FIRST = (ROOT / "README.md").read_text(encoding="utf-8")
README = (ROOT / "sql" / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d+\.\d+")


@pytest.fixture
def empty_database(owner: psycopg.Connection[Any], database: Any) -> Any:
    owner.execute("CREATE DATABASE quickstart")
    with psycopg.connect(**{**database.conninfo, "dbname": "quickstart"}, autocommit=True) as connection:
        yield connection
    owner.execute("DROP DATABASE quickstart WITH (FORCE)")
    owner.execute("DROP ROLE IF EXISTS agent")


def answers_to(connection: psycopg.Connection[Any], page: str) -> list[Any]:
    """What each statement of the page's SQL answers, in their order."""
    answers = []
    for statement in re.findall(r"(.+?);(?:  --[^\n]*)?\n", "".join(blocks(page, "sql")), re.DOTALL):
        cursor = connection.execute(statement)
        answers.append(cursor.fetchall() if cursor.description else None)
    return answers


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.+?)```", page, re.DOTALL)


def test_the_first_page_stores_and_recalls(empty_database: psycopg.Connection[Any]) -> None:
    *_, stored, recalled = answers_to(empty_database, FIRST)
    assert stored == [("inserted",)]
    assert [row[:2] for row in recalled] == [("chat/1", "I moved to Lisbon in May.")]
    kept = empty_database.execute("SELECT tenant_id, project_id FROM pgmnemo.lessons").fetchone()
    assert kept == (ada := tenant_id("ada"), project_id(ada, "kitchen"))


@pytest.mark.parametrize("page", ["README.md", "pgmnemo/README.md"])
def test_the_first_program_recalls_and_after_a_restart_remembers(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    program, *_ = blocks(text, "python")
    printed = []
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root the server runs as nobody
        for _ in range(2):
            done = subprocess.run(
                [PYTHON, "-c", program], cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.stderr == ""
            assert done.stdout.count("I moved to Lisbon in May.") == 1
            printed.append(done.stdout)
    for shown in blocks(text, "text")[:1]:
        assert NUMBER.sub("", printed[0]) == NUMBER.sub("", shown)
        found, wanted = (list(map(float, NUMBER.findall(one))) for one in (printed[0], shown))
        assert found == pytest.approx(wanted, abs=0.05)  # another processor rounds vectors otherwise


def test_the_badges_of_the_first_page_are_true() -> None:
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = json.loads((ROOT / "sql" / "META.json").read_text())["prereqs"]["runtime"]["requires"][
        "PostgreSQL"
    ]
    badges = re.findall(r"img.shields.io/badge/(\w+)-(.+?)-", FIRST)
    assert dict(badges) == {
        "python": needed["requires-python"].removeprefix(">=") + "+",
        "postgresql": oldest.partition(".")[0] + "+",
        "licence": needed["license"].partition(" AND ")[0],  # the rest is of a file in it
        "tests": "make_test",
    }
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(), re.MULTILINE)


def test_the_first_page_is_short() -> None:
    assert len(FIRST.split()) <= 500


def test_the_quick_start_runs_as_it_stands(empty_database: psycopg.Connection[Any]) -> None:
    answers = answers_to(empty_database, README)
    assert answers.count([("inserted",)]) == 4
    recalled = next(answer for answer in answers if answer and len(answer[0]) == 8)
    assert [row[0] for row in recalled] == ["build/1", "build/2"]
    assert [("chat/1", "I moved to Lisbon in May.")] in answers
    assert [("inserted", 1000)] in answers


def test_every_public_function_stands_in_the_readme(owner: psycopg.Connection[Any]) -> None:
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_'"
    assert [name for (name,) in owner.execute(query) if f"{name}(" not in README] == []

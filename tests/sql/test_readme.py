"""What README.md and sql/README.md show of the extension works, word by word."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.reader import PYTHON

ROOT = Path(__file__).resolve().parents[2]
FIRST = (ROOT / "README.md").read_text(encoding="utf-8")
README = (ROOT / "sql" / "README.md").read_text(encoding="utf-8")


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


def test_the_first_page_stores_recalls_and_explains(empty_database: psycopg.Connection[Any]) -> None:
    answers = answers_to(empty_database, FIRST)
    assert answers.count([("inserted",)]) == 2
    *_, recalled, explained = answers
    assert [row[:2] for row in recalled] == [("chat/1", "I moved to Lisbon in May.")]
    assert sum(contribution or 0 for *_, contribution in explained) == pytest.approx(recalled[0][2])


@pytest.mark.parametrize("page", ["README.md", "pgmnemo/README.md"])
def test_the_ten_lines_recall_and_after_a_restart_remember(page: str) -> None:
    program, *_ = blocks((ROOT / page).read_text(encoding="utf-8"), "python")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)  # as root the server runs as nobody
        for _ in range(2):
            done = subprocess.run(
                [PYTHON, "-c", program], cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.stderr == ""
            assert done.stdout.count(" I moved to Lisbon in May. ") == 1


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

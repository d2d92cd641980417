"""The README's quick start works, word by word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import psycopg
import pytest

README = (Path(__file__).resolve().parents[2] / "sql" / "README.md").read_text(encoding="utf-8")


@pytest.fixture
def empty_database(owner: psycopg.Connection[Any], database: Any) -> Any:
    owner.execute("CREATE DATABASE quickstart")
    with psycopg.connect(**{**database.conninfo, "dbname": "quickstart"}, autocommit=True) as connection:
        yield connection
    owner.execute("DROP DATABASE quickstart WITH (FORCE)")
    owner.execute("DROP ROLE IF EXISTS agent")


def test_the_quick_start_runs_as_it_stands(empty_database: psycopg.Connection[Any]) -> None:
    blocks = re.findall(r"```sql\n(.+?)```", README, re.DOTALL)
    assert len(blocks) == 4
    answers = []
    for statement in "".join(blocks).split(";\n"):
        cursor = empty_database.execute(statement.strip() or "SELECT 1")
        answers.append(cursor.fetchall() if cursor.description else None)
    assert answers.count([("inserted",)]) == 5
    recalled = next(answer for answer in answers if answer and len(answer[0]) == 8)
    assert [row[0] for row in recalled] == ["build/1", "build/2"]
    assert [("chat/1", "I moved to Lisbon in May.")] in answers
    assert [("inserted", 1000)] in answers


def test_every_public_function_stands_in_the_readme(owner: psycopg.Connection[Any]) -> None:
    query = "SELECT proname FROM pg_proc WHERE pronamespace = 'pgmnemo'::regnamespace AND proname !~ '^_'"
    assert [name for (name,) in owner.execute(query) if f"{name}(" not in README] == []

"""What an installation can bring is under licences that we know, and another one is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools.licences import expected, needed


def test_every_package_that_users_get_has_an_expected_licence(root: Path) -> None:
    done = subprocess.run(
        [sys.executable, root / "tools" / "licences.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "LGPL-3.0-only: psycopg" in done.stdout
    assert {"psycopg", "torch", "pgmnemo-bench", "uvicorn"} <= {one.metadata["Name"] for one in needed()}


@pytest.mark.parametrize(
    ("expression", "known"),
    [
        ("MIT", True), ("MIT AND (GPL-3.0-only OR Apache-2.0)", True), ("ISC License (ISCL)", True),
        ("GPL-3.0-only", False), ("MIT AND GPL-2.0-or-later", False), ("nothing", False), ("", False),
        ("Free for everybody", False),
    ],
)  # fmt: skip
def test_what_is_neither_permissive_nor_accepted_is_refused(expression: str, known: bool) -> None:
    assert expected(expression) is known

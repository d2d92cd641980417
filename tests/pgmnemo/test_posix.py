"""Without the modules of POSIX a DSN works as ever, and a folder is refused in one sentence."""

from __future__ import annotations

import subprocess
import sys

import pytest

OPEN = """
import select, sys
sys.modules["fcntl"] = sys.modules["pwd"] = None
del select.poll
import pgmnemo
from pgmnemo.client.retries import is_readable
try:
    pgmnemo.Memory.open(sys.argv[1])
except pgmnemo.PgmnemoError as error:
    print(f"{type(error).__name__}: {error}")
"""


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("host=127.0.0.1 port=1 dbname=x", "DatabaseError: the database at 127.0.0.1:1/x cannot be reached"),
        ("{folder}", "UsageError: a memory in a folder needs Linux or macOS; give the DSN of a PostgreSQL"),
    ],
)
def test_a_dsn_is_asked_and_a_folder_is_refused(tmp_path: object, place: str, said: str) -> None:
    told = subprocess.run(
        [sys.executable, "-c", OPEN, place.format(folder=tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (told.returncode, told.stderr) == (0, "")
    assert told.stdout.startswith(said)

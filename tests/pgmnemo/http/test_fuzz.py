"""The description against the application, by schemathesis: no answer of 500, none that is not described.

PGMNEMO_FUZZ=100 gives each verb a hundred made-up requests, and those on the edges of its schema, too: some
minutes. `positive_data_acceptance` is left out: a schema cannot say all that a memory refuses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.http.test_process import running

EXAMPLES = os.environ.get("PGMNEMO_FUZZ")
LONG = ["--phases", "examples,coverage,fuzzing", "--max-examples", EXAMPLES or ""]
SHORT = ["--phases", "examples,fuzzing", "--max-examples", "3", "--max-time", "8", "--seed", "29"]


def test_made_up_requests_are_answered_as_described(place: Place, tmp_path: Path) -> None:
    with running(place.dsn(), tmp_path, "--rate", "1000000", tenant=place.tenant()) as server:
        done = subprocess.run(
            [
                str(Path(sys.executable).parent / "st"), "run", f"{server.url}/openapi.json", "--no-color",
                "--header", f"Authorization: Bearer {server.token}", "--continue-on-failure",
                "--checks", "all", "--exclude-checks", "positive_data_acceptance",
                *(LONG if EXAMPLES else SHORT),
            ],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        events = server.events()
    assert done.returncode == 0, done.stdout + done.stderr
    asked = [one for one in events if one["event"] == "request"]
    assert len(asked) > 40
    assert [one for one in events if one["event"] == "fault" or one.get("status", 0) >= 500] == []
    print(json.dumps({"requests": len(asked), "ok": sum(one["status"] == 200 for one in asked)}))

"""The page of the examples does what it says."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.helping import free_port
from tests.pgmnemo.client.driving import Place
from tests.reader import path

ROOT = Path(__file__).parents[2]
BLOCKS = re.findall(
    r"```bash\n(.+?)```", (ROOT / "docs" / "examples.md").read_text(encoding="utf-8"), re.DOTALL
)
WAIT = """
trap 'kill $!' EXIT
until curl -s "localhost:$PORT" > /dev/null; do kill -0 $!; sleep 0.2; done
"""


def test_the_commands_of_the_page_chat_and_serve(place: Place) -> None:
    _, chat, start, ask = BLOCKS  # the first one installs
    environ = {
        **os.environ, "PATH": path(), "ROLE": "bob",
        "OWNER_DSN": place.dsn(place.server.conninfo["user"]), "DSN": place.dsn("bob"),
        "PORT": str(free_port()),
    }  # fmt: skip
    script = "\n".join((chat, start, WAIT, ask)).replace("examples/", f"{ROOT}/examples/")
    with TemporaryDirectory(prefix="examples-") as room:
        Path(room).chmod(0o755)  # as root the server of a folder runs as another user
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script], cwd=room, env=environ, capture_output=True, text=True,
            timeout=300,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "You told me: I sail a red boat.\n" in done.stdout
    assert '"text":"The contract ends in May."' in done.stdout

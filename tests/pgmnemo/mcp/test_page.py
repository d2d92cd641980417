"""Every block of docs/integrations/mcp.md does what it says."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
from pathlib import Path

from pgmnemo.cli.commands import main
from pgmnemo.http.tokens import TokenFile
from pgmnemo.mcp.tools import TOOLS
from tests.helping import readable
from tests.reader import PYTHON, path

PAGE = (Path(__file__).parents[3] / "docs/integrations/mcp.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_page_has_these_blocks_and_every_tool() -> None:
    assert [kind for kind, _ in BLOCKS] == ["bash", "json", "python", "bash", "bash"]
    assert {name for name in TOOLS if f"`{name}`" in PAGE} == set(TOOLS)


def test_its_python_and_its_configuration_start_the_same_server() -> None:
    [config, code] = [text for kind, text in BLOCKS if kind in ("json", "python")]
    with readable() as folder:
        environ = {"PATH": path(), "HOME": str(folder)}
        done = subprocess.run(
            [PYTHON, "-c", code], cwd=folder, env=environ, capture_output=True, text=True, timeout=600
        )
        assert done.returncode == 0, done.stderr
        first, *wake_up = done.stdout.splitlines()
        assert first == "Ada moved to Lisbon in May 2026."
        assert f"> {first}" in wake_up
    started = json.loads(config)["mcpServers"]["memory"]
    words = ", ".join(json.dumps(word) for word in started["args"])
    assert f'command="{started["command"]}", args=[{words}]' in " ".join(code.split())


def test_its_commands_over_http_are_ones(tmp_path: Path) -> None:
    make, serve = (shlex.split(line) for line in BLOCKS[3][1].splitlines())
    place = tmp_path / "tokens.json"
    made = [str(place) if word == "tokens.json" else word for word in make[1:]]
    assert main([*made, "--quiet"]) == 0
    [principal] = TokenFile(place).principals()
    assert (principal.tenant, principal.project) == ("ada", "kitchen")
    assert main([*serve[1:3], "--http", "--tokens", str(tmp_path / "none.json")]) == 2
    assert BLOCKS[0][1].startswith("pip install '.[mcp")

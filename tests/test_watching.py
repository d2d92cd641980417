"""A run of tests in CI fails where one of them asks the compose service, and says who did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from runner.paths import ROOT
from tests.helping import free_port

RUN = """import sys, pytest
from pgmnemo.postgres import discovery
discovery.COMPOSE_PORT = sys.argv[1]
sys.exit(pytest.main(["-p", "tests.watching", "-c", "/dev/null", sys.argv[2]]))"""
TEST = """import subprocess, sys
CALL = "import socket, time; held = socket.create_connection(('127.0.0.1', {port})); time.sleep(1)"
def test_one():
    subprocess.run([sys.executable, "-c", {program}], check=True)
"""


@pytest.mark.parametrize(("program", "code"), [("CALL", 1), ("'pass'", 0)])
def test_who_asks_the_compose_service_is_told(tmp_path: Path, program: str, code: int) -> None:
    port = free_port()
    (tmp_path / "test_one.py").write_text(TEST.format(port=port, program=program))
    done = subprocess.run(
        [sys.executable, "-c", RUN, str(port), str(tmp_path)], cwd=ROOT, capture_output=True, text=True,
        env={**os.environ, "CI": "true", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, timeout=120,
    )  # fmt: skip
    assert done.returncode == code, done.stdout
    assert (f"failed: 127.0.0.1:{port} was asked by" in done.stdout) == bool(code)

"""docker-compose.yml: valid, closed to the network, and in step with the runner."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from pgmnemo.postgres import discovery

COMMANDS = (["docker-compose"], ["docker", "compose"])


def compose(root: Path, empty: Path, file: str = "docker-compose.yml", **environ: str) -> str:
    """The file as compose understands it, or a skip where there is no compose; no `.env` but `empty`."""
    empty.touch()
    for command in COMMANDS:
        if shutil.which(command[0]) is None:
            continue
        whole = [*command, "-f", str(root / file), "--env-file", str(empty), "config"]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", **environ}
        done = subprocess.run(whole, capture_output=True, text=True, check=False, env=environment)
        if "unknown" not in done.stderr:
            assert done.returncode == 0, done.stderr
            return done.stdout
    pytest.skip("neither docker-compose nor docker compose is on this machine")


def test_it_is_valid_and_listens_on_this_machine_alone(root: Path, tmp_path: Path) -> None:
    text = compose(root, tmp_path / ".env")
    assert f"POSTGRES_PASSWORD: {discovery.COMPOSE_PASSWORD}" in text
    assert f"POSTGRES_USER: {discovery.COMPOSE_USER}" in text
    assert f"POSTGRES_DB: {discovery.COMPOSE_DATABASE}" in text
    assert discovery.COMPOSE_HOST in text
    assert discovery.COMPOSE_PORT in text
    assert "healthcheck" in text
    assert "pgmnemo_data" in text


def test_password_and_port_come_from_the_environment(root: Path, tmp_path: Path) -> None:
    text = compose(root, tmp_path / ".env", PGMNEMO_PASSWORD="from-outside", PGMNEMO_PORT="54400")
    assert "POSTGRES_PASSWORD: from-outside" in text
    assert "54400" in text
    assert discovery.COMPOSE_PORT not in text


def test_without_an_engine_the_file_says_the_same(root: Path) -> None:
    text = (root / "docker-compose.yml").read_text()
    assert f"${{PGMNEMO_PASSWORD:-{discovery.COMPOSE_PASSWORD}}}" in text
    assert f'"{discovery.COMPOSE_HOST}:${{PGMNEMO_PORT:-{discovery.COMPOSE_PORT}}}:5432"' in text
    assert "pgmnemo_data:/var/lib/postgresql " in text  # not …/data: that was before PostgreSQL 18

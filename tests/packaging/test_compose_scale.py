"""docker-compose.scale.yml: valid, three shards behind one router, and in step with the commands."""

from __future__ import annotations

import re
from pathlib import Path

from tests.packaging.test_compose import compose

FILE = "docker-compose.scale.yml"


def test_it_has_a_router_and_three_shards_on_this_machine_alone(root: Path, tmp_path: Path) -> None:
    text = compose(root, tmp_path / ".env", file=FILE)
    inside = text.partition("services:")[2].partition("\nvolumes:")[0]
    services = re.findall(r"^  (\w+):$", inside, re.MULTILINE)
    assert {"router", "shard1", "shard2", "shard3"} <= set(services)
    assert "PGMNEMO_SHARD_SECRET: pgmnemo-shard" in text
    assert text.count("POSTGRES_PASSWORD: pgmnemo-shard") == 3
    ports = set(re.findall(r"published: \"?(\d+)|127\.0\.0\.1:(\d+):5432", text))
    assert {number for pair in ports for number in pair if number} == {"54330", "54331", "54332", "54333"}
    assert "0.0.0.0" not in text.replace("127.0.0.1", "")


def test_passwords_come_from_the_environment(root: Path, tmp_path: Path) -> None:
    given = {"PGMNEMO_PASSWORD": "outer", "PGMNEMO_SHARD_SECRET": "inner"}
    text = compose(root, tmp_path / ".env", file=FILE, **given)
    assert "PGMNEMO_PASSWORD: outer" in text
    assert text.count("POSTGRES_PASSWORD: inner") == 3


def test_without_an_engine_the_files_name_what_they_build(root: Path) -> None:
    text = (root / FILE).read_text()
    assert "build: ./shards" in text
    assert "build: ./sql" in text
    image = (root / "shards" / "Dockerfile").read_text()
    assert "postgresql-15-plproxy" in image
    assert "create_main_cluster = false" in image
    assert "router-start.sh" in image
    assert (root / "shards" / "router-start.sh").stat().st_mode & 0o111

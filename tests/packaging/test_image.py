"""The image in a real engine: built, started, and used by the runner. Skipped where no engine answers."""

from __future__ import annotations

import gc
import os
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from pgmnemo.postgres import discovery, open_database
from pgmnemo.progress import QUIET
from tests.helping import CURRENT


@pytest.fixture(scope="module")
def engine() -> None:
    """Skips where no engine answers."""
    docker = pytest.importorskip("docker")
    problem = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # a failing client drops its socket
        try:
            with closing(docker.from_env(timeout=5)) as client:
                client.ping()
        except docker.errors.DockerException as error:
            problem = str(error)[:120]
        gc.collect()
    if problem:
        pytest.skip(f"no container engine answers: {problem}")


@pytest.fixture(scope="module")
def service(engine: None, root: Path) -> Iterator[int]:
    """The port of a container of the image, run as docker-compose.yml runs it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what testcontainers' own imports have to say
        from testcontainers.core.container import DockerContainer
        from testcontainers.core.image import DockerImage
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    with DockerImage(path=root / "sql", tag="pgmnemo-test:latest") as image:
        container = DockerContainer(str(image)).with_bind_ports(5432, port)
        for name, value in (("USER", discovery.COMPOSE_USER), ("DB", discovery.COMPOSE_DATABASE),
                            ("PASSWORD", "from-outside")):  # fmt: skip
            container.with_env(f"POSTGRES_{name}", value)
        with container:
            yield port


def test_the_runner_finds_it_by_itself(service: int) -> None:
    environ = {"PGMNEMO_PORT": str(service), "PGMNEMO_PASSWORD": "from-outside"}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if discovery.find_server(None, environ, QUIET, Path(os.devnull)):
            break
        time.sleep(1)
    with open_database(CURRENT, environ=environ) as database:
        assert database.facts.origin == "compose"
        with database.connect() as connection:
            assert connection.execute("SELECT pgmnemo.version()").fetchone() == (CURRENT,)

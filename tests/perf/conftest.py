"""A tiny corpus made of the committed sample, with vectors from feature hashing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runner.perf.generating import generate
from runner.perf.source import Source, read_source
from runner.perf.workload import Workload

MEMORIES, TENANTS = 400, 20


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    cache = tmp_path_factory.mktemp("cache")
    return read_source("sample", None, "hash", seed=42, questions=30, cache=cache, environ={})


@pytest.fixture(scope="session")
def make(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Workload]:
    def made(**options: Any) -> Workload:
        wanted = {"memories": MEMORIES, "tenants": TENANTS, "dimensions": 384, "seed": 42, **options}
        return generate(source, tmp_path_factory.mktemp("corpus"), **wanted)

    return made


@pytest.fixture(scope="session")
def workload(make: Callable[..., Workload]) -> Workload:
    return make()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"

"""A tiny corpus made of the committed sample, with vectors from feature hashing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from runner.commands.perf.generating import generate, read_source
from runner.commands.perf.request import PerfRequest
from runner.commands.perf.workload import Source, Workload

REQUEST = PerfRequest(memories=400, tenants=20, embedder="hash", questions=30)


@pytest.fixture(scope="session")
def source(tmp_path_factory: pytest.TempPathFactory) -> Source:
    return read_source(replace(REQUEST, cache=tmp_path_factory.mktemp("cache")), environ={})


@pytest.fixture(scope="session")
def make(source: Source, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Workload]:
    return lambda **options: generate(source, tmp_path_factory.mktemp("corpus"), replace(REQUEST, **options))


@pytest.fixture(scope="session")
def workload(make: Callable[..., Workload]) -> Workload:
    return make()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"

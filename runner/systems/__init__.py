"""The registry of systems that rank, including pgmnemo: each is one file, and one line here.

Other packages add systems by the entry point group `pgmnemo.systems` (runner/systems/README.md). A name may
have a version, settings and wrappers, as in `pgmnemo@0.3.0:bm25_b=0.5+keyword` (runner/naming.py).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from types import ModuleType

from pgmnemo.errors import UsageError
from pgmnemo.postgres.temporary_folders import leased_folder
from pgmnemo.registry import Parts
from runner.errors import SystemAbsent, SystemFault
from runner.naming import SystemName
from runner.systems.query_runner import PATIENCE, call_within, wrap_errors
from runner.systems.system import (
    Lesson,
    Lessons,
    Link,
    Match,
    Query,
    Setting,
    System,
    SystemContext,
    SystemSpec,
)
from runner.systems.wrappers import WRAPPERS

GROUP = "pgmnemo.systems"
MODES = ("hybrid", "vector", "keyword")  # the modes of pgmnemo
FILES = "files"  # a system's own folder, inside a folder that is removed even after a killed run
SYSTEMS: Parts[SystemSpec] = Parts(
    "system",
    {
        "pgmnemo": "runner.systems.pgmnemo:PGMNEMO",
        "sqlite-fts5": "runner.systems.sqlite:SQLITE_FTS5",
        "sqlite-hybrid": "runner.systems.sqlite:SQLITE_HYBRID",
        "chroma": "runner.systems.chroma:CHROMA",
        "bm25s": "runner.systems.bm25s:BM25S",
        "bm25s-hybrid": "runner.systems.bm25s_hybrid:BM25S_HYBRID",
        "gin-hnsw": "runner.systems.pgvector:GIN_HNSW",
        "pgvector": "runner.systems.pgvector:PGVECTOR",
        "pg-textsearch": "runner.systems.pg_textsearch:PG_TEXTSEARCH",
        "pg-textsearch-bm25": "runner.systems.pg_textsearch:PG_TEXTSEARCH_BM25",
        "langgraph": "runner.systems.langgraph:LANGGRAPH",
        "mem0": "runner.systems.peers:MEM0",
        "mempalace": "runner.systems.peers:MEMPALACE",
        "upstream-pgmnemo": "runner.systems.upstream_pgmnemo:UPSTREAM_PGMNEMO",
        "convex": "runner.systems.strategy:CONVEX_KIND",
        "rrf": "runner.systems.strategy:RRF_KIND",
        "http": "runner.systems.http:HTTP",
    },
    GROUP,
)


def spec_of(name: str) -> SystemSpec:
    """Return the specification of a system by name.

    Raises UsageError for an unknown system, and for an unsupported version, setting or wrapper.
    """
    parts = SystemName.of(name)
    kind = SYSTEMS[parts.system]
    if not isinstance(kind, SystemSpec):
        raise UsageError(f"the system {parts.system} is no Kind of runner.systems, but {type(kind).__name__}")
    if parts.version and not kind.versions:
        raise UsageError(f"the system {parts.system} takes no version: {name!r}")
    if kind.settings is not None:
        _check_settings(parts, kind.settings)
    for wrapper in parts.wrappers:
        if lacking := WRAPPERS[wrapper].refuses(kind):
            raise UsageError(f"the system {parts.system} {lacking}; leave +{wrapper} out of {name!r}")
    if kind.base is not None:
        spec_of(kind.base(dict(parts.settings)))
    return kind


def base_of(name: str) -> SystemName:
    """Return the name of the system that is searched: the system itself, or the base of a strategy."""
    kind, parts = spec_of(name), SystemName.of(name)
    return parts.bare if kind.base is None else base_of(kind.base(dict(parts.settings)))


def _check_settings(name: SystemName, known: Mapping[str, Setting]) -> None:
    for setting, value in name.settings:
        if setting not in known:
            listed = f"choose one of: {', '.join(known)}" if known else "it has none: leave it out"
            raise UsageError(f"the system {name.system} has no setting {setting!r}; {listed}")
        if wrong := known[setting].wrong(value):
            raise UsageError(f"the setting {setting} of {name.system} is {value!r}, but {wrong}")


def missing_parts(spec: SystemSpec, environ: Mapping[str, str] = os.environ) -> str:
    """Return a sentence on what a system lacks here, with the remedy; empty if it lacks nothing.

    The result is empty if it is complete.
    """
    lacking = [package for package in spec.packages if not _installed(package)]
    if not lacking:
        return spec.missing(environ) if spec.missing else ""
    remedy = f"; {spec.remedy}" if spec.remedy else ""
    return f"not installed: {' and '.join(lacking)}{remedy}"


@contextmanager
def open_system(name: str, context: SystemContext) -> Iterator[System]:
    """Open the system `name` in `context` for the block, in a folder of its own.

    Version and settings of the name take precedence over the context's. Raises SystemAbsent if a required
    package is missing or broken, and what the system's `open` raises. The folder is removed, even after a
    killed run.
    """
    kind, parts = spec_of(name), SystemName.of(name)
    settings = {**context.settings, **dict(parts.settings)}
    if lacking := missing_parts(kind, context.environ):
        raise SystemAbsent(f"{name} is {lacking}")
    with leased_folder(context.folder) as held, _whole(name, kind):
        own = held / FILES
        own.mkdir()
        with wrap_errors(name):
            system = kind.open(
                replace(context, folder=own, version=parts.version or context.version, settings=settings)
            )
        try:
            yield wrap_system(parts, system)
        except BaseException:  # keep this error, and ignore errors of closing
            call_within(PATIENCE, system.close)
            raise
        with wrap_errors(name):
            system.close()


def wrap_system(name: SystemName, system: System) -> System:
    """Return the system with the wrappers of its name applied, the first one innermost."""
    done = name.bare
    for wrapper in name.wrappers:
        done = replace(done, wrappers=(*done.wrappers, wrapper))
        system = WRAPPERS[wrapper].wrap(str(done), system)
    return system


@contextmanager
def _whole(name: str, spec: SystemSpec) -> Iterator[None]:
    """Turn an import error, or a missing attribute of a module, into a SystemAbsent with a remedy."""
    try:
        yield
    except Exception as error:
        cause = error.__cause__ if isinstance(error, SystemFault) else error
        lacks = isinstance(cause, AttributeError) and isinstance(cause.obj, ModuleType)
        if not (spec.packages and (lacks or isinstance(cause, ImportError))):
            raise
        packages = " ".join(spec.packages)
        reinstall = f"pip install -c constraints.txt --force-reinstall --no-deps {packages}"
        told = str(error) if cause is not error else f"{name} failed: {type(error).__name__}: {error}"
        raise SystemAbsent(f"{told}; reinstall what it needs: {reinstall}") from cause


def _installed(package: str) -> bool:
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


__all__ = [
    "GROUP",
    "MODES",
    "SYSTEMS",
    "WRAPPERS",
    "Lesson",
    "Lessons",
    "Link",
    "Match",
    "Query",
    "Setting",
    "System",
    "SystemContext",
    "SystemSpec",
    "base_of",
    "missing_parts",
    "open_system",
    "spec_of",
]  # fmt: skip

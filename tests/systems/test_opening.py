"""Names, versions and packages of systems; a folder of their own; what they leave, and what goes wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from importlib import metadata
from typing import Any

import psycopg
import pytest

from pgmnemo.errors import UsageError
from pgmnemo.postgres.pgvector_only import NAME
from pgmnemo.progress import QUIET, Progress
from pgmnemo.registry import Parts
from runner import systems
from runner.errors import SystemAbsent, SystemFault
from runner.systems import (
    SYSTEMS,
    Lessons,
    System,
    SystemContext,
    SystemSpec,
    missing_parts,
    open_system,
    spec_of,
)
from runner.systems.conformance import check_system


class Kept(System):
    """Writes into its folder."""

    def __init__(self, place: SystemContext) -> None:
        self.place = place
        assert not list(place.folder.iterdir())
        (place.folder / "deep").mkdir()
        (place.folder / "deep" / "file").write_text("x")

    def load(self, lessons: Lessons, progress: Progress = QUIET) -> Mapping[str, float]:
        return {}

    def ask(self, query: Any, k: int) -> Any:
        return []


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Let a kind be known under a name."""

    def known(name: str, open: Any = Kept, **options: Any) -> None:
        monkeypatch.setitem(SYSTEMS._members, name, SystemSpec("Odd", "an odd one", open, **options))

    return known


def test_another_package_may_add_a_system_and_a_name_that_two_bring_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    entries = [metadata.EntryPoint(name, "nowhere:KIND", systems.GROUP) for name in ("foreign", "chroma")]
    monkeypatch.setattr("pgmnemo.registry.entry_points", lambda group: entries)
    parts: Parts[SystemSpec] = Parts("system", {"chroma": "runner.systems.chroma:CHROMA"}, systems.GROUP)
    assert list(parts) == ["chroma", "foreign"]
    words = (
        "the package nowhere brings a system named chroma, which is a built-in name; "
        "rename it there, or remove the package"
    )
    with pytest.raises(UsageError, match=f"^{words}$"):
        parts["chroma"]
    monkeypatch.setitem(SYSTEMS._members, "foreign", "runner.systems:GROUP")
    with pytest.raises(UsageError, match=r"the system foreign is no Kind of runner\.systems, but str"):
        spec_of("foreign")


def test_what_is_not_installed_is_named_with_the_way_to_install_it(
    register: Any, place: SystemContext
) -> None:
    register("odd", packages=("numpy", "no-such-package", "nor-this"), remedy="pip install odd")
    sentence = "not installed: no-such-package and nor-this; pip install odd"
    assert missing_parts(spec_of("odd")) == sentence
    with pytest.raises(SystemFault, match=f"^odd is {sentence}$"), open_system("odd", place):
        raise AssertionError("it cannot be opened")
    assert missing_parts(spec_of("pgmnemo")) == ""


def test_its_folder_is_its_own_and_goes_with_it(register: Any, place: SystemContext) -> None:
    register("odd")
    with open_system("odd", place) as one, open_system("odd", place) as other:
        folders = [system.place.folder for system in (one, other)]  # type: ignore[attr-defined]
        assert folders[0] != folders[1]
        assert all(place.folder in folder.parents for folder in folders)
    assert not any(folder.exists() for folder in folders)


def test_an_opening_that_fails_is_one_sentence_and_leaves_nothing(
    register: Any, place: SystemContext
) -> None:
    def fails(place: SystemContext) -> System:
        Kept(place)
        raise ImportError("libodd.so: cannot open\nshared object file")

    register("odd", fails)
    words = r"^odd failed: ImportError: libodd\.so: cannot open$"
    with pytest.raises(SystemFault, match=words), open_system("odd", place):
        raise AssertionError("it cannot be opened")


def test_a_broken_package_says_how_to_reinstall_it(
    register: Any, place: SystemContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(place: SystemContext) -> System:
        raise ImportError("broken")

    remedy = "reinstall what it needs: pip install -c constraints.txt --force-reinstall --no-deps numpy"
    register("odd", broken, packages=("numpy",))
    with (
        pytest.raises(SystemAbsent, match=f"^odd failed: ImportError: broken; {remedy}$"),
        open_system("odd", place),
    ):
        pass
    monkeypatch.setattr(Kept, "facts", lambda self: {"version": pytest.nothing})  # type: ignore[attr-defined]
    register("odd", packages=("numpy",))
    with pytest.raises(SystemAbsent, match=f"has no attribute 'nothing'; {remedy}$"):
        list(check_system("odd", place))


class Closing(Kept):
    """Its end goes wrong as told."""

    how: Any = None
    closed = 0

    def close(self) -> None:
        type(self).closed += 1
        self.how()


def test_a_close_that_fails_is_told_unless_something_else_went_wrong_before(
    register: Any, place: SystemContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Closing, "how", lambda self: 1 / 0)
    monkeypatch.setattr(Closing, "closed", 0)
    register("odd", Closing)
    with pytest.raises(SystemFault, match=r"^odd failed: ZeroDivisionError"), open_system("odd", place):
        pass
    with pytest.raises(LookupError, match="before"), open_system("odd", place):
        raise LookupError("before")
    with pytest.raises(KeyboardInterrupt), open_system("odd", place):
        raise KeyboardInterrupt
    assert Closing.closed == 3


def test_a_close_that_hangs_holds_up_no_error(
    register: Any, place: SystemContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(systems, "PATIENCE", 0.1)
    monkeypatch.setattr(Closing, "how", lambda self: time.sleep(20))
    register("odd", Closing)
    began = time.perf_counter()
    with pytest.raises(LookupError), open_system("odd", place):
        raise LookupError
    assert time.perf_counter() - began < 5


LEFT = """
SELECT nspname FROM pg_namespace WHERE nspname LIKE 'memory%'
UNION ALL SELECT relname FROM pg_class WHERE relname LIKE 'memory%'
"""


@pytest.mark.parametrize("name", ["gin-hnsw", "pgvector", "langgraph"])
def test_nothing_of_it_stays(name: str, place: SystemContext, server: str, tiny: Any) -> None:
    if sentence := missing_parts(spec_of(name)):
        pytest.skip(sentence)
    with open_system(name, replace(place, dsn=server)) as system:
        system.load(tiny)
        with psycopg.connect(server, dbname=NAME) as within:
            assert within.execute(LEFT).fetchall()
    with psycopg.connect(server, dbname=NAME) as afterwards:
        assert afterwards.execute(LEFT).fetchall() == []

"""Parts by name: from a table, from places loaded when asked for, from other packages, from files."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from pgmnemo import registry
from pgmnemo.errors import UsageError
from pgmnemo.registry import Parts, Registry
from runner.protocol.datasets import SUITES
from runner.protocol.templates import TEMPLATES

PLACES = {"path": "os:path", "join": "os.path:join", "lost": "no_such_module_here:THING"}


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UsageError, match="there is no colour named 'green'; choose one of: red, blue"):
        Registry("colour", {"red": 1, "blue": 2})["green"]
    with pytest.raises(UsageError, match="there is no tool named 'saw'; choose one of: path, join, lost"):
        Parts("tool", PLACES)["saw"]


def test_a_part_is_loaded_when_it_is_first_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def resolve(place: str) -> object:
        asked.append(place)
        return object()

    monkeypatch.setattr(registry, "resolve_name", resolve)
    tools: Parts[object] = Parts("tool", PLACES)
    assert (list(tools), len(tools), "lost" in tools, asked) == (["path", "join", "lost"], 3, True, [])
    assert tools["join"] is tools["join"]
    assert asked == ["os.path:join"]


def test_a_place_leads_to_what_stands_there() -> None:
    import os

    tools: Parts[Any] = Parts("tool", PLACES)
    assert tools["join"] is os.path.join
    with pytest.raises(ModuleNotFoundError, match="no_such_module_here"):
        tools["lost"]


@pytest.fixture
def entries(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Let other packages name parts by entry points: those of one group alone."""

    def named(group: str, **places: str) -> None:
        found = [EntryPoint(name, place, group) for name, place in places.items()]
        monkeypatch.setattr(registry, "entry_points", lambda group: [e for e in found if e.group == group])

    return named


def test_other_packages_add_parts_behind_our_own(entries: Callable[..., None]) -> None:
    import os

    entries("pgmnemo.tools", split="os.path:split")
    tools: Parts[Any] = Parts("tool", PLACES, "pgmnemo.tools")
    assert list(tools) == ["path", "join", "lost", "split"]
    assert tools["split"] is os.path.split


def test_no_other_package_takes_a_name_of_ours(entries: Callable[..., None]) -> None:
    entries("pgmnemo.tools", join="os.path:split")
    tools: Parts[Any] = Parts("tool", PLACES, "pgmnemo.tools")
    assert list(tools) == list(PLACES)
    with pytest.raises(UsageError, match=r"brings a tool named join, which is a built-in name; rename it"):
        tools["join"]


def test_a_package_that_cannot_be_loaded_is_named(entries: Callable[..., None]) -> None:
    entries("pgmnemo.tools", broken="no_such_module_here:THING")
    tools: Parts[Any] = Parts("tool", PLACES, "pgmnemo.tools")
    with pytest.raises(UsageError, match=r"the tool broken cannot be loaded from no_such_module_here:THING"):
        tools["broken"]


@pytest.mark.parametrize("table", [SUITES, TEMPLATES], ids=lambda table: table.kind)
def test_every_place_of_our_own_tables_leads_somewhere(table: Parts[Any]) -> None:
    assert all(table.values())
    assert all(not isinstance(member, str) for member in table.values())


def test_listing_names_loads_no_part() -> None:
    program = (
        "import json, sys\n"
        "from runner.protocol.datasets import SUITES\n"
        "from runner.protocol.templates import TEMPLATES\n"
        "list(SUITES), list(TEMPLATES)\n"
        "print(json.dumps(sorted(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=Path(registry.__file__).parents[1], capture_output=True,
        check=True,
    )  # fmt: skip
    loaded = set(json.loads(done.stdout))
    assert not loaded & {"runner.protocol.datasets.locomo", "runner.protocol.datasets.sample", "runner.bench"}

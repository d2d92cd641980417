"""No field of run.json goes unlooked at without being named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runner.protocol.editions import current
from runner.runs import schemas
from runner.verification import CHECKS
from tests.verify.fields import CORPUS, FIELDS, STATED, holder, stated

SCHEMA = json.loads((Path(schemas.__file__).parent / "run-5.json").read_bytes())


def walk(node: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Every field that holds no other, with dots between."""
    if "$ref" in node:
        node = SCHEMA["definitions"][node["$ref"].rpartition("/")[2]]
    node = node["items"] if isinstance(node.get("items"), dict) else node
    if "$ref" in node or "properties" not in node:
        yield from walk(node, path) if "$ref" in node else iter([".".join(path)])
        return
    for name, child in node["properties"].items():
        yield from walk(child, (*path, name))


def test_every_field_of_the_schema_is_checked_or_listed_as_stated() -> None:
    assert [field for field in walk(SCHEMA) if holder(field) is None] == []


def test_every_line_is_of_a_field_and_names_a_check() -> None:
    fields = list(walk(SCHEMA))
    for name, held in FIELDS.items():
        assert any(field == name or field.startswith(f"{name}.") for field in fields), name
        assert held == STATED or held.removeprefix(CORPUS) in CHECKS, (name, held)


def test_the_edition_in_force_lists_every_stated_field() -> None:
    """It may list one more that is held since, for an edition is never changed."""
    assert [name for name in current().stated if name in stated()] == list(stated())


def test_the_document_names_every_stated_field() -> None:
    text = (Path(__file__).parents[2] / "benchmarks" / "VERIFYING.md").read_text(encoding="utf-8")
    assert [name for name in stated() if f"`{name}`" not in text] == []

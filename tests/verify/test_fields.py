"""No field of run.json goes unlooked at without being named: a check holds it, or it is *stated*.

A new field of the schema gets one line in FIELDS. What a check asks only with the corpus at hand says so. The
edition in force names the stated ones too (`stated` of its edition.toml), for a report lists its edition's.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.protocol.editions import current
from runner.runs import schemas
from runner.verification import CHECKS

STATED = "stated"
CORPUS = "with --corpus: "

FIELDS: Mapping[str, str] = {
    "schema": "schema", "name": "record", "verdict": "record", "deviations": "record", "protocol": "record",
    "choice": "record", "choice.baseline_scopes": "raw", "choice.k": "metrics", "choice.limit": "raw",
    "choice.types": "raw", "choice.split": CORPUS + "questions",
    "seed": "record", "python_hash_seed": "record",
    "corpus": "record", "corpus.file": STATED,
    "embedder": "record", "passages": CORPUS + "corpus",
    "arms": "record", "arms.version": STATED, "arms.tuned_on": STATED, "arms.own_embedder": STATED,
    "arms.facts": STATED, "arms.load_seconds": STATED, "arms.disk_bytes": STATED, "arms.memory_bytes": STATED,
    "arms.remarks": STATED, "arms.failed": STATED,
    "scopes": "record", "views": "record", "headline": "record", "components": "record",
    "guc_state": "record", "guc_defaults": "record",
    "database": "record", "database.origin": STATED, "database.database": STATED,
    "database.postgresql": STATED, "database.pgvector": STATED, "database.role": STATED,
    "python": STATED, "packages": STATED, "code.commit": "code", "code.dirty": "record", "machine": STATED,
    "gates": "record", "disclosures": "record", "reranker": STATED, "reranker.name": "record",
    "reranks": "record", "rewriter": STATED, "rewriter.name": "record", "rewrites": "record",
    "resources": "record", "resources.vectors_cached": STATED, "resources.vectors_embedded": STATED,
    "resources.peak_memory_mb": STATED,
    "latency": "record", "started": "record", "finished": "record",
}  # fmt: skip

SCHEMA = json.loads((Path(schemas.__file__).parent / "run-6.json").read_bytes())


def holder(field: str) -> str | None:
    """What holds a field, written with dots: the line of itself or of what it stands in; None: no line."""
    parts = field.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((FIELDS[name] for name in names if name in FIELDS), None)


def stated() -> tuple[str, ...]:
    """The fields that nothing can check, in the order of run.json."""
    return tuple(name for name, held in FIELDS.items() if held == STATED)


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
    text = (Path(__file__).parents[2] / "docs" / "howto" / "verify.md").read_text(encoding="utf-8")
    assert [name for name in stated() if f"`{name}`" not in text] == []

"""The names that run.json had for three options under the schema run/5, until edition 2.2.0.

Delete this file, its three uses and run-5.json with the last committed run of edition 2.0.0.
"""

from __future__ import annotations

from runner.records import Json

FORMER_SCHEMA = "pgmnemo/run/5"
FORMER_NAMES = {"template": "text", "baselines": "systems", "baseline_scopes": "beside"}
NAMES = {former: name for name, former in FORMER_NAMES.items()}


def with_current_names(document: Json) -> Json:
    """Return a run.json with the current keys of `choice`; a document of another schema is returned as is."""
    return _renamed(document, NAMES)


def with_schema_names(document: Json) -> Json:
    """Return a run.json with the keys of `choice` that its schema has."""
    return _renamed(document, FORMER_NAMES)


def option_name(name: str, schema: str) -> str:
    """Return the name of an option in the reports of a schema of run.json."""
    return FORMER_NAMES.get(name, name) if schema == FORMER_SCHEMA else name


def _renamed(document: Json, names: dict[str, str]) -> Json:
    if document["schema"] != FORMER_SCHEMA:
        return document
    return {**document, "choice": {names.get(key, key): value for key, value in document["choice"].items()}}

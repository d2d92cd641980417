"""Forgeries of settings, disclosures and version."""

from __future__ import annotations

from random import Random

import msgspec

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import release_fingerprint, setting_defaults
from runner.records import Json
from tests.verify.forge.draft import Draft, forgery
from tests.verify.forge.record import relabel


@forgery("settings", "a weight in guc_state, and chosen")
def _chosen(draft: Draft, chance: Random) -> None:
    draft.run["guc_state"]["pgmnemo.bm25_weight"] = "3.5"
    draft.run["choice"]["settings"] = {"bm25_weight": "3.5"}


@forgery("disclosures", "missing, of an embedder that demands one")
def _undisclosed(draft: Draft, chance: Random) -> None:
    relabel(draft, "dragon-plus")
    draft.run["disclosures"] = []


@forgery("version", "another release, with its defaults and fingerprint")
def _version(draft: Draft, chance: Random) -> None:
    run = draft.run
    old, new = run["choice"]["version"], "0.2.1" if run["choice"]["version"] == "0.6.1" else "0.6.1"
    _released(run, old, new)


def _released(run: Json, old: str, new: str) -> None:
    text = msgspec.json.encode(run).decode()
    fingerprint = release_fingerprint(SQL_FOLDER, new) or ""
    text = text.replace(run["database"]["fingerprint"], fingerprint).replace(f'"{old}"', f'"{new}"')
    text = text.replace(f"pgmnemo {old}", f"pgmnemo {new}")
    run |= msgspec.json.decode(text)
    defaults = setting_defaults(SQL_FOLDER, new)
    state = {name: run["guc_state"].get(f"pgmnemo.{name}", value) for name, value in defaults.items()}
    run["guc_defaults"] = {f"pgmnemo.{name}": value for name, value in defaults.items()}
    run["guc_state"] = {
        "pgmnemo.tenant_id": run["guc_state"]["pgmnemo.tenant_id"],
        **{f"pgmnemo.{name}": value for name, value in state.items()},
    }

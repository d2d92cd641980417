"""Settings are checked where they are used, and listed with value, default, range and meaning."""

from __future__ import annotations

import re
from typing import Any

from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import setting_defaults


def test_values_at_the_ends_of_their_range_are_taken(tenant: Any) -> None:
    tenant.store("a", "river")
    for name, range_ in tenant.rows("SELECT name, range FROM pgmnemo.list_settings()"):
        bounds = re.search(r"from (\S+) to (\S+)", range_)
        for value in bounds.groups() if bounds else ():
            with tenant.client.transaction():
                tenant.client.execute("SELECT set_config(%s, %s, true)", (name, value))
                assert tenant.ids("river", k=1) == ["a"]


def test_an_empty_value_is_the_default(tenant: Any) -> None:
    tenant.set(recency_weight="")
    listed = tenant.rows(
        "SELECT value, initial FROM pgmnemo.list_settings() WHERE name = 'pgmnemo.recency_weight'"
    )
    assert listed == [("0.10", "0.10")]


def test_unknown_names_that_are_kept_for_role_or_database_are_warnings(tenant: Any, owner: Any) -> None:
    database = owner.execute("SELECT current_database()").fetchone()[0]
    owner.execute(f"ALTER DATABASE {database} SET pgmnemo.recencyweight = 'a=b'")
    try:
        listed = tenant.rows("SELECT name, value, warning FROM pgmnemo.list_settings() WHERE meaning IS NULL")
        assert listed == [("pgmnemo.recencyweight", "a=b", "unknown setting: it does nothing")]
    finally:
        owner.execute(f"ALTER DATABASE {database} RESET pgmnemo.recencyweight")


def test_a_value_under_a_former_name_is_a_warning_with_the_present_one(tenant: Any, owner: Any) -> None:
    database = owner.execute("SELECT current_database()").fetchone()[0]
    owner.execute(f"ALTER DATABASE {database} SET pgmnemo.exact_scan_limit = 100")
    try:
        [(name, value, warning)] = tenant.rows(
            "SELECT name, value, warning FROM pgmnemo.list_settings() WHERE meaning IS NULL"
        )
        assert (name, value) == ("pgmnemo.exact_scan_limit", "100")
        assert "pgmnemo.hnsw_min_vectors" in warning
    finally:
        owner.execute(f"ALTER DATABASE {database} RESET pgmnemo.exact_scan_limit")


def test_the_list_of_defaults_is_what_the_extension_says(tenant: Any) -> None:
    said = tenant.rows("SELECT name, initial FROM pgmnemo.list_settings() WHERE initial IS NOT NULL")
    listed = setting_defaults(SQL_FOLDER, tenant.database.facts.pgmnemo)
    assert {name.removeprefix("pgmnemo."): value for name, value in said} == listed

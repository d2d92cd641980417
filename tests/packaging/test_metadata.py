"""Control file, PGXN metadata and releases say the same, and what each of their readers demands."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pgmnemo.http.openapi import openapi_document
from pgmnemo.paths import release_numbers
from tests.helping import CURRENT

SEMANTIC_VERSION = re.compile(r"\d+\.\d+\.\d+")
# Every key that the PGXN Meta Spec 1.0.0 requires, and the licences of it that are a bare word.
REQUIRED = ("name", "version", "abstract", "maintainer", "license", "provides", "meta-spec")
OPTIONAL = ("description", "generated_by", "tags", "no_index", "prereqs", "release_status", "resources")
LICENCES = ("agpl_3", "apache_2_0", "bsd", "freebsd", "gpl_2", "gpl_3", "lgpl_2_1", "mit", "postgresql")


def control(sql: Path) -> dict[str, str]:
    lines = (sql / "pgmnemo.control").read_text().splitlines()
    pairs = (line.partition("=") for line in lines if line.strip() and not line.startswith("#"))
    return {key.strip(): value.strip().strip("'") for key, _, value in pairs}


@pytest.fixture(scope="module")
def meta(sql: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((sql / "META.json").read_text())
    return loaded


def test_the_control_file_asks_for_no_superuser(sql: Path) -> None:
    values = control(sql)
    assert values["superuser"] == "false"
    assert values["relocatable"] == "false"
    assert values["schema"] == "pgmnemo"
    assert values["requires"] == "vector"


def test_pgxn_metadata_keeps_to_its_specification(meta: dict[str, Any], sql: Path) -> None:
    assert set(REQUIRED) <= set(meta) <= {*REQUIRED, *OPTIONAL}
    assert meta["meta-spec"] == {"version": "1.0.0", "url": "https://pgxn.org/meta/spec.txt"}
    assert len(meta["name"]) >= 2
    assert not set(meta["name"]) & set("/\\ ")
    assert SEMANTIC_VERSION.fullmatch(meta["version"])
    assert meta["license"] in LICENCES
    assert meta["release_status"] in ("stable", "testing", "unstable")
    for extension in meta["provides"].values():
        assert SEMANTIC_VERSION.fullmatch(extension["version"])
        assert (sql / extension["file"]).is_file()
    for phase in meta["prereqs"].values():
        for needs in phase.values():
            assert all(SEMANTIC_VERSION.fullmatch(version) for version in needs.values())
    assert len(set(meta["tags"])) == len(meta["tags"])


def test_every_version_is_that_of_the_control_file(meta: dict[str, Any], root: Path, sql: Path) -> None:
    [own] = meta["provides"].values()
    said = {"control": control(sql)["default_version"], "META": meta["version"], "provides": own["version"]}
    for folder in (".", "runner", "shards"):
        project = tomllib.loads((root / folder / "pyproject.toml").read_text(encoding="utf-8"))
        source = project["tool"]["hatch"]["version"]
        found = re.search(source["pattern"], (root / folder / source["path"]).read_text())
        said[project["project"]["name"]] = found["version"] if found else ""
    for name in ("package.json", "package-lock.json"):
        said[name] = json.loads((root / "clients/typescript" / name).read_text("utf-8"))["version"]
    said["OpenAPI"] = openapi_document()["info"]["version"]
    assert said == dict.fromkeys(said, CURRENT)
    assert own["file"] == f"pgmnemo--{CURRENT}.sql"
    assert (sql / own["file"]).is_file()


def test_no_name_on_pgxn_is_that_of_another_project(meta: dict[str, Any]) -> None:
    """PGXN gives the name of a distribution, and of an extension that it provides, to one owner."""
    assert {meta["name"], *meta["provides"]} == {"pgmnemo_memory"}


def test_no_release_and_no_heading_is_newer_than_the_control_file(root: Path, sql: Path) -> None:
    released = tomllib.loads((sql / "releases.toml").read_text(encoding="utf-8"))
    logged = re.findall(r"^## (\d+\.\d+\.\d+)", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert logged
    assert max(map(release_numbers, [*released, *logged])) <= release_numbers(CURRENT)


def test_nothing_that_sets_up_names_the_current_release(root: Path) -> None:
    """What means it reads the control file; documents may name it, and code that tells versions apart."""
    word = re.compile(rf"(?<![\d.=]){re.escape(CURRENT)}(?![\d.])")  # other packages are pinned by ==
    names = ["Makefile", "sql/Makefile", "sql/Dockerfile", "shards/Dockerfile", "pyproject.toml"]
    names += [
        "runner/pyproject.toml",
        "shards/pyproject.toml",
        "docker-compose.yml",
        "docker-compose.scale.yml",
        "SECURITY.md",
    ]
    files = [*(root / name for name in names), *(root / ".github").rglob("*.yml")]
    assert [path for path in files if word.search(path.read_text(encoding="utf-8"))] == []

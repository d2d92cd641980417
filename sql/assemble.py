#!/usr/bin/env python3
"""Writes the scripts of the version in pgmnemo.control from src/ and upgrade/; needs Python alone.

    assemble.py write    write them, unless the version is released (releases.toml)
    assemble.py check    say which of them is not what src/ makes; exit status 1 if one is not

src/LAYERS lists the folders of src/ in the order of the script; within one, files go by name. `@version@`
stands for the version. What is written: the full script, the scripts of upgrade/*--VERSION.sql, META.json
and managed/, these scripts as statements for servers without access to files.

In an outline under upgrade/ a line may name parts of src/:
    @file LAYER/NAME    the file as it is
    @changed            every function that the former script has otherwise or not, as CREATE OR REPLACE
    @comments           every COMMENT statement that the former script has otherwise or not, but on functions
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SQL = Path(__file__).resolve().parent
SRC = SQL / "src"
NO_PSQL = '\\echo Use "{}" to load this file. \\quit\n'
VECTOR = "@extschema:vector@"  # which pg_tle does not know
BODY = "$pgmnemo$"
MANAGED = f"""\
-- pgmnemo {{version}} for servers without access to files, by pg_tle (https://github.com/aws/pg_tle).
-- Run this as a role that has pgtle_admin, and then, as the ordinary role that shall own the extension:
--   CREATE SCHEMA pgmnemo;
--   CREATE EXTENSION pgmnemo SCHEMA pgmnemo;
-- pgvector is expected in the schema {{schema}}; for another: python3 sql/assemble.py write SCHEMA.
SELECT pgtle.install_extension('pgmnemo', '{{version}}', '{{comment}}', {BODY}
{{script}}{BODY}, '{{{{vector}}}}');
"""
MANAGED_UPDATE = f"""\
-- pgmnemo {{former}} to {{version}} for servers without access to files, by pg_tle (https://github.com/aws/pg_tle).
-- Run this as a role that has pgtle_admin, and then, as the role that owns the extension:
--   ALTER EXTENSION pgmnemo UPDATE TO '{{version}}';
-- pgvector is expected in the schema {{schema}}; for another: python3 sql/assemble.py write SCHEMA.
SELECT pgtle.install_update_path('pgmnemo', '{{former}}', '{{version}}', {BODY}
{{script}}{BODY});
SELECT pgtle.set_default_version('pgmnemo', '{{version}}');
"""


def main(arguments: list[str]) -> int:
    if arguments[:1] not in (["write"], ["check"]) or len(arguments) > 2:
        print(__doc__, file=sys.stderr)
        return 2
    release = control("default_version")
    made = dict(scripts(release, *arguments[1:]))
    wrong = [path for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text]
    if arguments[0] == "check":
        for path in wrong:
            print(f"{path} is not what src/ and upgrade/ make: run make -C sql script", file=sys.stderr)
        return int(bool(wrong))
    frozen = SQL / "releases.toml"
    if release in tomllib.loads(frozen.read_text("utf-8")):
        print(f"{release} is released and frozen: raise default_version in pgmnemo.control", file=sys.stderr)
        return 1
    for path in wrong:
        path.parent.mkdir(exist_ok=True)
        path.write_text(made[path], "utf-8")
        print(path.relative_to(SQL))
    return 0


def scripts(release: str, schema: str = "public") -> Iterator[tuple[Path, str]]:
    """Each file that is made, with its text."""
    full = "".join(source(path) for path in files())
    yield SQL / f"pgmnemo--{release}.sql", NO_PSQL.format("CREATE EXTENSION pgmnemo") + full
    for outline in sorted((SQL / "upgrade").glob(f"*--{release}.sql")):
        former, script = outline.name.partition("--")[0], "".join(upgrade(outline))
        yield SQL / f"pgmnemo--{outline.name}", NO_PSQL.format("ALTER EXTENSION pgmnemo UPDATE") + script
        if (SQL / "managed" / f"pgmnemo--{former}.sql").exists():
            update = script.replace(VECTOR, schema)
            yield (
                SQL / "managed" / f"pgmnemo--{outline.name}",
                MANAGED_UPDATE.format(former=former, version=release, schema=schema, script=update),
            )
    managed = MANAGED.format(
        version=release, schema=schema, comment=control("comment"), script=full.replace(VECTOR, schema)
    )
    yield SQL / "managed" / f"pgmnemo--{release}.sql", managed
    yield SQL / "META.json", (SQL / "META.json.in").read_text("utf-8").replace("@version@", release)


@cache
def control(name: str) -> str:
    """A value of pgmnemo.control."""
    found = re.search(rf"^{name} = '(.*)'$", (SQL / "pgmnemo.control").read_text("utf-8"), re.MULTILINE)
    assert found is not None, f"pgmnemo.control names no {name}"
    return found[1]


def files() -> Iterator[Path]:
    """The files of src/ in the order of the script."""
    for line in (SRC / "LAYERS").read_text("utf-8").splitlines():
        yield from sorted((SRC / line.split()[0]).glob("*.sql"))


@cache
def source(path: Path) -> str:
    return path.read_text("utf-8").replace("@version@", control("default_version"))


def upgrade(outline: Path) -> Iterator[str]:
    """The upgrade script of an outline, line by line."""
    former = (SQL / f"pgmnemo--{outline.name.split('--')[0]}.sql").read_text("utf-8")
    for line in outline.read_text("utf-8").splitlines(keepends=True):
        order = line.split()
        if order[:1] == ["@file"]:
            yield source(SRC / order[1])
        elif order == ["@changed"]:
            yield from changed(former)
        elif order == ["@comments"]:
            yield from (text for text in statements("COMMENT ON (?!FUNCTION|VIEW)") if text not in former)
        elif line.startswith("@"):
            raise SystemExit(f"{outline}: what is {line.strip()}?")
        else:
            yield line


def changed(former: str) -> Iterator[str]:
    """Functions with what belongs to them, where the former script does not have just that."""
    for path in files():
        text = source(path)
        if re.search(r"^CREATE FUNCTION ", text, re.MULTILINE) and text not in former:
            yield re.sub(r"^CREATE (FUNCTION|TRIGGER) ", r"CREATE OR REPLACE \1 ", text, flags=re.MULTILINE)


def statements(beginning: str) -> Iterator[str]:
    """Single statements of src/ that begin so."""
    for path in files():
        yield from re.findall(rf"^{beginning}.*?;\n", source(path), re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

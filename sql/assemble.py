#!/usr/bin/env python3
"""Writes the scripts of the version in pgmnemo.control from src/ and upgrade/; needs Python and a checkout.

    assemble.py write               write those that are missing or old; the sources of a released version
                                    must make the scripts that releases.toml lists
    assemble.py managed [SCHEMA]    write managed/: these scripts as statements for servers without access to
                                    files, for a pgvector in SCHEMA (public)

src/LAYERS lists the folders of src/ in the order of the script; within one, files go by name. `@version@`
stands for the version. What is written: the full script, META.json, the scripts of upgrade/*--VERSION.sql,
and the former full scripts, which lie packed in upgrade/. An installation of the checkout, the Makefile, the
Dockerfile and the tests call this; git ignores the scripts.

In an outline under upgrade/ a line may name parts of src/:
    @file LAYER/NAME    the file as it is
    @replace LAYER/NAME the file with CREATE OR REPLACE
    @changed            every function that the former script has otherwise or not, as CREATE OR REPLACE
    @comments           every COMMENT statement that the former script has otherwise or not, but on functions
"""

from __future__ import annotations

import lzma
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

SQL = Path(__file__).resolve().parent
SRC = SQL / "src"
NO_PSQL = '\\echo Use "{}" to load this file. \\quit\n'


def main(arguments: list[str]) -> int:
    release = control("default_version")
    if arguments[:1] == ["managed"] and len(arguments) <= 2:
        return write(dict(managed(release, *arguments[1:])))
    if arguments != ["write"]:
        print(__doc__, file=sys.stderr)
        return 2
    made = dict(scripts(release))
    released = tomllib.loads((SQL / "releases.toml").read_text("utf-8")).get(release)
    found = digests(made)
    if released is not None and found != {key: released.get(key) for key in found}:
        print(
            f"{release} is released, and src/ or upgrade/ make other scripts than releases.toml lists: raise "
            "default_version in pgmnemo.control",
            file=sys.stderr,
        )
        return 1
    old = [path for path, text in made.items() if not path.exists() or path.read_text("utf-8") != text]
    return write({path: made[path] for path in old})


def digests(made: dict[Path, str]) -> dict[str, object]:
    """Return the sha256 of the scripts of the current release, as releases.toml lists them."""
    release = control("default_version")
    former = {path.name.split("--")[1]: path for path in made if path.match(f"*--*--{release}.sql")}
    return {
        "install_sha256": digest(made[SQL / f"pgmnemo--{release}.sql"]),
        "upgrade_sha256": {version: digest(made[path]) for version, path in former.items()},
    }


def digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def write(made: dict[Path, str]) -> int:
    for path, text in made.items():
        path.parent.mkdir(exist_ok=True)
        new = path.with_name(f".{path.name}.{os.getpid()}")  # whoever reads meanwhile reads all of one
        new.write_text(text, "utf-8")
        new.replace(path)
        print(path.relative_to(SQL))
    return 0


def scripts(release: str) -> Iterator[tuple[Path, str]]:
    """Each file that is made of src/ and upgrade/, with its text."""
    full = "".join(source(path) for path in files())
    yield SQL / f"pgmnemo--{release}.sql", NO_PSQL.format("CREATE EXTENSION pgmnemo") + full
    for outline in sorted((SQL / "upgrade").glob(f"*--{release}.sql")):
        name = f"pgmnemo--{outline.name.partition('--')[0]}.sql"
        former = lzma.decompress((SQL / "upgrade" / f"{name}.xz").read_bytes()).decode("utf-8")
        yield SQL / name, former
        script = "".join(upgrade(outline, former))
        yield SQL / f"pgmnemo--{outline.name}", NO_PSQL.format("ALTER EXTENSION pgmnemo UPDATE") + script
    yield SQL / "META.json", (SQL / "META.json.in").read_text("utf-8").replace("@version@", release)


def managed(release: str, schema: str = "public") -> Iterator[tuple[Path, str]]:
    """Yield the full script and the updates to it, each as a statement for pg_tle."""
    made, full = SQL / "managed", SQL / f"pgmnemo--{release}.sql"
    yield (
        made / full.name,
        forms().tle_install_statement(full.read_text("utf-8"), release, schema, control("comment")),
    )
    for path in sorted(SQL.glob(f"pgmnemo--*--{release}.sql")):
        former = path.name.split("--")[1]
        yield made / path.name, forms().tle_update_statement(path.read_text("utf-8"), former, release, schema)


def forms() -> ModuleType:
    """Return the package's module of script forms, read without the package."""
    spec = spec_from_file_location("statements", SQL.parent / "pgmnemo/postgres/install/statements.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def control(name: str) -> str:
    """Return a value of pgmnemo.control."""
    found = re.search(rf"^{name} = '(.*)'$", (SQL / "pgmnemo.control").read_text("utf-8"), re.MULTILINE)
    assert found is not None, f"pgmnemo.control names no {name}"
    return found[1]


def files() -> Iterator[Path]:
    """Yield the files of src/ in the order of the script."""
    for line in (SRC / "LAYERS").read_text("utf-8").splitlines():
        yield from sorted((SRC / line.split()[0]).glob("*.sql"))


@cache
def source(path: Path) -> str:
    return path.read_text("utf-8").replace("@version@", control("default_version"))


def upgrade(outline: Path, former: str) -> Iterator[str]:
    """Yield the upgrade script of an outline, line by line; `former` is the former full script."""
    for line in outline.read_text("utf-8").splitlines(keepends=True):
        order = line.split()
        if order[:1] == ["@file"]:
            yield source(SRC / order[1])
        elif order[:1] == ["@replace"]:
            yield replacing(source(SRC / order[1]))
        elif order == ["@changed"]:
            yield from changed(former)
        elif order == ["@comments"]:
            others = statements("COMMENT ON (?!FUNCTION|PROCEDURE|VIEW)")
            yield from (text for text in others if text not in former)
        elif line.startswith("@"):
            raise SystemExit(f"{outline}: what is {line.strip()}?")
        else:
            yield line


def changed(former: str) -> Iterator[str]:
    """Yield functions and procedures with what belongs to them, unless the former script has the same.

    Comments before and between statements do not count.
    """
    known = bare(former)
    for path in files():
        text = source(path)
        if re.search(r"^CREATE (FUNCTION|PROCEDURE) ", text, re.MULTILINE) and bare(text) not in known:
            yield replacing(text)


def replacing(text: str) -> str:
    """Return statements with CREATE OR REPLACE."""
    begins = r"^CREATE (FUNCTION|PROCEDURE|TRIGGER|VIEW) "
    return re.sub(begins, r"CREATE OR REPLACE \1 ", text, flags=re.MULTILINE)


def bare(script: str) -> str:
    """Return a script without its comment lines outside of function bodies, which are indented."""
    return "".join(line for line in script.splitlines(keepends=True) if not line.startswith("--"))


def statements(beginning: str) -> Iterator[str]:
    """Single statements of src/ that begin so."""
    for path in files():
        yield from re.findall(rf"^{beginning}.*?;\n", source(path), re.MULTILINE | re.DOTALL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Every `pip install` in documents, messages and build files names what pyproject.toml offers."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator

import pytest
from packaging.requirements import InvalidRequirement, Requirement

from tools.code_lines import ROOT, WRITTEN, tracked

INSTALL = re.compile(r"pip install (?P<words>[^\n`\"#]+)")
WORD = re.compile(r"'[^']+'|[^\s',;]+")
VALUED = {"-c", "-r", "--target", "--index-url", "--find-links"}
FOLDERS = {".": "pyproject.toml", "runner": "runner/pyproject.toml", "shards": "shards/pyproject.toml"}
STAND_INS = {"my-package"}  # a reader's own
CLONE = re.compile(
    r"^(?:(\.)pgmnemo(?=\[|$)|\.pgmnemo/)"
)  # where the example of a CI job clones this repository


def metadata(file: str) -> dict[str, list[str]]:
    """Return what a distribution needs: by extra, and by '' without one."""
    project = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["project"]
    return {"": project["dependencies"], **project.get("optional-dependencies", {})}


EXTRAS = {folder: metadata(file) for folder, file in FOLDERS.items()}
NAMES = {
    tomllib.loads((ROOT / file).read_text(encoding="utf-8"))["project"]["name"]: folder
    for folder, file in FOLDERS.items()
}
PINNED = dict(re.findall(r"^([\w.-]+)==(\S+)", (ROOT / "constraints.txt").read_text(), re.MULTILINE))
KNOWN = {Requirement(need).name for one in EXTRAS.values() for needs in one.values() for need in needs}


def lines() -> Iterator[tuple[str, str]]:
    """Yield each file with the words of one `pip install` in it; a word with braces is filled in by code."""
    for path in tracked("*.md", "*.py", "*.toml", "*.yml", "*Dockerfile"):
        name = str(path.relative_to(ROOT))
        if not name.startswith("tests/") and name != "CHANGELOG.md" and not WRITTEN.search(str(path)):
            for found in INSTALL.finditer(path.read_text(encoding="utf-8")):
                yield name, re.split(r" (?:in|or|it|and|with|from) |\)|…", found["words"])[0]


def faults(words: str) -> Iterator[str]:
    """Yield what is wrong with the words behind `pip install`."""
    given = iter(WORD.findall(words))
    for word in (CLONE.sub(r"\1", one.strip("'")) for one in given):
        if word in VALUED:
            next(given, None)
        elif not word.startswith("-") and not set(word) & set("{}$<>%*"):
            folder, _, extras = word.rstrip("].").partition("[") if word != "." else (".", "", "")
            folder = NAMES.get(folder, folder or ".")
            if folder in EXTRAS:
                yield from (
                    f"{word}: no extra {one}" for one in extras.split(",") if one not in EXTRAS[folder]
                )
            elif word not in STAND_INS:
                yield from package_faults(word)


def package_faults(word: str) -> Iterator[str]:
    """Yield what is wrong with a package from the registry: its name, or a version that nothing pins."""
    try:
        need = Requirement(word)
    except InvalidRequirement:
        yield f"{word}: neither a folder of this checkout nor a package"
        return
    if need.name not in KNOWN | PINNED.keys():
        yield f"{word}: in no pyproject.toml and not in constraints.txt"
    for one in need.specifier:
        if one.operator == "==" and PINNED.get(need.name, one.version) != one.version:
            yield f"{word}: constraints.txt has {PINNED[need.name]}"


def test_every_install_line_names_what_there_is() -> None:
    found = list(lines())
    assert len(found) > 30
    assert [(name, fault) for name, words in found for fault in faults(words)] == []


@pytest.mark.parametrize(
    "words", ["'.[locale]'", "-e runner[test,prf]", "pgmnemo-memory[x]", "numpie", "./nowhere"]
)
def test_a_wrong_install_line_is_found(words: str) -> None:
    assert list(faults(words))

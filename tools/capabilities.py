"""Check that every test that CAPABILITIES.md names has run and passed.

`python tools/capabilities.py JUNIT.xml…` reads the files that pytest writes with `--junitxml`; a test may be
in any of them. A skipped test has not passed, and a parametrized test has passed only if all its cases have.
The exit code is 1 if a test has not passed; the message names it and its row.
"""

from __future__ import annotations

import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "CAPABILITIES.md"
ROW = re.compile(r"(\d+)\. (.+?):(.*) \((.*)\)$")  # 1. What: how (proof)
TEST = re.compile(r"`(tests/[^`]+)`")
NOT_YET = "*not yet*"
BAD = {"failure": "failed", "error": "ended in an error", "skipped": "was skipped"}


@dataclass(frozen=True)
class Capability:
    """A row of CAPABILITIES.md."""

    number: int
    what: str
    how: str
    proof: str

    @property
    def tests(self) -> tuple[str, ...]:
        """The pytest node ids in the row, without the parameters of cases."""
        return tuple(TEST.findall(self.proof))

    @property
    def is_here(self) -> bool:
        return NOT_YET not in self.proof


def capabilities(text: str) -> list[Capability]:
    """Return the rows of the table in `text`, in order."""
    found = (ROW.match(line) for line in text.splitlines())
    return [Capability(int(row[1]), row[2].strip(), row[3].strip(), row[4].strip()) for row in found if row]


def outcomes(files: Iterable[Path]) -> dict[str, list[str]]:
    """Return the outcomes of each test by its node id without parameters.

    A list has one entry for each case: "passed", "failed", "ended in an error" or "was skipped". Raises
    ValueError for a file that is not JUnit XML.
    """
    told: dict[str, list[str]] = {}
    for file in files:
        try:
            cases = ET.parse(file).iter("testcase")
        except (OSError, ET.ParseError) as error:
            raise ValueError(f"{file} cannot be read ({error}); name what pytest --junitxml wrote") from error
        for case in cases:
            ending = next((BAD[part.tag] for part in case if part.tag in BAD), "passed")
            told.setdefault(key(case.get("classname", ""), case.get("name", "")), []).append(ending)
    return told


def key(classname: str, name: str) -> str:
    """Return a key for a test of a JUnit file: its name with dots and in one case, as `node_key` makes it."""
    return f"{classname}.{name.partition('[')[0]}"


def node_key(node: str) -> str:
    """Return the key of a node id, such as `tests/x/test_y.py::TestZ::test_w`."""
    file, *parts = node.split("::")
    return ".".join([*file.removesuffix(".py").split("/"), *parts])


def unproven(rows: Iterable[Capability], told: dict[str, list[str]]) -> Iterator[str]:
    """Yield a sentence for every test that a row names and that did not run or did not pass."""
    for row in rows:
        for test in row.tests:
            endings = told.get(node_key(test), [])
            wrong = sorted({ending for ending in endings if ending != "passed"})
            if not endings:
                yield f"row {row.number} ({row.what}): {test} did not run"
            elif wrong:
                yield f"row {row.number} ({row.what}): {test} {' and '.join(wrong)}"


def main(arguments: list[str]) -> int:
    if not arguments:
        print("wrong use: name the JUnit files that pytest --junitxml wrote", file=sys.stderr)
        return 2
    rows = capabilities(DOCUMENT.read_text(encoding="utf-8"))
    try:
        faults = list(unproven(rows, outcomes(map(Path, arguments))))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 3
    for fault in faults:
        print(fault, file=sys.stderr)
    here = sum(row.is_here for row in rows)
    tests = {test for row in rows for test in row.tests}
    print(f"{here} of {len(rows)} rows are here; {len(tests)} tests are named, {len(faults)} times in vain")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

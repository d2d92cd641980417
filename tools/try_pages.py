"""Run the blocks of each page in a virtual environment with only the packages that the page installs.

    .venv/bin/python -m tools.try_pages [PAGE ...]      # all pages: docs/tutorial.md, README.md, ...

The wheels of the checkout are built once. Pages that install the same packages share an environment. uv
creates it with the versions of constraints.txt, except for the extras of OTHER_PINS. The tests that run the
pages (tests/docs/pages.py) provide servers and logins. A table shows the outcome of each page. The exit code
is 1 if a page failed or was skipped; that of Hermes is skipped without the folder .venv-hermes, which
`make integrations` creates.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from xml.etree import ElementTree

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tests.docs.pages import DOCS, HERE, ROOT, TESTS, installs, run_blocks
from tools.environments import uv

FOLDERS = {".": ("pgmnemo_memory", ROOT), "runner": ("pgmnemo_bench", ROOT / "runner")}
"""What a page calls a package of the checkout: the name of its wheel, and where it is built."""
OTHER_PINS = ("google-adk", "crewai")  # extras that pin other versions than constraints.txt


def test_of(page: str) -> str:
    """Return the test, or the file of tests, that runs the blocks of a page."""
    return TESTS.get(page, f"{HERE}[{page.removeprefix('docs/')}]")


def build(folder: Path) -> None:
    """Build the wheels of the checkout into a folder."""
    for _, place in FOLDERS.values():
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
        subprocess.run(command, cwd=place, check=True, capture_output=True)


def wheel(word: str, wheels: Path) -> str:
    """Return a requirement; one that names a folder of the checkout names the built wheel instead."""
    name, bracket, extras = word.partition("[")
    if name not in FOLDERS:
        return word
    [built] = wheels.glob(f"{FOLDERS[name][0]}-*.whl")
    return f"{built}{bracket}{extras}"


def install(environment: Path, words: tuple[str, ...], wheels: Path) -> None:
    """Create a virtual environment with the packages that a page installs."""
    links = os.environ.get("PIP_FIND_LINKS", "").split()
    options = [option for link in links for option in ("--find-links", link)]
    python = environment / "bin" / "python"
    subprocess.run([uv(), "venv", "--quiet", "--python", sys.executable, environment], check=True)
    if not any(extra in word for word in words for extra in OTHER_PINS):
        options += ["-c", str(ROOT / "constraints.txt")]
    command = [uv(), "pip", "install", "--quiet", "--python", python, *options]
    subprocess.run([*command, *(wheel(word, wheels) for word in words)], check=True, cwd=wheels)


def run(pages: list[str], environment: Path, report: Path) -> dict[str, tuple[str, float]]:
    """Run the tests of pages in an environment; return the outcome and the seconds of each page."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "-m", "pytest", "-n", "0", f"--junitxml={report}", "-o", "junit_family=xunit1"]
    done = subprocess.run(
        [*command, *map(test_of, pages)], cwd=ROOT, text=True, capture_output=True,
        env={**environ, "PGMNEMO_READER": str(environment)},
    )  # fmt: skip
    if done.returncode:
        print(done.stdout[-20_000:], done.stderr, file=sys.stderr)
    cases = ElementTree.parse(report).getroot().iter("testcase") if report.exists() else ()
    by_test = defaultdict(list)
    for case in cases:
        file = case.get("classname", "").replace(".", "/") + ".py"
        by_test[file].append(case)
        by_test[f"{file}::{case.get('name')}"].append(case)
    return {page: outcome(by_test[test_of(page)]) for page in pages}


def outcome(cases: list[ElementTree.Element]) -> tuple[str, float]:
    """Return the outcome of a page's tests, `skipped` if all are skipped, and their seconds."""
    tags = [{child.tag for child in case} & {"failure", "error", "skipped"} for case in cases]
    every, any_of = set[str].intersection(*tags) if tags else {"not run"}, set[str]().union(*tags)
    said = next(iter((any_of & {"failure", "error"}) or every), "passed")
    return said, sum(float(case.get("time", 0)) for case in cases)


def chosen(names: list[str]) -> list[str]:
    """Return the named pages, or every page with blocks that run if no page is named."""
    found = [*(str(path.relative_to(ROOT)) for path in DOCS.rglob("*.md")), "README.md", "pgmnemo/README.md"]
    pages = sorted(page for page in found if run_blocks(page))
    if strangers := set(names) - {*pages}:
        sys.exit(f"no page with blocks that run: {', '.join(strangers)}; there are {', '.join(pages)}")
    return names or pages


def main(names: list[str]) -> int:
    """Try the named pages, or all pages."""
    groups = defaultdict(list)
    for page in chosen(names):
        groups[installs(page)].append(page)
    table = Table("page", "installs", "blocks", "s", "outcome")
    began, said = time.perf_counter(), set()
    with tempfile.TemporaryDirectory(prefix="pages-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # as root a server of a folder runs as nobody
        build(folder)
        for number, (words, pages) in enumerate(groups.items()):
            install(environment := folder / f"environment-{number}", words, folder)
            for page, (result, seconds) in run(pages, environment, folder / f"{number}.xml").items():
                row = page, escape(" ".join(words)), str(len(run_blocks(page))), f"{seconds:.1f}", result
                table.add_row(*row)
                said.add(result)
    Console().print(table)
    print(f"{len(table.rows)} pages, {len(groups)} environments, {time.perf_counter() - began:.0f} s")
    return int(said != {"passed"})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

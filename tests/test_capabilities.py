"""CAPABILITIES.md: every row of the field once, with tests that there are, unless it is *not yet* here."""

from __future__ import annotations

import ast
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest

from runner.paths import ROOT

TEXT = (ROOT / "CAPABILITIES.md").read_text(encoding="utf-8")
LAST = 180
TESTED = "1. one: `--one` (`tests/a/test_b.py::test_c`, `tests/a/test_b.py::TestD::test_e`)"


@cache
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("capabilities", ROOT / "tools" / "capabilities.py")
    assert spec.loader is not None
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def names_in(file: Path) -> frozenset[str]:
    """The node ids below a test file, as `test_x` or `TestX::test_y`, by its syntax alone."""
    bodies = [("", ast.parse(file.read_bytes()).body)]
    bodies += [(f"{one.name}::", one.body) for one in bodies[0][1] if isinstance(one, ast.ClassDef)]
    return frozenset(
        f"{head}{one.name}"
        for head, body in bodies
        for one in body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    )


def exists(node: str) -> bool:
    file, _, name = node.partition("::")
    return (ROOT / file).is_file() and name in names_in(ROOT / file)


def faults(text: str, last: int) -> list[str]:
    """What is wrong with the rows of a document."""
    rows = tool().capabilities(text)
    numbers = [row.number for row in rows]
    found = [] if numbers == list(range(1, last + 1)) else [f"rows are {numbers}"]
    found += [f"row {row.number} has no test" for row in rows if row.is_here and not row.tests]
    found += [f"row {row.number} does not say how" for row in rows if row.is_here and not row.how]
    return found + [f"row {row.number}: no {node}" for row in rows for node in row.tests if not exists(node)]


def test_every_row_stands_once_and_has_tests_that_there_are() -> None:
    assert faults(TEXT, LAST) == []


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("1. one: `--one` (none)", "row 1 has no test"),
        ("1. one: (`tests/test_capabilities.py::test_a_row_without_proof_is_found`)",
         "row 1 does not say how"),
        ("1. one: `--one` (`tests/test_capabilities.py::test_nothing`)",
         "row 1: no tests/test_capabilities.py::test_nothing"),
        ("1. one: `--one` (*not yet*: half, `tests/no.py::test_x`)", "row 1: no tests/no.py::test_x"),
        ("2. one: (*not yet*: nothing)", "rows are [2]"),
    ],
)  # fmt: skip
def test_a_row_without_proof_is_found(line: str, fault: str) -> None:
    assert faults(line, 1) == [fault]


def told(*endings: tuple[str, str, str]) -> str:
    """A JUnit file: class name, name and outcome of each case."""
    cases = (
        f'<testcase classname="{where}" name="{name}">{ending}</testcase>' for where, name, ending in endings
    )
    return f"<testsuites><testsuite>{''.join(cases)}</testsuite></testsuites>"


C, E = ("tests.a.test_b", "test_c", ""), ("tests.a.test_b.TestD", "test_e", "")


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([[C], [E]], ""),
        ([[(C[0], "test_c[1]", ""), (C[0], "test_c[2]", ""), E]], ""),
        ([[C]], "tests/a/test_b.py::TestD::test_e did not run"),
        ([[(C[0], "test_c[1]", ""), (C[0], "test_c[2]", "<failure/>"), E]],
         "tests/a/test_b.py::test_c failed"),
        ([[C, E], [(*C[:2], "<skipped/>")]], "tests/a/test_b.py::test_c was skipped"),
    ],
)  # fmt: skip
def test_a_test_that_did_not_run_and_pass_is_named(
    files: list[list[tuple[str, str, str]]], sentence: str, tmp_path: Path
) -> None:
    paths = [tmp_path / f"{number}.xml" for number in range(len(files))]
    for path, cases in zip(paths, files, strict=True):
        path.write_text(told(*cases))
    found = list(tool().unproven(tool().capabilities(TESTED), tool().outcomes(paths)))
    assert found == ([f"row 1 (one): {sentence}"] if sentence else [])


def test_the_tool_ends_with_1_where_a_test_is_missing_and_with_a_sentence_where_a_file_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "part.xml").write_text(told(C))
    assert tool().main([str(tmp_path / "part.xml")]) == 1
    assert (
        "test_rank_2_is_discounted_unlike_in_the_variant_of_longmemeval did not run"
        in capsys.readouterr().err
    )
    assert tool().main([]) == 2
    assert tool().main([str(tmp_path / "none.xml")]) == 3
    assert (
        capsys.readouterr().err.splitlines()[-1].startswith(f"error: {tmp_path / 'none.xml'} cannot be read")
    )

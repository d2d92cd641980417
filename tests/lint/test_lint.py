"""What the linter reads, where it looks, and how it says what it found."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner.cli import main
from runner.errors import UsageError
from runner.lint import Report, lint, lint_text
from runner.lint.artefacts import Shelf
from runner.lint.written.names import find_names
from runner.lint.written.numbers import find_numbers

CITED = "`benchmarks/longmemeval/results/v0.2.1_20261121_bge-m3/`, protocol 1.1.0"


def check(root: Path, text: str) -> Report:
    return lint_text(text, root / "NOTES.md", Shelf(root))


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("recall_any@10", "recall_any@10"),
        (r"recall\_any@10", "recall_any@10"),
        ("Recall@10", "recall_any@10"),
        ("fractional recall@10", "recall_frac@10"),
        ("R@5", "recall_any@5"),
        ("all@20", "recall_all@20"),
        ("recall at k = 10", "recall_any@10"),
        ("recall at ten", "recall_any@10"),
        ("top-5 hit rate", "recall_any@5"),
        ("hit rate@5", "recall_any@5"),
        ("mean reciprocal rank", None),
        ("MRR@50", "MRR@50"),
        ("NDCG@10", "nDCG@10"),
    ],
)
def test_a_metric_is_known_by_many_names(text: str, key: str | None) -> None:
    assert [name.key for name in find_names(text)] == [key]


@pytest.mark.parametrize(
    "text",
    [
        "recall_lessons(k)",
        "the Recall Benchmark Protocol",
        "metrics.ndcg_depth",
        "recall that",
        "precision@5",
    ],
)
def test_what_only_looks_like_a_metric_is_none(text: str) -> None:
    assert find_names(text) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("0.975", [0.975]),
        (".975,", [0.975]),
        ("97.5 %.", [97.5]),
        ("97,5 %", [97.5]),
        ("97 percent", [97.0]),
        ("0.975 [0.956, 0.986]", [0.975]),
        ("481 of 500 questions", [0.962]),
    ],
)
def test_a_value_is_read_as_it_is_printed(text: str, shown: list[float]) -> None:
    assert [number.shown for number in find_numbers(text)] == shown


@pytest.mark.parametrize(
    "text",
    ["v0.2.1", "protocol 1.1.0", "§4.1", "n = 1,982", "k = 10", "k1 = 0.9", "5.4 ms", "2026-11-21", "± 0.015",
     "95 % interval", "95 % CI", "[0.956, 0.986]", "weight of 1.5", "half-width of about 0.019", "2.3 GB"],
)  # fmt: skip
def test_what_is_no_value_is_passed_over(text: str) -> None:
    assert find_numbers(text) == []


@pytest.mark.parametrize(
    ("shown", "agrees"),
    [("0.962", True), ("0.9624", True), ("96.2 %", True), ("96 %", True), ("1.0", True), ("0.963", False),
     ("0.96", True), ("96.3 %", False), ("97 %", False), ("0.9625", False)],
)  # fmt: skip
def test_a_value_is_compared_after_the_rounding_that_it_shows(root: Path, shown: str, agrees: bool) -> None:
    assert check(root, f"{CITED}: recall_any@10 is {shown}.").passed is agrees


FORMS = (
    "recall_any@10 is {}.",
    "{} recall_any@10",
    "| any@10 |\n|---|\n| {} |",
    "- R@10: **{}**",
    "> any@10 = {} (ours)",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shown", ["0.962", "96.2 %", "0.9624", "96.24 %"])
def test_any_digit_that_is_changed_is_found_in_any_form(root: Path, form: str, shown: str) -> None:
    def passes(value: str) -> bool:
        return check(root, f"{CITED}.\n\n{form.format(value)}\n").passed

    changed = [
        shown[:place] + digit + shown[place + 1 :]
        for place, old in enumerate(shown)
        if old.isdigit() and shown[:1] + old != "00"
        for digit in "0123456789"
        if digit != old and not (place == 0 and old == "0")
    ]
    assert len(changed) >= 27
    assert passes(shown)
    assert not [value for value in changed if passes(value)]


def test_a_table_is_in_one_unit(root: Path) -> None:
    table = "| arm | any@10 |\n|---|---|\n| pgmnemo | 96.2 |\n| bm25 | {} |\n"
    assert check(root, f"{CITED}.\n\n{table.format('95.1')}").passed
    assert not check(root, f"{CITED}.\n\n{table.format('0.951')}").passed


def test_a_finding_says_file_line_and_column(root: Path) -> None:
    (finding,) = check(root, f"# Notes\n\n{CITED}:\nrecall_any@10 is 0.5.\n").findings
    assert (finding.line, finding.column, finding.rule) == (4, 18, "differs")
    assert str(finding).startswith(f"{root / 'NOTES.md'}:4:18: differs: recall_any@10 is 0.9624 in v0.2.1_")


def test_a_figure_of_another_scope_is_told_apart(root: Path) -> None:
    path = "benchmarks/locomo/results/v0.2.1_20261121_minilm/"
    text = f"Protocol 1.1.0, {path}, deviation: embedder.\n\nany@10 is 96.8 %"
    (finding,) = check(root, text).findings
    assert finding.message.endswith(
        "the figure is that of arm pgmnemo, scope pool, view all, type all, which is not said"
    )


def test_a_path_is_found_from_the_file_and_in_an_address(root: Path) -> None:
    name = "results/v0.2.1_20261121_bge-m3/"
    beside = root / "benchmarks" / "longmemeval" / "README.md"
    assert lint_text(f"{name}, protocol 1.1.0: any@10 0.962", beside, Shelf(root)).passed
    address = f"https://example.org/blob/main/benchmarks/longmemeval/{name}"
    assert check(root, f"{address}, protocol 1.1.0: any@10 0.962").passed
    assert not check(root, f"{address}, protocol 1.1.0: any@10 0.926").passed


def test_artefacts_that_were_changed_are_no_source(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "benchmarks" / "longmemeval" / "results" / "v0.2.1_20261121_bge-m3"
    folder.mkdir(parents=True)
    for file in (root / folder.relative_to(tmp_path)).iterdir():
        (folder / file.name).write_bytes(file.read_bytes().replace(b"0.9624", b"0.9824"))
    report = check(tmp_path, f"{CITED}: recall_any@10 is 0.982.")
    assert "is not the file that manifest.json lists" in report.findings[0].message


def test_a_used_exemption_is_reported_with_its_reason(root: Path) -> None:
    report = check(root, "any@10 is 0.5 <!-- lint: exempt: a joke -->")
    assert report.passed
    assert [(e.line, e.reason, e.findings) for e in report.exemptions] == [(1, "a joke", 2)]


def test_a_marker_within_code_is_text(root: Path) -> None:
    assert check(root, "```text\n<!-- lint: exempt -->\n```\n`<!-- lint: exempt -->`").passed


def test_a_file_that_cannot_be_read_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        lint([tmp_path / "none.md"])
    (tmp_path / "picture.md").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="no text in UTF-8"):
        lint([tmp_path / "picture.md"])


def test_the_command_exits_with_1_when_there_is_something_to_mend(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.md", tmp_path / "bad.md"
    good.write_text(f"{CITED}: any@10 0.962")
    bad.write_text("any@10 0.962 <!-- lint: exempt: why -->\n\nany@10 0.962")
    assert main(["lint", str(good), "--root", str(root)]) == 0
    assert capsys.readouterr().out == ""
    assert main(["lint", str(good), str(bad), "--root", str(root)]) == 1
    out, err = capsys.readouterr()
    assert [line.split(": ")[1] for line in out.splitlines()] == ["no-artefacts", "no-protocol"]
    assert f"{bad}:1: exempt (2): why" in err


def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "notes.md")
    with pytest.raises(
        UsageError, match=r"notes\.md is a named pipe and no regular file: name a Markdown file"
    ):
        lint([tmp_path / "notes.md"])

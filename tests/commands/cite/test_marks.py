"""Figures in documents that carry a mark: written from the artefacts, and held against them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from runner.cli import main
from runner.commands.cite.document import Document
from runner.commands.cite.marks import check, write
from runner.commands.compare import compare
from runner.protocol.editions import current
from runner.records import Difference, Score, Verdict, View
from runner.report.formats import change, change_interval
from runner.runs.history import append_entry, entry_text
from runner.runs.manifest import MANIFEST
from runner.runs.results import Results

NAME = "v0.2.1_20261121_minilm"
FOLDER = f"benchmarks/locomo/results/{NAME}/"
RUN, TUNED = f"locomo/{NAME}", f"longmemeval/{NAME}"
FIGURE = f"{RUN} pgmnemo conversation"
SOURCE = f"\nFrom <!-- cite: source {RUN} {TUNED} --><!-- /cite -->.\n"
SCORES = [
    Score("pgmnemo", "conversation", "all", "all", "recall_any@10", 0.97477, 0.95618, 0.98566, 1982),
    Score("pgmnemo", "conversation", "all", "all", "MRR@50", 0.8251, 0.798, 0.8504, 1982),
    Score("pgmnemo", "pool", "all", "all", "recall_any@10", 1.0, 0.948, 1.0, 1982, 7),
    Score("pgmnemo", "conversation", "all", "multi-hop", "recall_any@10", 0.9333, 0.863, 0.968, 282),
    Score("pgmnemo", "conversation", "categories 1-4", "all", "recall_any@10", 0.971, 0.948, 0.984, 1536),
    Score("bm25", "conversation", "all", "all", "recall_any@10", 0.973, 0.954, 0.984, 1982),
    Score("ceiling", "conversation", "all", "all", "recall_any@10", 1.0, 1.0, 1.0, 1982),
]
TABLE = """

| corpus                     | system              |  recall_any@10, % |
|----------------------------|---------------------|------------------:|
| LoCoMo, session, n = 1,982 | pgmnemo (in-sample) | 97.5 [95.6, 98.6] |
| LoCoMo, session, n = 1,982 | bm25 (in-sample)    | 97.3 [95.4, 98.4] |

"""
AHEAD = Difference("pgmnemo", "bm25", "conversation", "all", "recall_any@10", -0.0018, -0.005, 0.001, 1982)


@pytest.fixture(scope="session")
def root(
    record: Callable[..., Any], shelve: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A repository with runs of every kind that a mark can name, logged in its HISTORY.md."""
    place = tmp_path_factory.mktemp("repository")
    first, *others = record().arms

    def put(run: Any, *later: str, logged: bool = True, raw: Iterable[Any] = ()) -> Path:
        folder = shelve(place / run.path, run, SCORES, [AHEAD], raw)
        digest = Results(folder).digest(MANIFEST)
        entry = (run.started.date(), run.choice.suite, run.path, run.verdict, digest)
        if logged:
            append_entry(place / "HISTORY.md", entry_text(*entry, run.deviations))
        for deviation in later:
            append_entry(place / "HISTORY.md", entry_text(*entry, [deviation]))
        return folder

    def other(name: str, **changes: Any) -> Any:
        return record(name=name, choice={"suite": "beam"}, **changes)

    locomo = put(record())
    shutil.copytree(locomo, locomo.parents[1] / "local" / NAME)
    arms = (replace(first, tuned_on="half of it"), *others)
    put(record(verdict=Verdict.VERIFIED, deviations=(), choice={"suite": "longmemeval"}, arms=arms))
    put(other("withdrawn"), "withdrawn: the gold was read wrongly")
    put(other("sample", corpus={"citable": False}))
    put(other("unlogged"), logged=False)
    (put(other("blocked")) / "BLOCKED.md").write_text("# Blocked\n")
    metrics = put(other("changed")) / "metrics.json"
    metrics.write_text(metrics.read_text().replace("0.97477", "0.98477"))
    for name, moved in (("before", 0), ("after", 2)):
        put(other(name, views=(View("all"), View("categories 1-4", ("multi-hop",)))), raw=rankings(moved))
    return place


def rankings(moved: int) -> Iterator[dict[str, Any]]:
    """Forty questions, ten projects, two types; the gold of every `moved`-th is found four ranks earlier."""
    for number in range(40):
        rank = number % 13 - (4 if moved and number % moved == 0 else 0)
        ids = [f"{number}/{place}" for place in range(50)]
        ids.insert(max(rank, 0), f"{number}/gold")
        yield {
            "question": f"q{number}", "type": "multi-hop" if number % 3 else "temporal", "arm": "pgmnemo",
            "scope": "conversation", "project": f"p{number % 10}", "size": 60, "gold": [f"{number}/gold"],
            "ranking": ids[:50],
        }  # fmt: skip


@pytest.fixture
def document(tmp_path: Path, root: Path) -> Callable[[str], Path]:
    def put(text: str) -> Path:
        file = tmp_path / "notes.md"
        file.write_bytes(text.encode())
        return file

    return put


def mark(words: str, body: str = "") -> str:
    return f"<!-- cite: {words} -->{body}<!-- /cite -->"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (f"{FIGURE} recall_any@10", "97.5 % [95.6, 98.6] (deviation)"),
        (f"{FOLDER} pgmnemo conversation MRR@50", "0.825 [0.798, 0.850] (deviation)"),
        (f"{FIGURE} recall_any@10 multi-hop", "93.3 % [86.3, 96.8] (deviation)"),
        (f"{FIGURE} recall_any@10 categories 1-4", "97.1 % [94.8, 98.4] (deviation)"),
        (f"{FIGURE} n multi-hop", "282"),
        (f"{RUN} pgmnemo pool recall_any@10", "100.0 %† [94.8, 100.0] (deviation)"),
        (f"{RUN} ceiling conversation recall_any@10", "100.0 % (deviation)"),
        (f"{TUNED} pgmnemo conversation recall_any@10", "97.5 % [95.6, 98.6] (in-sample)"),
        (f"{TUNED} bm25 conversation recall_any@10", "97.3 % [95.4, 98.4] (in-sample)"),  # its leg
        (f"against {RUN} pgmnemo bm25 conversation recall_any@10", "−0.2 [−0.5, +0.1] (deviation)"),  # noqa: RUF001
        (f"count {RUN} lessons", "272"),
        (f"table pgmnemo,bm25 recall_any@10 {TUNED}", TABLE),
        (f"source {RUN}", f"`{FOLDER}` (protocol {current().version}, deviation: embedder: minilm)"),
    ],
)  # fmt: skip
def test_a_mark_is_filled_in_and_then_holds(words: str, text: str, document: Any, root: Path) -> None:
    before, after = ("recall ", " and more") if "\n" not in text else ("", "")
    file = document(f"{before}{mark(words)}{after}\n{SOURCE}")
    assert write([file], root=root).passed
    assert file.read_text().startswith(f"{before}{mark(words, text)}{after}\n")
    assert check([file], root=root).findings == ()


def test_what_filling_in_would_spoil_is_a_fault_and_nothing_is_written(document: Any, root: Path) -> None:
    table = mark(f"table pgmnemo recall_any@10 {RUN}")
    text = f"{table}\n\nWords.\n\n<!-- cite: source {RUN} -->\n<!-- /cite -->\n"
    file = document(text)
    [finding] = write([file], root=root).findings
    assert str(finding) == (
        f"{file}:5: a mark at the start of a line ends its paragraph: put a word before it"
    )
    assert file.read_text() == text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a " + mark("v9 pgmnemo pool MRR@50"), 1, "there is no run v9"),
        ("a " + mark(f"{NAME} pgmnemo pool MRR@50"), 1, f"of several runs: write one of {RUN}, {TUNED}"),
        ("a " + mark(f"{RUN} chroma pool MRR@50"), 1, "no arm 'chroma': it has pgmnemo, bm25, ceiling"),
        ("a " + mark(f"{RUN} pgmnemo haystack MRR@50"), 1, "no scope 'haystack': it has conversation, pool"),
        ("a " + mark(f"{FIGURE} recall@10"), 1, "has no metric 'recall@10': it has recall_any@1, "),
        ("a " + mark(f"{FIGURE} MRR@50 spoken"), 1, "'spoken': it has multi-hop, all, categories 1-4"),
        ("a " + mark(f"against {RUN} bm25 pgmnemo conversation recall_any@10"), 1, "it has pgmnemo bm25"),
        ("a " + mark(f"count {RUN} cats"), 1, "has no count 'cats': it has projects, "),
        ("<p>\n" + mark("theirs 98.4") + "\n</p>", 2, "a mark is <!-- cite: RUN ARM SCOPE METRIC"),
        ("a " + mark("count"), 1, "<!-- cite: count RUN NAME -->; others begin with against, "),
        ("a " + mark("from", "98.4"), 1, "the mark names no source"),
        ("a " + mark(f"diff {RUN} {TUNED} pgmnemo conversation MRR@50"), 1, "no raw_retrievals.jsonl; "),
        ("a " + mark("withdrawn pgmnemo pool MRR@50"), 1, "was withdrawn"),
        ("a " + mark("blocked pgmnemo pool MRR@50"), 1, "is blocked"),
        ("a " + mark("changed pgmnemo pool MRR@50"), 1, "metrics.json is not the file that"),
        ("a " + mark("sample pgmnemo pool MRR@50"), 1, "proves that an installation works"),
        ("a " + mark("unlogged pgmnemo pool MRR@50"), 1, "HISTORY.md has no entry of the run"),
        ("a " + mark(f"benchmarks/locomo/local/{NAME} pgmnemo pool MRR@50"), 1, "is not kept"),
        ("a\n\nb <!-- /cite -->", 3, "ends a mark that does not begin"),
        (f"a\nb <!-- cite: {FIGURE} MRR@50 --> c\n\nd", 2, "the mark has no <!-- /cite -->"),
        (f"a <!-- cite: from x -->\nb {mark('from y')}<!-- /cite -->", 2, "begins inside that of line 2"),
        (f"a\n{mark('from a book', '98.4 %')} b", 2, "a mark at the start of a line ends its paragraph"),
    ],
)  # fmt: skip
def test_a_mark_that_cannot_be_filled_in_is_one_sentence_and_nothing_is_written(
    text: str, line: int, message: str, document: Any, root: Path, tmp_path: Path
) -> None:
    good = f"a {mark(f'count {RUN} lessons')}\n"
    file = document(good + text)
    before = file.read_bytes()
    [found] = write([file], root=root).findings
    assert (found.line, before) == (line + 1, file.read_bytes())
    assert message in found.message
    assert found in check([file], root=root).findings
    assert [one.name for one in tmp_path.iterdir()] == ["notes.md"]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_nothing_else_of_a_file_changes(newline: str, document: Any, root: Path) -> None:
    around = f"# A\n\n\tb  \n\u2028`{mark('x', 'y')}`\n```\n{mark('no run', '1')}\n```\n"
    text = f"{around}{SOURCE}{around}recall {mark(f'{FIGURE} MRR@50', '0.826')} end"
    file = document(text.replace("\n", newline))
    file.chmod(0o640)
    assert write([file], root=root).passed
    sourced = f"`{FOLDER}` (protocol {current().version}, deviation: embedder: minilm)"
    other = f"`benchmarks/longmemeval/results/{NAME}/` (protocol {current().version}, verified)"
    wanted = text.replace("0.826", "0.825 [0.798, 0.850] (deviation)").replace(SOURCE, SOURCE.replace(
        "--><", f"-->{sourced};\n{other}<"))  # fmt: skip
    assert file.read_bytes() == wanted.replace("\n", newline).encode()
    assert file.stat().st_mode & 0o777 == 0o640
    stamp = file.stat().st_mtime_ns, file.stat().st_ino
    assert write([file], root=root).passed
    assert stamp == (file.stat().st_mtime_ns, file.stat().st_ino)


def test_what_stands_in_a_mark_is_compared_to_the_letter(document: Any, root: Path) -> None:
    file = document(
        f"a\nrecall {mark(f'{FIGURE} recall_any@10', '97.4 % [95.6, 98.6] (deviation)')}\n{SOURCE}"
    )
    first, source = check([file], root=root).findings
    assert str(first) == (
        f"{file}:2: `97.4 % [95.6, 98.6] (deviation)` stands here, the artefacts say "
        f"`97.5 % [95.6, 98.6] (deviation)` ({FIGURE} recall_any@10)"
    )
    assert source.message.startswith("nothing stands here, the artefacts say `")


def test_a_table_that_was_edited_by_hand_is_told_by_its_line(
    document: Any, root: Path, tmp_path: Path
) -> None:
    file = document(mark("\n".join(["systems plot.svg", RUN, TUNED])) + "\n")
    assert [one.line for one in check([file], root=root).findings] == [1, 3]  # the plot, the table
    assert write([file], root=root).passed
    assert check([file], root=root).passed
    lines = file.read_text().splitlines()
    [row] = [number for number, line in enumerate(lines, 1) if line.startswith("| pgmnemo")]
    file.write_text(file.read_text().replace("0.825", "0.835", 1))
    [found] = check([file], root=root).findings
    assert (found.line, "0.835" in found.message, "0.825" in found.message) == (row, True, True)
    plot = (tmp_path / "plot.svg").read_text()
    (tmp_path / "plot.svg").write_text(plot.replace("circle", "rect"))
    assert check([file], root=root).findings[0].message.startswith("plot.svg is not the plot of these runs")
    (tmp_path / "plot.svg").write_text("mine")
    assert main(["cite", "--write", str(file), "--root", str(root)]) == 2
    assert (tmp_path / "plot.svg").read_text() == "mine"


def test_a_figure_needs_its_run_named_where_a_reader_sees_it(document: Any, root: Path) -> None:
    file = document(f"recall {mark(f'{FIGURE} MRR@50')} {mark(f'{FIGURE} recall_any@10')}\n")
    write([file], root=root)
    [found] = check([file], root=root).findings
    assert found.message.endswith(f"add <!-- cite: source {RUN} --><!-- /cite -->")


@pytest.mark.parametrize(
    ("text", "figures"),
    [
        ("recall of 98.4 %, MRR@50 .855 and 1.000", "98.4 %, .855, 1.000"),
        ("`MRR@50` is 0.9 [0.8, 1.0]", "0.9, [0.8, 1.0]"),
        ("31 of the 1,982 questions have no gold", "31, 1,982"),
        ("| | MRR |\n|---|---|\n| a | 0.8 |", "0.8"),
        ("```text\nrecall@5 0.9\n```", "0.9"),
        (f"recall 0.9 {mark('from a book', '0.8')}", "0.9"),
        ("recall 0.9 <!-- lint: exempt: said so -->", "0.9"),
        ("- recall:\n- 98.4 %", "98.4 %"),
        ("MRR@50 by system:\n\n- a 0.9", "0.9"),
        ("98.4 % of the tests pass", ""),
        ("the 95 % interval of recall in 0.4.1, v0.9, 2026-11-21, k1 = `1.2`, 17.9 ms, §4.2, ± 0.010", ""),
        ("```python\nrecall = 0.9\n```", ""),
        ("[recall](recall_0.9.md) under Recall Benchmark Protocol 1.6", ""),
        (f"recall {mark('from a book', '98.4 % and 0.9')}", ""),
        ("| recall | b |\n|---|---|\n| x | y |\n\n| a | b |\n|---|---|\n| 0.8 | 1 % |", ""),
    ],
)  # fmt: skip
def test_a_figure_near_a_word_of_recall_needs_a_mark(text: str, figures: str) -> None:
    assert ", ".join(found for _, found in Document(text).unmarked()) == figures


def test_figures_of_others_are_listed_with_their_source(
    document: Any, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = document(f"They have a recall of {mark('from their paper, table 2', '98.4 %')}.\n")
    assert main(["cite", "--check", str(file), "--root", str(root)]) == 0
    out, err = capsys.readouterr()
    assert (out, err.splitlines()) == (
        "",
        [f"{file}:1: from their paper, table 2", "files: 1; marks: 0; of others: 1; to mend: 0"],
    )


def test_the_paragraph_of_the_protocol_is_a_mark_too(document: Any, root: Path) -> None:
    file = document(f"{mark(f'paragraph {RUN}')}\n")
    assert write([file], root=root).passed
    assert "\nrecall_any@10 = 0.975 [0.956, 0.986] (v0.2.1).\n" in file.read_text()
    assert check([file], root=root).passed


def test_a_difference_of_two_runs_is_that_of_compare(document: Any, root: Path) -> None:
    parts = {
        "": ("all", "all"), " multi-hop": ("all", "multi-hop"), " categories 1-4": ("categories 1-4", "all"),
    }  # fmt: skip
    words = "diff before after pgmnemo conversation recall_any@10"
    file = document("recall " + " ".join(mark(words + part) for part in parts))
    assert write([file], root=root).passed
    found = compare(*(root / "benchmarks" / "beam" / "results" / name for name in ("before", "after")))
    rows = {(row.scope, row.metric, row.view, row.type): row for row in found.rows}
    shown = [rows["conversation", "recall_any@10", *part] for part in parts.values()]
    [decided] = [member.finding for member in found.family if member.row is shown[0]]
    assert re.findall("-->([^<]{2,})<!-- /cite", file.read_text()) == [
        f"{change(row.metric, row.difference)} {change_interval(asdict(row))} ({word}deviation)"
        for row, word in zip(shown, (f"{decided}, ", "", ""), strict=True)
    ]
    assert len({row.difference for row in shown}) == 3

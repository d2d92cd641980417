"""Rank texts of every kind and language: the default, its modes, their rank fusion and a peer, in one table.

    python benchmarks/general.py [xquad-de locomo …] [--data FOLDER] [--embedder NAME] [--out FOLDER]
                                 [--baselines S,S,…] [--set NAME=VALUE] [--version V] [--quick]

Without a name it measures every JSONL file of FOLDER (or of GENERAL_DATA_DIR), in the form of `python -m
runner file`, then LoCoMo by session and by turn, LongMemEval, REALTALK and BEAM 100K, found as their
suites find them. It prints hit@5, hit@10 and MRR@50 with 95 % intervals, within the projects of each corpus:

    hybrid, keyword, vector   pgmnemo with its defaults, and its modes
    rrf                       rank fusion of the 50 best of keyword and vector, k = 60
    other names               each of --baselines, by default pg-textsearch (words and vectors, fused by rank)

Each corpus is one run of the runner. `rrf` is computed from its raw rankings and scored as the runner scores.
--quick leaves out the other systems and the English suites. A run lies below --out and is used again until
the corpus, the SQL, the embedder, the systems or the settings change, so a second call goes on where it
stopped. It does not see changes of the client or of the runner: name another --out for these.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from pgmnemo.errors import UsageError
from pgmnemo.paths import SQL_FOLDER
from pgmnemo.postgres.releases import default_version, scripts
from runner.markdown import table
from runner.paths import ROOT
from runner.protocol.editions import current
from runner.protocol.metrics.score import score
from runner.records import RankedSegment, Retrieval, Score
from runner.runs.raw import RAW, read_raw
from runner.systems.fusion import reciprocal_rank_fusion
from runner.systems.system import Match

VARIABLE, PEER, DEPTH = "GENERAL_DATA_DIR", "pg-textsearch", 50
TESTED, KEYWORD, VECTOR, FUSED = "pgmnemo", "keyword", "vector", "rrf"
METRICS = {"recall_any@5": "hit@5", "recall_any@10": "hit@10", "MRR@50": "MRR@50"}
HEAD = ("corpus", "system", *METRICS.values(), "n", "seconds")
SECONDS = "seconds.txt"
WHOLE = f"v*/{RAW}"  # of a run that ended; the folder of an interrupted run begins with a dot


@dataclass(frozen=True, slots=True)
class CorpusSource:
    """A corpus, with the arguments that make the runner read it and the scope of its projects."""

    name: str
    arguments: tuple[str, ...]
    scope: str
    clustered: bool = True


ENGLISH = (
    CorpusSource("locomo", ("locomo",), "conversation"),
    CorpusSource("locomo-turn", ("locomo", "--granularity", "turn"), "conversation"),
    CorpusSource("longmemeval", ("longmemeval", "--allow-unregistered-corpus"), "haystack", clustered=False),
    CorpusSource("realtalk", ("realtalk", "--allow-unregistered-corpus"), "conversation"),
    CorpusSource("beam", ("beam", "--allow-unregistered-corpus"), "conversation"),
)


def find_corpora(
    folder: Path | None, names: Sequence[str], quick: bool, named: Sequence[CorpusSource] = ()
) -> list[CorpusSource]:
    """Return the named corpora, or all but those of `named`.

    Raises UsageError for a missing folder and for an unknown name.
    """
    if folder is not None and not folder.is_dir():
        raise UsageError(f"{folder} is no folder; name the folder of the corpora with --data or {VARIABLE}")
    files = sorted(folder.glob("*.jsonl")) if folder else []
    found = [CorpusSource(path.stem, ("file", "--data", str(path.resolve())), "project") for path in files]
    found += [] if quick and not names else ENGLISH
    known = {source.name: source for source in (*named, *found)}
    if unknown := [name for name in names if name not in known]:
        raise UsageError(f"no corpus is named {unknown[0]!r}; choose one of: {', '.join(known)}")
    if not (chosen := [known[name] for name in names] or found):
        raise UsageError(
            f"there is no corpus to measure; name a folder of JSONL files with --data or {VARIABLE}"
        )
    return chosen


def run_command(source: CorpusSource, options: argparse.Namespace, output: Path) -> list[str]:
    """Return the command of one run."""
    command = [sys.executable, "-m", "runner", *source.arguments, "--scopes", source.scope, "--quiet"]
    command += ["--embedder", options.embedder, "--version", options.version, "--output", str(output)]
    command += [*options.service, *(word for setting in options.set for word in ("--set", setting))]
    return command + (["--baselines", options.baselines] if options.baselines else [])


def run_folder(source: CorpusSource, options: argparse.Namespace) -> Path:
    """Return the folder of a corpus' run, whose name tells apart whatever changes its rankings."""
    chosen = options.version, options.baselines, options.set, options.service, source.arguments[1:]
    digest = sha256(repr(chosen).encode())
    for path in scripts(SQL_FOLDER, options.version):
        digest.update(path.read_bytes())
    if source.scope == "project":
        digest.update(Path(source.arguments[-1]).read_bytes())
    return Path(options.out).resolve() / f"{source.name}_{options.embedder}_{digest.hexdigest()[:12]}"


def measure(source: CorpusSource, options: argparse.Namespace) -> tuple[Path, float]:
    """Return the raw rankings of a corpus and the seconds that its run took, which is made unless it exists.

    Raises UsageError with the runner's last line where the run fails.
    """
    folder = run_folder(source, options)
    if not (folder / SECONDS).is_file():
        began = time.perf_counter()
        done = subprocess.run(
            run_command(source, options, folder), capture_output=True, text=True, cwd=ROOT, check=False
        )
        if not any(folder.glob(WHOLE)):
            reason = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
            raise UsageError(f"the run on {source.name} ended with {done.returncode}: {reason}")
        (folder / SECONDS).write_text(f"{time.perf_counter() - began:.1f}\n")
    return max(folder.glob(WHOLE)), float((folder / SECONDS).read_text())


def fuse(keyword: Retrieval, vector: Retrieval) -> Retrieval:
    """Return the rank fusion of two answers to one question; ties go to what the keyword mode ranks first."""
    ids = list(dict.fromkeys(hit.id for answer in (keyword, vector) for hit in answer.ranking))
    numbers = {name: number for number, name in enumerate(ids)}
    rankings = [[Match(numbers[hit.id], 0.0) for hit in one.ranking] for one in (keyword, vector)]
    fused = tuple(
        RankedSegment(ids[match.number], match.score) for match in reciprocal_rank_fusion(rankings, DEPTH)
    )
    return replace(keyword, arm=FUSED, ranking=fused)


def fused_rows(rows: Iterable[Retrieval]) -> Iterator[Retrieval]:
    """Yield the rank fusion of the modes keyword and vector for every question that both answered."""
    answers: dict[str, dict[str, Retrieval]] = {KEYWORD: {}, VECTOR: {}}
    for row in rows:
        if row.arm in answers:
            answers[row.arm][row.question] = row
    for question, answer in answers[KEYWORD].items():
        if question in answers[VECTOR]:
            yield fuse(answer, answers[VECTOR][question])


def rows_of_arms(raw: Path, source: CorpusSource, arms: Collection[str]) -> list[Retrieval]:
    """Return the answers of some arms in the scope of a corpus."""
    return [row for row in read_raw(raw) if row.scope == source.scope and row.arm in arms]


def scores_of_all(rows: Sequence[Retrieval], source: CorpusSource) -> list[Score]:
    """Return the scores over all questions of a corpus, without those of a type."""
    clustered = source.clustered and len({row.project for row in rows}) > 1
    scored = score(rows, current(), views={"all": lambda key, kind: True}, clustered=clustered).results
    return [one for one in scored if one.type == "all"]


def scores_of(raw: Path, source: CorpusSource, systems: Sequence[str]) -> list[Score]:
    """Return the scores of the table's systems over one corpus, in the order of the table."""
    kept = [TESTED, KEYWORD, VECTOR, *systems]
    rows = rows_of_arms(raw, source, kept)
    order = [TESTED, KEYWORD, VECTOR, FUSED, *systems]
    scored = scores_of_all([*rows, *fused_rows(rows)], source)
    scored = [one for one in scored if one.arm in order and one.metric in METRICS]
    return sorted(scored, key=lambda one: order.index(one.arm))


def cell(one: Score) -> str:
    """Return a value with its interval, in percent except for MRR."""
    share = one.metric.startswith("recall")
    form, unit = ("{:.1f} [{:.1f}, {:.1f}]", 100) if share else ("{:.3f} [{:.3f}, {:.3f}]", 1)
    return form.format(unit * one.value, unit * one.ci95_low, unit * one.ci95_high)


def rows_of(source: CorpusSource, options: argparse.Namespace) -> list[tuple[str, ...]]:
    """Return the rows of one corpus in the table; the wall time of its run is in the first."""
    raw, seconds = measure(source, options)
    systems = options.baselines.split(",") if options.baselines else []
    by_arm: dict[str, dict[str, Score]] = {}
    for one in scores_of(raw, source, systems):
        by_arm.setdefault(one.arm, {})[one.metric] = one
    return [
        (source.name, "hybrid" if arm == TESTED else arm, *(cell(found[name]) for name in METRICS),
         f"{next(iter(found.values())).n:,}", f"{seconds:.0f}" if arm == TESTED else "")
        for arm, found in by_arm.items()
    ]  # fmt: skip


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command."""
    given = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    given.add_argument("corpora", nargs="*", help="names of corpora (default: all)")
    folder = os.environ.get(VARIABLE)
    given.add_argument("--data", type=Path, default=Path(folder) if folder else None, metavar="FOLDER")
    given.add_argument("--embedder", default="minilm-int8")
    given.add_argument("--version", default=default_version(), help="of pgmnemo")
    given.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of pgmnemo"
    )
    given.add_argument("--baselines", default=None, help=f"others, by comma (default: {PEER}; '': none)")
    given.add_argument("--out", default=str(ROOT / "benchmarks" / "general" / "local"), metavar="FOLDER")
    given.add_argument("--quick", action="store_true", help="no other systems, no English suites")
    options = given.parse_args(words)
    options.service = []
    if options.baselines is None:
        options.baselines = "" if options.quick else PEER
    return options


def main(words: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where a corpus could not be measured."""
    options, rows, code = parse(words), [], 0
    try:
        sources = find_corpora(options.data, options.corpora, options.quick)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for source in sources:
        try:
            measured = rows_of(source, options)
            rows += measured
            print(f"{source.name}: {measured[0][-1]} s", file=sys.stderr)
        except UsageError as error:
            code = 1
            print(f"error: {error}", file=sys.stderr)
    if rows:
        print(table(HEAD, rows, "llrrrrr"))
    return code


if __name__ == "__main__":
    sys.exit(main())

"""Compare embedders under pgmnemo: what is recalled with each, how long a text takes, and how large each is.

    python benchmarks/embedders.py [realtalk beam lifebench …] [--embedders NAME,NAME,…] [--out FOLDER]
                                   [--endpoint-url URL --model NAME --dimensions N]

Each corpus is one run of the runner for each embedder, without baselines; a corpus is a suite that the runner
finds by its environment variable, or a JSONL file of --data. A run lies below --out and is used again, as
that of general.py. Prints two tables:

    recall        recall_any@1, MRR@50 and recall_all@5 of pgmnemo (hybrid) and MRR@50 of its mode vector,
                  within the projects of a corpus, with 95 % intervals
    cost          width of the vectors, memory and seconds of a process of its own until the first vector,
                  milliseconds of a question alone (p50, p95), and short texts embedded in a second
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from general import CorpusSource, cell, find_corpora, measure, rows_of_arms, scores_of_all

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.errors import PgmnemoError, UsageError
from pgmnemo.postgres.releases import default_version
from runner.markdown import table
from runner.paths import ROOT
from runner.protocol.templates.embedding import make_embedder
from runner.records import Score

SERVED, SERVICE = "endpoint", ("endpoint_url", "model", "dimensions")
NAMES = ("minilm", "minilm-int8", "multilingual-e5-small-4bit")
SUITES = tuple(
    CorpusSource(name, (name,), "conversation") for name in ("lifebench", "lifebench-zh", "knowme")
)
CELLS = (
    ("pgmnemo", "recall_any@1"),
    ("pgmnemo", "MRR@50"),
    ("pgmnemo", "recall_all@5"),
    ("vector", "MRR@50"),
)
RECALL = ("corpus", "n", "embedder", "any@1", "MRR@50", "all@5", "MRR@50, vector alone")
COST = ("embedder", "width", "MB", "first s", "question ms, p50", "p95", "texts/s")
WHAT = ("garden", "trip to Lisbon", "broken bike", "new job", "piano", "dentist")
WHO = ("Ada", "Li", "Tom", "Eva", "Jo")
QUESTIONS = [f"When did {who} last say something about the {what}?" for who in WHO for what in WHAT]
TEXTS = [f"[{day} May 2025] Ada: {question}" for day in range(1, 11) for question in QUESTIONS]
MEGABYTE = 1024  # of what getrusage counts on Linux


def scores_of(raw: Path, source: CorpusSource) -> dict[tuple[str, str], Score]:
    """Return the scores of all questions in the scope of a corpus, by arm and metric."""
    scored = scores_of_all(rows_of_arms(raw, source, {arm for arm, _ in CELLS}), source)
    return {(one.arm, one.metric): one for one in scored}


def recall_row(source: CorpusSource, embedder: str, options: argparse.Namespace) -> tuple[str, ...]:
    """Return the row of one run in the table of recall; UsageError if the run fails."""
    service = options.service if embedder == SERVED else []
    raw, _ = measure(
        source, argparse.Namespace(**{**vars(options), "embedder": embedder, "service": service})
    )
    found = scores_of(raw, source)
    n = found[CELLS[0]].n
    return (source.name, f"{n:,}", embedder, *(cell(found[key]) for key in CELLS))


def cost(embedder: str, given: EmbedderOptions) -> list[str]:
    """Return the row of an embedder in the table of costs, measured in this process."""
    before, began = _memory(), time.perf_counter()
    model = make_embedder(embedder, given)
    width = model.embed_queries(QUESTIONS[:1]).shape[1]
    first, memory, waits = time.perf_counter() - began, _memory() - before, []
    for question in QUESTIONS:
        began = time.perf_counter()
        model.embed_queries([question])
        waits.append(1000 * (time.perf_counter() - began))
    began = time.perf_counter()
    model.embed_documents(TEXTS)
    rate = len(TEXTS) / (time.perf_counter() - began)
    times = (f"{one:.1f}" for one in (first, *np.percentile(waits, (50, 95))))
    return [embedder, f"{width:,}", f"{memory / MEGABYTE:,.0f}", *times, f"{rate:.0f}"]


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def cost_alone(embedder: str, options: argparse.Namespace) -> list[str]:
    """Return what `cost` measures in a fresh process; UsageError with its last line if it fails."""
    command = [sys.executable, __file__, "--cost", embedder, *(options.service if embedder == SERVED else ())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise UsageError(f"{embedder}: {done.stderr.strip().splitlines()[-1]}")
    row: list[str] = json.loads(done.stdout.splitlines()[-1])
    return row


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command, with those that general.py's functions read."""
    given = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    given.add_argument("corpora", nargs="*", default=["realtalk", "beam", "lifebench", "lifebench-zh"])
    given.add_argument("--data", type=Path, default=None, metavar="FOLDER", help="of JSONL files")
    given.add_argument("--embedders", default=",".join(NAMES))
    given.add_argument("--endpoint-url", metavar="URL", help="measure this service as well")
    given.add_argument("--model", help="of the service")
    given.add_argument("--dimensions", type=int, help="of the service's vectors")
    given.add_argument("--version", default=default_version(), help="of pgmnemo")
    given.add_argument("--out", default=str(ROOT / "benchmarks" / "general" / "local"), metavar="FOLDER")
    given.add_argument("--cost", metavar="NAME", help="print the costs of one embedder alone, as JSON")
    options = given.parse_args(words)
    options.set, options.baselines = [], ""
    told = {name: getattr(options, name) for name in SERVICE if getattr(options, name)}
    options.given = EmbedderOptions(**told)
    options.service = [
        word for name, value in told.items() for word in (f"--{name.replace('_', '-')}", str(value))
    ]
    return options


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables; return 1 where something could not be measured."""
    options = parse(words)
    if options.cost:
        try:
            print(json.dumps(cost(options.cost, options.given)))
        except PgmnemoError as error:
            print(f"error: {error}", file=sys.stderr)
            return error.code
        return 0
    rows: dict[str, list[Sequence[str]]] = {"recall": [], "cost": []}
    code, embedders = 0, [*options.embedders.split(","), *([SERVED] if options.endpoint_url else [])]
    try:
        sources = find_corpora(options.data, options.corpora, quick=False, named=SUITES)
    except UsageError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    jobs = [
        ("recall", partial(recall_row, source, name, options)) for source in sources for name in embedders
    ]
    jobs += [("cost", partial(cost_alone, name, options)) for name in embedders]
    for where, job in jobs:
        try:
            rows[where].append(job())
        except UsageError as error:
            code = 1
            print(f"error: {error}", file=sys.stderr)
    print(table(RECALL, rows["recall"], "lrlrrrr"), table(COST, rows["cost"], "lrrrrrr"), sep="\n\n")
    return code


if __name__ == "__main__":
    sys.exit(main())

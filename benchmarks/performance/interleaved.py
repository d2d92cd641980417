"""How long one version of the extension takes beside another, on a machine that others use as well.

    python benchmarks/performance/interleaved.py 0.6.1 1.0.0 --memories 100000 [--seconds 20] [--tenants 10]
                                                             [--corpus locomo] [--embedder minilm]

Both versions hold the corpus of `python -m lab perf`, each on a server of its own, which is idle while the
other one answers. Every question is asked of one and then at once of the other, in turns who is first, so
that what else the machine does meets both alike. Prints for each cell the two medians of the whole call
(k = 10, one client, an ordinary role, policies active, `gate_strict` off), and the quotient of the medians,
second by first, with an interval of 95 % (percentiles of 2,000 bootstrap samples of questions); then the same
of the processor time that the server's process took for it, which does not grow where others wait as well.

The cells: everything, one in `--tenants` of it, a tenant of 1,000, and everything while a writer stores 50
lessons a second into each.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.perf.generating import generate, read_source
from lab.perf.request import PerfRequest, subject
from lab.perf.timing import client_of, writing
from lab.perf.workload import Loaded, PerfWorkload, TenantSize, name_of
from pgmnemo.progress import Progress
from runner.systems import SystemContext
from runner.systems.pgmnemo.session import PgmnemoClient
from runner.systems.system import Query, SupportsAsk, System

K, WARM_UP, QUESTIONS, SEED = 10, 50, 400, 42
SAMPLES, LEVEL = 2_000, 95.0
CELLS = {
    "whole": (TenantSize.WHOLE, False),
    "a share": (TenantSize.SHARE, False),
    "a tenant of 1,000": (TenantSize.FIXED, False),
    "whole, under writes": (TenantSize.WHOLE, True),
}
Seconds = NDArray[np.float64]  # (questions, versions, 2): what a client waits, and what the server computes


def computed(client: SupportsAsk) -> float:
    """Return seconds that the server's process of a client has computed so far, as Linux counts them."""
    assert isinstance(client, PgmnemoClient), "only versions of our own are compared"
    told = Path(f"/proc/{client.connection.info.backend_pid}/schedstat").read_text(encoding="ascii")
    return int(told.split()[0]) / 1e9


def asked(client: SupportsAsk, query: Query) -> tuple[float, float]:
    """Return seconds of one call: waited for, and computed by the server."""
    before, began = computed(client), time.perf_counter()
    client.ask(query, K)
    return time.perf_counter() - began, computed(client) - before


def read(systems: Sequence[System], questions: Sequence[Query], seconds: float) -> Seconds:
    """Ask both in turns, until `seconds` have gone and every question has been asked once at least."""
    taken: list[list[tuple[float, float]]] = []
    with ExitStack() as stack:
        clients = [stack.enter_context(client_of(system)) for system in systems]
        for question in questions[:WARM_UP]:
            for client in clients:
                client.ask(question, K)
        until = time.perf_counter() + seconds
        for turn in count():
            if turn >= len(questions) and time.perf_counter() > until:
                return np.asarray(taken)
            question = questions[turn % len(questions)]
            row = [(0.0, 0.0)] * len(clients)
            for place in (turn % 2, 1 - turn % 2):
                row[place] = asked(clients[place], question)
            taken.append(row)
    raise AssertionError("time does not end")


def quotient(taken: Seconds) -> tuple[float, float, float]:
    """Return the quotient of the medians of (questions, versions), and its interval by bootstrap of
    questions.
    """
    chance = np.random.default_rng(SEED)
    picks = chance.integers(0, len(taken), (SAMPLES, len(taken)))
    medians = np.median(taken[picks], axis=1)
    low, high = np.percentile(medians[:, 1] / medians[:, 0], [(100 - LEVEL) / 2, (100 + LEVEL) / 2])
    first, second = np.median(taken, axis=0)
    return float(second / first), float(low), float(high)


@contextmanager
def written(systems: Sequence[System], workload: PerfWorkload, wanted: bool) -> Iterator[None]:
    """Inside the block a writer stores into each, if one is wanted."""
    with ExitStack() as stack:
        for system in systems if wanted else ():
            stack.enter_context(writing(system, workload.spare()))
        yield


def compare(versions: Sequence[str], given: argparse.Namespace, folder: Path) -> None:
    """Load both and print a line a cell."""
    progress = Progress(quiet=True)
    request = PerfRequest(
        memories=given.memories, tenants=given.tenants, corpus=given.corpus, embedder=given.embedder,
        questions=QUESTIONS, seed=SEED,
    )  # fmt: skip
    workload = generate(read_source(request, progress=progress), folder, request, progress)
    with ExitStack() as stack:
        systems = [
            stack.enter_context(subject(f"pgmnemo@{version}").open(SystemContext(folder), version))
            for version in versions
        ]
        for version, system in zip(versions, systems, strict=True):
            loaded = sum(system.load(Loaded(workload, given.passages), progress).values())
            print(f"pgmnemo {version}: {workload.count:,} lessons loaded in {loaded:,.0f} s", flush=True)
        print(f"{'':31} {versions[0]:>9} ms {versions[1]:>9} ms   quotient of medians        n")
        for cell, (tenant, writes) in CELLS.items():
            questions = [replace(query, project=name_of(tenant)) for query in workload.questions]
            with written(systems, workload, writes):
                taken = read(systems, questions, given.seconds)
            for kind, seconds in (("waited", taken[:, :, 0]), ("computed", taken[:, :, 1])):
                first, second = np.median(seconds, axis=0) * 1000
                ratio, low, high = quotient(seconds)
                figures = f"{first:12.2f} {second:12.2f}   {ratio:.3f} [{low:.3f}, {high:.3f}]"
                print(f"{cell + ', ' + kind:31} {figures} {len(taken):8,}", flush=True)


def parse() -> argparse.Namespace:
    """Return what the command line says."""
    told = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    told.add_argument("versions", nargs=2, metavar="VERSION")
    told.add_argument("--memories", type=int, default=10_000)
    told.add_argument("--tenants", type=int, default=10)
    told.add_argument("--seconds", type=float, default=20.0)
    told.add_argument("--corpus", default="sample")
    told.add_argument("--embedder", default="minilm")
    told.add_argument("--passages", action="store_true", help="with two passages a lesson")
    return told.parse_args()


if __name__ == "__main__":
    arguments: Any = parse()
    with TemporaryDirectory(prefix="pgmnemo-interleaved-") as made:
        compare([one.removeprefix("v") for one in arguments.versions], arguments, Path(made))

"""What is measured of one system, in this order: load, recall, reads, writes, reads under writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from runner.perf.exact import Truth
from runner.perf.reading import LEAST, Reads, read
from runner.perf.request import PerfRequest
from runner.perf.results import Cell, Result
from runner.perf.systems import Kind, System
from runner.perf.workload import Lesson, Tenant, Workload
from runner.perf.writing import add_some, writing
from runner.progress import Progress

ADDS = 200
SWEEP = (10, 20, 40, 80, 200, 400)  # ef_search, for recall over latency
JUDGED = 200  # questions that recall is counted over
PLANNED = 41  # questions among which the one of median time is looked for
OWN_JUDGED = 40  # where the truth is an exact scan by the system itself, which is slow
MEASURED = (Tenant.WHOLE, Tenant.SHARE)  # by one client and by several, with and without writes

Truths = Callable[[Tenant | None], Truth]
Judge = Callable[[int, Sequence[int]], float | None]  # place of the question and answer to a share


def measure_system(
    name: str, kind: Kind, system: System, workload: Workload, truths: Truths, request: PerfRequest,
    progress: Progress,
) -> Result:  # fmt: skip
    """Load and measure; the order keeps what is written out of what recall is counted against."""
    loaded = system.load(workload, progress)
    sizes = system.sizes()
    progress.say(f"{kind.title}: {workload.count:,} lessons loaded in {sum(loaded.values()):,.0f} s")
    reads = Reads(Tenant.WHOLE, request.k, seconds=request.seconds, most=request.questions)
    cells = list(_recalls(kind, system, workload, truths, reads))
    cells += _alone(system, workload, reads, request.clients)
    memory = _held(system, workload, reads)
    plans = system.plans(workload.questions[:PLANNED], reads.k)
    spare = workload.spare()
    adding = add_some(system, spare, ADDS, request.seconds)
    cells += _under_writes(system, workload, spare, reads, request.clients)
    progress.say(f"{kind.title}: measured")
    return Result(
        name, kind.title, kind.words, kind.hybrid, system.facts(), workload.count, loaded, sizes, memory,
        cells, adding, plans,
    )  # fmt: skip


def _recalls(kind: Kind, system: System, workload: Workload, truths: Truths, reads: Reads) -> Iterator[Cell]:
    """The vector leg against the truth: at the default setting for every tenant, swept for the whole."""
    vector = replace(reads, leg="vector", most=min(reads.most, JUDGED, len(workload.questions)))
    for tenant in Tenant:
        shares = _judge(system, workload, truths, tenant, reads.k)
        yield _judged(system, workload, shares, replace(vector, tenant=tenant))
        if tenant is Tenant.WHOLE and kind.approximate:
            swept = (replace(vector, ef_search=ef_search) for ef_search in SWEEP)
            yield from (_judged(system, workload, shares, reads) for reads in swept)


def _judged(system: System, workload: Workload, judge: Judge, reads: Reads) -> Cell:
    cell, taken = read(system, workload, reads)
    shares = [share for place, found in taken.answers.items() if (share := judge(place, found)) is not None]
    return replace(cell, recall=sum(shares) / len(shares))


def _judge(system: System, workload: Workload, truths: Truths, tenant: Tenant, k: int) -> Judge:
    """How an answer is judged: by the nearest cosines, or by the system's own exact scan where it has one."""
    exact = system.exact()
    if exact is None:
        truth = truths(system.searched(tenant))
        return lambda place, found: truth.recall(place, found, workload)
    with closing(exact):
        asked = workload.questions[:OWN_JUDGED]
        answers = [frozenset(exact.nearest(question, tenant, k)) for question in asked]

    def shared(place: int, found: Sequence[int]) -> float | None:
        return len(answers[place].intersection(found)) / len(answers[place]) if place < len(answers) else None

    return shared


def _alone(system: System, workload: Workload, reads: Reads, clients: int) -> Iterator[Cell]:
    for tenant in Tenant:
        yield read(system, workload, replace(reads, tenant=tenant))[0]
    for tenant in MEASURED if clients > 1 else ():
        yield read(system, workload, _by_several(reads, tenant, clients))[0]


def _under_writes(
    system: System, workload: Workload, spare: Iterator[Lesson], reads: Reads, clients: int
) -> Iterator[Cell]:
    for tenant in MEASURED:
        for several in (False, True) if clients > 1 else (False,):
            wanted = _by_several(reads, tenant, clients) if several else replace(reads, tenant=tenant)
            with writing(system, spare) as writer:
                cell, _ = read(system, workload, wanted)
            yield replace(cell, writes=writer.rate)


def _held(system: System, workload: Workload, reads: Reads) -> int | None:
    """Bytes of memory while one client is connected and has asked."""
    with closing(system.client()) as client:
        for asked in workload.questions[:LEAST]:
            for tenant in MEASURED:
                client.query(asked, tenant, reads.k)
        return system.memory()


def _by_several(reads: Reads, tenant: Tenant, clients: int) -> Reads:
    return replace(reads, tenant=tenant, clients=clients, most=reads.most * 2)

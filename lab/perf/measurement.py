"""The measurement of one system, in this order: load, recall, reads, writes, reads under writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import cycle

from lab.perf.request import PerfRequest, Subject
from lab.perf.timing import SOME, WARM_UP, Reads, add_some, client_of, read, writing
from lab.perf.workload import Loaded, PerfWorkload, TenantSize, Truth, name_of
from pgmnemo.progress import Progress
from runner.records import Json
from runner.systems.system import (
    Lesson,
    SupportsAdd,
    SupportsExactSearch,
    SupportsNearest,
    SupportsPlans,
    SupportsThreads,
    System,
)

ADDS = 200
SWEEP = (10, 20, 40, 80, 200, 400)  # ef_search, for recall over latency
JUDGED = 200  # questions over which recall is averaged
PLANNED = 41  # questions from which the one with the median time is chosen
OWN_JUDGED = 40  # if the truth is an exact scan by the system itself, which is slow
MEASURED = (TenantSize.WHOLE, TenantSize.SHARE)  # with one client and with several, with and without writes

Truths = Callable[[TenantSize | None], Truth]
Judge = Callable[[int, Sequence[int]], float | None]  # index of a question and its answer → recall


def measure_system(
    subject: Subject, system: System, workload: PerfWorkload, truths: Truths, request: PerfRequest,
    progress: Progress,
) -> tuple[Json, str]:  # fmt: skip
    """Load and measure a system; return its part of the document, and the plan of one recall as Markdown.

    The order keeps written lessons out of the truth that recall is measured against. An ability that a system
    lacks (a vector leg alone, several clients, single writes) is left out. Figures are rounded to the
    precision of a clock.
    """
    loaded = system.load(Loaded(workload, subject.passages), progress)
    sizes, catalogue = system.sizes(), system.catalogue()
    progress.say(f"{subject.title}: {workload.count:,} lessons loaded in {sum(loaded.values()):,.0f} s")
    walls = subject.kind.separates_projects
    reads = Reads(TenantSize.WHOLE, request.k, walls, seconds=request.seconds, most=request.questions)
    clients = request.clients if isinstance(system, SupportsThreads) else 1
    with client_of(system) as client:
        vectors, writes = isinstance(client, SupportsNearest), isinstance(client, SupportsAdd)
    cells = list(_recalls(subject, system, workload, truths, reads)) if vectors else []
    cells += _alone(system, workload, reads, clients)
    memory = _held(system, workload, reads)
    plans = _plans(system, workload, reads)
    adding: Mapping[str, float] = {"count": 0, "p50_ms": 0.0, "p95_ms": 0.0}
    small = adding
    if writes:
        spare = workload.spare(subject.passages)
        adding = add_some(system, spare, ADDS, request.seconds)
        cells += _under_writes(system, workload, spare, reads, clients)
        names = cycle(workload.sample(WARM_UP + ADDS))
        theirs = (replace(lesson, project=name) for lesson, name in zip(spare, names, strict=False))
        small = add_some(system, theirs, ADDS, request.seconds)
    progress.say(f"{subject.title}: measured")
    size, count = sum(sizes.values()), workload.count
    return {
        "name": subject.name, "title": subject.title, "words": subject.kind.description,
        "hybrid": subject.kind.hybrid, "facts": dict(system.facts()), "lessons": count,
        "load_seconds": {name: round(value, 2) for name, value in loaded.items()},
        "load_seconds_total": round(sum(loaded.values()), 2),
        "bytes": dict(sizes), "bytes_total": size, "bytes_per_lesson": round(size / count, 1),
        "memory_bytes": memory,
        "memory_bytes_per_lesson": None if memory is None else round(memory / count, 1),
        "catalogue": dict(catalogue), "add_one": _rounded(adding), "add_small": _rounded(small),
        "reads": [_rounded(cell) for cell in cells],
    }, plans  # fmt: skip


def _rounded(entry: Mapping[str, object]) -> Json:
    return {name: round(value, 4) if isinstance(value, float) else value for name, value in entry.items()}


def _recalls(
    subject: Subject, system: System, workload: PerfWorkload, truths: Truths, reads: Reads
) -> Iterator[Json]:
    """Yield the vector reads with recall: for large tenants, and for all rows at each swept setting."""
    most = min(reads.most, JUDGED, len(workload.questions))
    vector = replace(reads, leg="vector", least=SOME, most=most)
    for tenant in (*MEASURED, TenantSize.FIXED):
        shares = _judge(system, workload, truths, replace(reads, tenant=tenant))
        yield _judged(system, workload, shares, replace(vector, tenant=tenant))
        if tenant is TenantSize.WHOLE and subject.kind.approximate:
            swept = (replace(vector, ef_search=ef_search) for ef_search in SWEEP)
            yield from (_judged(system, workload, shares, reads) for reads in swept)


def _judged(system: System, workload: PerfWorkload, judge: Judge, reads: Reads) -> Json:
    """Return the measured reads, with the mean share of the true nearest neighbours that they found."""
    cell, answers = read(system, workload, reads)
    shares = [share for place, found in answers.items() if (share := judge(place, found)) is not None]
    return {**cell, "recall": sum(shares) / len(shares)}


def _judge(system: System, workload: PerfWorkload, truths: Truths, reads: Reads) -> Judge:
    """Return a function that computes the recall of an answer.

    The truth is the nearest neighbours by cosine, or the system's own exact scan if it has one.
    """
    exact = system.exact if isinstance(system, SupportsExactSearch) else None
    if exact is None:
        truth = truths(None if reads.project is None else reads.tenant)
        return lambda place, found: truth.recall(place, found, workload)
    with client_of(system, exact) as client:
        assert isinstance(client, SupportsNearest), "an exact scan is one of the vector leg"
        asked = reads.queries(workload)[:OWN_JUDGED]
        answers = [frozenset(match.number for match in client.nearest(query, reads.k)) for query in asked]

    def shared(place: int, found: Sequence[int]) -> float | None:
        return len(answers[place].intersection(found)) / len(answers[place]) if place < len(answers) else None

    return shared


def _alone(system: System, workload: PerfWorkload, reads: Reads, clients: int) -> Iterator[Json]:
    for one in (*(replace(reads, tenant=tenant) for tenant in TenantSize), *_by_several(reads, clients)):
        yield read(system, workload, one)[0]


def _under_writes(
    system: System, workload: PerfWorkload, spare: Iterator[Lesson], reads: Reads, clients: int
) -> Iterator[Json]:
    """Yield the reads during writes, each with the number of lessons stored per second."""
    for one in (*(replace(reads, tenant=tenant) for tenant in MEASURED), *_by_several(reads, clients)):
        with writing(system, spare) as writer:
            cell, _ = read(system, workload, one)
        yield {**cell, "writes": writer.rate}


def _by_several(reads: Reads, clients: int) -> list[Reads]:
    several = replace(reads, clients=clients, most=reads.most * 2)
    return [replace(several, tenant=tenant) for tenant in MEASURED] if clients > 1 else []


def _held(system: System, workload: PerfWorkload, reads: Reads) -> int | None:
    """Return the memory in bytes while one client is connected and has asked; None if unknown."""
    with client_of(system) as client:
        for tenant in MEASURED:
            for query in replace(reads, tenant=tenant).queries(workload)[:SOME]:
                client.ask(query, reads.k)
        return system.memory()


def _plans(system: System, workload: PerfWorkload, reads: Reads) -> str:
    if not isinstance(system, SupportsPlans):
        return ""
    asked = [replace(query, project=name_of(TenantSize.WHOLE)) for query in workload.questions[:PLANNED]]
    return system.plans(asked, reads.k)

"""Do the latencies follow from timings.jsonl, and the timings fit into the run?"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict

from runner.artefacts import latencies
from runner.artefacts.timings import TIMINGS
from runner.claims.verify.check import Wrong
from runner.claims.verify.evidence import Evidence

ROUNDING = 0.01  # seconds, of time_seconds


def timings(evidence: Evidence) -> str:
    """Percentiles are computed anew; each timing is of a question that the system under test answered."""
    times, run = evidence.timings, evidence.run
    wanted = [asdict(latency) for latency in latencies(times, evidence.protocol.timed_k)]
    if run["latency"] != wanted:
        raise Wrong(f"the latencies of run.json are not the percentiles of {TIMINGS}")
    arm = run["arms"][0]["name"]
    answered = {(line["question"], line["scope"]) for line in evidence.raw if line["arm"] == arm}
    seen: defaultdict[tuple[str, str], int] = defaultdict(int)
    for timing in times:
        seen[timing.question, timing.scope] += 1
        if timing.arm != arm or (timing.question, timing.scope) not in answered:
            raise Wrong(
                f"{TIMINGS} times {timing.question} by {timing.arm}, which the raw rankings do not hold"
            )
        if seen[timing.question, timing.scope] > 1:
            raise Wrong(f"{TIMINGS} times {timing.question} in {timing.scope} twice")
    total, stage = sum(timing.seconds for timing in times), run["resources"]["time_seconds"]
    if total > stage + ROUNDING:
        raise Wrong(f"the timings add up to {total:.2f} s, their stage took {stage:.2f} s")
    return f"p50 and p95 follow from {len(times):,} timings"

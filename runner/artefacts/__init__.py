"""Everything that a run leaves behind: raw rankings, timings, header, figures, manifest, or BLOCKED.md."""

from runner.artefacts.blocked import write_blocked
from runner.artefacts.environment import Code, Machine, code, machine, packages, peak_memory_mb
from runner.artefacts.folder import RunFolder, folder_name, partial_folder, results_base
from runner.artefacts.header import (
    Arm,
    CorpusPins,
    Options,
    PassageCounts,
    ProtocolPins,
    Resources,
    RunHeader,
    write_run,
)
from runner.artefacts.manifest import missing
from runner.artefacts.metrics import metrics_document, write_metrics
from runner.artefacts.plan import PLAN, pin_plan
from runner.artefacts.raw import RAW, RawWriter, key, read_raw, resume
from runner.artefacts.storage import write_file
from runner.artefacts.timings import TIMINGS, Latency, TimingsWriter, latencies, read_timings, resume_timings

__all__ = [
    "PLAN",
    "RAW",
    "TIMINGS",
    "Arm",
    "Code",
    "CorpusPins",
    "Latency",
    "Machine",
    "Options",
    "PassageCounts",
    "ProtocolPins",
    "RawWriter",
    "Resources",
    "RunFolder",
    "RunHeader",
    "TimingsWriter",
    "code",
    "folder_name",
    "key",
    "latencies",
    "machine",
    "metrics_document",
    "missing",
    "packages",
    "partial_folder",
    "peak_memory_mb",
    "pin_plan",
    "read_raw",
    "read_timings",
    "results_base",
    "resume",
    "resume_timings",
    "write_blocked",
    "write_file",
    "write_metrics",
    "write_run",
]

"""Checks of the files: complete, as the manifest lists them, and in the form that the runner writes. (§7)"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from runner.report import render
from runner.report.html import PAGE, TEMPLATE, page_template, render_page
from runner.runs.canonical import compact, pretty
from runner.runs.manifest import COMPLETE, MANIFEST, is_pinned
from runner.runs.packing import LINES, plain_and_packed, restore_hint
from runner.runs.raw import RAW
from runner.runs.record_files import lines_text
from runner.runs.results import REPORT, Results
from runner.runs.run import BLOCKED, METRICS, RUN, metrics_text
from runner.runs.timings import RERANKS, REWRITES, TIMINGS
from runner.verification.context import CheckFailed, CheckSkipped, RunContext, differing_line


def complete(context: RunContext) -> str:
    """Check that the files of §7 are there; any other file must be listed, derived or a signature."""
    if twice := plain_and_packed(context.folder):
        raise CheckFailed(f"{', '.join(twice)} lies there packed and unpacked: take one away")
    present = context.names
    if BLOCKED in present:
        raise CheckFailed(f"{BLOCKED} is there: a blocked run has no number that could be verified")
    missing = [name for name in (*COMPLETE, MANIFEST) if name not in present]
    if missing:
        lines = [name for name in missing if name.endswith(LINES)]
        how = f"; {restore_hint(context.folder, lines[0])}" if lines else ""
        raise CheckFailed(f"there is no {', no '.join(missing)}{how}")
    strange = [name for name in present if is_pinned(name) and name not in context.schemas]
    if strange:
        raise CheckFailed(f"{', '.join(strange)} stands in the folder and not in {MANIFEST}")
    return f"{1 + sum(map(is_pinned, present))} files, none missing and none besides"


def manifest(evidence: Results) -> str:
    """Check every file of the manifest: listed once, in order of name, with its size and SHA-256."""
    entries = evidence.manifest["files"]
    names = [entry["name"] for entry in entries]
    if names != sorted(set(names)) or MANIFEST in names or any("/" in name for name in names):
        raise CheckFailed(f"{MANIFEST} does not list each other file of the folder once, in order of name")
    for entry in entries:
        content = evidence.content(entry["name"])
        if len(content) != entry["bytes"]:
            raise CheckFailed(f"{entry['name']} has {len(content):,} bytes and not {entry['bytes']:,}")
        if (found := sha256(content).hexdigest()) != entry["sha256"]:
            raise CheckFailed(f"{entry['name']} has sha256 {found[:12]}… and not {entry['sha256'][:12]}…")
    return f"{len(names)} files have the size and the sha256 that {MANIFEST} lists"


def schema(context: RunContext) -> str:
    """Check that every file has its edition's schema and the text that the runner writes."""
    _named(context)
    written = {
        MANIFEST: pretty(context.manifest),
        RUN: pretty(context.document),
        METRICS: metrics_text(context.metrics),
        RAW: "".join(f"{compact(line)}\n" for line in context.raw),
        TIMINGS: lines_text(context.timings),
    }
    if RERANKS in context.schemas:
        written[RERANKS] = lines_text(context.reranks)
    if REWRITES in context.schemas:
        written[REWRITES] = lines_text(context.rewrites)
    demand_written(context, written)
    lines = len(context.raw) + len(context.timings)
    return f"every file is of the schema that protocol {context.edition.version} gives it ({lines:,} lines)"


def demand_written(evidence: Results, written: Mapping[str, str]) -> None:
    """Raise CheckFailed if a file's text differs from the text that the runner writes."""
    for name, text in written.items():
        if (found := evidence.text(name)) != text:
            raise CheckFailed(
                f"{name}, line {differing_line(found, text)}, is not in the form that the runner writes"
            )


def _named(context: RunContext) -> None:
    """Check that each file has the schema of the run's edition, in the manifest and in the file itself."""
    pins = context.edition.schemas
    wanted = {RAW: pins.raw, TIMINGS: pins.timings, RUN: pins.run, METRICS: pins.metrics, REPORT: pins.report,
              MANIFEST: pins.manifest}  # fmt: skip
    if pins.reranks and context.run.reranker is not None:
        wanted[RERANKS] = pins.reranks
    if pins.rewrites and context.run.rewriter is not None:
        wanted[REWRITES] = pins.rewrites
    documents = {RUN: context.document, METRICS: context.metrics, MANIFEST: context.manifest}
    own = ((name, document["schema"]) for name, document in documents.items())
    for name, found in (*context.schemas.items(), *own):
        if name not in wanted:
            raise CheckFailed(f"{name} is no artefact that is known here")
        if found != wanted[name]:
            raise CheckFailed(
                f"{name} names the schema {found}; that of protocol {context.edition.version} is "
                f"{wanted[name]}"
            )


def report(context: RunContext) -> str:
    """Check that report.md equals a new rendering of metrics.json and run.json by its edition's template."""
    template = context.edition.schemas.report
    found, wanted = context.text(REPORT), render(context.metrics, context.run)
    if found != wanted:
        raise CheckFailed(
            f"{REPORT}, line {differing_line(found, wanted)}, is not what {template} makes of the run"
        )
    return f"{REPORT} comes out of metrics.json and run.json again, to the byte ({template})"


def page(context: RunContext) -> str:
    """Check report.html, if there is one, against a new rendering.

    The page is derived and not in the manifest: it can be rendered again from the artefacts, in a newer form
    too. So it is compared with the artefacts and not with a hash, and every byte of it follows from them.
    """
    if not (context.folder / PAGE).exists():
        raise CheckSkipped(f"there is no {PAGE}; `python -m runner report` renders one")
    found = context.text(PAGE)
    if (template := page_template(found)) not in ("", TEMPLATE):
        raise CheckSkipped(
            f"{PAGE} is of {template}, and {TEMPLATE} is in use: `python -m runner report` renders it anew"
        )
    timings = ((one.arm, one.scope, one.seconds) for one in context.timings)
    wanted = render_page(context.metrics, context.run, context.detailed(), timings)
    if found != wanted:
        raise CheckFailed(
            f"{PAGE}, line {differing_line(found, wanted)}, is not what {TEMPLATE} makes of the run: "
            "render it anew with `python -m runner report`, or remove it"
        )
    return f"{PAGE} comes out of the other artefacts again, to the byte ({TEMPLATE})"

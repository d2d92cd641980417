"""The paragraph of protocol §8, and the command that makes the run again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from runner.report.figures import Figures, Row, trivial
from runner.report.formats import count
from runner.report.sections import system

CITED = "recall_any@10"  # the protocol's recall@10
CITABLE = ("verified", "deviation")


def artefact_path(run: Mapping[str, Any]) -> str:
    """Where the results folder stands once it is committed."""
    return f"benchmarks/{run['corpus']['suite']}/results/{run['name']}/"


def embedder_name(run: Mapping[str, Any]) -> str:
    """The embedder's name, or `none` for a keyword-only run."""
    return str(run["embedder"]["name"]) if run["embedder"] else "none"


def refusal(figures: Figures, run: Mapping[str, Any]) -> str | None:
    """Why nothing of the run may be cited, as one sentence; None when it may.

    An unverified or blocked run, a corpus that is no evidence (the sample) and a trivial recall@10 are not
    citable (protocol §4.1, §5).
    """
    if run["verdict"] not in CITABLE:
        return f"Not to be cited: the run is {run['verdict']} (protocol §5)."
    if not run["corpus"].get("citable", run["corpus"]["suite"] != "sample"):
        return (
            "Not to be cited: this corpus proves that an installation works; it is no evidence of recall "
            "(protocol §2.3)."
        )
    row = _row(figures, run)
    if row is None or trivial(row):
        return "There is no recall@10 to cite: the scope is too small for it to mean anything."
    return None


def citation(
    figures: Figures, run: Mapping[str, Any], previous: tuple[Figures, Mapping[str, Any]] | None = None
) -> str | None:
    """The release-note paragraph of protocol §8, line by line; None when nothing of the run may be cited.

    `previous` is an earlier run that may stand beside this one; the caller sees to that. What must be
    disclosed follows as lines of its own.
    """
    row = _row(figures, run)
    if refusal(figures, run) or row is None:
        return None
    corpus, protocol = run["corpus"], run["protocol"]["version"]
    lines = [
        f"Recall measured under pgmnemo Recall Benchmark Protocol v{protocol} (PROTOCOL.md).",
        f"Corpus: {corpus['title']}, scope {run['scopes'][0]['name']}, n = {count(row['n'])}. "
        f"Embedder: {embedder_name(run)}.",
        f"{CITED} = {share(row['value'])} [{share(row['ci95_low'])}, {share(row['ci95_high'])}] "
        f"({_versions(row, run, previous)}).",
        f"Verdict: {verdict_words(run)}. Artefacts: {artefact_path(run)}",
        *(f"Disclosed: {sentence.rstrip('.')}." for sentence in run["disclosures"]),
    ]
    return "\n".join(lines)


def verdict_words(run: Mapping[str, Any]) -> str:
    """`verified`, or `deviation: ` and every departure."""
    labels = "; ".join(label.rstrip(".") for label in run["deviations"])
    return f"deviation: {labels}" if run["verdict"] == "deviation" else str(run["verdict"])


def version(run: Mapping[str, Any]) -> str:
    """Version of the extension that was measured: `v0.2.1`."""
    return "v" + str(run["pgmnemo_version"]).removeprefix("v")


def share(value: float) -> str:
    """A figure as the protocol writes it: a mean between 0 and 1, with three decimals."""
    return f"{value:.3f}"


def _row(figures: Figures, run: Mapping[str, Any]) -> Row | None:
    return figures.row(system(run), run["scopes"][0]["name"], CITED)


def _versions(row: Row, run: Mapping[str, Any], previous: tuple[Figures, Mapping[str, Any]] | None) -> str:
    before = _row(*previous) if previous else None
    if previous is None or before is None:
        return version(run)
    return f"{version(previous[1])}: {share(before['value'])} → {version(run)}: {share(row['value'])}"


def command(run: Mapping[str, Any]) -> str:
    """The command line that makes the run again."""
    corpus, options = run["corpus"], run["options"]
    words = ["python", "-m", "runner", corpus["suite"], "--version", version(run)]
    words += ["--embedder", embedder_name(run), "--granularity", corpus["granularity"]]
    if options["mode"] == "vector" or (options["mode"] == "keyword" and run["embedder"]):
        words += ["--mode", options["mode"]]
    if options["k"]:
        words += ["--k", ",".join(map(str, options["k"]))]
    if options["limit"] is not None:
        words += ["--limit", str(options["limit"])]
    if options["types"]:
        words += ["--types", ",".join(options["types"])]
    if options["allow_unregistered_corpus"]:
        words += ["--allow-unregistered-corpus"]
    return shlex.join(words)

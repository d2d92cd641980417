"""The paragraph of protocol §8, and the command that makes the run again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from runner.report.figures import Figures, trivial
from runner.report.formats import count, figure, interval, scope_words
from runner.report.sections import system

CITED = "recall_any@10"  # the protocol's recall@10


def artefact_path(run: Mapping[str, Any]) -> str:
    """Where the results folder stands once it is committed."""
    return f"benchmarks/{run['corpus']['suite']}/results/{run['name']}/"


def embedder_name(run: Mapping[str, Any]) -> str:
    """The embedder's name, or `none` for a keyword-only run."""
    return str(run["embedder"]["name"]) if run["embedder"] else "none"


def citation(figures: Figures, run: Mapping[str, Any]) -> str | None:
    """The release-note paragraph; None when nothing of the run may be cited.

    A deviation carries its labels; an unverified or blocked run, a trivial recall@10 and a corpus that is
    no evidence (the sample) are not citable.
    """
    if not run["corpus"]["citable"]:
        return None
    scope = run["scopes"][0]
    row = figures.row(system(run), scope["name"], CITED)
    if run["verdict"] not in ("verified", "deviation") or row is None or trivial(row):
        return None
    place = scope_words(scope, run["corpus"]["segments"])
    sentences = [
        f"Recall measured per pgmnemo Recall Benchmark Protocol v{run['protocol']['version']} (PROTOCOL.md).",
        f"Corpus: {run['corpus']['title']}.",
        f"Embedder: {embedder_name(run)}.",
        f"Result: recall@10 {figure(CITED, row['value'])} % ({CITED} {place}, 95 % interval {interval(row)}, "
        f"n = {count(row['n'])}; v{run['pgmnemo_version'].removeprefix('v')}).",
        *_labels(run),
        f"Full run artefacts: {artefact_path(run)}",
    ]
    return " ".join(sentences)


def _labels(run: Mapping[str, Any]) -> list[str]:
    labels = [f"Deviation: {'; '.join(run['deviations'])}."] if run["verdict"] == "deviation" else []
    return labels + [f"Disclosed: {sentence.rstrip('.')}." for sentence in run["disclosures"]]


def command(run: Mapping[str, Any]) -> str:
    """The command line that makes the run again."""
    corpus, options = run["corpus"], run["options"]
    version = "v" + run["pgmnemo_version"].removeprefix("v")
    words = ["python", "-m", "runner", corpus["suite"], "--version", version]
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

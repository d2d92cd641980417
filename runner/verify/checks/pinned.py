"""Is everything that an edition or a release decides as these decide it? Each has one source."""

from __future__ import annotations

from typing import Any

from runner.records import View
from runner.suites import SUITES
from runner.verify.check import Wrong
from runner.verify.evidence import Evidence


def views(evidence: Evidence) -> str:
    """What is counted and what is said with it: views, headline, scopes, clusters and disclosures. (§4)"""
    run = evidence.run
    for what, (found, wanted) in _counted(evidence).items():
        if found != wanted:
            raise Wrong(
                f"{what}: run.json has {_words(found)}, protocol {run.protocol.version} {_words(wanted)}"
            )
    every = [line["question"] for line in evidence.raw[: len(evidence.raw) // max(1, len(evidence.counts))]]
    rows = [row for row in evidence.metrics["results"] if row["view"] == row["type"] == "all"]
    if wrong := next((row for row in rows if row["n"] != len(every)), None):
        raise Wrong(f"the view all has {wrong['n']:,} questions, the raw rankings {len(every):,}")
    return (
        f"{', '.join(view.name for view in run.views)}, and what else protocol {run.protocol.version} counts"
    )


def _counted(evidence: Evidence) -> dict[str, tuple[Any, Any]]:
    """By name: what run.json has, and what the run's edition says."""
    run, edition = evidence.run, evidence.edition
    suite, pins = SUITES[run.choice.suite], edition.suites.get(run.choice.suite)
    wanted: dict[str, tuple[Any, Any]] = {
        "views": (run.views, suite.views(edition)),
        "headline": (run.headline, edition.metrics.headline),
        "disclosures": (run.disclosures, edition.disclosures(run.embedder_name, run.choice.suite)),
    }
    if pins is None:  # a corpus of the user's own: it says the rest itself
        return wanted
    known = (*pins.scopes, *(scope.name for scope in suite.more_scopes))
    names = tuple(name for name in known if name in run.choice.scopes) or pins.scopes
    return wanted | {
        "title": (run.corpus.title, suite.title),
        "citable": (run.corpus.citable, pins.citable),
        "clustered": (run.corpus.clustered, pins.clustered),
        "scopes": (tuple(scope.name for scope in run.scopes), names),
        "pooled scopes": (
            tuple(scope.name for scope in run.scopes if scope.pooled),
            tuple(name for name in names if name == "pool"),
        ),
    }


def _words(value: Any) -> str:
    """A pinned value as people read it."""
    return ", ".join(_word(one) for one in value) or "none" if isinstance(value, tuple) else str(value)


def _word(one: Any) -> str:
    if not isinstance(one, View):
        return str(one)
    left = [*one.without_types, *([f"*{one.without_key}*"] if one.without_key else [])]
    return f"{one.name} (without {', '.join(left)})" if left else one.name

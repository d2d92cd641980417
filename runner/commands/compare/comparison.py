"""What a comparison found, as a record, as JSON and as an exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from runner.commands.compare.conditions import Mismatch
from runner.commands.compare.rows import Moved, Row
from runner.commands.compare.side import Side
from runner.commands.compare.verdict import LEVEL, Finding, Member
from runner.protocol.statistics.bootstrap import RESAMPLES, SEED
from runner.records import ALL, Json

SCHEMA = "pgmnemo/comparison/1"
METHOD = (
    "symmetric studentised paired bootstrap with two added questions, {resamples} resamples, seed {seed}, "
    "never narrower than the paired score interval, {how}"
)
CLUSTERED = "clustered by project (clusters - 1 degrees of freedom)"
MCNEMAR = "exact, two-sided; takes questions for independent"
NEGLECT = "; those of one project are not, so its p is too small, and nothing is decided by it"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing besides the conditions in which the runs differ, such as the version or a setting."""

    what: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The candidate against the baseline. `despite` holds the waived mismatches: the result's label."""

    baseline: Side
    candidate: Side
    finding: Finding
    reasons: tuple[str, ...]
    despite: tuple[Mismatch, ...]
    changes: tuple[Change, ...]
    rows: tuple[Row, ...]
    family: tuple[Member, ...]
    moved: tuple[Moved, ...]
    max_drop: Mapping[str, float]
    resamples: int = RESAMPLES

    @property
    def clustered(self) -> bool:
        """Whether a project is one cluster in every interval."""
        return bool(self.baseline.run.corpus.clustered)

    @property
    def view(self) -> str:
        """The view that the headline is of, and so the verdict."""
        return self.baseline.run.headline_view

    @property
    def whole(self) -> tuple[Row, ...]:
        """The rows over all types of that view."""
        return tuple(row for row in self.rows if row.of(self.view))

    @property
    def metric_code(self) -> str:
        """The version of the metric code that the values are computed by: the candidate's edition's."""
        return self.candidate.edition.metrics.code

    @property
    def label(self) -> str:
        """The finding, with what the runs were compared despite of."""
        waived = ", ".join(map(str, self.despite))
        return f"{self.finding} (compared despite {waived})" if waived else str(self.finding)

    @property
    def interval_method(self) -> str:
        """The name of the interval of every difference."""
        how = CLUSTERED if self.clustered else "unclustered"
        return METHOD.format(resamples=f"{self.resamples:,}", seed=SEED, how=how)

    @property
    def mcnemar_method(self) -> str:
        """What McNemar's test is and what it neglects."""
        return MCNEMAR + (NEGLECT if self.clustered else "")

    def exit_code(self, *, strict: bool = False) -> int:
        """1 when regressed, and with `strict` when inconclusive; else 0."""
        bad = {Finding.REGRESSED} | ({Finding.INCONCLUSIVE} if strict else set())
        return int(self.finding in bad)

    def document(self) -> Json:
        """The comparison as JSON."""
        run = self.baseline.run
        return {
            "schema": SCHEMA,
            "verdict": str(self.finding),
            "reasons": list(self.reasons),
            "despite": [asdict(mismatch) for mismatch in self.despite],
            "baseline": _side(self.baseline),
            "candidate": _side(self.candidate),
            "changes": [asdict(change) for change in self.changes],
            "corpus": {
                "suite": run.choice.suite,
                "title": run.corpus.title,
                "granularity": run.choice.level,
                "sha256": run.corpus.sha256,
            },
            "metric_code": self.metric_code,
            "intervals": self.interval_method,
            "mcnemar": self.mcnemar_method,
            "max_drop": dict(self.max_drop),
            "family": {
                **({} if self.view == ALL else {"view": self.view}),
                "correction": "Holm",
                "level": LEVEL,
                "members": [_member(member) for member in self.family],
            },
            "rows": [asdict(row) for row in self.rows],
            "questions": [asdict(moved) for moved in self.moved],
        }


def _side(side: Side) -> Json:
    return {
        "name": side.name,
        "pgmnemo_version": side.version,
        "arm": side.system,
        "embedder": side.run.embedder_name,
        "protocol_version": side.run.protocol.version,
        "metric_code": side.metrics["metric_code"],
        "verdict": side.run.verdict.value,
        "deviations": list(side.run.deviations),
    }


def _member(member: Member) -> Json:
    return {
        "scope": member.row.scope,
        "metric": member.row.metric,
        "p": member.row.p,
        "p_holm": round(member.p_holm, 6),
        "band": member.band,
        "finding": str(member.finding),
    }

"""The conditions that two compared runs must share, and the result of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass

from pgmnemo.errors import UsageError
from pgmnemo.registry import Registry
from runner.commands.compare.compared_run import ComparedRun
from runner.commands.compare.rows import LEVEL, ComparisonFinding, DifferenceRow, Hypothesis, MovedQuestions
from runner.protocol.statistics.bootstrap import RESAMPLES, SEED
from runner.records import ALL, Json
from runner.report.formats import count, shorten
from runner.runs import comparability
from runner.runs.comparability import differences, postgres_major


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A condition in which two runs differ, and a description of the difference."""

    condition: str
    words: str

    def __str__(self) -> str:
        return f"{self.condition} ({self.words})"


Check = Callable[[ComparedRun, ComparedRun], str]
"""In words how two runs differ; empty where they do not."""


def _of_record(name: str) -> Check:
    """Return a check that compares one field of two runs' records."""

    def check(before: ComparedRun, after: ComparedRun) -> str:
        return next((shorten(words) for _, words in differences(before.run, after.run, (name,))), "")

    return check


def _metrics(before: ComparedRun, after: ComparedRun) -> str:
    """Return how the metrics of two runs differ, in the major version of their code or in a definition.

    The result is empty if equal.
    """
    first, second = before.metrics, after.metrics
    if _major(first) != _major(second):
        return f"metric code {first['metric_code']} against {second['metric_code']}"
    names = first["definitions"].keys() ^ second["definitions"].keys()
    if names:
        return f"only one has {', '.join(sorted(names))}"
    changed = [name for name, words in first["definitions"].items() if second["definitions"][name] != words]
    return f"another definition of {', '.join(changed)}" if changed else ""


def _major(metrics: Mapping[str, object]) -> str:
    """Return the major version of the metric code.

    A minor version changes only intervals, which are computed again.
    """
    return str(metrics["metric_code"]).partition(".")[0]


def _questions(before: ComparedRun, after: ComparedRun) -> str:
    parts = []
    for scope in before.keys.keys() & after.keys.keys():
        first, second = before.keys[scope], after.keys[scope]
        if first != second:
            parts.append(
                f"{scope}: {count(len(first))} against {count(len(second))}, "
                f"{count(len(first & second))} shared"
            )
    return "; ".join(sorted(parts))


def _gold(before: ComparedRun, after: ComparedRun) -> str:
    parts = []
    for scope in before.keys.keys() & after.keys.keys():
        first, second = before.tables[scope].questions, after.tables[scope].questions
        changed = sum(first[key] != second[key] for key in first.keys() & second.keys())
        if changed:
            parts.append(f"{scope}: gold, type or scope size of {count(changed)} questions")
    return "; ".join(sorted(parts))


def _postgres(before: ComparedRun, after: ComparedRun) -> str:
    """Return how the major versions of PostgreSQL differ, which changes stems; empty if equal or unknown."""
    first, second = postgres_major(before.run), postgres_major(after.run)
    return f"{first} against {second}" if first and second and first != second else ""


OF_BOTH = ("suite", "questions asked")  # checked by the gold and by the questions themselves
CONDITIONS: Registry[Check] = Registry(
    "condition to compare despite",
    {
        **{name: _of_record(name) for name in comparability.CONDITIONS if name not in OF_BOTH},
        "postgresql": _postgres,
        "metrics": _metrics,
        "questions": _questions,
        "gold": _gold,
    },
)


def mismatches(
    before: ComparedRun, after: ComparedRun, despite: Collection[str] = ()
) -> tuple[Mismatch, ...]:
    """Return the conditions in which the runs differ; `despite` must waive each of them.

    Raises UsageError for a difference that is not waived, and for a waiver that names no condition.
    """
    for name in despite:
        CONDITIONS[name]
    found = tuple(Mismatch(n, words) for n, check in CONDITIONS.items() if (words := check(before, after)))
    barring = [mismatch for mismatch in found if mismatch.condition not in despite]
    if barring:
        names = ",".join(mismatch.condition for mismatch in found)
        raise UsageError(
            f"{before.name} and {after.name} differ in {' and '.join(map(str, barring))}: compare like with "
            f"like, or add --despite {names}, and the result will be labelled"
        )
    return found


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
    """A difference of the runs besides the conditions, such as the version or a setting."""

    what: str
    baseline: str
    candidate: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The comparison of a candidate with a baseline.

    `despite` holds the waived mismatches, which label the result.
    """

    baseline: ComparedRun
    candidate: ComparedRun
    finding: ComparisonFinding
    reasons: tuple[str, ...]
    despite: tuple[Mismatch, ...]
    changes: tuple[Change, ...]
    rows: tuple[DifferenceRow, ...]
    family: tuple[Hypothesis, ...]
    moved: tuple[MovedQuestions, ...]
    max_drop: Mapping[str, float]
    resamples: int = RESAMPLES

    @property
    def clustered(self) -> bool:
        """Return whether a project is one cluster in every interval."""
        return bool(self.baseline.run.corpus.clustered)

    @property
    def view(self) -> str:
        """The view of the headline, on which the verdict is decided."""
        return self.baseline.run.headline_view

    @property
    def whole(self) -> tuple[DifferenceRow, ...]:
        """The rows over all types of the headline's view."""
        return tuple(row for row in self.rows if row.of(self.view))

    @property
    def metric_code(self) -> str:
        """The version of the metric code that computes the values: that of the candidate's edition."""
        return self.candidate.edition.metrics.code

    @property
    def label(self) -> str:
        """The finding, followed by the mismatches of the runs that the user chose to ignore."""
        waived = ", ".join(map(str, self.despite))
        return f"{self.finding} (compared despite {waived})" if waived else str(self.finding)

    @property
    def interval_method(self) -> str:
        """The name of the interval of every difference."""
        how = CLUSTERED if self.clustered else "unclustered"
        return METHOD.format(resamples=f"{self.resamples:,}", seed=SEED, how=how)

    @property
    def mcnemar_method(self) -> str:
        """Return the description of McNemar's test, with the dependence that it neglects."""
        return MCNEMAR + (NEGLECT if self.clustered else "")

    def exit_code(self, *, strict: bool = False) -> int:
        """Return 1 when the finding is regressed, or inconclusive with `strict`; else 0."""
        bad = {ComparisonFinding.REGRESSED} | ({ComparisonFinding.INCONCLUSIVE} if strict else set())
        return int(self.finding in bad)

    def document(self) -> Json:
        """Return the comparison as JSON."""
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


def _side(side: ComparedRun) -> Json:
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


def _member(member: Hypothesis) -> Json:
    return {
        "scope": member.row.scope,
        "metric": member.row.metric,
        "p": member.row.p,
        "p_holm": round(member.p_holm, 6),
        "band": member.band,
        "finding": str(member.finding),
    }

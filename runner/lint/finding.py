"""What the linter says: a rule, a place and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

RULES = {
    "no-protocol": "a figure of this project without the protocol's version, or with another than its run's",
    "no-artefacts": "a figure of this project without its results folder, or with one that is not there",
    "differs": "a figure, interval, n or name that is not the one in the artefacts, after the rounding shown",
    "no-label": "a deviation without its label and departures, or called verified",
    "not-citable": "a figure from a blocked or unverified run, or from a corpus that is no evidence",
    "no-source": "a figure of others, a baseline, an ablation or a sweep point that names no source",
    "no-definition": "a figure that does not say what its metric counts (any, frac, all) and at which depth",
    "two-definitions": "figures of two definitions side by side, without a word about it",
    "bad-marker": "an exemption without a reason, misspelt, or with nothing to exempt",
}


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One thing to mend. Lines and columns count from 1."""

    file: str
    line: int
    column: int
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.rule}: {self.message}"


@dataclass(frozen=True, slots=True)
class Exemption:
    """A marker that was used: where it stands, its reason, how many findings it kept back."""

    file: str
    line: int
    reason: str
    findings: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything found in some files; `figures` counts the recall figures that were read."""

    findings: tuple[Finding, ...]
    exemptions: tuple[Exemption, ...] = ()
    figures: int = 0
    files: int = 0

    @property
    def passed(self) -> bool:
        """Whether there is nothing to mend."""
        return not self.findings

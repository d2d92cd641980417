"""The errors of a run, besides those of pgmnemo.errors, each with its exit code.

0: done; 1: a gate failed; 2: wrong use; 3: environment (no data, model, database or space); 4: only from
`verify`; 5: a system answered no question.
"""

from __future__ import annotations

from pathlib import Path

from pgmnemo.errors import PgmnemoError

RunnerError = PgmnemoError
"""Base of every error that a user of the runner can cause."""


class GateError(PgmnemoError):
    """A gate failed; BLOCKED.md was written in place of the artefacts."""

    code = 1
    kind = "blocked"


class UnusableRunError(GateError):
    """A finished run cannot be used for the request: it is blocked, unverified or was changed."""

    kind = "refused"


class CorpusError(PgmnemoError):
    """A corpus that is missing, cannot be read, or is not the expected file."""

    code = 3


class ResumeFault(PgmnemoError):
    """An interrupted run that --resume cannot complete, because its own files do not allow it."""

    code = 3

    def __init__(self, place: Path, fault: str) -> None:
        super().__init__(f"--resume: {place} {fault}; start anew without --resume")


class RankingsError(PgmnemoError):
    """Rankings of another author that cannot be read, or do not fit the corpus."""

    code = 3


class SystemFault(PgmnemoError):
    """A system that cannot be opened or loaded, or that answers wrongly or too late.

    Not the runner's database.
    """

    code = 3


class EmptyAnswersError(PgmnemoError):
    """A system gave only empty answers. The run is still written."""

    code = 5


class SystemAbsent(SystemFault):
    """A system that cannot run here: its package, database or service is missing or broken."""

    code = 3


class SigningError(PgmnemoError):
    """A signature that cannot be made or checked here: ssh-keygen is missing, or the key is locked."""

    code = 3

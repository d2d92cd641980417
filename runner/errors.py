"""How a run can end badly, besides the errors of the base (pgmnemo.errors), each with its exit code.

0 done · 1 a gate failed · 2 wrong use · 3 environment (no data, no model, no database, no space) · 4 of
`verify` alone · 5 a system answered no question.
"""

from __future__ import annotations

from pgmnemo.errors import PgmnemoError

RunnerError = PgmnemoError
"""Base of every error that a user of the runner can cause."""


class GateError(PgmnemoError):
    """A gate failed; a BLOCKED.md was written where the run was to write its artefacts."""

    code = 1
    kind = "blocked"


class UnusableRunError(GateError):
    """A finished run may not be used as asked: it is blocked, unverified or was changed."""

    kind = "refused"


class CorpusError(PgmnemoError):
    """No corpus, or one that cannot be read or is another file than it should be."""

    code = 3


class RankingsError(PgmnemoError):
    """Rankings of another author that cannot be read, or that are no rankings of the corpus at hand."""

    code = 3


class SystemFault(PgmnemoError):
    """A system that cannot be opened or loaded, or that answers wrongly or too late; no database of ours."""

    code = 3


class EmptyAnswersError(PgmnemoError):
    """A system gave only empty answers; the run is still written."""

    code = 5


class SystemAbsent(SystemFault):
    """A system that cannot be tried here: a package, a database or a service of it is missing or broken."""

    code = 3


class SigningError(PgmnemoError):
    """A signature that cannot be made or checked here: no ssh-keygen, or a key that is locked."""

    code = 3

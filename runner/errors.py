"""Every way in which a run can end badly, each with its exit code.

0 done · 1 a gate failed · 2 wrong use · 3 environment (no data, no model, no database, no space).
A message is one sentence that says what is wrong, where, and how to mend it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class RunnerError(Exception):
    """Base of all errors that a user can cause; the CLI prints `kind` and sentence and exits with `code`."""

    code = 3
    kind = "error"


class GateError(RunnerError):
    """A gate failed; a BLOCKED.md was written where the run was to write its artefacts."""

    code = 1
    kind = "blocked"


class RefusedError(GateError):
    """What is asked of a finished run may not be done with it: it is blocked, unverified or was changed."""

    kind = "refused"


class UsageError(RunnerError):
    """The command or the call is wrong."""

    code = 2
    kind = "wrong use"


class CorpusError(RunnerError):
    """No corpus, or one that cannot be read or is another file than it should be."""

    code = 3


class RankingsError(RunnerError):
    """Rankings of somebody else that cannot be read, or that are no rankings of the corpus at hand."""

    code = 3


class ModelError(RunnerError):
    """A model that cannot be loaded or reached, or that answers wrongly."""

    code = 3


class EmbedderError(ModelError):
    """A model whose vectors cannot be had, or are none."""

    code = 3


class DatabaseError(RunnerError):
    """No database, no right to make one, no pgvector, or another extension of the same name."""

    code = 3


class SystemFault(RunnerError):
    """A system that cannot be opened or loaded, or that answers wrongly or too late; no database of ours."""

    code = 3


class SystemAbsent(SystemFault):
    """A system that cannot be tried here: a package, a database or a service of it is missing or broken."""

    code = 3


class SigningError(RunnerError):
    """A signature that cannot be made or checked here: no ssh-keygen, or a key that is locked."""

    code = 3


class OutputError(RunnerError):
    """A results folder that cannot be written, or a full disk."""

    code = 3


@contextmanager
def os_errors(sentence: str, kind: type[RunnerError] = OutputError) -> Iterator[None]:
    """Inside the block, what the operating system refuses becomes a `kind`; `{why}` is its reason."""
    try:
        yield
    except OSError as error:
        raise kind(sentence.replace("{why}", str(error.strerror))) from None

"""The common parts of all models: HTTP, chat, the hub, the libraries, and the cache of outputs.

Embedders, rerankers and readers import this package; it imports none of them. Their options are dataclasses
that the command line reads, one field for each option; `check_numbers` checks the numbers in them.
"""

from collections.abc import Callable, Sequence

from pgmnemo.errors import UsageError

LONGEST = 3600  # most seconds that a user may set for a call of a service


def check_numbers(
    options: object, *, positive: Sequence[str] = (), natural: Sequence[str] = (), seconds: Sequence[str] = ()
) -> None:
    """Raise UsageError for the first of the named fields with a number out of range; None is accepted."""
    rules: list[tuple[Sequence[str], Callable[[float], bool], str]] = [
        (positive, lambda value: value >= 1, "a positive number"),
        (natural, lambda value: value >= 0, "0 or more"),
        (seconds, lambda value: 0 < value <= LONGEST, f"seconds above 0 and up to {LONGEST:,}"),
    ]
    for names, sensible, wanted in rules:
        for name in names:
            value = getattr(options, name)
            if value is not None and not sensible(value):
                raise UsageError(f"--{name.replace('_', '-')} takes {wanted}, not {value:g}")

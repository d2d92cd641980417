"""What every model needs, whoever uses it: HTTP, chat, the hub, the libraries, and a file that keeps answers.

Embedders, rerankers and readers use it; it knows none of them. Their options are dataclasses that the command
line reads, one field an option, and `check_numbers` says what is wrong with a number in any of them.
"""

from collections.abc import Callable, Sequence

from pgmnemo.errors import UsageError

LONGEST = 3600  # seconds that a user may let a call of a service take


def check_numbers(
    options: object, *, positive: Sequence[str] = (), natural: Sequence[str] = (), seconds: Sequence[str] = ()
) -> None:
    """UsageError for the first of those fields whose number makes no sense; None is none."""
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

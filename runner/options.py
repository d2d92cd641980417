"""Types of options that several commands take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token

from pgmnemo.errors import UsageError
from runner.naming import split_names


def _default(value: Any) -> str | None:
    """Return a default as the help shows it; None if it is not worth showing, such as a flag that is off."""
    if value in (None, "", (), [], False):
        return None
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


SHARED = Parameter(negative=(), negative_iterable=(), show_env_var=False, show_default=_default)
"""Applies to every option: there is no --no-… and no --empty-… beside it."""


def split_commas(text: str) -> tuple[str, ...]:
    """Split a list of names at its commas, without empty names."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def _listed(split: Callable[[str], tuple[str, ...]], _: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    given = ",".join(token.value for token in tokens)
    if found := split(given):
        return found
    raise UsageError(f"{tokens[0].keyword} takes names with commas between, not {given!r}")


def _numbers(_: Any, tokens: Sequence[Token]) -> tuple[int, ...]:
    try:
        return tuple(int(part) for token in tokens for part in token.value.split(","))
    except ValueError:
        given = ",".join(token.value for token in tokens)
        raise UsageError(
            f"{tokens[0].keyword} takes whole numbers with commas between, such as 1,5,10, not {given!r}"
        ) from None


def parse_limits(texts: Sequence[str]) -> dict[str, float]:
    """Return the limit of each `METRIC=DROP` text by its metric; raise UsageError for another form."""
    return dict(map(_limit, texts))


def _limit(text: str) -> tuple[str, float]:
    name, _, number = text.partition("=")
    try:
        return name.strip(), float(number)
    except ValueError:
        raise UsageError(f"--max-drop takes METRIC=DROP, such as recall_any@10=0.01, not {text!r}") from None


def _folder(_: Any, tokens: Sequence[Token]) -> Path:
    if not tokens[0].value:
        raise UsageError(f"{tokens[0].keyword} is empty; name a folder")
    return Path(tokens[0].value)


FOLDER = Parameter(converter=_folder, n_tokens=1)
"""A folder, whose name is not empty, as that of an unset variable is."""
NAMES = Parameter(converter=partial(_listed, split_commas), n_tokens=1)
"""Names with commas between."""
SYSTEM_NAMES = Parameter(converter=partial(_listed, split_names), n_tokens=1)
"""Names of systems with commas between, which may stand between the settings of one, too."""
Numbers = Annotated[tuple[int, ...], Parameter(converter=_numbers, n_tokens=1)]
MaxDrop = Annotated[
    list[str],
    Parameter(
        consume_multiple=False,
        help="METRIC=DROP: a larger fall of this metric is a regression, whatever its interval; "
        "may be repeated",
    ),
]
Despite = Annotated[
    tuple[str, ...], NAMES, Parameter(help="compare although these conditions differ, and label the result")
]
Strict = Annotated[bool, Parameter(help="exit with 1 when the comparison is inconclusive, too")]
Quiet = Annotated[bool, Parameter(help="say nothing but the result")]
Run = Annotated[Path, Parameter(help="results folder of a run")]

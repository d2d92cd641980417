"""`python -m runner score --rankings FILE --suite NAME`: rankings that somebody else made."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from pgmnemo.errors import UsageError


def score_command(
    *,
    suite: Annotated[str, Parameter(help="the suite whose questions were ranked")],
    rankings: Annotated[
        Path | None, Parameter(help="raw retrievals (JSONL) or a TREC run, plain or packed")
    ] = None,
    ids: Annotated[
        Path | None,
        Parameter(help="write the questions and lessons with their ids into this folder, and score nothing"),
    ] = None,
    granularity: Annotated[
        str | None, Parameter(help="what a lesson is, such as session or turn (default: the suite's own)")
    ] = None,
    scope: Annotated[
        str | None,
        Parameter(help="where the questions were searched, if the file does not say (default: the first)"),
    ] = None,
    data: Annotated[Path | None, Parameter(help="the corpus file or its folder")] = None,
    name: Annotated[str, Parameter(help="whose rankings these are")] = "",
    json: Annotated[bool, Parameter(help="print JSON instead of tables")] = False,
) -> int:
    """Score rankings that somebody else made, with intervals; the verdict is *stated*.

    Nothing is run, and nothing but --ids writes anything.
    """
    from runner.commands.score.ids import lines, write_ids
    from runner.commands.score.stating import score
    from runner.commands.score.text import markdown
    from runner.markdown import show
    from runner.runs.canonical import tabular
    from runner.runs.run import TABLES

    if (rankings is None) == (ids is None):
        raise UsageError("score takes --rankings FILE, or --ids DIR to write what may be ranked")
    if ids is not None:
        print(*lines(write_ids(ids, suite, granularity=granularity, data=data), ids), sep="\n")
        return 0
    assert rankings is not None
    stated = score(rankings, suite, granularity=granularity, data=data, scope=scope, name=name)
    if json:
        print(tabular(stated.document, TABLES), end="")
    else:
        show(markdown(stated))
    return 0

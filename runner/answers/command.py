"""`python -m runner answer RUN`: question answering over a finished run."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from runner.answers.request import AnswerOptions
from runner.options import Quiet, Run


def answer_command(
    folder: Run,
    /,
    *,
    options: Annotated[AnswerOptions, Parameter(name="*")],
    quiet: Quiet = False,
) -> int:
    """Have a reader answer from what a run retrieved, and a judge compare with the corpus's answers."""
    from runner.answers.answering import answer
    from runner.answers.document import markdown
    from runner.progress import Progress
    from runner.terminal import say

    made = answer(folder, options, progress=Progress(quiet=quiet))
    say(markdown(made.document))
    say(f"artefacts: {made.folder}")
    return 0

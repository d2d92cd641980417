"""`python -m runner answer RUN`: read a run, answer its questions, judge the answers, and count."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, TypeVar

from cyclopts import Parameter

from pgmnemo.errors import ModelError
from pgmnemo.models.chat import ChatModel, chat_of
from pgmnemo.models.concurrent_calls import Failures, run_concurrently
from pgmnemo.progress import QUIET, Progress
from pgmnemo.terminal import say
from runner.options import Quiet, Run
from runner.paths import ROOT
from runner.protocol.editions import current
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.environment import code, code_plan
from runner.runs.folder import RunFolder, pin_plan, results_base
from runner.runs.record_files import RecordFile
from runner.runs.storage import write_file
from runner.stages.answers.document import PAGE, answers_document, markdown
from runner.stages.answers.judge import judge_answer, judge_prompts, needs_judge, prompts_digest
from runner.stages.answers.lines import ANSWERS, DOCUMENT, JUDGEMENTS, AnswerLine, Judgement, line_of
from runner.stages.answers.options import AnswerOptions
from runner.stages.answers.source_run import SourceRun, read_errors, read_material

FOLDER = "answers"  # the folder for answer runs of a suite, apart from its results
T = TypeVar("T", bound=AnswerLine | Judgement)


@dataclass(frozen=True, slots=True)
class AnswerRun:
    """A finished answer run: its folder, and the document with its figures."""

    folder: Path
    document: Json


@dataclass(frozen=True)
class AnswerRunState:
    """The input of an answer run: the source run, both models, and the judge's prompts by rule."""

    material: SourceRun
    options: AnswerOptions
    reader: ChatModel
    judge: ChatModel
    prompts: Mapping[str, str]
    progress: Progress


def answer_command(
    folder: Run, /, *, options: Annotated[AnswerOptions, Parameter(name="*")], quiet: Quiet = False
) -> int:
    """Have a reader answer from what a run retrieved, and a judge compare with the corpus's answers."""
    made = answer(folder, options, progress=Progress(quiet=quiet))
    say(markdown(made.document))
    say(f"artefacts: {made.folder}")
    return 0


def answer(
    run: Path, options: AnswerOptions, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET
) -> AnswerRun:
    """Answer the questions of the finished run in the folder `run`, and judge the answers.

    Raises UnusableRunError if that run was changed, UsageError, CorpusError, OutputError, and ModelError if
    reader or judge cannot be reached or fail on more questions than allowed.
    """
    prompts = judge_prompts(options.judge_prompts)
    reader = chat_of(options.reader_url, options.reader_model, timeout=options.timeout)
    judge = chat_of(
        options.judge_url or options.reader_url,
        options.judge_model or options.reader_model,
        timeout=options.timeout,
    )
    material = read_material(run, options.data, options.arm, options.scope, environ)
    state = AnswerRunState(material, options, reader, judge, prompts, progress)
    names = spread(material, options.limit)
    wrong = read_errors(options.key_errors, material.keys) & set(names)
    with _folder(state) as (folder, started):
        with RecordFile(folder.path / ANSWERS, AnswerLine, line_of(AnswerLine)) as answers:
            said = _answer(state, names, answers)
        with RecordFile(folder.path / JUDGEMENTS, Judgement, line_of(Judgement)) as told:
            verdicts = _judge(state, said, told)
            again = list(_judge(state, _judged_twice(state, said), told, again=True).values())
        material.unchanged()
        models = (reader, judge)
        made = answers_document(
            material, options, models, prompts_digest(prompts), said, verdicts, again, wrong, started
        )
        write_file(folder.path / DOCUMENT, pretty(made))
        write_file(folder.path / PAGE, markdown(made))
        return AnswerRun(folder.finish(current().schemas), made)


def spread(source: SourceRun, limit: int | None) -> list[str]:
    """Return at most `limit` questions of the run that have a rule, evenly spread and in order."""
    return _evenly([name for name in source.retrieved if source.keys[name].rule], limit)


def _evenly(names: list[str], most: int | None) -> list[str]:
    return names[:: max(1, len(names) // most)][:most] if most else names


def _answer(
    state: AnswerRunState, names: Sequence[str], lines: RecordFile[AnswerLine]
) -> dict[str, AnswerLine]:
    """Return the reader's reply to each question; answered questions are not asked again."""

    def one(name: str) -> AnswerLine:
        question = state.material.questions[name]
        prompt, ids = state.material.prompt(name, state.options.k, state.options.context_chars)
        try:
            reply = state.reader.ask(prompt, state.options.max_tokens)
        except ModelError as error:
            return AnswerLine(name, question.type, "", ids, failed=str(error))
        refused = reply.refused or ("" if reply.text else "it answered nothing")
        tokens = (reply.prompt_tokens, reply.completion_tokens)
        return AnswerLine(name, question.type, reply.text, ids, refused, "", *tokens)

    return _made(one, names, lines, lines.held, state, f"the reader {state.reader.model}", "answers")


def _judge(
    state: AnswerRunState,
    said: Mapping[str, AnswerLine],
    lines: RecordFile[Judgement],
    *,
    again: bool = False,
) -> dict[str, Judgement]:
    """Return the verdict on each answer; answers that have a verdict are not judged again."""

    def one(name: str) -> Judgement:
        question, key = state.material.questions[name].text, state.material.keys[name]
        return judge_answer(state.judge, state.prompts, question, key, said[name], again)

    held = [line for line in lines.held if line.again is again and _stands(line, said)]
    label = "verdicts again" if again else "verdicts"
    return _made(one, list(said), lines, held, state, f"the judge {state.judge.model}", label)


def _stands(line: Judgement, said: Mapping[str, AnswerLine]) -> bool:
    """Return whether a recorded verdict still applies to the current answer.

    A verdict without a reply is valid only if the answer needs no judge.
    """
    answer = said.get(line.question)
    return answer is not None and (bool(line.reply) or not needs_judge(line.rule, answer))


def _judged_twice(state: AnswerRunState, said: Mapping[str, AnswerLine]) -> dict[str, AnswerLine]:
    """Return the answers to judge a second time, evenly spread."""
    names = [name for name in said if needs_judge(state.material.keys[name].rule, said[name])]
    most = state.options.judge_again
    return {name: said[name] for name in _evenly(names, most)} if most else {}


def _made(
    one: Callable[[str], T],
    names: Sequence[str],
    lines: RecordFile[T],
    held: Sequence[T],
    state: AnswerRunState,
    who: str,
    label: str,
) -> dict[str, T]:
    """Return a line for each question: the recorded one, or a new one, written as soon as it is ready.

    A failed question is asked again. Raises ModelError if too many fail.
    """
    found = {line.question: line for line in held if not line.failed}
    left = [name for name in names if name not in found]
    failures = Failures(who, "--max-failures", state.options.max_failures)
    made = run_concurrently(state.options.workers, one, left)
    for name, line in state.progress.track(made, label, len(left)):
        lines.write(line)
        found[name] = line
        if line.failed:
            failures.count(line.failed)
    return {name: found[name] for name in names}


@contextmanager
def _folder(state: AnswerRunState) -> Iterator[tuple[RunFolder, datetime]]:
    """Yield a partial folder, or the folder to resume; an error notes how to resume."""
    material, options, reader, judge = state.material, state.options, state.reader, state.judge
    run = material.results.run
    base = results_base(run.choice.suite, options.output, ROOT).with_name(FOLDER)
    base = options.output.expanduser().absolute() if options.output else base
    name = "_".join(_clean(part) for part in (run.name, options.reader_model))
    plan = {
        **code_plan(ROOT, code(ROOT)),
        "run": run.name, "manifest": material.manifest, "arm": material.arm, "scope": material.scope,
        "k": options.k, "context_chars": options.context_chars, "limit": options.limit,
        "max_tokens": options.max_tokens, "reader": [reader.model, reader.service.where],
        "judge": [judge.model, judge.service.where], "judge_prompts": prompts_digest(state.prompts),
    }  # fmt: skip
    with RunFolder.resume(options.resume) if options.resume else RunFolder.start(base, name) as folder:
        started = pin_plan(folder.path, plan, datetime.now(UTC).isoformat())
        try:
            yield folder, datetime.fromisoformat(started)
        except BaseException as error:
            if folder.path.exists():
                error.add_note(f"--resume {folder.path} goes on where it stopped")
            raise


def _clean(text: str) -> str:
    return "".join(one if one.isalnum() or one in ".+-_" else "-" for one in text).strip("-.")

"""The straight line of an answer run: read the run, answer, judge, judge some again, count, write."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from runner.answers.document import DOCUMENT, PAGE, document, markdown
from runner.answers.judging import asks, judged
from runner.answers.keys import read_errors
from runner.answers.lines import ANSWERS, JUDGEMENTS, Answered, Judged, Lines
from runner.answers.material import Material, read_material
from runner.answers.prompts import digest, judge_prompts
from runner.answers.request import AnswerOptions
from runner.editions import current
from runner.errors import ModelError
from runner.models.chat import Chat, chat_of
from runner.places import ROOT
from runner.progress import QUIET, Progress
from runner.records import Json
from runner.runs.canonical import pretty
from runner.runs.folder import RunFolder, results_base
from runner.runs.plan import pin_plan
from runner.runs.storage import write_file

KEY_VARIABLE = "PGMNEMO_LLM_API_KEY"
FOLDER = "answers"  # of a suite: never among its results
T = TypeVar("T", bound=Answered | Judged)


@dataclass(frozen=True, slots=True)
class Answering:
    """A finished answer run: its folder, and the document that its figures stand in."""

    folder: Path
    document: Json


def answer(
    run: Path, options: AnswerOptions, *, environ: Mapping[str, str] = os.environ, progress: Progress = QUIET
) -> Answering:
    """Answer the questions of the finished run in the folder `run`, and have the answers judged.

    Raises RefusedError where that run was changed, UsageError, CorpusError, OutputError, and ModelError where
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
    wrong, names = read_errors(options.key_errors, material.keys), _asked(material, options.limit)
    with _folder(material, options, reader, judge, digest(prompts)) as (folder, started):
        with (
            Lines(folder.path / ANSWERS, Answered) as answers,
            Lines(folder.path / JUDGEMENTS, Judged) as told,
        ):
            said = _answer(material, options, reader, names, answers, progress)
            verdicts = _judge(material, options, judge, prompts, said, told, progress)
            again = _judge_again(material, options, judge, prompts, said, told, progress)
        material.unchanged()
        made = document(
            material, options, reader, judge, digest(prompts), said, verdicts, again, wrong, started
        )
        write_file(folder.path / DOCUMENT, pretty(made))
        write_file(folder.path / PAGE, markdown(made))
        return Answering(folder.finish(current().schemas), made)


def _asked(material: Material, limit: int | None) -> list[str]:
    """The questions of the run for which there is a rule, in its order; `limit` of them, spread."""
    names = [name for name in material.retrieved if material.keys[name].rule]
    return names[:: max(1, len(names) // limit)][:limit] if limit else names


def _answer(
    material: Material,
    options: AnswerOptions,
    reader: Chat,
    names: Sequence[str],
    lines: Lines[Answered],
    progress: Progress,
) -> dict[str, Answered]:
    """What the reader says to each question; those that it has answered already are not asked again."""

    def one(name: str) -> Answered:
        question = material.questions[name]
        prompt, ids = material.prompt(name, options.k, options.context_chars)
        try:
            reply = reader.ask(prompt, options.max_tokens)
        except ModelError as error:
            return Answered(name, question.type, "", ids, failed=str(error))
        refused = reply.refused or ("" if reply.text else "it answered nothing")
        tokens = (reply.prompt_tokens, reply.completion_tokens)
        return Answered(name, question.type, reply.text, ids, refused, "", *tokens)

    held = {line.question: line for line in lines.held if not line.failed}
    left = [name for name in names if name not in held]
    made = _made(one, left, lines, options, f"the reader {reader.model}", "answers", progress)
    found = held | {line.question: line for line in made}
    return {name: found[name] for name in names}


def _judge(
    material: Material,
    options: AnswerOptions,
    judge: Chat,
    prompts: Mapping[str, str],
    said: Mapping[str, Answered],
    lines: Lines[Judged],
    progress: Progress,
    *,
    again: bool = False,
) -> dict[str, Judged]:
    """The verdict on each answer; those that stand already are not asked for again."""

    def one(name: str) -> Judged:
        return judged(judge, prompts, material.questions[name].text, material.keys[name], said[name], again)

    held = {line.question: line for line in lines.held if line.again is again and not line.failed}
    left = [name for name in said if name not in held]
    label = "verdicts again" if again else "verdicts"
    made = _made(one, left, lines, options, f"the judge {judge.model}", label, progress)
    found = held | {line.question: line for line in made}
    return {name: found[name] for name in said}


def _judge_again(
    material: Material,
    options: AnswerOptions,
    judge: Chat,
    prompts: Mapping[str, str],
    said: Mapping[str, Answered],
    lines: Lines[Judged],
    progress: Progress,
) -> list[Judged]:
    """Second verdicts on some answers that a judge was asked about, spread evenly."""
    names = [name for name in said if asks(material.keys[name], said[name])]
    most = options.judge_again
    some = names[:: max(1, len(names) // most)][:most] if most else []
    sample = {name: said[name] for name in some}
    return list(_judge(material, options, judge, prompts, sample, lines, progress, again=True).values())


def _made(
    one: Callable[[str], T],
    left: Sequence[str],
    lines: Lines[T],
    options: AnswerOptions,
    who: str,
    label: str,
    progress: Progress,
) -> list[T]:
    """A line for each question, written as it comes; ModelError where more fail than may."""
    made: list[T] = []
    with ThreadPoolExecutor(options.workers) as pool:
        try:
            for line in progress.track(pool.map(one, left), label, len(left)):
                lines.write(line)
                made.append(line)
                _stop(made, options.max_failures, who)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return made


def _stop(made: Iterable[Answered | Judged], most: int, who: str) -> None:
    failed = [line.failed for line in made if line.failed]
    if len(failed) > most:
        raise ModelError(
            f"{who} failed on {len(failed)} questions, and --max-failures allows {most} (the last: "
            f"{failed[-1]})"
        )


@contextmanager
def _folder(material: Material, options: AnswerOptions, reader: Chat, judge: Chat, prompts: str):  # type: ignore[no-untyped-def]
    """A partial folder, or the one that goes on; the error that ends it notes how to go on."""
    run = material.results.run
    base = results_base(run.choice.suite, options.output, ROOT).with_name(FOLDER)
    base = options.output.expanduser().absolute() if options.output else base
    name = "_".join(_clean(part) for part in (run.name, options.reader_model))
    plan = {
        "run": run.name, "manifest": material.manifest, "arm": material.arm, "scope": material.scope,
        "k": options.k, "context_chars": options.context_chars, "limit": options.limit,
        "max_tokens": options.max_tokens, "reader": [reader.model, reader.service.where],
        "judge": [judge.model, judge.service.where], "judge_prompts": prompts,
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

"""answers.json, with everything that its figures depend on, and answers.md, made only from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from pgmnemo.models.chat import ChatModel, prompt_sha256
from runner.markdown import table
from runner.paths import ROOT
from runner.records import Json
from runner.report.formats import MISSING
from runner.runs.environment import code
from runner.runs.run import Run, moment
from runner.stages.answers.figures import FigureInputs, answer_counts, figures, token_usage
from runner.stages.answers.lines import AnswerLine, Judgement
from runner.stages.answers.options import AnswerOptions
from runner.stages.answers.source_run import READER, SourceRun

PAGE = "answers.md"
SCHEMA = "pgmnemo/answers/2"
NO_RECALL = (
    "Figures of answers depend on reader, judge and retrieval together. They are no recall: they never stand "
    "in one table with one, and are cited with reader, judge and prompts or not at all."
)


def answers_document(
    source: SourceRun,
    options: AnswerOptions,
    models: tuple[ChatModel, ChatModel],
    prompts: str,
    said: Mapping[str, AnswerLine],
    verdicts: Mapping[str, Judgement],
    again: Sequence[Judgement],
    wrong: frozenset[str],
    started: datetime,
) -> Json:
    """Return the document of a finished answer run; `models` are reader and judge."""
    made, (reader, judge) = code(ROOT), models
    return {
        "schema": SCHEMA,
        "run": {
            **describe_run(source.results.run), "manifest_sha256": source.manifest,
            "arm": source.arm, "scope": source.scope, "k": options.k,
            "context_chars": options.context_chars,
        },
        "reader": {
            "model": reader.model, "url": reader.service.where, "max_tokens": options.max_tokens,
            "prompt_sha256": prompt_sha256(READER), "temperature": 0, "seed": reader.seed,
        },
        "judge": {
            "model": judge.model, "url": judge.service.where, "prompts_sha256": prompts,
            "own_words": options.judge_prompts is None, "temperature": 0, "seed": judge.seed,
        },
        **answer_counts(said, verdicts, again),
        "known_key_errors": [name for name in said if name in wrong],
        "figures": figures(FigureInputs.of(source), said, verdicts, wrong),
        "usage": {
            "reader": token_usage(list(said.values()), reader.model, options.prices),
            "judge": token_usage([*verdicts.values(), *again], judge.model, options.prices),
        },
        "code": {"commit": made.commit, "dirty": made.dirty},
        "started": moment(started),
        "finished": moment(datetime.now(UTC)),
    }  # fmt: skip


def describe_run(run: Run) -> Json:
    """Return the facts of the run that was read."""
    return {
        "name": run.name, "suite": run.choice.suite, "protocol": run.protocol.version,
        "verdict": run.verdict.value, "corpus_sha256": run.corpus.sha256,
    }  # fmt: skip


def markdown(made: Json) -> str:
    """Return answers.md."""
    run, reader, judge = made["run"], made["reader"], made["judge"]
    words = "own words" if judge["own_words"] else "words of the user's file"
    facts = [
        ("run", f"{run['name']} ({run['verdict']}), manifest {run['manifest_sha256']}"),
        ("retrieved by", f"{run['arm']}, scope {run['scope']}, first {run['k']}"),
        ("reader", f"{reader['model']} at {reader['url']}, prompt {reader['prompt_sha256'][:12]}…"),
        ("judge", f"{judge['model']} at {judge['url']}, prompts {judge['prompts_sha256'][:12]}… ({words})"),
        ("questions", f"{made['questions']:,}"),
        ("refused by the reader", f"{made['refusals']:,}, counted as wrong"),
        ("failed", f"reader {made['reader_failures']:,}, judge {made['judge_failures']:,}, counted as wrong"),
        ("keys known to be wrong", f"{len(made['known_key_errors']):,}"),
        ("verdicts in prose", f"{made['prose']:,}, right where they hold the word yes"),
        ("judge against itself", _agreement(made["agreement"])),
        *((f"{who}'s tokens", _usage(made["usage"][who])) for who in ("reader", "judge")),
    ]
    rows = [
        (row["metric"], row["type"], row["key"], *_figure(row), f"{row['n']:,}") for row in made["figures"]
    ]
    heads = ("figure", "type", "key", "value", "95 % interval", "n")
    return (
        f"# Answers: {run['suite']}, {reader['model']} judged by {judge['model']}\n\n{NO_RECALL}\n\n"
        f"{table(('what', 'found'), facts, 'll')}\n\n## Figures\n\n{table(heads, rows, 'lllrrr')}\n\n"
        "`judge`: share of answers that the judge holds right. `F1`: of words by LoCoMo's rule. Both in "
        "percent; every question counts, a refused or failed one as wrong.\n"
    )


def _agreement(found: Json) -> str:
    if not found["n"]:
        return "not asked a second time"
    kappa = "not defined" if found["kappa"] is None else f"{found['kappa']:.2f}"
    return f"the same verdict on {100 * found['same']:.1f} % of {found['n']:,}, kappa {kappa}"


def _usage(found: Json) -> str:
    cost = "price not given" if found["cost"] is None else f"cost {found['cost']:,.4f}"
    return f"{found['prompt_tokens']:,} read, {found['completion_tokens']:,} written; {cost}"


def _figure(row: Json) -> tuple[str, str]:
    if row["value"] is None:
        return MISSING, MISSING
    low, high = 100 * row["ci95_low"], 100 * row["ci95_high"]
    return f"{100 * row['value']:.1f}", f"[{low:.1f}, {high:.1f}]"

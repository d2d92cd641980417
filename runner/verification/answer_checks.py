"""The checks of an answer run: its files, its lines, its figures, and its source run.

An answer run has no entry in HISTORY.md and no gate (PROTOCOL.md §4.13). The replies of a model cannot be
checked; the figures that follow from them are checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pgmnemo.models.chat import prompt_sha256
from pgmnemo.registry import Registry
from runner.records import Json, Retrieval
from runner.runs.canonical import pretty
from runner.runs.folder import KEPT, LOCAL
from runner.runs.manifest import MANIFEST
from runner.runs.raw import RAW
from runner.runs.record_files import lines_text
from runner.runs.results import Results, is_run, read_results
from runner.runs.run import RUN
from runner.stages.answers.answer_run import spread
from runner.stages.answers.document import PAGE, describe_run, markdown
from runner.stages.answers.figures import JUDGED, FigureInputs, answer_counts, figures, token_usage
from runner.stages.answers.judge import JUDGE, prompts_digest, verdict_of_reply
from runner.stages.answers.lines import ANSWERS, DOCUMENT, JUDGEMENTS, AnswerLine, AnswerResults, Judgement
from runner.stages.answers.source_run import READER, SourceRun, read_material
from runner.verification.checks.files import demand_written, manifest
from runner.verification.context import Check, CheckFailed, CheckSkipped

FILES = (ANSWERS, JUDGEMENTS, DOCUMENT, PAGE, MANIFEST)


class AnswerRunContext(AnswerResults):
    """An answer run with its source run and corpus, if available.

    By default the source run is looked up next to the answer run's folder.
    """

    def __init__(self, folder: Path, run: Path | None = None, corpus: Path | None = None) -> None:
        super().__init__(folder)
        self.run_path, self.corpus_path = run, corpus

    @cached_property
    def source(self) -> Results | None:
        """The source run, with its files checked against its manifest; None if it is not available."""
        beside = [self.folder.parent.with_name(name) for name in (KEPT, LOCAL)]
        places = [self.run_path] if self.run_path else [one / self.document["run"]["name"] for one in beside]
        found = next((place for place in places if is_run(place)), self.run_path)
        return None if found is None else read_results(found, files=(RUN, RAW, "metrics.json"))

    @cached_property
    def retrieved(self) -> dict[str, Retrieval]:
        """Return the retrieval of each question by the source arm.

        The result is empty if the source run is not available.
        """
        told, rows = self.document["run"], self.source.rows if self.source else []
        return {row.question: row for row in rows if (row.arm, row.scope) == (told["arm"], told["scope"])}

    @cached_property
    def material(self) -> SourceRun | None:
        """The source run with its corpus.

        Returns None if either is not available. Raises CorpusMoved for another corpus.
        """
        if self.source is None or self.corpus_path is None:
            return None
        told = self.document["run"]
        return read_material(self.source.folder, self.corpus_path, told["arm"], told["scope"], {})


def complete(evidence: AnswerRunContext) -> str:
    """Check that the folder holds exactly the five files of an answer run."""
    present = sorted(path.name for path in evidence.folder.iterdir())
    if present != sorted(FILES):
        raise CheckFailed(
            f"the folder holds {', '.join(present)}, and an answer run {', '.join(sorted(FILES))}"
        )
    return f"{len(present)} files, none missing and none besides"


def schema(evidence: AnswerRunContext) -> str:
    """Check that every file has the text that the runner writes, and that the page follows from the
    document.
    """
    written = {
        DOCUMENT: pretty(evidence.document),
        ANSWERS: lines_text(evidence.answers),
        JUDGEMENTS: lines_text(evidence.judgements),
        PAGE: markdown(evidence.document),
    }
    demand_written(evidence, written)
    return f"{DOCUMENT} is {evidence.document['schema']}, and {PAGE} is made of it"


def prompts(evidence: AnswerRunContext) -> str:
    """Check that the prompts of reader and judge are those of this version."""
    reader, judge = evidence.document["reader"], evidence.document["judge"]
    commit = evidence.document["code"]["commit"] or "unknown"
    if reader["prompt_sha256"] != prompt_sha256(READER):
        raise CheckFailed(
            f"the reader's prompt is not the one of this version; the code was at commit {commit}"
        )
    if not judge["own_words"]:
        return "the reader's words are this version's; the judge's are of a file that was given"
    if judge["prompts_sha256"] != prompts_digest(JUDGE):
        raise CheckFailed(
            f"the judge's prompts are not those of this version; the code was at commit {commit}"
        )
    return "the words of reader and judge are this version's"


def verdicts(evidence: AnswerRunContext) -> str:
    """Check that exactly the answered questions have a verdict, and that each follows from the judge's
    reply.
    """
    said, first = evidence.said, evidence.verdicts()
    if set(first) != set(said):
        raise CheckFailed(f"{JUDGEMENTS} is not of the questions of {ANSWERS}, each of them judged")
    for line in (*first.values(), *evidence.verdicts(again=True).values()):
        if (wanted := _by_rule(line, said[line.question])) != line:
            raise CheckFailed(
                f"{JUDGEMENTS}, {line.question}: right is {line.right} and plain {line.plain}, by the reply "
                f"{wanted.right} and {wanted.plain}"
            )
    return f"{len(first):,} verdicts follow from what the judge said"


def _by_rule(line: Judgement, said: AnswerLine) -> Judgement:
    """Return the verdict that follows from the judge's reply and the answer, by the rule.

    For an adversarial question from the answer only.
    """
    right, plain = (False, False) if line.failed else verdict_of_reply(line.rule, line.reply, said)
    return replace(line, right=right, plain=plain)


def counts(evidence: AnswerRunContext) -> str:
    """Check that refusals, failures, prose, agreement and tokens are the sums over the lines."""
    made, said = evidence.document, evidence.said
    first, again = evidence.verdicts(), evidence.verdicts(again=True)
    for name, value in answer_counts(said, first, list(again.values())).items():
        if made[name] != value:
            raise CheckFailed(f"{DOCUMENT}: {name} is {made[name]}, by the lines {value}")
    lines: dict[str, Sequence[AnswerLine | Judgement]] = {
        "reader": list(said.values()),
        "judge": [*first.values(), *again.values()],
    }
    for who, some in lines.items():
        found = token_usage(some, made[who]["model"], {}) | {"cost": made["usage"][who]["cost"]}
        if made["usage"][who] != found:
            raise CheckFailed(f"{DOCUMENT}: the {who}'s tokens are not the sum of its lines")
    return f"refusals, failures, agreement and tokens follow from {len(said):,} answers"


def run(evidence: AnswerRunContext) -> str:
    """Check that the source run is the named run, and that the reader read its first ranks."""
    source, told = evidence.source, evidence.document["run"]
    if source is None:
        raise CheckSkipped(f"the run {told['name']} is not beside this folder; name it with --run")
    if (found := source.digest(MANIFEST)) != told["manifest_sha256"]:
        named = told["manifest_sha256"]
        raise CheckFailed(f"the manifest of {source.folder.name} has sha256 {found[:12]}…, not {named[:12]}…")
    for name, value in describe_run(source.run).items():
        if told[name] != value:
            raise CheckFailed(f"{DOCUMENT}: the run's {name} is {told[name]}, in its run.json {value}")
    for name, answer in evidence.said.items():
        if name not in evidence.retrieved:
            raise CheckFailed(f"{ANSWERS}: {told['arm']} answered no question {name} in {told['scope']}")
        if list(answer.retrieved) != [hit.id for hit in evidence.retrieved[name].ranking[: told["k"]]]:
            raise CheckFailed(f"{ANSWERS}, {name}: what was read is not what {told['arm']} ranks first")
    return (
        f"the reader read the first {told['k']} of {told['arm']} for each of {len(evidence.said):,} questions"
    )


def figures_of(evidence: AnswerRunContext) -> str:
    """Check that the figures follow from the lines; intervals need the source run, and F1 also the corpus."""
    made, material = evidence.document, evidence.material
    said, wrong = evidence.said, made["known_key_errors"]
    ordered = {name: said[name] for name in evidence.retrieved if name in said} or said
    wanted = figures(_basis(evidence, material), ordered, evidence.verdicts(), wrong)
    recorded = made["figures"] if material else [row for row in made["figures"] if row["metric"] == JUDGED]
    whole = evidence.source is not None
    if len(recorded) != len(wanted):
        raise CheckFailed(f"{DOCUMENT} has {len(recorded)} figures, and the lines give {len(wanted)}")
    for one, other in zip(recorded, wanted, strict=True):
        if _told(one, whole) != _told(other, whole):
            raise CheckFailed(f"{DOCUMENT}: {_words(one)}, by the lines {_words(other)}")
    left = (
        "" if material else "; F1 needs --corpus" if whole else "; F1 and intervals need the run and --corpus"
    )
    return f"{len(wanted)} figures follow from the lines{left}"


def _basis(evidence: AnswerRunContext, source: SourceRun | None) -> FigureInputs:
    if source is not None:
        return FigureInputs.of(source)
    rules = {line.question: line.rule for line in evidence.judgements}
    projects = {name: row.project for name, row in evidence.retrieved.items()}
    clustered = evidence.source is not None and evidence.source.run.corpus.clustered
    return FigureInputs(evidence.document["run"]["suite"], clustered, rules, projects)


def _told(row: Json, whole: bool) -> Json:
    return row if whole else {name: value for name, value in row.items() if not name.startswith("ci95")}


def _words(row: Json) -> str:
    return f"{row['metric']} of {row['type']} ({row['key']}) is {row['value']} over {row['n']}"


def corpus(evidence: AnswerRunContext) -> str:
    """Check with the corpus that every planned question was asked and is judged by the rule of its type."""
    if evidence.corpus_path is None:
        raise CheckSkipped("give --corpus PATH")
    if (material := evidence.material) is None:
        raise CheckSkipped("the run is not at hand; name it with --run")
    said, wanted = set(evidence.said), set(spread(material, len(evidence.said)))
    if left := min(wanted - said, default=""):
        raise CheckFailed(
            f"{ANSWERS}: {left} has no answer; {len(said):,} questions were answered, and not those that "
            "are spread evenly over the run's"
        )
    for line in evidence.judgements:
        if line.rule != material.keys[line.question].rule:
            raise CheckFailed(
                f"{JUDGEMENTS}, {line.question}: judged as {line.rule}, in the corpus it is "
                f"{material.keys[line.question].rule}"
            )
    return f"{len(said):,} questions, spread evenly over the run's, are judged by the rule of their type"


_ORDER: dict[str, Any] = {
    "complete": complete, "manifest": manifest, "schema": schema, "prompts": prompts, "verdicts": verdicts,
    "counts": counts, "run": run, "figures": figures_of, "corpus": corpus,
}  # fmt: skip
ANSWER_CHECKS: Registry[Check[AnswerRunContext]] = Registry(
    "check of answers", {name: Check(name, look) for name, look in _ORDER.items()}
)

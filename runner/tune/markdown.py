"""The tables of a tuning, from its JSON alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from runner.records import Json
from runner.tune.tasks import FIGURES
from runner.tune.weights import short

MARKDOWN, JSON = "TUNING.md", "tuning.json"
COMMAND = "python -m runner tune"
CORPORA = (
    "corpus", "file", "sha256", "questions", "lessons", "scores compared", "farthest apart", "ranked apart",
)  # fmt: skip
WHAT = """\
The components of every question and lesson are what `recall_lessons` answers over the whole scope; weights
are moved offline. Before that, every score and rank at the default is compared with the extension's own:"""
SAID = """\
**In-sample**: the questions that a figure is over also chose the weights, or could have. The components and
the grid were chosen by looking at all of these corpora; folds protect the weights alone. A file with items
that are kept for acceptance is refused."""


def markdown(made: Json) -> str:
    """One text."""
    parts = (_head, _figures, _chosen, _slopes, _ablation, _types)
    return "\n".join(line for part in parts for line in part(made)) + "\n"


def _head(made: Json) -> Iterator[str]:
    suites = dict.fromkeys(task["task"].split()[0] for task in made["tasks"])
    command = " ".join([COMMAND, *(f"--suite {name}" for name in suites), f"--version v{made['version']}"])
    yield "# Tuning: where the default weights come from"
    yield ""
    yield f"Written by `{command}`; the same figures, unrounded, stand in [{JSON}]({JSON})."
    yield (
        f"Extension {made['version']} (fingerprint `{made['fingerprint'][:12]}`), embedder "
        f"{made['embedder']}, protocol {made['protocol']}, metric code {made['metric_code']}; no reranker, "
        "no language model."
    )
    yield ""
    yield from WHAT.splitlines()
    yield ""
    rows = [
        [
            task["task"], task["file"], f"`{task['corpus_sha256'][:12]}`", f"{task['questions']:,}",
            f"{task['lessons']:,}", f"{agreed['scores']:,}", f"{agreed['farthest']:.1e}",
            str(agreed["displaced"]),
        ]
        for task, agreed in zip(made["tasks"], made["agreement"], strict=True)
    ]  # fmt: skip
    yield from _table(CORPORA, rows)
    yield "All figures are per cent. Their 95 % intervals:"
    yield ""
    for task in made["tasks"]:
        yield f"- {task['task']}: {task['intervals']['value']}; of a difference, the"
        yield f"  {task['intervals']['difference']}"
    yield ""
    yield from SAID.splitlines()
    yield ""


def _figures(made: Json) -> Iterator[str]:
    yield "## The default in-sample, and weights chosen without the questions that judge them"
    yield ""
    yield _source(made)
    yield ""
    for task in _names(made):
        rows = [
            [f"{row['weights']}, {row['sample']}, {row['depth']}", f"{row['n']:,}", *_cells(row)]
            for row in made["figures"]
            if row["task"] == task
        ]
        yield f"### {task}, in-sample and held out"
        yield ""
        yield from _table(["weights", "n", *FIGURES], rows)
    yield "*Whole scope* ranks every lesson; *as a run recalls* has the default pool of each leg."
    yield ""


def _chosen(made: Json) -> Iterator[str]:
    names = list(made["grid"])
    yield "## The weights that each ascent chose"
    yield ""
    yield (
        "One weight after the other is set to the value of its grid that serves the training questions best, "
        "for two rounds. What is served is the sum of these figures:"
    )
    yield ""
    for task in made["tasks"]:
        yield f"- {task['task']}: {', '.join(f'`{aim}`' for aim in task['aims'])}"
    yield ""
    grid = [[f"`{name}`", ", ".join(map(short, values))] for name, values in made["grid"].items()]
    yield from _table(["weight", "grid"], grid)
    rows = [["the default", *(short(made["default"][name]) for name in names)]]
    rows += [["neutral", *(short(made["neutral"][name]) for name in names)]]
    rows += [
        [
            f"{row['protocol']}, from {row['start']}, without {row['held out']}",
            *(short(row["weights"][n]) for n in names),
        ]
        for row in made["chosen"]
    ]
    yield from _table(["ascent", *(name.removesuffix("_weight") for name in names)], rows)


def _slopes(made: Json) -> Iterator[str]:
    yield "## How flat the optimum is: a sweep of one weight, the others at the default, in-sample"
    yield ""
    yield f"{_source(made)} The value in bold is the default."
    yield ""
    for task in _names(made):
        rows = [
            [
                f"{row['weight']} {_bold(short(row['value']), row['default'])}",
                *(_percent(row[f]) for f in FIGURES),
            ]
            for row in made["slopes"]
            if row["task"] == task
        ]
        yield f"### {task}, sweep"
        yield ""
        yield from _table(["weight", *FIGURES], rows)


def _ablation(made: Json) -> Iterator[str]:
    yield "## Ablation: each component off, one at a time"
    yield ""
    yield (
        f"{_source(made)} Differences to the default in points, paired by question, with 95 % intervals; the "
        "other weights stay. An interval that holds 0 shows no effect on that corpus."
    )
    yield ""
    for task in _names(made):
        rows = [[row["off"], *_cells(row, sign="+")] for row in made["ablation"] if row["task"] == task]
        yield f"### {task}, ablation"
        yield ""
        yield from _table(["off", *FIGURES], rows)


def _types(made: Json) -> Iterator[str]:
    yield "## The default by type of question, in-sample"
    yield ""
    yield _source(made)
    yield ""
    for task in _names(made):
        rows = [
            [row["type"], str(row["n"]), *(_percent(row[figure][0]) for figure in FIGURES)]
            for row in made["types"]
            if row["task"] == task
        ]
        yield f"### {task}, in-sample by type"
        yield ""
        yield from _table(["type", "n", *FIGURES], rows)


def _source(made: Json) -> str:
    return f"Protocol {made['protocol']}, in-sample figures and ablations from [{JSON}]({JSON})."


def _names(made: Json) -> list[str]:
    return [task["task"] for task in made["tasks"]]


def _cells(row: Json, sign: str = "") -> Iterator[str]:
    for figure in FIGURES:
        value, low, high = (format(100 * number, f"{sign}.2f") for number in row[figure])
        yield f"{value} [{low}, {high}]"


def _percent(value: float) -> str:
    return format(100 * value, ".2f")


def _bold(text: str, yes: bool) -> str:
    return f"**{text}**" if yes else text


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield "|---" * len(heads) + "|"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""

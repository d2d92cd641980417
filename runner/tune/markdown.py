"""The tables of a tuning, from its JSON alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from runner.markdown import table
from runner.records import Json
from runner.tune import words
from runner.tune.tasks import FIGURES
from runner.tune.weights import short

MARKDOWN, JSON = "TUNING.md", "tuning.json"
COMMAND = "python -m runner tune"
NEAR = 0.5
CORPORA = (
    "corpus", "file", "sha256", "questions", "lessons", "scores compared", "farthest apart", "ranked apart",
    "at random weights", "farthest apart", "ranked apart",
)  # fmt: skip


def markdown(made: Json) -> str:
    """One text."""
    parts = (_head, _figures, _chosen, _slopes, _ablation, _types)
    return "".join(f"{paragraph}\n\n" for part in parts for paragraph in part(made))


def _head(made: Json) -> Iterator[str]:
    suites = dict.fromkeys(task["task"].split()[0] for task in made["tasks"])
    command = " ".join([COMMAND, *(f"--suite {name}" for name in suites), f"--version v{made['version']}"])
    yield "# Tuning: where the default weights come from"
    yield (
        f"Written by `{command}`; the same figures, unrounded, stand in [{JSON}]({JSON}).\n"
        f"Extension {made['version']} (fingerprint `{made['fingerprint'][:12]}`), embedder "
        f"{made['embedder']}, protocol {made['protocol']}, metric code {made['metric_code']}; no reranker, "
        "no language model."
    )
    yield words.COMPONENTS
    rows = [
        [
            task["task"], task["file"], f"`{task['corpus_sha256'][:12]}`", f"{task['questions']:,}",
            f"{task['lessons']:,}", *_agreed(agreed), *_agreed(agreed["at random weights"]),
        ]
        for task, agreed in zip(made["tasks"], made["agreement"], strict=True)
    ]  # fmt: skip
    yield table(CORPORA, rows, "lllrrrrrrrr")
    yield "All figures are per cent. Their 95 % intervals:"
    yield _each(
        made, lambda task: "{value}; of a difference, the\n  {difference}".format(**task["intervals"])
    )
    yield words.IN_SAMPLE


def _agreed(found: Json) -> Iterator[str]:
    yield from (f"{found['scores']:,}", f"{found['farthest']:.1e}", str(found["displaced"]))


def _figures(made: Json) -> Iterator[str]:
    yield "## The default in-sample, and weights chosen without the questions that judge them"
    yield words.FIGURES
    yield from _by_task(
        made, "figures", "in-sample and held out", ["weights", "n", *FIGURES],
        lambda row: [f"{row['weights']}, {row['sample']}, {row['depth']}", f"{row['n']:,}", *_cells(row)],
    )  # fmt: skip


def _chosen(made: Json) -> Iterator[str]:
    names = list(made["grid"])
    yield "## The weights that each ascent chose"
    yield words.ASCENT
    yield _each(made, lambda task: ", ".join(f"`{aim}`" for aim in task["aims"]))
    grid = [[f"`{name}`", ", ".join(map(short, values))] for name, values in made["grid"].items()]
    yield table(["weight", "grid"], grid, "ll")
    rows = [["the default", *(short(made["default"][name]) for name in names)]]
    rows += [["neutral", *(short(made["neutral"][name]) for name in names)]]
    rows += [
        [
            f"{row['protocol']}, from {row['start']}, {_without(row['held out'])}",
            *(short(row["weights"][n]) for n in names),
        ]
        for row in made["chosen"]
    ]
    yield table(["ascent", *(name.removesuffix("_weight") for name in names)], rows)


def _without(held_out: str) -> str:
    return f"without {held_out}" if held_out else "over all questions"


def _slopes(made: Json) -> Iterator[str]:
    yield "## How flat the optimum is: one weight moved, the others at the default"
    yield words.SLOPES.format(near=NEAR)
    yield _each(made, lambda task: _near(made, task))
    yield from _by_task(
        made, "slopes", "sweep, in-sample", ["weight", *FIGURES],
        lambda row: [
            f"{row['weight']} {_bold(short(row['value']), row['default'])}",
            *(_percent(row[figure]) for figure in FIGURES),
        ],
    )  # fmt: skip


def _near(made: Json, task: Json) -> str:
    """How many moves of one weight stay within NEAR points of the default, and of how many."""
    rows = [row for row in made["slopes"] if row["task"] == task["task"]]
    stay = next(row for row in rows if row["default"])
    moved = [row for row in rows if not row["default"]]
    near = [row for row in moved if all(100 * (stay[aim] - row[aim]) <= NEAR for aim in task["aims"])]
    return f"{len(near)} of {len(moved)}"


def _ablation(made: Json) -> Iterator[str]:
    yield "## Ablation: each component off, one at a time"
    yield words.ABLATION
    yield from _by_task(
        made, "ablation", "ablation, in-sample", ["off", *FIGURES],
        lambda row: [row["off"], *_cells(row, sign="+")],
    )  # fmt: skip


def _types(made: Json) -> Iterator[str]:
    yield "## The default by type of question"
    yield from _by_task(
        made, "types", "by type, in-sample", ["type", "n", *FIGURES],
        lambda row: [row["type"], str(row["n"]), *(_percent(row[figure][0]) for figure in FIGURES)],
    )  # fmt: skip


def _by_task(
    made: Json, rows: str, what: str, heads: Sequence[str], cells: Callable[[Json], Sequence[str]]
) -> Iterator[str]:
    """A table for each task, with its source before it."""
    for task in made["tasks"]:
        yield f"### {task['task']}, {what}"
        yield f"Protocol {made['protocol']}, `{rows}` of [{JSON}]({JSON}), {task['questions']:,} questions."
        yield table(heads, [cells(row) for row in made[rows] if row["task"] == task["task"]])


def _each(made: Json, words: Callable[[Json], str]) -> str:
    """A list of the tasks, each with its words."""
    return "\n".join(f"- {task['task']}: {words(task)}" for task in made["tasks"])


def _cells(row: Json, sign: str = "") -> Iterator[str]:
    for figure in FIGURES:
        value, low, high = (format(100 * number, f"{sign}.2f") for number in row[figure])
        yield f"{value} [{low}, {high}]"


def _percent(value: float) -> str:
    return format(100 * value, ".2f")


def _bold(text: str, yes: bool) -> str:
    return f"**{text}**" if yes else text

"""What a coding agent's hook adds to prompts, by the floor of fit, and what tool output does to answers.

    python benchmarks/agents/recall.py [--embedder NAME] [--floors 0.15,0.2,0.25,…]

The sessions of `session.jsonl`, of the form of Claude Code, are made up, as are `prompts.jsonl`, with the
messages that each prompt needs (of 49 prompts 24 need none), and `questions.jsonl`, with the messages that
answer each. They are for choosing: what was chosen on them is not measured by them. Prints two tables.

    wanted      share of the added tokens that are of messages that the prompt needs
    met         share of the prompts with a need that get a message that they need
    undisturbed share of the prompts without a need to which nothing is added
    tokens      added to a prompt, on average

    first       share of the questions whose first hit answers them
    in block    share of the questions that are answered in what the hook adds, at the floor that it has
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pgmnemo import Memory, Scope
from pgmnemo.client.rendering import about_tokens
from pgmnemo.importers import IMPORTERS, ImportOptions
from pgmnemo.integrations.prompt_recall import (
    FIT,
    HITS,
    MAX_TOKENS,
    NOTE,
    SAID,
    question_of,
    select_notes,
)
from runner.markdown import table

HERE = Path(__file__).parent
FLOORS = "0,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.5"


@contextmanager
def stored_sessions(embedder: str, *, tools: bool) -> Iterator[Scope]:
    """Yield a project with the sessions, in a memory that lasts as long as the block."""
    found = IMPORTERS["claude-code"](HERE / "session.jsonl", options=ImportOptions(tools=tools))
    with TemporaryDirectory(prefix="mnemo-agents-") as folder:
        Path(folder).chmod(0o755)  # as root the server runs as another user
        with Memory.open(f"{folder}/memory", embedder=None if embedder == "none" else embedder) as memory:
            scope = memory.tenant("ada").project("slipway")
            scope.add_many([one.item for one in found])
            yield scope


def added_notes(
    scope: Scope, prompt: str, floor: float, filter: Mapping[str, Any] | None = SAID
) -> list[str]:
    """Return the notes that the hook adds to a prompt."""
    if (question := question_of({"prompt": prompt})) is None:
        return []
    found = scope.context(question, max_tokens=MAX_TOKENS, k=HITS, min_fit=floor, filter=filter)
    _, *notes = NOTE.split(select_notes(question, found.text, [hit.text for hit in found.hits])) or [""]
    return notes


def has_one_of(text: str, wanted: Sequence[str]) -> bool:
    return any(f"claude-code/{key}\n" in f"{text}\n" for key in wanted)


def floor_row(scope: Scope, prompts: Sequence[Mapping[str, Any]], floor: float) -> list[str]:
    """Return the row of a floor."""
    total = wanted = met = undisturbed = 0
    for one in prompts:
        notes = added_notes(scope, one["prompt"], floor)
        good = [note for note in notes if has_one_of(note.partition("\n")[0], one["wanted"])]
        total += sum(map(about_tokens, notes))
        wanted += sum(map(about_tokens, good))
        met += bool(good)
        undisturbed += not one["wanted"] and not notes
    needs = sum(bool(one["wanted"]) for one in prompts)
    return [
        f"{floor:.2f}", f"{wanted / max(total, 1):.2f}", f"{met / needs:.2f}",
        f"{undisturbed / (len(prompts) - needs):.2f}", f"{total / len(prompts):.0f}",
    ]  # fmt: skip


def answer_row(
    scope: Scope, questions: Sequence[Mapping[str, Any]], name: str, filter: Mapping[str, Any] | None
) -> list[str]:
    """Return the row of a way to store and recall."""
    firsts = blocks = 0
    for one in questions:
        hits = scope.recall(one["question"], k=1, filter=filter)
        firsts += any(has_one_of(hit.key, one["wanted"]) for hit in hits)
        heads = (note.partition("\n")[0] for note in added_notes(scope, one["question"], FIT, filter))
        blocks += any(has_one_of(head, one["wanted"]) for head in heads)
    return [name, f"{firsts / len(questions):.2f}", f"{blocks / len(questions):.2f}"]


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--floors", default=FLOORS)
    given = parser.parse_args()
    prompts, questions = _lines("prompts.jsonl"), _lines("questions.jsonl")
    with stored_sessions(given.embedder, tools=False) as scope:
        rows = [floor_row(scope, prompts, float(floor)) for floor in given.floors.split(",")]
        answers = [answer_row(scope, questions, "no tool output is stored", None)]
    with stored_sessions(given.embedder, tools=True) as scope:
        answers.append(answer_row(scope, questions, "stored, and recalled", None))
        answers.append(answer_row(scope, questions, "stored, and left out by the hook", SAID))
    print(table(["floor", "wanted", "met", "undisturbed", "tokens"], rows))
    print(table(["tool output", "first", "in block"], answers))


if __name__ == "__main__":
    main()

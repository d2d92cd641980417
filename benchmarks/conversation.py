"""Ask a memory of 60 days of chat what the user said, when the questions lie in it as well.

    python benchmarks/conversation.py [--embedder NAME] [--version V] [--asked 0,1,5,10] [--seed N]
                                      [--languages english,german,chinese] [--set NAME=VALUE] [--list]
                                      [--out FILE]

Three persons, each with a language and a memory, wrote the chats of `chats/generator.py`. Every message is
stored with its role and time, and each of 30 questions as often as it was asked before. Then each is asked
once more, one day later. The right answer is the newest message about the fact. The table has, in per
cent with 95 % intervals (Wilson):

    first, first five     the answer is the first hit, among the first five
    context               the answer is in context(max_tokens=300)
    repeats, questions    of the first five hits: nearly equal to a hit above it; nearly equal to the question
    newer ahead           questions about a changed fact: the newer message is a hit of ten, above the older
    newer in context      the same questions: the newer message is in context

The last line is a small case: six messages, and a question that is asked and stored ten times. --list prints
the questions whose answer is not first or not in context, with the hits above it. --out writes every result
as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from benchmarks.chats.generator import ASKINGS, LANGUAGES, make_chat
from benchmarks.chats.measure import SHOWN, K, Result, ask, ask_about_boat, load, open_memory
from pgmnemo.errors import PgmnemoError
from pgmnemo.postgres.releases import default_version
from runner.markdown import table
from runner.protocol.statistics.single import mean_interval

HEAD = (
    "language", "asked before", "n", "first", "first five", "context", "repeats", "questions",
    "changed n", "newer ahead", "newer in context",
)  # fmt: skip


def share(results: Sequence[Result], value: Callable[[Result], float]) -> str:
    """Return the mean of a value in [0, 1] in per cent, with its interval; `-` without results."""
    if not results:
        return "-"
    found = mean_interval(np.array([[value(one)] for one in results], float))
    mean, low, high = (100 * float(end[0]) for end in (found.value, found.low, found.high))
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def row_of(results: Sequence[Result]) -> tuple[str, ...]:
    """Return the row of one language after one number of askings."""
    changed = [one for one in results if one.question.older]
    return (
        results[0].language,
        str(results[0].asked),
        str(len(results)),
        share(results, lambda one: one.rank == 1),
        share(results, lambda one: (one.rank or K) <= SHOWN),
        share(results, lambda one: one.in_context),
        share(results, lambda one: one.repeats / SHOWN),
        share(results, lambda one: one.questions / SHOWN),
        str(len(changed)),
        share(changed, lambda one: one.newer_ahead),
        share(changed, lambda one: one.in_context),
    )


def misses(results: Sequence[Result]) -> Iterator[str]:
    """Yield a paragraph for each question whose answer is not first or not in context."""
    for one in results:
        if one.rank != 1 or not one.in_context:
            way = "indirect" if one.question.indirect else "direct"
            yield f"{one.language}, asked {one.asked} times before, {way}: {one.question.text}"
            yield f"  expected: {one.question.answer}"
            place = f"rank {one.rank}" if one.rank else f"not among {K} hits"
            yield f"  {place}, {'' if one.in_context else 'not '}in context"
            above = min((one.rank or K + 1) - 1, SHOWN)
            for number, (text, why) in enumerate(zip(one.hits[:above], one.reasons, strict=False), 1):
                yield f"  {number}. {text}\n     {why}"


def numbers(text: str) -> list[int]:
    """Return the askings that a list by comma names; argparse's error for others."""
    found = [int(word) if word.isdecimal() else -1 for word in text.split(",")]
    if not all(0 <= number <= ASKINGS for number in found):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of numbers from 0 to {ASKINGS}, such as 0,1,5")
    return found


def languages(text: str) -> list[str]:
    """Return the languages that a list by comma names; argparse's error for others."""
    if unknown := [word for word in text.split(",") if word not in LANGUAGES]:
        raise argparse.ArgumentTypeError(f"no chat is in {unknown[0]!r}; choose of {', '.join(LANGUAGES)}")
    return text.split(",")


def setting(text: str) -> tuple[str, str]:
    """Return the name and the value of a setting; argparse's error without a name."""
    name, equal, value = text.partition("=")
    if not name or not equal:
        raise argparse.ArgumentTypeError(f"{text!r} is no setting; write NAME=VALUE")
    return name, value


def parse(words: Sequence[str] | None) -> argparse.Namespace:
    """Return the options of the command."""
    given = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    given.add_argument("--embedder", default="minilm-int8")
    given.add_argument("--version", default=default_version(), help="of pgmnemo")
    given.add_argument("--asked", type=numbers, default="0,1,5,10", help="askings before, by comma")
    given.add_argument("--languages", type=languages, default=",".join(LANGUAGES), help="by comma")
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--set", type=setting, action="append", default=[], metavar="NAME=VALUE")
    given.add_argument("--list", action="store_true", help="print what was missed")
    given.add_argument("--out", type=Path, metavar="FILE", help="write every result as JSON")
    return given.parse_args(words)


def measure(options: argparse.Namespace) -> tuple[list[list[Result]], tuple[int | None, bool]]:
    """Return the results of each language and number of askings, and those of the small case."""
    groups = []
    with open_memory(options.version, options.embedder, dict(options.set)) as memory:
        for language in options.languages:
            for asked in options.asked:
                chat = make_chat(language, seed=options.seed, asked=asked)
                scope = load(memory, chat, f"{chat.person} {asked}")
                groups.append(list(ask(scope, chat, asked)))
        return groups, ask_about_boat(memory)


def document(options: argparse.Namespace, groups: Sequence[Sequence[Result]]) -> dict[str, object]:
    """Return every result with its figures, for a file."""
    figures = ("rank", "in_context", "repeats", "questions", "newer_ahead")
    results = [
        {**asdict(one), **{name: getattr(one, name) for name in figures}} for group in groups for one in group
    ]
    made = {name: getattr(options, name) for name in ("version", "embedder", "seed", "set")}
    return {**made, "results": results}


def main(words: Sequence[str] | None = None) -> int:
    """Print the tables; return 2 where the memory cannot be made or the file not be written."""
    options = parse(words)
    try:
        groups, (rank, in_context) = measure(options)
        if options.out:
            found = {**document(options, groups), "boat": {"rank": rank, "in_context": in_context}}
            options.out.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except (PgmnemoError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"pgmnemo {options.version}, {options.embedder}, seed {options.seed}\n")
    print(table(HEAD, [row_of(group) for group in groups], "lrrrrrrrrrr"))
    print(f"\nThe boat, asked {ASKINGS} times before: rank {rank or '-'}, in context: {in_context}")
    if options.list:
        print("", *(line for group in groups for line in misses(group)), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

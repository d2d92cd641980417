"""The answers that a corpus gives, by question: what a reader is judged against, and nothing else reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from runner.errors import RunnerError, UsageError
from runner.records import Json
from runner.registry import Registry
from runner.runs.regular import demand_regular
from runner.suites.locomo import CATEGORIES
from runner.suites.longmemeval import is_abstention
from runner.suites.reading import Source
from runner.suites.schema import each, take


class CorpusMoved(RunnerError):
    """The corpus at hand is not the one that the run searched."""

    code = 3


@dataclass(frozen=True, slots=True)
class Key:
    """One answer of the corpus, the rule by which it is judged, and the day on which it is asked for."""

    answer: str
    rule: str
    asked_on: str = ""


ABSTENTION = "abstention"


def _locomo(source: Source) -> dict[str, Key]:
    """Keys `conv-26/q0`; the rule is the category. An adversarial question has the answer `not mentioned`."""
    keys: dict[str, Key] = {}
    for item in source.items():
        project = take(item, "sample_id", str, f"an item of {source.path}")
        for at, entry in enumerate(each(item, "qa", dict, project)):
            keys[f"{project}/q{at}"] = _of_locomo(entry)
    return keys


def _of_locomo(entry: Json) -> Key:
    rule = CATEGORIES.get(entry.get("category", 0), "")
    answer = "" if rule == "adversarial" else str(entry.get("answer", ""))
    return Key(answer.split(";")[0].strip() if rule == "open-domain" else answer, rule)


def _longmemeval(source: Source) -> dict[str, Key]:
    """Keys are question ids; the rule is the question's type, or abstention."""
    keys: dict[str, Key] = {}
    for item in source.items():
        name = take(item, "question_id", str, f"an item of {source.path}")
        rule = ABSTENTION if is_abstention(name) else take(item, "question_type", str, name)
        keys[name] = Key(str(item.get("answer", "")), rule, str(item.get("question_date", "")))
    return keys


KEYS: Registry[Callable[[Source], dict[str, Key]]] = Registry(
    "key of answers for the suite", {"locomo": _locomo, "longmemeval": _longmemeval}
)


def read_keys(suite: str, path: Path, sha256: str) -> Mapping[str, Key]:
    """The answers of a suite's corpus; UsageError where the suite has none, CorpusMoved for another file."""
    source = Source(path)
    keys = KEYS[suite](source)
    if (found := source.sha256()) != sha256:
        raise CorpusMoved(
            f"{path} is not the corpus of the run: its sha256 is {found[:12]}…, the run searched "
            f"{sha256[:12]}…; name that file with --data"
        )
    return keys


def read_errors(path: Path | None, keys: Mapping[str, Key]) -> frozenset[str]:
    """Questions whose answer is known to be wrong: one key a line. UsageError for another file."""
    if path is None:
        return frozenset()
    try:
        demand_regular(path, UsageError)
        named = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except UsageError as error:
        raise UsageError(f"--key-errors: {error}; name a text file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--key-errors: {path} cannot be read ({error}); name a text file") from None
    listed = frozenset(line for line in named if line and not line.startswith("#"))
    if unknown := sorted(listed - set(keys)):
        raise UsageError(
            f"--key-errors: {unknown[0]!r} is no question of the corpus; write one key a line, such as "
            f"{next(iter(keys), 'conv-26/q0')}"
        )
    return listed

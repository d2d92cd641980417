"""The data behind the list of questions: a header as JSON, and packed columns for the bulk."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runner.records import Json, RankedSegment, Retrieval
from runner.report.html.gold_ranks import ScopeAnswers

WIDEST = 25  # bits that assets/unpack.js can extract from one aligned 32-bit read
Integers = NDArray[np.int64]


class ColumnPack:
    """Bit-packed columns in one buffer. `header` says where each begins and how its numbers are decoded."""

    def __init__(self) -> None:
        self.header: dict[str, Json] = {}
        self._bits: list[NDArray[np.uint8]] = []
        self._at = 0

    def add(self, name: str, values: Sequence[int] | Integers) -> None:
        """Add a column of whole numbers with a range below 2**25."""
        numbers = np.asarray(values, dtype=np.int64)
        low = int(numbers.min()) if numbers.size else 0
        self._append(name, numbers - low, {"low": low})

    def add_decimals(self, name: str, values: Sequence[float | None], places: int) -> None:
        """Add a column of numbers with at most `places` decimals, fewer if their range is too wide.

        None is stored as the code 0, and every number is then stored as its code plus one.
        """
        floats = np.array([np.nan if value is None else value for value in values], dtype=np.float64)
        missing = np.isnan(floats)
        known = floats[~missing]
        span = float(known.max() - known.min()) if known.size else 0.0
        while places > 0 and span * 10**places >= 2**WIDEST - 2:
            places -= 1
        low = round(float(known.min()) * 10**places) if known.size else 0
        codes = np.zeros(floats.size, dtype=np.int64)
        codes[~missing] = np.rint(known * 10**places).astype(np.int64) - low + int(missing.any())
        self._append(name, codes, {"low": low, "places": places, "none": bool(missing.any())})

    def _append(self, name: str, codes: Integers, facts: dict[str, Any]) -> None:
        width = int(codes.max()).bit_length() if codes.size else 0
        if width > WIDEST:
            raise ValueError(f"column {name} spans {width} bits, and {WIDEST} can be read back")
        self.header[name] = {"at": self._at, "bits": width, "n": int(codes.size), **facts}
        shifted = codes[:, np.newaxis] >> np.arange(width, dtype=np.int64)
        self._bits.append((shifted & 1).astype(np.uint8).ravel())
        self._at += width * int(codes.size)

    def base64(self) -> str:
        """Return all columns in Base64; in each byte and in each number the lowest bit comes first."""
        bits = np.concatenate([*self._bits, np.zeros(32, dtype=np.uint8)])  # padding for the last 32-bit read
        return b64encode(np.packbits(bits, bitorder="little").tobytes()).decode()


OTHERS = 10  # ranks kept for every arm except the system
SCORE_PLACES, COMPONENT_PLACES = 3, 3  # decimals; the raw file has more


@dataclass(frozen=True, slots=True)
class AnsweringSystem:
    """An arm, or the system of another run: its answers by scope and question."""

    name: str
    label: str
    class_: str
    answers: Mapping[str, Mapping[str, Retrieval]]
    ranks: Mapping[str, Sequence[Sequence[int]]]  # scope → ranks of the gold of each question


class Numbering:
    """Numbers for names, in the order of their first use."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


def questions(
    scopes: Mapping[str, ScopeAnswers], contestants: Sequence[AnsweringSystem], parts: Sequence[str]
) -> tuple[Json, str]:
    """Return the header and the packed columns.

    The first contestant is the system under test; `parts` name its components.
    """
    pack, segment = ColumnPack(), Numbering()
    kind, project = Numbering(), Numbering()
    asked = list(next(iter(scopes.values())).questions.values())
    pack.add("type", [kind(one.type) for one in asked])
    pack.add("project", [project(one.project) for one in asked])
    pack.add("golds", [len(one.gold) for one in asked])
    pack.add("gold", [segment(one) for question in asked for one in question.gold])
    for at, scope in enumerate(scopes.values()):
        pack.add(f"size.{at}", [_size(scope.questions.get(one.question)) for one in asked])
        for number, contestant in enumerate(contestants):
            answers = [contestant.answers.get(scope.name, {}).get(one.question) for one in asked]
            found = contestant.ranks.get(scope.name) or [[0] * len(one.gold) for one in asked]
            pack.add(f"ranks.{number}.{at}", [rank for ranks in found for rank in ranks])
            _ranking(pack, f"{number}.{at}", answers, segment, None if number == 0 else OTHERS)
            if number == 0:
                _components(pack, str(at), answers, parts)
    header = {
        "questions": [one.question for one in asked],
        "types": list(kind.numbers),
        "projects": list(project.numbers),
        "segments": list(segment.numbers),
        "contestants": [{"name": c.name, "label": c.label, "class": c.class_} for c in contestants],
        "columns": pack.header,
    }
    return header, pack.base64()


def _size(asked: Retrieval | None) -> int:
    return asked.size if asked else 0


def _ranking(
    pack: ColumnPack, name: str, answers: Iterable[Retrieval | None], segment: Numbering, most: int | None
) -> None:
    """Add the number of ids that each answer keeps, and the ids."""
    kept = [[hit.id for hit in answer.ranking[:most]] if answer else [] for answer in answers]
    pack.add(f"length.{name}", [len(ids) for ids in kept])
    pack.add(f"ids.{name}", [segment(one) for ids in kept for one in ids])


def _components(
    pack: ColumnPack, name: str, answers: Iterable[Retrieval | None], parts: Sequence[str]
) -> None:
    """Add scores and components of the first ranks of each answer, as far as the raw file has them."""
    detailed = [_detailed(answer) for answer in answers]
    hits = [hit for listed in detailed for hit in listed]
    pack.add(f"detailed.{name}", [len(listed) for listed in detailed])
    pack.add_decimals(f"score.{name}", [hit.score for hit in hits], SCORE_PLACES)
    for place, part in enumerate(parts):
        pack.add_decimals(f"part.{part}.{name}", [hit.components[place] for hit in hits], COMPONENT_PLACES)


def _detailed(answer: Retrieval | None) -> list[RankedSegment]:
    return [hit for hit in answer.ranking if hit.components] if answer else []


def texts_of(
    scopes: Mapping[str, ScopeAnswers],
    system: str,
    questions: Mapping[str, str],
    segments: Mapping[tuple[str, str], str],
    budget: int = 8_000_000,
) -> dict[str, Any]:
    """Return the text of every question, of its gold and of the system's first ranks, by project and id.

    `segments` maps (project, id) to a text. Where all of them together are longer than `budget` characters,
    each is cut to the same length, which `cut` tells; 0: nothing was cut.
    """  # fmt: skip
    wanted: dict[tuple[str, str], str] = {}
    owner = {segment: project for project, segment in segments}
    for scope in scopes.values():
        for key, asked in scope.questions.items():
            answer = scope.answers[system].get(key)
            for one in (*asked.gold, *(hit.id for hit in (answer.ranking[:OTHERS] if answer else ()))):
                place = (
                    (asked.project, one) if (asked.project, one) in segments else (owner.get(one, ""), one)
                )
                if place in segments:
                    wanted[place] = segments[place]
    cut = budget // max(1, len(wanted)) if sum(map(len, wanted.values())) > budget else 0
    kept = [questions.get(key, "") for key in next(iter(scopes.values())).questions]
    listed: dict[str, dict[str, str]] = {}
    for (project, one), words in wanted.items():
        listed.setdefault(project, {})[one] = words[:cut] if cut else words
    return {"questions": kept, "segments": listed, "cut": cut}

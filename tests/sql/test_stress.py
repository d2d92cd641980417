"""Ranks that a person would expect, on memories of our own making that are hard for one reason each.

Ranks, not figures. Hybrid takes hashed words for vectors: a cosine there knows neither meaning nor rareness.
A test that is marked as failing is a weakness of the formula, kept here so that a change of it shows.

0.3.1 on the same, without positions, fails by words alone "an assistant repeats the user at ten times the
length", "an answer that shares no word with its question" (0.4.0 neither of them) and "the same without roles
and positions" (0.4.0 in both modes). "A name in a long list …" it does not fail (0.4.0 by words); the other
four that are marked fail in it just so.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pgmnemo.embedders import EmbedderOptions
from pgmnemo.embedders.hashing import FeatureHashing

NOW = datetime(2025, 6, 30, tzinfo=UTC)
HASHING = FeatureHashing(EmbedderOptions(dimensions=1000))
FILLER = [
    "weather", "kitchen", "sofa", "bread", "letter", "holiday", "garden", "ticket", "neighbour", "battery",
    "shelf", "paint", "coffee", "meeting", "lamp", "train", "photo", "jacket", "song", "mountain", "bottle",
    "carpet", "window", "colour", "summer", "pencil", "blanket", "radio",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Said:
    text: str
    role: str | None = None
    position: int | None = None
    days: float = 30
    session: int | None = None  # lessons of one session have one time
    importance: int = 3
    passages: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Case:
    """Every lesson of `better` must come before every one of `worse`; without `worse`, before all others."""

    question: str
    lessons: dict[str, Said]
    better: tuple[str, ...]
    worse: tuple[str, ...] = ()
    config: str = "english"
    fails: dict[str, str] = field(default_factory=dict)  # mode, and why


def chatter(seed: int, words: int) -> str:
    """Talk about nothing."""
    chance = random.Random(seed)
    return " ".join(chance.choices(FILLER, k=words))


def plain(*texts: str) -> dict[str, Said]:
    """a, b, c … in this order."""
    return {chr(ord("a") + place): Said(text=text) for place, text in enumerate(texts)}


def crowd(count: int, words: int = 12) -> dict[str, Said]:
    return {f"x{n:02}": Said(text=chatter(n, words)) for n in range(count)}


def repeated(text: str, times: int) -> str:
    """As an assistant does: what it was told, over and over, among words of its own."""
    own = ("Great", "So to sum up", "You mentioned", "Let me plan it", "As you said", "Here are steps")
    return " ".join(f"{own[n % len(own)]}: {text} {chatter(n, 6)}." for n in range(times))


# Why a case fails.
REPEATS = "without a role nothing tells who repeats, and BM25 counts ten mentions for more than one"
HASHED = "hashed words: a rare word is worth no more there than a stop word, and a long text nears nothing"
TALK = "context lifts all of one session by its best lesson, above a fair answer elsewhere"
SHORT = "below length_pivot words a text is as good as a shorter one"
BICYCLE = "I took the blue bicycle to the repair shop in Ghent."

CASES = {
    "a short answer beside a long ramble": Case(
        question="Who is my dentist in Basel?",
        lessons={
            **plain("My dentist in Basel is Doctor Keller."),
            "z": Said(text=f"{chatter(1, 250)} dentist {chatter(2, 250)} Basel {chatter(3, 250)} dentist"),
            **crowd(30),
        },
        better=("a",),
    ),
    "a long answer in one passage beside words that are scattered": Case(
        question="What did the vet say about the cough of the cat?",
        lessons={
            "told": Said(text=f"{chatter(5, 200)} The vet said the cough of the cat is an allergy.",
                         passages=(chatter(5, 100), chatter(6, 100),
                                   "The vet said the cough of the cat is an allergy.")),
            "strewn": Said(text=f"vet vet {chatter(7, 99)} cat cat {chatter(8, 99)} cough cough",
                           passages=(f"vet vet {chatter(7, 99)}", f"cat cat {chatter(8, 99)}",
                                     f"cough cough {chatter(9, 50)}")),
            **crowd(20),
        },
        better=("told",),
    ),
    "Chinese, cut by blanks": Case(
        question="我 的 护照 在 哪里 ?",
        lessons=plain(
            "我 的 护照 在 书桌 的 抽屉 里 。", "他 的 汽车 在 车库 里 。", "我 的 手机 在 包 里 。",
            "哪里 有 好 的 餐馆 ?", "护照 有效期 是 十 年 。",
        ),
        better=("a",), worse=("b", "c", "e"), config="simple",
    ),
    "an assistant repeats the user at ten times the length": Case(
        question="Where did I take the blue bicycle?",
        lessons={
            "said": Said(text=BICYCLE, role="user", position=1),
            "reply": Said(text=repeated(BICYCLE, 10), role="assistant", position=2),
            "other": Said(text="The shop sells tea.", role="user", position=3),
            **crowd(20),
        },
        better=("said",),
    ),
    "the same without roles and positions": Case(
        question="Where did I take the blue bicycle?",
        lessons={
            "said": Said(text=BICYCLE), "reply": Said(text=repeated(BICYCLE, 10)),
            "other": Said(text="The shop sells tea."), **crowd(20),
        },
        better=("said",),
        fails={"keyword": REPEATS},
    ),
    "an answer that shares no word with its question": Case(
        question="Who repaired the roof of the barn?",
        lessons={
            "asked": Said(text="Who repaired the roof of the barn?", role="user", position=1),
            "told": Said(text="Marta did, over the weekend.", role="user", position=2, days=31),
            "later": Said(text="Nice to hear.", role="user", position=9),
            "roof": Said(text="A cat sat there.", role="user", position=20),
            **crowd(40),
        },
        better=("told",), worse=("later", "roof", "x00", "x39"),
    ),
    "error codes that differ in two digits": Case(
        question="What does error E4021 mean?",
        lessons=plain(
            "Error E4021: the valve is stuck.", "Error E4012: the pump is dry.",
            "Error E4120: the door is open.", "Errors mean trouble: error, error, error!",
            "What does the error mean? Nobody knows.",
        ),
        better=("a",),
        fails={"hybrid": HASHED},
    ),
    "a long text with all the words beside short ones with some": Case(
        question="Which knots does the sailing course teach?",
        lessons={
            "long": Said(text=f"{chatter(11, 150)} The sailing course will teach five knots. "
                              + " ".join(f"detail{chr(97 + n // 26)}{chr(97 + n % 26)}" for n in range(120))),
            **plain("The sailing course was fun.", "Which knots do you know?", "Courses teach patience."),
            **crowd(20),
        },
        better=("long",),
        fails={"hybrid": HASHED},
    ),
    "what an assistant alone said": Case(
        question="What was recommended for the leak of the tap?",
        lessons={
            "said": Said(text="My tap drips all night.", role="user", position=1),
            "reply": Said(text="For the leak of the tap a new ceramic cartridge is recommended.",
                          role="assistant", position=2),
            "thanks": Said(text="Thanks, I will look for one.", role="user", position=3),
            "film": Said(text="Max recommended a film.", role="user", position=30),
            "water": Said(text="The tap water here is hard.", role="user", position=40),
            **crowd(20),
        },
        better=("reply",), worse=("thanks", "film", "water", "x00"),
    ),
    "the question itself was stored": Case(
        question="When is the recital of Lena?",
        lessons={**plain("When is the recital of Lena?", "The recital of Lena is on the ninth at six."),
                 **crowd(20)},
        better=("b",), worse=("a",),
    ),
    "a code at the end of a long log": Case(
        question="\n".join(f"{chatter(n, 9)} gateway request" for n in range(40)) + "\nabort QZ7731",
        lessons={
            **plain("When the gateway aborts with QZ7731, clear the spool folder.",
                    "The gateway retries a request five times.", "A request of the gateway has a number."),
            **crowd(40),
        },
        better=("a",),
    ),
    "the longer of two parts of a hash": Case(
        question="What is f0b4959445e4?",
        lessons={
            **plain("The digest f0b4959445e445aa71 is that of the image.", "What is it that we see there?",
                    "The digest 77aa21bc90 is that of the layer."),
            **crowd(40),
        },
        better=("a",),
    ),
    "a second answer beside the small talk around the first": Case(
        question="Which mushrooms grow behind the mill?",
        lessons={
            "first": Said(text="Mushrooms grow behind the mill, mostly ceps.", session=900),
            **{f"talk{n}": Said(text=chatter(n, 8), session=900) for n in range(10)},
            "second": Said(text="Behind the mill I found chanterelles.", session=800),
            **crowd(20),
        },
        better=("first", "second"), worse=tuple(f"talk{n}" for n in range(10)),
        fails={"keyword": TALK, "hybrid": TALK},
    ),
    "a name in a long list beside one that it is about": Case(
        question="What is Lena allergic to?",
        lessons={
            "list": Said(text="Guests: " + ", ".join([*FILLER, "Lena", *FILLER])
                              + ". Allergic guests eat later."),
            **plain("Lena is allergic to walnuts.", "Peter is allergic to milk."),
            **crowd(10),
        },
        better=("a",),
        fails={"keyword": SHORT},
    ),
}  # fmt: skip


def vector(text: str) -> Any:
    return HASHING.embed_documents([text])[0]


def fill(tenant: Any, case: Case) -> None:
    tenant.set(text_config=case.config)
    for minute, (name, said) in enumerate(case.lessons.items()):
        back = timedelta(days=said.days, minutes=minute if said.session is None else said.session)
        place = {} if said.position is None else {'"position"': said.position}
        tenant.store(
            name, said.text, role=said.role, importance=said.importance, embedding=vector(said.text).tolist(),
            occurred_at=NOW - back, passages=list(said.passages) or None,
            passage_embeddings=[vector(text) for text in said.passages] or None, **place,
        )  # fmt: skip


def wrong(tenant: Any, case: Case, mode: str) -> list[tuple[str, str]]:
    """Pairs that stand the wrong way round."""
    found = tenant.ids(case.question, vector(case.question), k=len(case.lessons), as_of=NOW, mode=mode)
    worse = case.worse or [name for name in case.lessons if name not in case.better]
    pairs = [(good, bad) for good in case.better for bad in worse]
    return [(good, bad) for good, bad in pairs if found.index(good) > found.index(bad)]


@pytest.mark.parametrize("mode", ["keyword", "hybrid"])
@pytest.mark.parametrize("name", CASES)
def test_what_a_person_expects_comes_first(
    tenant: Any, name: str, mode: str, request: pytest.FixtureRequest
) -> None:
    case = CASES[name]
    if mode in case.fails:
        request.applymarker(pytest.mark.xfail(strict=True, reason=case.fails[mode]))
    fill(tenant, case)
    assert wrong(tenant, case, mode) == []

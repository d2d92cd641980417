"""ConvoMem (Pakhomov et al., 2025, arXiv:2511.10523): questions over conversations with an assistant.

Both published shapes are read, in folders `<category>/<n>_evidence`: `evidence_questions`, an object with
`evidence_items`, each with its own conversations; and `pre_mixed_testcases`, a list of test cases, each
with `evidenceItems` and the `conversations` that all of them are asked about. The conversations of an
item, or of a test case, are a project. The published files were not available: the loader is tested on
small files of these shapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from runner.protocol.datasets.corpus import Lessons, cut_lessons, speaker, suite_of
from runner.protocol.datasets.corpus_file import CorpusFile, check_list, check_type, one_of, take
from runner.protocol.datasets.segment_store import OnDiskSegments
from runner.protocol.templates import Session, Turn
from runner.records import Evidence, Json, Question, Segment

TYPES = ("user", "assistant_facts", "changing", "abstention", "preference", "implicit_connection")
ENDING = "_evidence"  # the end of a type's folder name
FILES = f"*{ENDING}/*{ENDING}/*.json"
ASSISTANT, TURN = "assistant", "turn"


@dataclass(frozen=True, slots=True)
class ConvoMemCase:
    """The conversations of one project, and the items with questions about them."""

    project: str
    type: str
    conversations: Sequence[Sequence[Turn]]
    items: Sequence[Json]


def _parts(source: CorpusFile, level: str) -> Iterator[tuple[Lessons, Iterable[Question]]]:
    """Yield lessons and the questions about them; CorpusError names a faulty item."""
    for name in source.some("ConvoMem", FILES):
        for case in _cases(source, name):
            yield _lessons(case, level == TURN), _questions(case, level == TURN)


def _cases(source: CorpusFile, name: str) -> Iterator[ConvoMemCase]:
    """Yield the cases of one file, in either shape."""
    where, kind = str(source.path / name), name.split("/")[0].removesuffix(ENDING)
    one_of(kind, TYPES, f"the folder of {where}")
    file, stem = source.within(name), name.removesuffix(".json")
    if CorpusFile(source.path / name).read().lstrip()[:1] == b"[":
        for at, test in enumerate(file.items()):
            given = _conversations(test, f"test case {at} of {where}")
            items = check_list(test, "evidenceItems", dict, f"test case {at} of {where}")
            yield ConvoMemCase(f"{stem}/{at}", kind, given, items)
        return
    document = check_type(file.document(), dict, f"what {where} holds")
    for at, item in enumerate(check_list(document, "evidence_items", dict, where)):
        yield ConvoMemCase(f"{stem}/{at}", kind, _conversations(item, f"item {at} of {where}"), [item])


def _conversations(holder: Json, where: str) -> list[list[Turn]]:
    found = enumerate(check_list(holder, "conversations", dict, where))
    return [list(_turns(one, f"conversation {at} of {where}")) for at, one in found]


def _turns(conversation: Json, where: str) -> Iterator[Turn]:
    for at, message in enumerate(check_list(conversation, "messages", dict, where)):
        yield _turn(message, f"message {at} of {where}")


def _turn(message: Json, where: str) -> Turn:
    name = take(message, "speaker", str, where).lower()
    return Turn(name, take(message, "text", str, where), person=name != ASSISTANT)


def _lessons(case: ConvoMemCase, turns: bool) -> Lessons:
    """Yield each message, or each conversation, as a lesson without a date."""
    for at, part, position in cut_lessons([list(enumerate(one, 1)) for one in case.conversations], turns):
        head = Segment(
            project=case.project,
            id=_id(case.project, at, part[0][0] if turns else 0, turns),
            text="",
            role=speaker(part[0][1]) if turns else None,
            position=position,
        )
        yield head, Session("", tuple(turn for _, turn in part), chat=True)


def _id(project: str, conversation: int, message: int, turns: bool) -> str:
    """Return the id of a lesson: `user_evidence/1_evidence/ann/0/c2`, or `…/c2:5` for a message."""
    return f"{project}/c{conversation + 1}:{message}" if turns else f"{project}/c{conversation + 1}"


def _questions(case: ConvoMemCase, turns: bool) -> Iterator[Question]:
    for at, item in enumerate(case.items):
        where = f"item {at} of {case.project}"
        evidence = [
            one
            for number, message in enumerate(check_list(item, "message_evidences", dict, where))
            for one in _evidence(case, _turn(message, f"evidence {number} of {where}"), turns)
        ]
        yield Question(
            key=f"{case.project}/q{at}",
            project=case.project,
            text=take(item, "question", str, where).replace("\0", ""),
            type=case.type,
            evidence=tuple(dict.fromkeys(evidence)),
        )


def _evidence(case: ConvoMemCase, cited: Turn, turns: bool) -> Iterator[Evidence]:
    """Yield the messages of the cited speaker with exactly the cited words, else those that contain them.

    Messages have no ids, so evidence is matched by its words, without regard to case and blanks. Without a
    match the evidence resolves to nothing.
    """
    wanted = _plain(cited.words)
    said = [
        (_id(case.project, at, number, turns), _plain(turn.words))
        for at, conversation in enumerate(case.conversations)
        for number, turn in enumerate(conversation, start=1)
        if turn.speaker == cited.speaker
    ]
    same = [name for name, words in said if words == wanted]
    found = same or [name for name, words in said if wanted and wanted in words]
    return (Evidence(name, name) for name in found) if found else iter([Evidence(cited.words[:60], None)])


def _plain(words: str) -> str:
    return " ".join(words.split()).casefold()


CONVOMEM = suite_of(
    _parts, "convomem", "ConvoMem", (TURN, "session"), TYPES, keeper=OnDiskSegments, folder_of=(FILES,)
)

"""A toy suite: two short conversations, one question each."""

from __future__ import annotations

from runner.records import Corpus, Evidence, Question, SearchScope, Segment
from runner.suites.reading import Source
from runner.suites.shape import counted
from runner.suites.suite import Suite, Write
from runner.texts import Session, Turn


def read(source: Source, level: str, write: Write) -> Corpus:
    segments, questions = [], []
    for item in source.items():
        project = item["project"]
        for name, said in item["sessions"].items():
            written = write(Session("1 May 2024", tuple(Turn("Ada", words) for words in said)))
            segments.append(Segment(project, f"{project}/{name}", written.text, passages=written.passages))
        gold = f"{project}/{item['gold']}"
        questions.append(Question(f"{project}/q1", project, item["question"], "toy", (Evidence(gold, gold),)))
    return Corpus(
        suite="toy",
        path=str(source.path),
        sha256=source.sha256(),
        granularity=level,
        segments=tuple(segments),
        questions=tuple(questions),
        scopes=(SearchScope("conversation"), SearchScope("pool", pooled=True)),
        shape=counted(segments, questions, ("toy",)),
    )


TOY = Suite(name="toy", title="the toy suite", levels=("session",), types=("toy",), read=read)

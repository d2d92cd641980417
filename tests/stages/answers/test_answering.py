"""An answer run from the retrieved context to its figures, and every way in which it can go wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

import runner
from pgmnemo.errors import ModelError, UsageError
from runner.errors import UnusableRunError
from runner.runs.schemas import schema_fault
from runner.stages.answers.answer_run import answer
from runner.stages.answers.document import NO_RECALL
from runner.stages.answers.judge import locomo_f1
from runner.stages.answers.options import AnswerOptions
from tests.helping import endings, is_sentence
from tests.service import chat, serving
from tests.stages.answers.conftest import sensible

ENDING = endings("finished")["`answer` by a reader that fails too often"]
Made = Callable[[str], tuple[Path, Path]]
Options = Callable[..., AnswerOptions]


def value(document: Any, metric: str, kind: str, key: str = "as published") -> Any:
    (row,) = [
        row for row in document["figures"] if (row["metric"], row["type"], row["key"]) == (metric, kind, key)
    ]
    return row["value"], row["n"]


def test_locomo_is_answered_judged_and_counted(made_run: Made, options: Options, tmp_path: Path) -> None:
    run, corpus = made_run("locomo")
    errors = tmp_path / "errors.txt"
    errors.write_text("# of the audit\nconv-1/q2\n")
    with serving(sensible) as server:
        made = answer(run, options(server.url, corpus, key_errors=errors, price=["reader=1,2"]))
    found = made.document
    assert schema_fault(found["schema"], json.loads((made.folder / "answers.json").read_text())) is None
    assert found["questions"] == 5
    assert value(found, "judge", "single-hop") == (1.0, 1)
    assert value(found, "judge", "adversarial") == (1.0, 1)  # not mentioned, and no judge was asked
    assert value(found, "judge", "all") == (0.4, 5)
    assert value(found, "judge", "all", "without known errors") == (0.5, 4)
    assert value(found, "F1", "single-hop") == (pytest.approx(0.5), 1)
    assert found["run"]["manifest_sha256"] == sha256((run / "manifest.json").read_bytes()).hexdigest()
    assert found["usage"]["reader"] == {
        "model": "reader", "prompt_tokens": 55, "completion_tokens": 15, "cost": 85e-6,
    }  # fmt: skip
    assert found["agreement"] == {"n": 4, "same": 1.0, "kappa": 1.0}
    judge_calls = [body for _, _, body in server.requests if body["model"] == "judge"]
    assert len(judge_calls) == 8  # four verdicts, each twice
    assert all(body["max_tokens"] == 10 for body in judge_calls)
    names = {path.name for path in made.folder.iterdir()}
    assert names == {"answers.jsonl", "judgements.jsonl", "answers.json", "answers.md", "manifest.json"}
    page = (made.folder / "answers.md").read_text()
    assert NO_RECALL in page
    assert "recall_any" not in page


def test_the_reader_reads_what_was_retrieved_and_no_id(made_run: Made, options: Options) -> None:
    run, corpus = made_run("longmemeval")
    with serving(sensible) as server:
        made = answer(run, options(server.url, corpus, k=1, judge_again=0))
    prompts = [body["messages"][0]["content"] for _, _, body in server.requests if body["model"] == "reader"]
    assert all("grey cat" in prompt and "weather" not in prompt for prompt in prompts)
    assert all("Today is 2023/05/30 (Tue) 23:40." in prompt for prompt in prompts)
    assert not any("answer_" in prompt for prompt in prompts)
    lines = [json.loads(line) for line in (made.folder / "answers.jsonl").read_text().splitlines()]
    assert all(len(line["retrieved"]) == 1 for line in lines)
    assert made.document["agreement"]["n"] == 0


def test_longmemevals_rules_differ_by_type(made_run: Made, options: Options) -> None:
    run, corpus = made_run("longmemeval")
    with serving(sensible) as server:
        found = answer(run, options(server.url, corpus, judge_again=0)).document
    judged = [body["messages"][0]["content"] for _, _, body in server.requests if body["model"] == "judge"]
    assert sum("one more or one less is right too" in prompt for prompt in judged) == 1
    assert sum("cannot be answered" in prompt for prompt in judged) == 1
    assert {row["type"] for row in found["figures"]} == {
        "all", "single-session-user", "temporal-reasoning", "abstention",
    }  # fmt: skip
    assert {row["metric"] for row in found["figures"]} == {"judge"}


def test_the_authors_own_prompts_can_be_given(made_run: Made, options: Options, tmp_path: Path) -> None:
    run, corpus = made_run("longmemeval")
    prompts = tmp_path / "prompts.json"
    prompts.write_text(json.dumps({"abstention": "Unanswerable? {question} {key} {response}"}))
    with serving(sensible) as server:
        ours = answer(run, options(server.url, corpus)).document
        found = answer(run, options(server.url, corpus, judge_prompts=prompts)).document
    assert any(body["messages"][0]["content"].startswith("Unanswerable?") for *_, body in server.requests)
    assert not found["judge"]["own_words"]
    assert found["judge"]["prompts_sha256"] != ours["judge"]["prompts_sha256"]


PROSE = chat("I would say yes, since both speak of a cat.")


@pytest.mark.parametrize(
    ("model", "said", "counted", "right"),
    [
        ("reader", chat("", refusal="I cannot."), "refusals", 0.0),  # and no judge is asked
        ("judge", PROSE, "prose", 1.0),  # read by the official rule
        ("judge", {"oops": 1}, "judge_failures", 0.0),
    ],
    ids=["refused", "prose", "torn"],
)
def test_what_a_model_does_instead_of_answering_is_counted(
    model: str, said: Any, counted: str, right: float, made_run: Made, options: Options
) -> None:
    run, corpus = made_run("longmemeval")
    with serving(lambda path, body: said if body["model"] == model else sensible(path, body)) as server:
        found = answer(run, options(server.url, corpus)).document
    assert (found[counted], value(found, "judge", "all")) == (3, (right, 3))
    assert any(body["model"] == "judge" for *_, body in server.requests) == (model == "judge")
    assert (found["agreement"]["n"] == 3) == (counted == "prose")


def test_a_failing_reader_ends_the_run_in_one_sentence_and_loses_nothing(
    made_run: Made, options: Options
) -> None:
    run, corpus = made_run("locomo")

    def torn(path: str, body: Any) -> Any:
        question = body["messages"][0]["content"].rpartition("Question: ")[2]
        return {"oops": 1} if "buy" in question and body["model"] == "reader" else sensible(path, body)

    with serving(torn) as server:
        with pytest.raises(
            ModelError, match="the reader reader failed on 2 questions, and --max-f"
        ) as failure:
            answer(run, options(server.url, corpus, max_failures=1))
        (note,) = failure.value.__notes__
        assert is_sentence(ENDING, f"error: {failure.value}; {note}")
        assert failure.value.code == int(ENDING["code"])
        partial = Path(note.split()[1])
        server.answer = sensible
        asked = len(server.requests)
        made = answer(run, options(server.url, corpus, resume=partial))
    again = [body for *_, body in server.requests[asked:] if body["model"] == "reader"]
    assert 2 <= len(again) < 5  # the two that failed, and those that had not been asked
    assert made.document["reader_failures"] == 0
    assert not partial.exists()


def test_a_changed_run_is_refused_before_and_after(made_run: Made, options: Options, tmp_path: Path) -> None:
    run, corpus = made_run("longmemeval")
    copy = Path(shutil.copytree(run, tmp_path / run.name))
    manifest = (copy / "manifest.json").read_text()

    def changing(path: str, body: Any) -> Any:
        (copy / "manifest.json").write_text(manifest + " ")
        return sensible(path, body)

    with serving(changing) as server:
        with pytest.raises(
            UnusableRunError, match=r"was changed while answers were made: its manifest\.json"
        ):
            answer(copy, options(server.url, corpus))
        (copy / "manifest.json").write_text(manifest)
        raw = copy / "raw_retrievals.jsonl"
        raw.write_text(raw.read_text().replace("bm25s", "bm25x"))
        with pytest.raises(UnusableRunError, match=r"is not the file that manifest\.json lists"):
            answer(copy, options(server.url, corpus))


def test_another_run_cannot_complete_an_interrupted_one(made_run: Made, options: Options) -> None:
    run, corpus = made_run("longmemeval")
    with serving(lambda *_: {"oops": 1}) as server, pytest.raises(ModelError) as failure:
        answer(run, options(server.url, corpus, max_failures=0))
    partial = Path(failure.value.__notes__[0].split()[1])
    with pytest.raises(UsageError, match="the interrupted run had k = 10, this one 5"):
        answer(run, options(server.url, corpus, resume=partial, k=5))


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ({"scope": "pool"}, "has no scope 'pool'; choose one of: haystack"),
        ({"key_errors": Path("/nowhere")}, "--key-errors: nowhere cannot be read"),
    ],
)
def test_wrong_use_is_one_sentence(told: Any, sentence: str, made_run: Made, options: Options) -> None:
    run, corpus = made_run("longmemeval")
    with pytest.raises(UsageError, match=sentence):
        answer(run, options("http://127.0.0.1:9/v1", corpus, **told))


@pytest.mark.parametrize(
    ("rule", "said", "key", "wanted"),
    [
        ("single-hop", "The cats, and the dog", "a cat and dogs", 1.0),
        ("single-hop", "red car", "blue car", 0.5), ("single-hop", "", "blue car", 0.0),
        ("multi-hop", "kayak, lamp", "a kayak, a tent", 0.5), ("temporal", "7 May, 2023", "7 May 2023", 1.0),
        ("adversarial", "That is not mentioned anywhere.", "", 1.0), ("adversarial", "Biscuit", "", 0.0),
    ],
)  # fmt: skip
def test_f1_by_hand(rule: str, said: str, key: str, wanted: float) -> None:
    assert locomo_f1(rule, said, key) == pytest.approx(wanted)


def test_an_answer_that_came_later_is_judged(made_run: Made, options: Options) -> None:
    """A verdict that was given unasked, since the reader had failed, is not that on what it said later."""
    run, corpus = made_run("longmemeval")

    def torn(path: str, body: Any) -> Any:
        reader = body["model"] == "reader"
        failing = "kayak" in body["messages"][0]["content"].rpartition("Question: ")[2] if reader else True
        return {"oops": 1} if failing else sensible(path, body)

    with serving(torn) as server:
        with pytest.raises(ModelError, match="the judge judge failed on 2 questions") as failure:
            answer(run, options(server.url, corpus, max_failures=1))
        server.answer = lambda path, body: chat("yes") if body["model"] == "judge" else sensible(path, body)
        partial = Path(failure.value.__notes__[0].split()[1])
        found = answer(run, options(server.url, corpus, max_failures=1, resume=partial))
    assert value(found.document, "judge", "all") == (1.0, 3)
    assert [one.sentence for one in runner.verify(found.folder, run=run, corpus=corpus).faults] == []

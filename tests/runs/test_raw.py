"""The raw file: exact bytes, faithful reading, resumption after a torn line, refusal of nonsense."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from pgmnemo.errors import OutputError
from runner.records import RankedSegment, Retrieval
from runner.runs.raw import RAW, KeptFields, RawWriter, encode, read_raw

PARTS = (0.123456, 1.5, -0.0, 0.6, None)
ASKED = Retrieval(
    question="c1/q0", type="temporal", arm="pgmnemo", scope="conversation", project="c1", size=12,
    gold=("c1/D2",), seconds=0.5,
    ranking=(RankedSegment("c1/D2", 0.12345678, PARTS), RankedSegment("c1/D1", 0.1, PARTS)),
)  # fmt: skip


def test_a_detailed_line_is_this_and_nothing_else() -> None:
    assert encode(ASKED, kept=KeptFields.ALL) == (
        '{"question":"c1/q0","type":"temporal","arm":"pgmnemo","scope":"conversation","project":"c1","size":12,'
        '"gold":["c1/D2"],"ranking":[["c1/D2",0.123457,[0.1235,1.5,0.0,0.6,null]],'
        '["c1/D1",0.1,[0.1235,1.5,0.0,0.6,null]]]}'
    )


@pytest.mark.parametrize(("kept", "parts", "end"), [
    (KeptFields.IDS, 0, '"c1/D9","c1/D10","c1/D11"]}'), (KeptFields.PARTS, 10, '"c1/D10","c1/D11"]}'),
    (KeptFields.SCORES, 0, '["c1/D8",1.0],["c1/D9",1.0],"c1/D10","c1/D11"]}'),
    (KeptFields.ALL, 10, '["c1/D10",1.0],["c1/D11",1.0]]}'),
])  # fmt: skip
def test_parts_and_scores_are_kept_of_the_first_ten_as_the_arm_says(
    kept: KeptFields, parts: int, end: str
) -> None:
    ranking = tuple(RankedSegment(f"c1/D{place}", 1.0, PARTS) for place in range(12))
    line = encode(replace(ASKED, ranking=ranking), kept=kept)
    assert (line.count("null"), line[-len(end) :]) == (parts, end)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    with RawWriter(tmp_path / RAW) as writer:
        writer.write(ASKED, kept=KeptFields.ALL)
        writer.write(replace(ASKED, arm="random"))
    first, second = read_raw(tmp_path / RAW)
    rounded = (0.1235, 1.5, 0.0, 0.6, None)
    hits = (RankedSegment("c1/D2", 0.123457, rounded), RankedSegment("c1/D1", 0.1, rounded))
    assert first == replace(ASKED, ranking=hits, seconds=None)
    assert second == replace(
        ASKED, arm="random", ranking=(RankedSegment("c1/D2"), RankedSegment("c1/D1")), seconds=None
    )


def test_timings_never_reach_the_bytes() -> None:
    assert encode(ASKED, kept=KeptFields.ALL) == encode(replace(ASKED, seconds=9.9), kept=KeptFields.ALL)


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_score_that_is_no_number_is_refused(score: float) -> None:
    with pytest.raises(OutputError, match=r"question c1/q0, arm pgmnemo.*score of c1/D2"):
        encode(replace(ASKED, ranking=(RankedSegment("c1/D2", score),)), kept=KeptFields.ALL)


def test_a_segment_ranked_twice_is_refused() -> None:
    with pytest.raises(OutputError, match="ranked twice"):
        encode(replace(ASKED, ranking=(RankedSegment("a"), RankedSegment("a"))), kept=KeptFields.IDS)


def test_a_ranking_longer_than_its_scope_is_refused() -> None:
    with pytest.raises(OutputError, match="2 segments are ranked in a scope of 1"):
        encode(replace(ASKED, size=1), kept=KeptFields.IDS)


@pytest.mark.parametrize("cut", [1, 20, 150])
def test_a_torn_last_line_is_dropped_and_the_run_ends_in_the_same_bytes(tmp_path: Path, cut: int) -> None:
    questions = [replace(ASKED, question=f"c1/q{number}") for number in range(3)]
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    with RawWriter(whole) as writer:
        for question in questions:
            writer.write(question, kept=KeptFields.ALL)
    torn.write_bytes(whole.read_bytes()[:-cut])
    with RawWriter(torn) as writer:
        assert writer.done == {("c1/q0", "pgmnemo", "conversation"), ("c1/q1", "pgmnemo", "conversation")}
        writer.write(questions[2], kept=KeptFields.ALL)
    assert torn.read_bytes() == whole.read_bytes()


def test_nothing_is_done_before_the_first_line(tmp_path: Path) -> None:
    with RawWriter(tmp_path / RAW) as writer:
        assert writer.done == set()
    (tmp_path / RAW).write_bytes(b'{"question":"c1')
    with RawWriter(tmp_path / RAW) as writer:
        assert writer.done == set()
    assert (tmp_path / RAW).read_bytes() == b""


def test_the_lines_of_an_arm_that_failed_are_taken_away(tmp_path: Path) -> None:
    with RawWriter(tmp_path / RAW) as writer:
        writer.write(replace(ASKED, arm="chroma"))
        writer.write(ASKED, kept=KeptFields.ALL)
    with RawWriter(tmp_path / RAW) as writer:
        writer.write(replace(ASKED, arm="chroma", question="c1/q1"))
        writer.forget("chroma")
        assert writer.done == {("c1/q0", "pgmnemo", "conversation")}
        writer.write(replace(ASKED, arm="random"))
    lines = [GOOD, encode(replace(ASKED, arm="random"), kept=KeptFields.IDS)]
    assert (tmp_path / RAW).read_text(encoding="utf-8").splitlines() == lines


GOOD = encode(ASKED, kept=KeptFields.ALL)
OTHER = encode(replace(ASKED, question="c1/q1"), kept=KeptFields.ALL)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("[]", "Expected `object`"),
        (GOOD.replace('"type":"temporal",', ""), "missing required field `type`"),
        (GOOD.replace('["c1/D2"],"ranking"', '"c1/D2","ranking"'), r"Expected `array`.*gold"),
        (OTHER.replace("0.1235,1.5,0.0", "0.1235,1.5"), "a rank has not as many components as those before"),
        (GOOD.replace('"c1/D1",0.1', '"c1/D2",0.1'), "ranked twice"),
        (GOOD.replace("0.123457", "NaN"), "malformed"),
        (GOOD, "stands there twice"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / RAW).write_text(f"{GOOD}\n{line}\n", encoding="utf-8")
    with pytest.raises(OutputError, match=f"line 2.*{complaint}"):
        list(read_raw(tmp_path / RAW))


def test_no_raw_file_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="cannot be read"):
        list(read_raw(tmp_path / RAW))

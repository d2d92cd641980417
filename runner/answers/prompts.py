"""The words that reader and judge are asked with. Each prompt's SHA-256 is recorded with every answer run.

The judge's rules are those of LongMemEval's evaluate_qa.py (Wu et al. 2025), in words of our own: what counts
as right differs by question type. LoCoMo's is a yes or no as its later users judge, for categories 1 to 4.
`--judge-prompts FILE` takes the authors' own words, for figures that stand beside theirs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from runner.answers.keys import ABSTENTION
from runner.errors import UsageError
from runner.runs.regular import demand_regular

READER = """\
Below are parts of past conversations, each with its date where it is known. Answer the question from them
alone, in a few words. If they do not hold the answer, say: not mentioned.

{context}

{day}Question: {question}
Answer:"""

_ENDING = """

Question: {question}
{what}: {key}
Response: {response}

Is the response right? Say yes or no, and nothing else."""
_SAME = (
    "Compare a response with the answer that is known to be right. It is right if it holds that answer, says "
    "the same in other words, or holds every step that leads to it; it is wrong if it holds "
    "only a part of it."
)
_PREFERENCE = (
    "Below is what a good response to a person's question takes into account. The response is right if it "
    "remembers what the person has said of himself and uses it correctly; it need not use every point."
)
_ABSTAIN = (
    "The question below cannot be answered, and an explanation says why. The response is right if it "
    "recognizes that: it may say that the information is missing, or that something else is known but not "
    "this."
)


def _judge(rule: str, what: str = "Right answer") -> str:
    return rule + _ENDING.replace("{what}", what)


JUDGE: Mapping[str, str] = {
    "single-session-user": _judge(_SAME),
    "single-session-assistant": _judge(_SAME),
    "multi-session": _judge(_SAME),
    "temporal-reasoning": _judge(
        f"{_SAME} Where a number of days, weeks or months is asked for, one more or one less is right too."
    ),
    "knowledge-update": _judge(
        "Compare a response with the answer that is known to be right. It is right if it holds that "
        "answer, even where it tells besides what was so before."
    ),
    "single-session-preference": _judge(_PREFERENCE, "What counts"),
    ABSTENTION: _judge(_ABSTAIN, "Explanation"),
    **{
        rule: _judge(
            "Compare a response with the answer that is known to be right. It is right if it means the "
            "same thing or day, in whatever words or format, and however much it says besides."
        )
        for rule in ("multi-hop", "temporal", "open-domain", "single-hop")
    },
}
"""By rule; an adversarial question of LoCoMo is judged by its words, without a judge."""
FIELDS = {"question": "", "key": "", "response": ""}


def judge_prompts(path: Path | None) -> Mapping[str, str]:
    """The judge's prompts by rule, some of them from a JSON file; UsageError for one of another form."""
    if path is None:
        return JUDGE
    try:
        demand_regular(path, UsageError)
        given = json.loads(path.read_text(encoding="utf-8"))
        for template in given.values():
            template.format(**FIELDS)
    except UsageError as error:
        raise UsageError(f"--judge-prompts: {error}; name a JSON file") from None
    except (OSError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise UsageError(
            f"--judge-prompts: {path} is no JSON object of prompts by rule with {{question}}, {{key}} and "
            f"{{response}} in them ({type(error).__name__}: {error})"
        ) from None
    if unknown := [rule for rule in given if rule not in JUDGE]:
        raise UsageError(
            f"--judge-prompts: there is no rule {unknown[0]!r}; the rules are: {', '.join(JUDGE)}"
        )
    return {**JUDGE, **given}


def digest(templates: Mapping[str, str]) -> str:
    """SHA-256 over prompts, by name."""
    return sha256(json.dumps(dict(sorted(templates.items()))).encode()).hexdigest()

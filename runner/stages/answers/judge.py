"""The prompts of reader and judge, and the verdict from a judge's reply or from LoCoMo's own rule.

Each prompt's SHA-256 is recorded with every answer run. The judge's rules are those of LongMemEval's
evaluate_qa.py (Wu et al. 2025), in our own wording: the criterion for a right answer differs by question
type. LoCoMo's is a yes or no as its later users judge, for categories 1 to 4. `--judge-prompts FILE` takes
the authors' own wording, for figures to compare with theirs.

LoCoMo's F1 (snap-research/locomo, task_eval/evaluation.py) is reimplemented: words are lower-cased, without
punctuation and without a, an, the, and; each is reduced to its stem by Porter's algorithm. NLTK's variant,
which LoCoMo uses, differs from Porter's own in a few words.
"""

from __future__ import annotations

import json
import re
import string
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from hashlib import sha256
from pathlib import Path
from statistics import fmean
from string import Formatter
from typing import Any

from pgmnemo.errors import ModelError, UsageError
from pgmnemo.models.chat import ChatModel
from pgmnemo.models.runtime import library
from runner.runs.storage import DOCUMENT, read_regular
from runner.stages.answers.lines import AnswerLine, Judgement
from runner.stages.answers.source_run import ABSTENTION, AnswerKey

DROPPED = re.compile(r"\b(?:a|an|the|and)\b")
NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
ADVERSARIAL = "adversarial"  # a category that is judged by the words of the answer
NOTHING_SAID = ("no information available", "not mentioned")
TOKENS = 10  # limit of a verdict, as in LongMemEval's evaluate_qa.py
PLAIN = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)
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
    """Return the judge's prompts by rule; a JSON file replaces some.

    Raises UsageError for an invalid file.
    """
    if path is None:
        return JUDGE
    try:
        given = json.loads(read_regular(path, DOCUMENT, UsageError))
        for template in given.values():
            if any(spec for _, _, spec, _ in Formatter().parse(template)):  # a width of any size
                raise ValueError("a field with a format")
            template.format(**FIELDS)
    except UsageError as error:
        raise UsageError(f"--judge-prompts: {error}; name a JSON file") from None
    except (ValueError, LookupError, AttributeError, TypeError, RecursionError) as error:
        raise UsageError(
            f"--judge-prompts: {path} is no JSON object of prompts by rule with {{question}}, {{key}} and "
            f"{{response}} in them ({type(error).__name__}: {error})"
        ) from None
    if unknown := [rule for rule in given if rule not in JUDGE]:
        raise UsageError(
            f"--judge-prompts: there is no rule {unknown[0]!r}; the rules are: {', '.join(JUDGE)}"
        )
    return {**JUDGE, **given}


def prompts_digest(templates: Mapping[str, str]) -> str:
    """Return the SHA-256 over prompts, sorted by name."""
    return sha256(json.dumps(dict(sorted(templates.items()))).encode()).hexdigest()


def judge_answer(
    chat: ChatModel,
    prompts: Mapping[str, str],
    question: str,
    key: AnswerKey,
    said: AnswerLine,
    again: bool = False,
) -> Judgement:
    """Return the verdict on an answer.

    A refused or missing answer is wrong without a call of the judge; a failed or refusing judge counts as
    wrong.
    """
    verdict = partial(Judgement, said.question, key.rule, again=again)
    if not needs_judge(key.rule, said):
        return verdict("", *verdict_of_reply(key.rule, "", said))
    prompt = prompts[key.rule].format(question=question, key=key.answer, response=said.answer)
    try:
        reply = chat.ask(prompt, TOKENS)
    except ModelError as error:
        return verdict("", False, False, failed=str(error))
    right, plain = (False, False) if reply.refused else verdict_of_reply(key.rule, reply.text, said)
    return replace(
        verdict(reply.text, right, plain),
        failed=f"the judge refused ({reply.refused})" if reply.refused else "",
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )


def verdict_of_reply(rule: str, reply: str, said: AnswerLine) -> tuple[bool, bool]:
    """Return whether an answer is right, and whether the judge replied with one word.

    Right is LongMemEval's rule: the reply contains the word yes, in any case. An adversarial question of
    LoCoMo is judged by the words of the answer.
    """
    if said.refused or said.failed:
        return False, True
    if rule == ADVERSARIAL:
        return locomo_f1(rule, said.answer, "") == 1.0, True
    return "yes" in reply.lower(), PLAIN.fullmatch(reply) is not None


def needs_judge(rule: str, said: AnswerLine) -> bool:
    """Return whether the answer needs a call of the judge."""
    return not (said.refused or said.failed or rule == ADVERSARIAL)


def locomo_f1(rule: str, answer: str, key: str) -> float:
    """Return the F1 of one answer, from 0 to 1, by the rule of its question.

    For a multi-hop question each part of the key between commas is matched with the best part of the answer.
    An adversarial answer is right if it says that the information is missing.
    """
    if rule == ADVERSARIAL:
        return float(any(words in answer.lower() for words in NOTHING_SAID))
    if rule == "multi-hop":
        return fmean(max(token_f1(said, part) for said in answer.split(",")) for part in key.split(","))
    return token_f1(answer, key)


def token_f1(answer: str, key: str) -> float:
    """Return the harmonic mean of precision and recall over stems; 0 if the texts share no stem."""
    said, wanted = _stems(answer), _stems(key)
    same = sum((Counter(said) & Counter(wanted)).values())
    if not same:
        return 0.0
    precision, recall = same / len(said), same / len(wanted)
    return 2 * precision * recall / (precision + recall)


def _stems(text: str) -> list[str]:
    words: list[str] = DROPPED.sub(" ", text.lower().translate(NO_PUNCTUATION)).split()
    return list(_stemmer().stemWords(words))


@cache
def _stemmer() -> Any:
    return library("Stemmer", "LoCoMo's F1").Stemmer("porter")

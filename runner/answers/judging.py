"""One verdict: a judge's reply by the official rule, or LoCoMo's own rule where it asks no judge."""

from __future__ import annotations

import re
from collections.abc import Mapping

from runner.answers.f1 import locomo_f1
from runner.answers.keys import Key
from runner.answers.lines import Answered, Judged
from runner.errors import ModelError
from runner.models.chat import Chat

TOKENS = 10  # of a verdict, as LongMemEval's evaluate_qa.py has it
PLAIN = re.compile(r"\W*(yes|no)\W*", re.IGNORECASE)
ADVERSARIAL = "adversarial"  # of LoCoMo: judged by the words of the answer


def judged(
    chat: Chat, prompts: Mapping[str, str], question: str, key: Key, said: Answered, again: bool = False
) -> Judged:
    """The verdict on an answer. A refused answer, and none, are wrong unasked; so is one whose judge failed.

    `right` is LongMemEval's rule: the reply holds the word yes, in any case.
    """
    if said.refused or said.failed:
        return Judged(said.question, key.rule, "", right=False, plain=True, again=again)
    if key.rule == ADVERSARIAL:
        right = locomo_f1(key.rule, said.answer, key.answer) == 1.0
        return Judged(said.question, key.rule, "", right=right, plain=True, again=again)
    prompt = prompts[key.rule].format(question=question, key=key.answer, response=said.answer)
    try:
        reply = chat.ask(prompt, TOKENS)
    except ModelError as error:
        return Judged(said.question, key.rule, "", False, False, again, str(error))
    return Judged(
        question=said.question,
        rule=key.rule,
        reply=reply.text,
        right="yes" in reply.text.lower(),
        plain=PLAIN.fullmatch(reply.text) is not None,
        again=again,
        failed=f"the judge refused ({reply.refused})" if reply.refused else "",
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )


def asks(key: Key, said: Answered) -> bool:
    """Whether a judge is asked at all."""
    return not (said.refused or said.failed or key.rule == ADVERSARIAL)

"""One verdict: a judge's reply by the official rule, or LoCoMo's own rule where it asks no judge."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

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
    """The verdict on an answer. A refused one, and none, are wrong unasked; so is one whose judge failed."""
    verdict = partial(Judged, said.question, key.rule, again=again)
    if not asks(key.rule, said):
        return verdict("", *by_reply(key.rule, "", said))
    prompt = prompts[key.rule].format(question=question, key=key.answer, response=said.answer)
    try:
        reply = chat.ask(prompt, TOKENS)
    except ModelError as error:
        return verdict("", False, False, failed=str(error))
    right, plain = (False, False) if reply.refused else by_reply(key.rule, reply.text, said)
    return replace(
        verdict(reply.text, right, plain),
        failed=f"the judge refused ({reply.refused})" if reply.refused else "",
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )


def by_reply(rule: str, reply: str, said: Answered) -> tuple[bool, bool]:
    """Whether an answer is right, and whether the judge said so in one word.

    Right is LongMemEval's rule: the reply holds the word yes, in any case. An adversarial question of LoCoMo
    is judged by the words of the answer.
    """
    if said.refused or said.failed:
        return False, True
    if rule == ADVERSARIAL:
        return locomo_f1(rule, said.answer, "") == 1.0, True
    return "yes" in reply.lower(), PLAIN.fullmatch(reply) is not None


def asks(rule: str, said: Answered) -> bool:
    """Whether a judge is asked at all."""
    return not (said.refused or said.failed or rule == ADVERSARIAL)

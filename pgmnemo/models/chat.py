"""Ask a language model by an OpenAI-compatible `/chat/completions` endpoint."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from pgmnemo.errors import ModelError
from pgmnemo.models.http import Service, service_url

ENDING = "/chat/completions"
KEY_VARIABLE = "PGMNEMO_LLM_API_KEY"
SAID = 120  # characters of an answer that an error repeats


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's answer. `refused` is the reason of a refusal, else empty; token counts are the service's."""

    text: str
    refused: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def require_text(self, who: str) -> str:
        """Return the text; raise ModelError if the model of `who` refused."""
        if self.refused:
            raise ModelError(f"{who}: the model refused ({excerpt(self.refused)})")
        return self.text


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A language model at an address.

    It is asked at temperature 0 with a seed, which a service may ignore.
    """

    service: Service
    model: str
    seed: int = 42

    @property
    def revision(self) -> str:
        """Return the revision of the weights: unknown, as served by an address."""
        return f"unknown, as served by {self.service.where}"

    def ask(self, prompt: str, most: int) -> Reply:
        """Return the model's answer to a prompt, of at most `most` tokens.

        Raise ModelError for an answer that is not a chat completion.
        """
        body = {
            "model": self.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": most,
            "stream": False,
        }
        return _reply(self.service.post(body), self.service.where)


def chat_of(url: str, model: str, *, timeout: float, variable: str = KEY_VARIABLE) -> ChatModel:
    """Return a model at a base address, with or without `/chat/completions`.

    `timeout` is in seconds; `variable` names the environment variable with the key. Raise UsageError for an
    invalid address.
    """
    return ChatModel(Service(service_url(url, ENDING, variable), variable, timeout), model)


def prompt_sha256(template: str) -> str:
    """Return the SHA-256 of a prompt template, before any value is filled in."""
    return sha256(template.encode()).hexdigest()


def _reply(answer: Any, where: str) -> Reply:
    try:
        choice = answer["choices"][0]
        message, usage = choice["message"], answer.get("usage") or {}
        text, refused = message.get("content") or "", message.get("refusal") or ""
        if not isinstance(text, str) or not isinstance(refused, str):
            raise TypeError
        if not refused and choice.get("finish_reason") == "content_filter":
            refused = "stopped by the service's content filter"
        tokens = [int(usage.get(f"{kind}_tokens") or 0) for kind in ("prompt", "completion")]
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise ModelError(
            f"{where} did not answer with a chat completion; check that it is an OpenAI-compatible endpoint "
            "and the model a chat model"
        ) from None
    return Reply(text.strip(), refused.strip(), *tokens)


def excerpt(text: str) -> str:
    """Return the first characters of an answer on one line, for a sentence."""
    line = " ".join(text.split())
    return line if len(line) <= SAID else f"{line[:SAID]}…"

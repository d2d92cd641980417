"""Two users of an integration never see each other: a battery of attempts with odd names.

Each user writes a secret word of its own in each session, and then asks in its own name and session for the
secrets of the others.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from pgmnemo.client.naming import tenant_id
from pgmnemo.integrations.scopes import exact_name
from tests.pgmnemo.client.driving import Place

USERS = (
    "ada", "Ada", "ADA", " ada", "ada ", "ada\n", "ada\0", "\0", "", " ", "\t", "ada/", "/ada", "../ada", "%",
    "ada%", "_", "ad_", "a" * 1_000, "a" * 1_001, "a" * 5_000, "\u00e9", "e\u0301", "\ud800", "\ud801", '""',
    '"ada"', '" ada"', '"', "'", "ada'; --", "null", "None", "0", "3c2f5ee1-5d0c-5c5f-9a1f-6a3b6e1d7c55",
    "\u202eada", "\u200bada", "\u00df", "ss", "\u0130", "i", '"sha256 ', "ada\\", "\U0001f701",
)  # fmt: skip
"""User ids that a careless integration takes for one another."""
AGENTS, SESSIONS = ("chat", "chat ", "Chat"), ("monday", " monday", "m%")
ATTEMPTS = 1_000


@dataclass(frozen=True)
class Who:
    """The ids of a user, an agent and a session, as a framework gives them."""

    user: str
    agent: str
    session: str

    def secret(self) -> str:
        """The word that this user says to this agent in this session, and nobody else."""
        return f"secret{USERS.index(self.user):03}x{AGENTS.index(self.agent)}x{SESSIONS.index(self.session)}"


def grant(place: Place, *users: str) -> None:
    """Let alice work for the tenants of users."""
    with place.connect("keeper") as owner:
        for user in users:
            owner.execute("SELECT pgmnemo.grant_tenant(%s, 'alice')", (tenant_id(exact_name(user)),))


def check_isolation(
    place: Place,
    write: Callable[[Who, str], None],
    read: Callable[[Who, str], str],
    *,
    sessions_apart: bool = False,
    attempts: int = ATTEMPTS,
) -> None:
    """Assert that a read finds what its own user said to its agent, and nothing of others.

    write, read: store a text as a user; return all that a question finds, as one text.
    sessions_apart: a read also finds nothing of the user's other sessions.
    """
    rolled = random.Random(1)
    grant(place, *USERS)
    everyone = [Who(*ids) for ids in product(USERS, AGENTS[:1], SESSIONS[:1])]
    everyone += [Who(*ids) for ids in product(USERS[:4], AGENTS, SESSIONS)]
    everyone = list(dict.fromkeys(everyone))
    for who in everyone:
        write(who, f"The word is {who.secret()}.")
    for number in range(attempts):
        who = rolled.choice(everyone)
        other = rolled.choice([who, *rolled.choices(everyone, k=3)])
        found = read(who, f"The word is {other.secret()}.")
        for one in everyone:
            mine = (one.user, one.agent) == (who.user, who.agent)
            own = mine and (one.session == who.session or not sessions_apart)
            assert own or one.secret() not in found, (number, who, one)
        assert who != other or who.secret() in found, (number, who)

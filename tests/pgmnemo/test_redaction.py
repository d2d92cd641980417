"""Secrets of every form are found wherever they are in a text, and ordinary text is left as it is.

Every form is made here from parts, so that no scanner of repositories takes this file for a leak.
"""

from __future__ import annotations

import base64
import json
import random
import string
import sys
import time
from itertools import pairwise

import pytest

from pgmnemo import redaction
from pgmnemo.redaction import RULES, Secret, find_secrets, redact

DRAWN = random.Random(7)
WORD, HEX, UPPER = string.ascii_letters + string.digits, "0123456789abcdef", string.ascii_uppercase + "234567"
DIGITS = string.digits


def drawn(count: int, letters: str = WORD) -> str:
    return "".join(DRAWN.choice(letters) for _ in range(count))


def encoded(given: dict[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(given).encode()).rstrip(b"=").decode()


def pem(kind: str) -> str:
    body = "\n".join(drawn(64) for _ in range(5))
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


KEY, LIVE = "PRIV" + "ATE KEY", "_li" + "ve_"
SECRETS = {  # kind: what is secret in it
    "private key": [
        *map(pem, (KEY, f"RSA {KEY}", f"OPENSSH {KEY}", f"EC {KEY}", f"ENCRYPTED {KEY}", f"PGP {KEY} BLOCK")),
        pem(KEY).replace("\n", "\\n"), "\n".join(pem(KEY).splitlines()[:3]),
    ],
    "aws access key": ["AK" + "IA" + drawn(16, UPPER), "AS" + "IA" + drawn(16, UPPER)],
    "github token": [
        *(f"gh{letter}_{drawn(36)}" for letter in "pousr"), "github" + f"_pat_{drawn(22)}_{drawn(59)}",
    ],
    "gitlab token": ["gl" + f"pat-{drawn(20)}", "gl" + f"rt-{drawn(20)}"],
    "slack token": [
        "xo" + f"xb-{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(24)}",
        "xo" + f"xp-{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(12, DIGITS)}-{drawn(32, HEX)}",
        "xa" + f"pp-1-A{drawn(10, UPPER)}-{drawn(13, DIGITS)}-{drawn(64, HEX)}",
    ],
    "stripe key": [
        f"sk{LIVE}{drawn(24)}", f"sk{LIVE}51{drawn(99)}", f"rk{LIVE}{drawn(24)}", f"sk_te" f"st_{drawn(24)}",
    ],
    "openai key": [
        f"sk-{drawn(20)}T3Blbk" f"FJ{drawn(20)}", f"sk-proj-{drawn(74)}T3Blbk" f"FJ{drawn(74)}",
        f"sk-proj-{drawn(30)}-{drawn(43)}_{drawn(73)}", f"sk-svcacct-{drawn(80)}",
    ],
    "anthropic key": [f"sk-" f"ant-{kind}-{drawn(93)}AA" for kind in ("api03", "admin01", "oat01")],
    "google api key": ["AI" + f"za{drawn(35)}"],
    "hugging face token": ["hf" + f"_{drawn(34, string.ascii_letters)}"],
    "npm token": ["np" + f"m_{drawn(36)}"],
    "pypi token": ["py" + f"pi-AgEIcHlwaS5vcmc{drawn(120)}"],
    "jwt": [f"{encoded({'alg': 'HS256', 'typ': 'JWT'})}.{encoded({'sub': '1', 'name': 'Ada'})}.{drawn(43)}"],
}  # fmt: skip
PARTS = [  # kind, text, and what is secret of it
    ("aws secret key", "aws_secret_access_key = {}", drawn(40)),
    ("aws secret key", 'AWS_SECRET_ACCESS_KEY: "{}"', drawn(40)),
    ("slack webhook", "https://hooks." "slack.com/services/{}", f"T{drawn(8)}/B{drawn(8)}/{drawn(24)}"),
    ("password in a url", "postgresql://ada:{}@db.example.org:5432/app", "hunter2"),
    ("password in a url", "see https://ada:{}@[::1]/x", "pass%20word9"),
    ("password in a url", "redis://:{}@cache:6379/0", drawn(12)),
    ("password in a url", "mongodb+srv://ada:{}@c0.mongodb.net/x", "mySecret99"),
    ("secret variable", "DB_PASSWORD={}", "hunter2xyz"),
    ("secret variable", 'export API_KEY="{}" # mine', drawn(20)),
    ("secret variable", "OPENAI_API_KEY='{}' python x.py", drawn(32)),
    ("secret variable", "SECRET_KEY_BASE={}", drawn(64, HEX)),
    ("secret variable", "docker run -e JWT_SECRET={} image", "correct-horse-battery"),
]  # fmt: skip
ORDINARY = """
MAX_TOKENS=800 PASSWORD=$PASSWORD API_KEY=<your-key> TOKEN=your-token-here SECRET={{ secret }}
PASSWORD=changeme export TOKEN=$(mnemo token make ada) PASSWORD="${DB_PASSWORD}"
SECRET=os.environ["SECRET"] API_KEY=load_key(path)
the password is at the reception; a secret=ingredient; password == other; TOKEN_FILE=/run/secrets/token
postgresql://ada@db/app https://example.org:8080/a@b http://[::1]:80/x git@github.com:ada/boats.git
ftp://a:{b}@c postgresql://user:password@localhost/x https://$USER:$PASS@host ssh://git@host:22/x
see https://x.org/a:b@c
commit 9e107d9d372bb6826bd81d3542a419d6
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
550e8400-e29b-41d4-a716-446655440000 sk-learn sk-proj AKIA ghp_ xoxb- eyJ glpat-
npm_config_cache hf_hub_download
task-proj-a-very-long-name-of-a-branch-which-goes-on-and-on-for-more-than-sixty-letters
AKIAIOSFODNN7EXAMPLE the header `-----BEGIN PRIVATE KEY-----` comes first, and
-----END PRIVATE KEY----- is last
-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEabcdefghijklmnop\n-----END PUBLIC KEY-----
"""
AROUND = (
    "{}",
    "I use {}.",
    "{}\n",
    '{{"text": "a\\n{}"}}',
    "({})",
    "key={} x",
    "the key is '{}', never push it",
)


@pytest.fixture(params=["own rules", "with redact-secret"])
def rules(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "own rules":
        monkeypatch.setattr(redaction, "_library", lambda: None)
    else:
        pytest.importorskip("redact_secret")


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("kind", SECRETS)
def test_each_form_is_found_wherever_it_is(kind: str, around: str) -> None:
    for secret in SECRETS[kind]:
        assert redact(around.format(secret)) == (around.format(f"[redacted: {kind}]"), {kind: 1}), secret


@pytest.mark.usefixtures("rules")
@pytest.mark.parametrize(("kind", "text", "secret"), PARTS, ids=[text for _, text, _ in PARTS])
def test_only_the_secret_of_an_address_or_an_assignment_goes(kind: str, text: str, secret: str) -> None:
    for around in ("{}", "I set\n{}\nand go on"):
        told, counted = redact(around.format(text.format(secret)))
        assert told == around.format(text.format(f"[redacted: {kind}]"))
        assert counted == {kind: 1}


def test_every_kind_has_a_form_here() -> None:
    assert {*SECRETS, *(kind for kind, _, _ in PARTS)} == {*RULES}


@pytest.mark.usefixtures("rules")
def test_ordinary_text_is_left_as_it_is() -> None:
    for line in (ORDINARY, *ORDINARY.splitlines()):
        assert redact(line) == (line, {}), line


@pytest.mark.usefixtures("rules")
def test_a_text_of_many_secrets_keeps_all_else_and_nothing_is_redacted_again() -> None:
    secrets = [secret for some in SECRETS.values() for secret in some]
    text = " and é ".join(secrets)
    told, counted = redact(text)
    assert counted.total() == len(secrets)
    assert told.count(" and é ") == len(secrets) - 1
    assert not [secret for secret in secrets if secret in told]
    assert redact(told) == (told, {})
    found = find_secrets(text)
    assert all(one.end <= other.start for one, other in pairwise(found))


def test_a_kind_of_the_library_alone_is_redacted_and_its_guesses_are_not() -> None:
    pytest.importorskip("redact_secret")
    token = "shp" + f"at_{drawn(32, HEX)}"
    assert redact(f"use {token} now") == (
        "use [redacted: shopify access token] now",
        {"shopify access token": 1},
    )
    assert not find_secrets(f'{{"password": "{drawn(20)}"}}')


def test_the_library_finds_secrets_wherever_its_pieces_are_cut() -> None:
    pytest.importorskip("redact_secret")
    token = "shp" + f"at_{drawn(32, HEX)}"
    for before in range(redaction.PIECE - 60, redaction.PIECE + 20):
        text = "é " * (before // 2) + " " * (before % 2) + token + " é" * redaction.PIECE
        assert find_secrets(text) == [Secret(before, before + len(token), "shopify access token")]


@pytest.mark.parametrize(
    "part",
    ["a", "A_", "://", "sk-", "eyJ", "xoxb-1-_", "://a:b", "TOKEN=", f"-----BEGIN {KEY}-----", "a.", "\\n"],
)
def test_no_text_takes_long(part: str) -> None:
    text = part * (1_000_000 // len(part))
    start = time.perf_counter()
    find_secrets(text)
    assert time.perf_counter() - start < 10  # tenths of a second where nothing else runs


def test_without_the_library_the_rules_say_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redact_secret", None)
    redaction._library.cache_clear()
    try:
        assert "pip install 'pgmnemo-memory[secrets]'" in redaction.rules()
    finally:
        redaction._library.cache_clear()

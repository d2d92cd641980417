"""The routes of benchmarks' wrappers: ids are those that were given, users are kept from each other."""

from __future__ import annotations

from typing import Any

import pytest

from pgmnemo import AsyncMemory
from pgmnemo.http.auth import AuthMiddleware
from pgmnemo.http.benchmark import build_app
from tests.pgmnemo.client.driving import Place
from tests.pgmnemo.http.conftest import Served


@pytest.fixture
def wrapped(place: Place, served: Served, opened: AsyncMemory) -> Served:
    served.app = AuthMiddleware(build_app(opened), served.tokens)
    return served


def ids(served: Served, token: str, **asked: Any) -> list[str]:
    answer = served.ask("POST", "/search", token, json={"limit": 10, **asked})
    assert answer.status_code == 200, answer.text
    return [one["id"] for one in answer.json()["results"]]


def belief(key: str, text: str, user: str = "u1", scope: str = "s1", **more: Any) -> dict[str, Any]:
    return {"text": text, "user_id": user, "metadata": {"beliefId": key, "scope": scope}, **more}


def test_what_a_wrapper_does(wrapped: Served) -> None:
    token, other = wrapped.token(), wrapped.token()
    for body in (
        belief("b1", "Ada lives in Lisbon", aliases=["Olisipo"]), belief("b2", "Ada has a cat", scope="s2"),
        belief("b1", "Bob lives in Porto", user="u2"), belief("b1", "Lisbon again"),
    ):  # fmt: skip
        added = wrapped.ask("POST", "/add", token, json=body).json()
        assert added == {"id": body["metadata"]["beliefId"]}
    wrapped.ask("POST", "/add", other, json=belief("b9", "Lisbon of another"))
    assert wrapped.ask("POST", "/wait", token).status_code == 200
    assert ids(wrapped, token, query="Lisbon", user_id="u1")[0] == "b1"
    assert ids(wrapped, token, query="cat", user_id="u1", scope="s2") == ["b2"]
    assert ids(wrapped, token, query="Lisbon", user_id="u1", scope="s3") == []
    assert ids(wrapped, token, query="Porto", user_id="u2") == ["b1"]
    assert ids(wrapped, token, query="Lisbon", user_id="u1", limit=1) == ["b1"]
    update = {"beliefId": "b2", "text": "Ada has a dog", "user_id": "u1", "metadata": {"scope": "s1"}}
    assert wrapped.ask("PUT", "/update", token, json=update).json() == {"id": "b2"}
    assert ids(wrapped, token, query="dog", user_id="u1", scope="s1")[0] == "b2"
    assert wrapped.ask("PUT", "/update", token, json={**update, "beliefId": "no"}).status_code == 404
    assert "/search" in wrapped.ask("POST", "/v1/recall", token).text
    assert wrapped.ask("DELETE", "/reset", token).json() == {"deleted": 3}
    assert ids(wrapped, token, query="Lisbon", user_id="u1") == []
    assert ids(wrapped, other, query="Lisbon", user_id="u1") == ["b9"]


def test_a_floor_leaves_out_what_does_not_fit(place: Place, served: Served, opened: AsyncMemory) -> None:
    token = served.token()
    served.app = AuthMiddleware(build_app(opened, min_fit=0.2), served.tokens)
    for body in (belief("b1", "Ada lives in Lisbon"), belief("b2", "The oven needs a new fuse")):
        served.ask("POST", "/add", token, json=body)
    assert ids(served, token, query="Does Ada live in Lisbon?", user_id="u1") == ["b1"]
    assert ids(served, token, query="a volcano on Mars", user_id="u1") == []


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/add", b"{", 400), ("POST", "/add", b"{}", 422), ("POST", "/search", b"{}", 422),
        ("POST", "/search", b'{"query": "x", "limit": 0}', 422), ("PUT", "/update", b'{"text": "x"}', 422),
        ("POST", "/add", b'{"text": "x", "user_id": ""}', 422), ("GET", "/reset", b"", 405),
        ("POST", "/v1/recall", b"{}", 404),
        ("POST", "/add", b'{"text": "x", "metadata": {"beliefId": {"a": 1}}}', 422),
        ("POST", "/add", b'{"text": "x", "metadata": {"beliefId": "\\u0000"}}', 422),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told(wrapped: Served, method: str, path: str, body: bytes, status: int) -> None:
    answer = wrapped.ask(method, path, wrapped.token(), content=body)
    assert answer.status_code == status, answer.text

"""Every verb for a tenant. A new verb is one row here, and every wall is asked about it.

tests/sql/test_security.py asks them of a login without a grant, of a revoked one, of one that calls in
another's name, and of a tenant beside another; test_battery.py under every setting and caller that it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Verb:
    """A verb whose first argument is the tenant; NULL is the session's tenant.

    `given` are the arguments after the tenant: {p} is a project, {k} and {l} are keys of lessons in it.
    """

    name: str
    given: str = ""


PLANTED = "ARRAY[ROW('{p}', 'x', 'y', NULL, NULL, NULL, 3, '{{}}'" + ", NULL" * 9 + ")::pgmnemo.lesson_input]"
VERBS = (
    Verb("store", "'{p}', 'x', 'y'"), Verb("store_set", PLANTED), Verb("store_passages", "1, '{{x}}'"),
    Verb("recall", "query_text => 'river'"), Verb("explain", "'{p}', '{k}', query_text => 'river'"),
    Verb("link", "'{p}', '{k}', '{l}', 'x'"), Verb("unlink", "'{p}', '{k}', '{l}', 'follows'"),
    *(Verb(f"list_{what}") for what in ("lessons", "edges", "passages", "vectors", "postings")),
    Verb("lessons_without_passages"), Verb("check"), Verb("repair"), Verb("merge_postings"), Verb("index"),
    Verb("supersede", "'{p}', '{k}', '{l}'"), Verb("timeline", "'{p}', '{k}'"),
    Verb("undo_supersede", "'{p}', '{k}'"), Verb("assert_fact", "'{p}', 'x', 'is', 'y'"), Verb("facts"),
    Verb("end_fact", "'{p}', 'x', 'is'"), Verb("get", "'{p}', '{k}'"), Verb("list", "everything => true"),
    Verb("count"), Verb("update", "'{p}', '{k}', topic => 'x'"), Verb("append", "'{p}', 'z'"),
    Verb("delete_expired"), Verb("recut"), Verb("language"), Verb("set_language", "'auto'"),
    Verb("similar_pairs"), Verb("forget_matching", '\'{{"topic": "x"}}\''),
    Verb("forget", "'{p}', '{k}', true"), Verb("forget_all"), Verb("embedder"),
    Verb("set_embedder", "'x', 384"), Verb("begin_reembedding", "3"),
    Verb("reembedding_due", "hold => true"), Verb("reembed", "'{{}}', '{{}}', '{{}}', '{{}}'"),
    Verb("cancel_reembedding"), Verb("finish_reembedding"),
)  # fmt: skip
# Of no tenant, or, for staging and grants, held to the caller's rights by what they call.
OF_NO_TENANT = {
    "version", "list_settings", "current_tenant", "list_grants", "open_staging", "store_staged",
    "grant_tenant", "renew_caller_key", "revoke_tenant", "maintain", "maintain_all",
    "tenant_uuid", "project_uuid", "recall_lessons",
}  # fmt: skip


def by_argument(tenant: UUID | None, project: UUID, key: str, other: str) -> list[str]:
    """Return each verb's call for a tenant, or with None for the session's, without its schema."""
    first = f"'{tenant}'" if tenant else "NULL"
    given = [(verb.name, verb.given.format(p=project, k=key, l=other)) for verb in VERBS]
    return [f"{name}({', '.join(filter(None, (first, rest)))})" for name, rest in given]


def by_setting(project: UUID, key: str, other: str) -> list[str]:
    """Return each verb's call for the session's tenant, and the protocol's function."""
    return [*by_argument(None, project, key, other), "recall_lessons(query_text => 'river')"]

"""Every verb for a tenant, in its spellings. A new verb is one row here, and every wall is asked about it.

tests/sql/test_security.py asks them of a login without a grant, of a revoked one, of one that calls in
another's name, and of a tenant beside another; test_battery.py under every setting and caller that it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True)
class Verb:
    """`named` takes the tenant as its first argument, `session` serves the session's tenant; a verb with
    `either` has one spelling, in which NULL is the session's tenant.

    `given` is what both take besides: {p} is a project, {k} and {l} are keys of lessons in it.
    """

    named: str | None
    session: str | None = None
    given: str = ""
    either: bool = False


PLANTED = "ARRAY[ROW('{p}', 'x', 'y', NULL, NULL, NULL, 3, '{{}}'" + ", NULL" * 9 + ")::pgmnemo.lesson_input]"
VERBS = (
    Verb("store", "store_lesson", "'{p}', 'x', 'y'"), Verb("store_set", "store_lessons", PLANTED),
    Verb("store_passages", "add_passages", "1, '{{x}}'"),
    Verb("recall", "recall_lessons", "query_text => 'river'"),
    Verb("explain", "explain_recall", "'{p}', '{k}', query_text => 'river'"),
    Verb("link", "link_lessons", "'{p}', '{k}', '{l}', 'x'"),
    Verb("unlink", "unlink_lessons", "'{p}', '{k}', '{l}', 'follows'"),
    *(Verb(f"list_{what}") for what in ("lessons", "edges", "passages", "vectors", "postings")),
    Verb("lessons_without_passages"),
    Verb("check", either=True), Verb("repair", either=True), Verb("merge_postings", either=True),
    Verb("index", either=True), Verb("supersede", given="'{p}', '{k}', '{l}'", either=True),
    Verb("timeline", given="'{p}', '{k}'", either=True),
    Verb("undo_supersede", given="'{p}', '{k}'", either=True),
    Verb("assert_fact", given="'{p}', 'x', 'is', 'y'", either=True), Verb("facts", either=True),
    Verb("end_fact", given="'{p}', 'x', 'is'", either=True), Verb("get", given="'{p}', '{k}'", either=True),
    Verb("list", given="everything => true", either=True), Verb("count", either=True),
    Verb("update", given="'{p}', '{k}', topic => 'x'", either=True),
    Verb("append", given="'{p}', 'z'", either=True), Verb("delete_expired", either=True),
    Verb("recut", either=True), Verb("language", either=True),
    Verb("set_language", given="'auto'", either=True),
    Verb("similar_pairs", either=True), Verb("forget_matching", given='\'{{"topic": "x"}}\'', either=True),
    Verb("forget", "forget_lesson", "'{p}', '{k}', true"), Verb(None, "forget_project", "'{p}'"),
    Verb("forget_all", "forget_tenant"), Verb("embedder", either=True),
    Verb("set_embedder", given="'x', 384", either=True), Verb("begin_reembedding", given="3", either=True),
    Verb("reembedding_due", given="hold => true", either=True),
    Verb("reembed", given="'{{}}', '{{}}', '{{}}', '{{}}'", either=True),
    Verb("cancel_reembedding", either=True), Verb("finish_reembedding", either=True),
)  # fmt: skip
# Of no tenant, or, for staging and grants, held to the caller's rights by what they call.
OF_NO_TENANT = {
    "version", "list_settings", "current_tenant", "list_grants", "open_staging", "store_staged",
    "grant_tenant", "renew_caller_key", "revoke_tenant", "maintain", "maintain_all",
    "tenant_uuid", "project_uuid",
}  # fmt: skip


def by_argument(tenant: UUID, project: UUID, key: str, other: str) -> list[str]:
    """Each verb's call for the tenant, without its schema."""
    return [
        f"{verb.named}('{tenant}'{verb.given and ', '}{verb.given.format(p=project, k=key, l=other)})"
        for verb in VERBS
        if verb.named
    ]


def by_setting(project: UUID, key: str, other: str) -> list[str]:
    """The same of the verbs that are for the session's tenant."""
    given = [(verb, verb.given.format(p=project, k=key, l=other)) for verb in VERBS]
    return [f"{verb.session}({rest})" for verb, rest in given if verb.session] + [
        f"{verb.named}(NULL{rest and ', '}{rest})" for verb, rest in given if verb.either
    ]

"""LlamaIndex: a vector store over one project of a memory, and a block of its chat memory.

A node is a lesson: its id is the key, and its text is the lesson's. The lesson's metadata contain the node's
metadata and its JSON, as in LlamaIndex's own stores. A lesson of another program is a TextNode.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pgmnemo.client.aio.scope import AsyncScope
from pgmnemo.client.arguments import check_arguments
from pgmnemo.client.records import Context, Hit, Item, Lesson
from pgmnemo.client.rendering import FIRST, LAST, about_tokens
from pgmnemo.client.scope_calls import text_digest
from pgmnemo.client.sync.scope import Scope
from pgmnemo.errors import UsageError
from pgmnemo.integrations.documents import (
    BLANK,
    BLANKS,
    ID,
    Condition,
    DocumentStore,
    any_of,
    await_answer,
    batches,
    conjunction,
    is_blank,
    keys_of,
    missing_package,
    sync_and_async,
)
from pgmnemo.integrations.llamaindex_filters import Check, conditions, is_one_of, path_of, stored_key

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole
    from llama_index.core.bridge.pydantic import Field, PrivateAttr
    from llama_index.core.memory import BaseMemoryBlock
    from llama_index.core.schema import BaseNode, MetadataMode, TextNode
    from llama_index.core.vector_stores.types import (
        BasePydanticVectorStore,
        MetadataFilters,
        VectorStoreQuery,
        VectorStoreQueryMode,
        VectorStoreQueryResult,
    )
    from llama_index.core.vector_stores.utils import metadata_dict_to_node, node_to_metadata_dict
except ModuleNotFoundError:
    raise missing_package("llama-index-core", "llamaindex") from None

REF_DOC_ID = "ref_doc_id"
DEEPEST = 10_000  # most hits that are checked outside of the database
MODES = {
    VectorStoreQueryMode.DEFAULT: "vector",
    VectorStoreQueryMode.HYBRID: "hybrid",
    VectorStoreQueryMode.SEMANTIC_HYBRID: "hybrid",
    VectorStoreQueryMode.TEXT_SEARCH: "keyword",
    VectorStoreQueryMode.SPARSE: "keyword",
}
LONGEST_QUESTION = 20_000  # characters of the last messages that form the question
PROMPTS = (MessageRole.SYSTEM, MessageRole.DEVELOPER)  # not said by a participant
ASSISTANTS = (MessageRole.ASSISTANT, MessageRole.CHATBOT, MessageRole.MODEL)


@check_arguments
class PgmnemoVectorStore(BasePydanticVectorStore):
    """Nodes in one project of a memory.

    scope: a scope of a `Memory`, for both kinds of methods, or of an `AsyncMemory`, for asynchronous methods.

    Nodes and questions bring their vectors; the memory's own embedder makes missing vectors. The methods
    raise PgmnemoErrors: UsageError for an unsupported mode, operator or id.
    """

    stores_text: bool = True
    _documents: DocumentStore = PrivateAttr()

    def __init__(self, scope: Scope | AsyncScope) -> None:
        super().__init__(stores_text=True)
        self._documents = DocumentStore(scope)
        scope._require_project()

    @classmethod
    def class_name(cls) -> str:
        """Return the class's name in LlamaIndex's own records."""
        return "PgmnemoVectorStore"

    @property
    def client(self) -> Any:
        """Return the scope."""
        return self._documents.scope

    async def _add(self, nodes: Sequence[BaseNode], **kwargs: Any) -> list[str]:
        """Store nodes, each in place of the lesson with its id, and return the ids."""
        await self._documents.add([_item(node) for node in nodes])
        return [node.node_id for node in nodes]

    add, async_add = sync_and_async(_add)

    async def _delete(self, ref_doc_id: str, **delete_kwargs: Any) -> None:
        """Delete the nodes of a document permanently."""
        await self._documents.delete_matching({path_of(REF_DOC_ID): {"eq": ref_doc_id}})

    delete, adelete = sync_and_async(_delete)

    async def _delete_nodes(
        self,
        node_ids: list[str] | None = None,
        filters: MetadataFilters | None = None,
        **delete_kwargs: Any,
    ) -> None:
        """Delete the nodes with these ids that match the filters, permanently.

        Without ids and filters nothing is deleted.
        """
        asked, checks = conditions(filters)
        if asked is None and not checks:
            await self._documents.delete(node_ids or [])
        elif node_ids is None and not checks:
            await self._documents.delete_matching(asked)
        else:
            found = await self._matching(asked, checks, node_ids)
            await self._documents.delete([lesson.key for lesson in found])

    delete_nodes, adelete_nodes = sync_and_async(_delete_nodes)

    async def _get_nodes(
        self, node_ids: list[str] | None = None, filters: MetadataFilters | None = None
    ) -> list[BaseNode]:
        """Return the nodes with these ids that match the filters; the whole project if neither is given."""
        return [_node(lesson) for lesson in await self._matching(*conditions(filters), node_ids)]

    get_nodes, aget_nodes = sync_and_async(_get_nodes)

    async def _clear(self) -> None:
        """Delete all lessons of the project."""
        await self._documents.clear()

    clear, aclear = sync_and_async(_clear)

    async def _query(self, query: VectorStoreQuery, **kwargs: Any) -> VectorStoreQueryResult:
        """Return the nodes that best answer a query.

        They are ranked by cosine in the mode DEFAULT, by the memory's score in HYBRID and SEMANTIC_HYBRID,
        and by words in TEXT_SEARCH and SPARSE. Similarities are cosines in DEFAULT, else the hit's `fit`.
        """
        if (mode := MODES.get(VectorStoreQueryMode(query.mode))) is None:
            raise UsageError(
                f"the mode {query.mode} is not served; take {', '.join(one.value for one in MODES)}"
            )
        if query.alpha is not None:
            raise UsageError("alpha is not taken: settings of the memory weigh words and meaning")
        asked, checks = conditions(query.filters)
        if query.doc_ids:
            asked = conjunction([asked, any_of(path_of(REF_DOC_ID), query.doc_ids)])
        if query.node_ids:  # an index sets no node_ids if its store keeps the texts
            some, *more = batches(keys_of(query.node_ids)) or [[]]
            if more:
                checks.append(is_one_of(query.node_ids))
            else:
                asked = conjunction([asked, any_of(ID, some)])
        k = query.similarity_top_k
        if mode == "hybrid" and query.hybrid_top_k is not None:
            k = query.hybrid_top_k
        best = await self._best(query, mode, k, asked, checks)
        return VectorStoreQueryResult(
            nodes=[_node(hit) for hit, _ in best],
            similarities=[score for _, score in best],
            ids=[hit.key for hit, _ in best],
        )

    query, aquery = sync_and_async(_query)

    async def _best(
        self, query: VectorStoreQuery, mode: str, k: int, asked: Condition | None, checks: list[Check]
    ) -> list[tuple[Hit, float]]:
        """Return the k best hits; with checks outside of the database, fetch more until k hits pass."""
        most = k
        while True:
            found = await self._documents.recall(query.query_str, query.query_embedding, most, mode, asked)
            passed = [pair for pair in found if all(check(pair[0].metadata) for check in checks)]
            if not checks or len(passed) >= k or len(found) < most or most == DEEPEST:
                return passed[:k]
            most = min(most * 8, DEEPEST)

    async def _matching(
        self, asked: Condition | None, checks: list[Check], node_ids: list[str] | None
    ) -> list[Lesson]:
        if asked is None and node_ids is not None:
            found = await self._documents.get(node_ids)
        else:
            wanted = None if node_ids is None else set(keys_of(node_ids))
            found = await self._documents.find(asked)
            found = [lesson for lesson in found if wanted is None or lesson.key in wanted]
        return [lesson for lesson in found if all(check(lesson.metadata) for check in checks)]


class PgmnemoMemoryBlock(BaseMemoryBlock[str]):
    """A block of LlamaIndex's `Memory`, which stores the messages and recalls lessons as quoted data.

    The recalled lessons fit the conversation and are of every session.

    scope: a scope of one project; of an AsyncMemory, or of a Memory, which is called in a thread.
    max_tokens: the most tokens of the recalled block, by `count`.
    asked: arguments of `context`, such as role, filter, since and k.
    """

    name: str = "recalled"
    scope: Any = Field(exclude=True)
    max_tokens: int = 1000
    count: Callable[[str], int] = Field(default=about_tokens, exclude=True)
    asked: dict[str, Any] = Field(default_factory=dict)
    _documents: DocumentStore = PrivateAttr()

    def model_post_init(self, context: Any, /) -> None:
        """Wrap `scope`; raise UsageError if it is not a scope of one project."""
        super().model_post_init(context)
        self._documents = DocumentStore(self.scope)
        self.scope._require_project()

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        """Return the lessons that fit the user's last message, else the last message of any speaker.

        Without messages, return new and important lessons.
        """
        said = [message for message in messages or [] if _message_text(message)]
        asking = [message for message in said if message.role == MessageRole.USER] or said
        question = _message_text(asking[-1])[:LONGEST_QUESTION] if asking else None
        found: Context = await self._documents.run_async(self._context(question))
        return found.text

    async def _context(self, question: str | None) -> Any:
        return await await_answer(
            self.scope.context(question, max_tokens=self.max_tokens, count=self.count, **self.asked)
        )

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Store the messages; equal texts of a speaker are stored once per session."""
        items = [
            _is_spoken(message)
            for message in messages
            if _message_text(message) and message.role not in PROMPTS
        ]
        await self._documents.run_async(self._documents.add(items))

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Return the block without its last notes, which have at least `tokens_to_truncate` words.

        Return None if no note is left.
        """
        if not content:
            return None
        notes = re.split(r"(?m)^(?=\[)", content.removeprefix(f"{FIRST}\n").removesuffix(f"{LAST}\n"))
        left = tokens_to_truncate
        while notes and left > 0:
            left -= len(notes.pop().split())
        return "".join([FIRST, "\n", *notes, LAST, "\n"]) if notes else None


def _item(node: BaseNode) -> Item:
    text = node.get_content(metadata_mode=MetadataMode.NONE)
    blank = is_blank(text)
    told = node_to_metadata_dict(node, remove_text=not blank)
    kept = {stored_key(key): None if value == [] else value for key, value in told.items()}
    return Item(BLANK if blank else text, node.node_id, metadata=kept, vector=node.embedding)


def _node(found: Hit | Lesson) -> BaseNode:
    if "_node_content" not in found.metadata:
        return TextNode(id_=found.key, text=found.text, metadata=dict(found.metadata))
    return metadata_dict_to_node(dict(found.metadata), None if found.text in BLANKS else found.text)


def _message_text(message: ChatMessage) -> str:
    """Return a message's words, without characters that a database refuses."""
    return (message.content or "").replace("\0", "").encode("utf-8", "replace").decode().strip()


def _is_spoken(message: ChatMessage) -> Item:
    session = str(message.additional_kwargs.get("session_id") or "")
    role = "assistant" if message.role in ASSISTANTS else message.role.value
    key = text_digest("\n".join((session, role, _message_text(message))))[
        :24
    ]  # short, because the block shows it
    return Item(_message_text(message), key, role=role, metadata={"session_id": session} if session else {})

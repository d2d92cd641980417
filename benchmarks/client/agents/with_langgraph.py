"""The agent with LangGraph's PostgresStore, as https://docs.langchain.com/oss/python/langgraph/stores has it.

The place is the DSN of a PostgreSQL with pgvector that runs already.
"""

from contextlib import ExitStack
from uuid import uuid4

from langgraph.store.postgres import PostgresStore

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

MINILM = EMBEDDERS["minilm-int8"](EmbedderOptions())


def embed(texts):
    return MINILM.embed_documents(texts).tolist()


class Agent:
    def __init__(self, place):
        self.stack = ExitStack()
        index = {"dims": 384, "embed": embed, "fields": ["text"]}
        self.store = self.stack.enter_context(PostgresStore.from_conn_string(place, index=index))
        self.store.setup()

    def listen(self, user, turns):
        for role, text in turns:
            self.store.put(("memories", user), str(uuid4()), {"text": text, "role": role})

    def recall(self, user, question):
        found = self.store.search(("memories", user), query=question, limit=3)
        return [(item.value["text"], f"similarity {item.score:.2f}") for item in found]

    def replace(self, user, old, new):
        [stale] = self.store.search(("memories", user), query=old, limit=1)
        self.store.put(("memories", user), stale.key, {"text": new, "role": "user"})

    def history(self, user, text):
        [found] = self.store.search(("memories", user), query=text, limit=1)
        return [self.store.get(("memories", user), found.key).value["text"]]

    def forget(self, user):
        while items := self.store.search(("memories", user), limit=100):
            for item in items:
                self.store.delete(item.namespace, item.key)

    def close(self):
        self.stack.close()

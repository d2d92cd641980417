"""The agent with PowerMem's SDK, as its README has it, on SQLite and without a language model."""

from langchain.embeddings.base import Embeddings
from powermem import Memory

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

MINILM = EMBEDDERS["minilm-int8"](EmbedderOptions())


class MiniLM(Embeddings):
    def embed_documents(self, texts):
        return MINILM.embed_documents(texts).tolist()

    def embed_query(self, text):
        return self.embed_documents([text])[0]


class Agent:
    def __init__(self, place):
        self.memory = Memory(config={
            "vector_store": {"provider": "sqlite", "config": {"database_path": place}},
            "embedder": {"provider": "langchain", "config": {"model": MiniLM()}},
            "llm": {"provider": "noop", "config": {}},
        })  # fmt: skip

    def listen(self, user, turns):
        for role, text in turns:
            self.memory.add([{"role": role, "content": text}], user_id=user, infer=False)

    def recall(self, user, question):
        found = self.memory.search(question, user_id=user, limit=3)["results"]
        return [(row["memory"], str(row["metadata"]["_fusion_info"])) for row in found]

    def replace(self, user, old, new):
        [stale] = self.memory.search(old, user_id=user, limit=1)["results"]
        self.memory.update(stale["id"], new, user_id=user)

    def history(self, user, text):
        [found] = self.memory.search(text, user_id=user, limit=1)["results"]
        return [self.memory.get(found["id"], user_id=user)["content"]]

    def forget(self, user):
        self.memory.delete_all(user_id=user)

    def close(self):
        pass

"""The agent with mem0's open-source Memory, as https://docs.mem0.ai/open-source/python-quickstart has it.

Without a language model (`infer=False`), which its configuration wants all the same; Qdrant on disk.
"""

from pathlib import Path

from langchain.embeddings.base import Embeddings
from mem0 import Memory

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

MINILM = EMBEDDERS["minilm-int8"](EmbedderOptions())


class MiniLM(Embeddings):
    def embed_documents(self, texts):
        return MINILM.embed_documents(texts).tolist()

    def embed_query(self, text):
        return self.embed_documents([text])[0]


class Agent:
    def __init__(self, place):
        vectors = {"path": str(Path(place) / "qdrant"), "on_disk": True, "embedding_model_dims": 384}
        self.memory = Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": vectors},
            "embedder": {"provider": "langchain", "config": {"model": MiniLM()}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(Path(place) / "history.db"),
        })  # fmt: skip

    def search(self, user, question, most):
        found = self.memory.search(question, top_k=most, filters={"user_id": user}, explain=True)
        return found["results"]

    def listen(self, user, turns):
        self.memory.add([{"role": role, "content": text} for role, text in turns], user_id=user, infer=False)

    def recall(self, user, question):
        return [(row["memory"], str(row["score_details"])) for row in self.search(user, question, 3)]

    def replace(self, user, old, new):
        [stale] = self.search(user, old, 1)
        self.memory.update(stale["id"], text=new)

    def history(self, user, text):
        [found] = self.search(user, text, 1)
        return [step["old_memory"] or step["new_memory"] for step in self.memory.history(found["id"])]

    def forget(self, user):
        self.memory.delete_all(user_id=user)

    def close(self):
        self.memory.close()

"""A collection of Chroma on disk, by https://docs.trychroma.com/docs/run-chroma/clients.

Only what waits.py asks for.
"""

from uuid import uuid4

import chromadb

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

MINILM = EMBEDDERS["minilm-int8"](EmbedderOptions())


class Agent:
    def __init__(self, place):
        client = chromadb.PersistentClient(place)
        self.collection = client.get_or_create_collection("memories", embedding_function=None)

    def listen(self, user, turns):
        for at in range(0, len(turns), 1000):
            texts = [text for _, text in turns[at : at + 1000]]
            self.collection.add(
                ids=[str(uuid4()) for _ in texts], documents=texts, metadatas=[{"user": user}] * len(texts),
                embeddings=MINILM.embed_documents(texts),
            )  # fmt: skip

    def recall(self, user, question):
        asked = MINILM.embed_documents([question])
        found = self.collection.query(query_embeddings=asked, n_results=3, where={"user": user})
        return [(text, "") for text in found["documents"][0]]

    def close(self):
        pass

"""The agent with MemPalace: the tools of its MCP server, called as functions, a room for each user.

By https://mempalaceofficial.com/reference/mcp-tools.html and, for the rooms, by its integration of Strands.
It takes no function as embedder, but an endpoint of OpenAI's kind; its own default would be downloaded.
"""

import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from pgmnemo.embedders import EMBEDDERS, EmbedderOptions

MINILM = EMBEDDERS["minilm-int8"](EmbedderOptions())


class Endpoint(BaseHTTPRequestHandler):
    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        rows = MINILM.embed_documents([texts] if isinstance(texts, str) else texts).tolist()
        body = json.dumps({"data": [{"index": n, "embedding": row} for n, row in enumerate(rows)]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def serve():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, daemon=True).start()
    os.environ["MEMPALACE_EMBEDDING_MODEL"] = "openai-compat"
    os.environ["MEMPALACE_EMBEDDING_API_MODEL"] = "minilm"
    os.environ["MEMPALACE_EMBEDDING_API_URL"] = f"http://127.0.0.1:{server.server_address[1]}"


class Agent:
    def __init__(self, place):
        serve()
        os.environ["MEMPALACE_PALACE_PATH"] = place
        from mempalace import mcp_server

        self.tools = mcp_server

    def room(self, user):
        return {"wing": "conversations", "room": f"user-{user}"}

    def search(self, user, question, most):
        return self.tools.tool_search(question, limit=most, **self.room(user))["results"]

    def listen(self, user, turns):
        for role, text in turns:
            self.tools.tool_add_drawer(**self.room(user), content=text, added_by=role)

    def recall(self, user, question):
        return [
            (row["text"], f"similarity {row['similarity']}, bm25 {row.get('bm25_score')}")
            for row in self.search(user, question, 3)
        ]

    def replace(self, user, old, new):
        [stale] = self.search(user, old, 1)
        self.tools.tool_update_drawer(stale["drawer_id"], content=new)
        self.tools.tool_kg_add(user, "said", stale["text"])
        self.tools.tool_kg_supersede(user, "said", stale["text"], new)

    def history(self, user, text):
        return [fact["object"] for fact in self.tools.tool_kg_timeline(user)["timeline"]]

    def forget(self, user):
        while drawers := self.tools.tool_list_drawers(**self.room(user))["drawers"]:
            self.tools.tool_delete_drawers([drawer["drawer_id"] for drawer in drawers])

    def close(self):
        pass

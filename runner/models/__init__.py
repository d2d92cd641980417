"""What every model needs, whoever uses it: HTTP, the hub, torch, and a file that keeps what was made.

Embedders, rerankers and readers stand on it; it knows none of them.
"""

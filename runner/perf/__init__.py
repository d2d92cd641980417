"""Speed and scale: pgmnemo and its peers on one natural corpus, by one command (`python -m runner perf`).

Like `pipeline.py` and `claims/` it joins stages: a corpus, an embedder, a database. `measuring.measure` is
the way in; importing this package loads none of them.
"""

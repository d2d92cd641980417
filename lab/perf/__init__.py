"""Speed and scale: pgmnemo and its peers on one natural corpus, by one command (`python -m lab perf`).

It joins a corpus, an embedder and systems. The entry point is `measuring.measure`; importing this package
loads none of its modules.
"""

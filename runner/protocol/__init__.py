"""The protocol: editions, corpora, text templates, metrics, their statistics and the gates."""

"""The protocol: editions, corpora, texts, metrics, their statistics and the gates."""

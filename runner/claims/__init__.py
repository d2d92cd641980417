"""Claims that check themselves: verify, rescore, compare, cite, lint."""

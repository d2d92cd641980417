"""Rules to cut a text into passages."""

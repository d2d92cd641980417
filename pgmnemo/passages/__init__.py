"""How a text is cut into passages."""

"""Integrations of agent frameworks, each in an extra: the memory under a framework's own interface."""

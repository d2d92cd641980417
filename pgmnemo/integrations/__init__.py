"""Integrations: a memory under the interface of an agent framework; each needs an extra."""

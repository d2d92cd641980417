"""The memory over HTTP: the verbs, tokens for tenants, limits, a page."""

"""The asynchronous client. tools/sync_client.py makes `../sync` of it, all but `concurrency`."""

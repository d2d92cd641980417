"""The synchronous client: tools/sync_client.py makes it of `../aio`, all but `concurrency`."""

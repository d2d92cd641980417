"""The synchronous client: `make sync` makes it of `../aio`, all but `concurrency`."""

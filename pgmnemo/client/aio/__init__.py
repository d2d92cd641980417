"""The asynchronous client. `make sync` makes `../sync` of it, all but `concurrency`."""

"""The synchronous shell: all but `waiting` is made of `../aio` by `make sync`, and never edited."""

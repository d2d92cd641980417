"""The asynchronous shell. `../sync` is made of it by `make sync`, all but `waiting`."""

"""A network in parts at work at once, each on a device of its own: split, connected, saved, run."""

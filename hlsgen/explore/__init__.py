"""The best mapping of a design: every layer's options, and the exact choice among them for a board."""

"""Training under a memory budget: a network as a chain, what of it is kept, and what is computed again."""

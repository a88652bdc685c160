"""C-simulation: what was emitted, compiled, run and compared with golden."""

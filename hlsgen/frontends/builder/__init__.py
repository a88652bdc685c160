"""The graph as frontends make it: one method for each operation, whatever the framework."""

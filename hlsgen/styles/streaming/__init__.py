"""A network as one streaming kernel."""

"""A network as a kernel for each layer."""

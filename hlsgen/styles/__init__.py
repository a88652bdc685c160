"""The ways to build a graph as hardware: one convolution, a streaming network, a network layer by layer."""

"""Applications that arrive at a node of CPUs and accelerators: simulated under the policies of CEDR."""

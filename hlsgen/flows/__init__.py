"""Synthesis by the vendor's tools: steps, what is done of them, and the processes that do them."""

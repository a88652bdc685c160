"""PyTorch models -> graph."""

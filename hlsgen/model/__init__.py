"""The graph that every stage works on, its ports, frames and number types."""

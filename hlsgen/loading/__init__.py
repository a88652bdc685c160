"""A design file or a framework's model -> a design."""

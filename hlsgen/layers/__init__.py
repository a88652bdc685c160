"""A file for each kind of layer: its fields, golden in NumPy, and its stage."""

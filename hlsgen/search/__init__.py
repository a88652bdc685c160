"""The quick choice of folding, placement and off-chip weights."""

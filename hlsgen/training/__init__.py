"""Quantisation-aware fine-tuning of the widths that were found, and what it regains."""

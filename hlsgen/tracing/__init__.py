"""What a design does to its numbers: every layer's values beside the framework's, ranges beside types."""

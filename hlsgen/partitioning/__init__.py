"""Which part of a network belongs on which device: the assignment with the most frames a second, proven."""

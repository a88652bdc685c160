"""A network as the program of a shared processor: tasks, what they read and write in DDR, their numbers."""

"""What Python users hold: Design and Project."""

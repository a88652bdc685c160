"""When every word moves: intervals, depths of FIFOs, deadlock."""

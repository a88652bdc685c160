"""When every word moves.

fifos.py: the depths that are emitted. timing.py: interval, latency and stalls with them. deadlock.py and
smallest_fifos.py: what reports say of shallower ones.
"""

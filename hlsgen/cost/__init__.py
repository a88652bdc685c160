"""DSP, BRAM, URAM, LUT and FF of given hardware, and the cycles of its loops."""

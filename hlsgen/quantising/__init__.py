"""Number types from calibration frames, and how near to floating point they are."""

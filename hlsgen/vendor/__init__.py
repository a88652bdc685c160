"""The vendor's tools: run, read, compared, calibrated with."""

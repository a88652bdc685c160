"""FPGAs: boards, device families, and what things cost there."""

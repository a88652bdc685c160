"""Figures -> report.json, report.md and report.html."""

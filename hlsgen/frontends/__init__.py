"""Models of frameworks -> graph; no other room imports a framework."""

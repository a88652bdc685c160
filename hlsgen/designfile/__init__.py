"""Design files: YAML with positions, the schema, and what is wrong with a value."""

"""Models of the configuration's files."""

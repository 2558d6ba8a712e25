"""Measurements of other tools: each file is recognised by its content, not by its name."""

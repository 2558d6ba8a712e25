"""The rules of the workflow, and the programs that run it."""

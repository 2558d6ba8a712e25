"""The report that compares all controllers."""

COMMANDS = {
    "field": ("command", "make the report that compares all controllers"),
}

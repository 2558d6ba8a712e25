"""The report that sets all controllers side by side."""

COMMANDS = {
    "field": ("command", "make the report that sets all controllers side by side"),
}

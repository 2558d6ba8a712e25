"""Checks the numbers of a printed table against each other."""

COMMANDS = {
    "check-table": ("command", "check a printed table for internal consistency"),
}

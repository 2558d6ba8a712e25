"""The numbers of a printed table, checked against each other."""

COMMANDS = {
    "check-table": ("command", "check a printed table for internal consistency"),
}

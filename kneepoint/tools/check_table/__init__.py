"""The numbers of a printed table, checked against each other."""

COMMANDS = {
    "check-table": ("command", "check the numbers of a printed table against each other"),
}

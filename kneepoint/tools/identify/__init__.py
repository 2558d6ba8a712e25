"""Identifies the known rule that a sender behaves like."""

COMMANDS = {
    "identify": ("command", "find the known rule that behaves most like a sender"),
}

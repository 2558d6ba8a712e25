"""Fits a network to measurements of a path."""

COMMANDS = {
    "fit-path": ("command", "fit a network to measurements over a path"),
}
PAGES = ("how-to/fit-a-path",)

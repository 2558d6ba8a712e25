"""Measurements of mahimahi and Pantheon, read and compared."""

COMMANDS = {
    "import": ("command", "read measurements of mahimahi and Pantheon, and compare them"),
}
PAGES = ("how-to/import-measurements",)

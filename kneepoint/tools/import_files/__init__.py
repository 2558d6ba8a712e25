"""Measurements of mahimahi and Pantheon, read and compared."""

COMMANDS = {
    "import": ("command", "import and compare measurements of other tools"),
}
PAGES = ("how-to/import-measurements",)

"""Measurements by other tools, read and compared."""

COMMANDS = {
    "import": ("command", "import and compare measurements of other tools"),
}
PAGES = ("how-to/import-measurements",)

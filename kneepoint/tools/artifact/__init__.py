"""Archives a report, its results and its claims."""

COMMANDS = {
    "artifact": ("command", "write the report, its results and its claims as one archive"),
}
PAGES = ("how-to/submit-an-artifact",)

"""A search for a rule that controls congestion."""

COMMANDS = {
    "evolve": ("command", "search for a rule that controls congestion"),
}
PAGES = ("how-to/evolve-a-rule",)

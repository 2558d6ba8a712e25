"""Contests: other people's entries, built, run, scored and ranked."""

COMMANDS = {
    "contest": ("command", "build, run and rank the entries of a contest"),
    "new-entry": ("new_entry", "write the skeleton of an entry"),
    "try": ("try_entry", "build, run and plot one entry"),
    "tune": ("tune", "search the parameters of one entry"),
}
PAGES = ("contest", "how-to/write-an-entry")
CONFIGURATION = ("config/contests", "config/schemas/contest.json")
SCHEMAS = {
    "contest": ("config", "Contest", "contests/NAME.yaml"),
}
"""The kinds of files: each with the module and name of its model, and what they are called."""

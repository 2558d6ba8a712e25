"""Contests: builds, runs, scores and ranks the entries of other people."""

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
"""Configuration files: by kind, the module, the model and the file names."""

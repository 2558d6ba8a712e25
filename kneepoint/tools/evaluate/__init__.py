"""Candidates for a controller, scored for a search outside."""

COMMANDS = {
    "evaluate": ("command", "score candidates for a controller, which a search sends"),
}

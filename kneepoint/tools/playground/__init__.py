"""The emulator on a page in the browser, for teaching and for running a report's settings."""

COMMANDS = {
    "playground": ("command", "write a page that runs the emulator in the browser"),
}
SCHEMAS = {
    "exercise": ("exercise", "Exercise", "exercises/NAME.yaml"),
}
PAGES = ("playground",)
CONFIGURATION = ("config/exercises", "config/schemas/exercise.json")
IN_REPORTS = ("in_report", "in_report")

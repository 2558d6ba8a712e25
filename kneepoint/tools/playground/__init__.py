"""The emulator in the browser, on one page: to teach, and to try what a report says."""

COMMANDS = {
    "playground": ("command", "write a page that runs the emulator in the browser"),
}
SCHEMAS = {
    "exercise": ("exercise", "Exercise", "exercises/NAME.yaml"),
}
PAGES = ("playground",)
CONFIGURATION = ("config/exercises", "config/schemas/exercise.json")
IN_REPORTS = ("in_report", "in_report")

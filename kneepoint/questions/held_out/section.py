"""The name of a setting within a sentence of the section on held-out networks."""

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record


def label_within_sentence(setting: Record) -> str:
    """Returns a setting's label, which begins with its controller, without a leading capital."""
    controller, label = str(setting["controller"]), str(setting["label"])
    return labels.words(controller) + label.removeprefix(labels.sentence(controller))

"""One sound reporter, and heirs of it with one fault each."""

import itertools
import json

from faithkit.errors import InputError

COUNTER = itertools.count()


class Sound:
    """The values of a report as one line of JSON."""

    def write(self, report, *, indent=None):
        return json.dumps(report.to_dict(), indent=indent)


class WritesBytes(Sound):
    """As well as texts."""

    def write(self, report):
        return super().write(report).encode()


class RefusesWhatIsNoEvaluation(Sound):
    """Says so in a sentence."""

    def write(self, report):
        if not hasattr(report, "rows"):
            raise InputError("only evaluations have rows.")
        return super().write(report)


class NeedsOneText(Sound):
    """A text is no tuple."""

    needs = "labels"


class RefusesEverything(Sound):
    """There is nothing that it writes."""

    def write(self, report):
        raise InputError("today is Sunday.")


class KnowsEvaluationsOnly(Sound):
    """Has a traceback where a sentence is due."""

    def write(self, report):
        return f"{len(report.rows.codes)} rows"


class WritesTheFileItself(Sound):
    """Returns nothing."""

    def write(self, report):
        super().write(report)


class WritesNothing(Sound):
    """An empty file."""

    def write(self, report):
        return ""


class WritesHalfACharacter(Sound):
    """UTF-8 has no such character."""

    def write(self, report):
        return super().write(report) + "\ud83d"


class NumbersItsFiles(Sound):
    """Every file has another id."""

    def write(self, report):
        return f"{next(COUNTER)} {super().write(report)}"


class TakesTheTextsOut(Sound):
    """The report is shorter afterwards."""

    def write(self, report):
        text = super().write(report)
        if isinstance(getattr(report, "texts", None), tuple):
            object.__setattr__(report, "texts", ())
        return text

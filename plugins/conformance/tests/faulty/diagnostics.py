"""One sound diagnostic, and heirs of it with one fault each."""

import itertools

import faithkit

CALLS = itertools.count()


class Values(faithkit.plugin.Report):
    def __init__(self, **values):
        self.values = values

    def to_dict(self):
        return self.values

    def sheet(self):
        return faithkit.plugin.Sheet.of("values", *map(str, self.values))


class Sound:
    """How many rows there are."""

    name = "sound"

    def diagnose(self, result):
        return Values(rows=result.n)

    def applies(self, result):
        return result.n > 100


class Crashes(Sound):
    """Knows no result."""

    def diagnose(self, result):
        raise KeyError("rows")


class RefusesEverything(Sound):
    """Always asks for more."""

    def diagnose(self, result):
        raise faithkit.errors.InputError("more rows are needed.")


class ReturnsANumber(Sound):
    """No report."""

    def diagnose(self, result):
        return result.n


class ReturnsNoJson(Sound):
    """NaN is no JSON."""

    def diagnose(self, result):
        return Values(rows=float("nan"))


class NumberSheet(Values):
    def sheet(self):
        return faithkit.plugin.Sheet.of("values", 3)


class ShowsANumber(Sound):
    """A sheet is made of texts."""

    def diagnose(self, result):
        return NumberSheet(rows=result.n)


class ClipsExplanations(Sound):
    """What is near zero becomes zero, for everybody."""

    def diagnose(self, result):
        values = result.rows.explanations.values
        values[abs(values) < 0.5] = 0.0
        return super().diagnose(result)


class SortsCodes(Sound):
    """Rows lose their predictions."""

    def diagnose(self, result):
        result.rows.codes.sort()
        return super().diagnose(result)


class CountsItsCalls(Sound):
    """Another answer each time."""

    def diagnose(self, result):
        return Values(calls=next(CALLS))


class LooksAtTheFirstRow(Sound):
    """The first row is any row."""

    def diagnose(self, result):
        rows = result.rows
        return Values(first=float(rows.explanations.values[0, 0]))


class AppliesPerhaps(Sound):
    """Neither yes nor no."""

    def applies(self, result):
        return "perhaps"

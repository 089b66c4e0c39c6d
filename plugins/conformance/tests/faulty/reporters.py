"""One sound reporter."""


class Sound:
    """How many rows there are."""

    def write(self, report):
        return str(report.to_dict()["n"])

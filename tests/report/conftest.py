"""What tests of reports share: to draw pictures takes longer than all else, so most draw one or none."""

import pytest


@pytest.fixture
def draw_only(no_pictures, monkeypatch):
    """Return a function after which pages draw only the pictures whose label begins with a text."""

    def choose(beginning):
        def draw_chosen(draw, new_axes, label, *names, **options):
            is_chosen = label.startswith(beginning)
            return no_pictures(draw, new_axes, label, *names, **options) if is_chosen else ""

        monkeypatch.setattr("faithkit.report.pictures.figures.render_svg", draw_chosen)

    return choose

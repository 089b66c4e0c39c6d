"""Figures that a notebook shows once, without pyplot.

This imports Matplotlib, so it is imported when something is drawn.
"""

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

SHARPNESS = 2  # pixels of the picture for one on the page: most screens have that many

Png = tuple[bytes, dict[str, int]]  # with the size at which it is shown


class Drawing(Figure):
    r"""A figure that a notebook shows.

    Examples
    --------
    >>> picture, size = Drawing(figsize=(5.6, 2))._repr_png_()
    >>> picture[:4], size
    (b'\x89PNG', {'width': 560, 'height': 200})
    """

    def _repr_png_(self) -> Png:
        out, dots = io.BytesIO(), self.get_dpi()
        # whatever the reader's rcParams say of files: our inks are for paper
        kept: dict[str, Any] = {"bbox_inches": self.bbox_inches, "facecolor": "white"}
        self.savefig(out, format="png", dpi=SHARPNESS * dots, metadata={"Software": None}, **kept)
        width, height = (round(dots * side) for side in self.get_size_inches())
        return out.getvalue(), {"width": width, "height": height}


class DrawnAxes(Axes):
    """Axes that show their whole figure in a notebook, because `plot` returns axes."""

    def _repr_png_(self) -> Png | None:
        figure = self.get_figure(root=True)
        return figure._repr_png_() if isinstance(figure, Drawing) else None

"""Save a picture of the documentation as PNG, for the README: ``python docs/pictures/png.py lies``."""

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
from PIL import Image

FOLDER = Path(__file__).parent
DOTS_PER_INCH, N_COLOURS = 160, 64  # few colours, so that a page loads at once


def save_png(name: str, folder: Path = FOLDER) -> Path:
    """Draw the picture of this name, save it in the folder and return its path."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    runpy.run_path(str(FOLDER / f"{name}.py"))
    picture = folder / f"{name}.png"
    plt.savefig(picture, dpi=DOTS_PER_INCH)
    Image.open(picture).convert("RGB").quantize(N_COLOURS).save(picture, optimize=True)
    return picture


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(save_png(name))

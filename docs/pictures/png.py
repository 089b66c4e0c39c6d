"""Save a picture of the documentation as PNG, for the README: ``python docs/pictures/png.py lies``."""

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
from PIL import Image

HERE = Path(__file__).parent
DOTS, COLOURS = 160, 64  # dots an inch, and few colours: a page should load at once


def save(name: str, folder: Path = HERE) -> Path:
    """Draw the picture of this name, and save it in the folder."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    runpy.run_path(str(HERE / f"{name}.py"))
    picture = folder / f"{name}.png"
    plt.savefig(picture, dpi=DOTS)
    Image.open(picture).convert("RGB").quantize(COLOURS).save(picture, optimize=True)
    return picture


if __name__ == "__main__":
    for asked in sys.argv[1:]:
        print(save(asked))

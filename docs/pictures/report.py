"""Make the README's picture of a report: ``python docs/pictures/report.py``; it needs Chromium.

The page is a real one, of embedded data and a model trained on the spot, so the picture can be made anywhere.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PICTURE = Path(__file__).with_suffix(".png")
COMMAND = ["evaluate", "--explainer", "shap"]  # the one above the picture
WIDTH, HEIGHT, COLOURS = 900, 960, 64


def make(picture: Path = PICTURE) -> None:
    """Evaluate, show the page to a browser without a window, and keep the top of it."""
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder, "report.html"), Path(folder, "shot.png")
        subprocess.run([sys.executable, "-m", "faithkit", *COMMAND, "--html", str(page)], check=True)
        browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}"]
        subprocess.run([*browser, *size, page.as_uri()], check=True, capture_output=True)
        Image.open(shot).convert("RGB").quantize(COLOURS).save(picture, optimize=True)


if __name__ == "__main__":
    make()

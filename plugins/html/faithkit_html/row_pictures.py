"""Draw a row that is an image as a small PNG, with outlines around the patches that an explanation names."""

import base64
import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

Box = tuple[tuple[int, int], ...]  # the first cell and the one after the last, along every axis of a row
Outline = tuple[Box, bool]  # the pixels of a patch, and whether it speaks for the class
Pixels = NDArray[np.uint8]

SIDE = 192  # pixels of the longest side, at first
MIN_SIDE = 48
MAX_BYTES = 30_000  # of a PNG: 40 KB in the page, where three bytes take four letters
MAX_COLOURS = 4  # length of an axis of colours
MAX_RATIO = 8  # of the sides of an image; what is longer is a series
COLOURS = ((24, 100, 171), (226, 98, 18))  # the blue and the orange of the page
WHITE = (255, 255, 255)
WIDTH, DASH = 3, 6  # pixels of an outline


def draw_row(row: Any, outlines: list[Outline], is_swapped: bool = False) -> str | None:
    """Return a row as the address of an inline PNG; None if it is not an image.

    An image has a height and a width, with or without an axis of colours. What speaks against the class has
    a dashed outline of the other colour; `is_swapped` swaps the two colours.

    Examples
    --------
    >>> draw_row(np.eye(8), [(((0, 2), (0, 2)), True)])[:32]
    'data:image/png;base64,iVBORw0KGg'
    """
    image = _as_colours(np.asarray(row))
    if image is None:
        return None
    axes, pixels = image
    side = SIDE
    while True:
        png = _encode_png(_draw_outlines(pixels, axes, outlines, side, is_swapped))
        if len(png) <= MAX_BYTES or side <= MIN_SIDE:
            return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
        side = side * 3 // 4


def _as_colours(row: NDArray[Any]) -> "tuple[tuple[int, int], Pixels] | None":
    """Return the axes of height and width, and an image of bytes with three colours."""
    if row.ndim not in (2, 3) or row.dtype.kind not in "biuf" or 0 in row.shape:
        return None
    axes = [0, 1]
    if row.ndim == 3:
        colour_axes = [axis for axis in (2, 0, 1) if row.shape[axis] <= MAX_COLOURS]
        if not colour_axes:
            return None
        axes = [axis for axis in range(3) if axis != colour_axes[0]]
        row = np.moveaxis(row, colour_axes[0], -1)
    height, width = row.shape[:2]
    if min(height, width) < 2 or max(height, width) > MAX_RATIO * min(height, width):
        return None
    grey_or_rgb = row[..., None] if row.ndim == 2 else row[..., :3] if row.shape[-1] > 2 else row[..., :1]
    return (axes[0], axes[1]), np.repeat(_as_bytes(grey_or_rgb), 3 // grey_or_rgb.shape[-1], axis=-1)


def _as_bytes(values: NDArray[Any]) -> Pixels:
    """Convert an image to bytes: 0 to 1 as shares of 255, other numbers scaled by their range."""
    if values.dtype == np.uint8 and values.max() > 1:
        return values
    numbers = values.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    low, high = (0.0, 1.0) if low >= 0 and high <= 1 else (low, high if high > low else low + 1)
    shares = np.clip(np.nan_to_num((numbers - low) / (high - low), nan=0.0, posinf=1.0, neginf=0.0), 0, 1)
    return np.rint(255 * shares).astype(np.uint8)


def _draw_outlines(
    pixels: Pixels, axes: tuple[int, int], outlines: list[Outline], side: int, is_swapped: bool
) -> Pixels:
    """Resize an image so that its longest side has about so many pixels, and draw the outlines."""
    from PIL import Image

    height, width = pixels.shape[:2]
    scale = side / max(height, width)
    scale, method = (scale // 1, Image.Resampling.NEAREST) if scale >= 1 else (scale, Image.Resampling.BOX)
    size = round(width * scale), round(height * scale)
    picture = np.array(Image.fromarray(pixels).resize(size, method))
    for box, is_for in reversed(outlines):  # the largest last, on top of the others
        if max(axes) < len(box):
            rows, columns = ([round(end * scale) for end in box[axis]] for axis in axes)
            colour = COLOURS[is_for == is_swapped]
            _draw_outline(picture[slice(*rows), slice(*columns)], colour, is_dashed=not is_for)
    return picture


def _draw_outline(patch: Pixels, colour: tuple[int, int, int], is_dashed: bool) -> None:
    """Draw a rectangle inside a patch, with a white inner line for contrast."""
    for inset in range(WIDTH + 1):
        frame = patch[inset : len(patch) - inset, inset : patch.shape[1] - inset]
        for edge in (frame[:1], frame[-1:], frame[:, :1].swapaxes(0, 1), frame[:, -1:].swapaxes(0, 1)):
            edge[:] = WHITE if inset == WIDTH else colour
            if is_dashed:
                edge[:, np.arange(edge.shape[1]) // DASH % 2 == 1] = WHITE


def _encode_png(pixels: Pixels) -> bytes:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", optimize=True)
    return file.getvalue()

"""What the modules of generated pictures share: cases, and Pillow as the oracle."""

import dataclasses
import io
import warnings

import numpy as np
from PIL import Image, ImageOps

warnings.simplefilter("ignore")
Image.MAX_IMAGE_PIXELS = None


@dataclasses.dataclass
class Case:
    """A picture file, and what samlet must make of it."""

    name: str  # a file name without its suffix; unique
    data: bytes
    expected: np.ndarray | None = None  # u8 [height, width, 3]
    refused: str | None = None  # instead: a part of the sentence that refuses it
    tolerance: int = 0  # the most by which a sample may differ


def pillow(data):
    """The upright RGB that Pillow makes of a file: u8 [height, width, 3]."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(ImageOps.exif_transpose(image).convert("RGB"))


def same_as_pillow(name, data, tolerance=0):
    return Case(name, data, expected=pillow(data), tolerance=tolerance)


def saved(image, container, **options):
    """The bytes of a PIL image in a container."""
    out = io.BytesIO()
    image.save(out, container, **options)
    return out.getvalue()


# Odd sizes, one pixel, one row, one column, and sides around the blocks of the codecs.
SIZES = ((1, 1), (1, 17), (23, 1), (2, 3), (7, 9), (16, 16), (17, 33), (63, 65), (129, 40))


def scene(width, height, channels=3, seed=0):
    """Smooth colours, a hard edge and a little noise: u8 [height, width, channels]."""
    y, x = np.mgrid[0:height, 0:width]
    planes = []
    for c in range(channels):
        wave = 128 + 90 * np.sin(x / (5.0 + c) + seed) * np.cos(y / (7.0 - c)) + (x * (c + 1) + y * 3) % 29
        wave = np.where(x + 2 * y > (width + 2 * height) * (0.3 + 0.15 * c), 255 - wave, wave)
        planes.append(wave)
    noise = np.random.RandomState(seed).randint(-12, 13, (height, width, channels))
    return np.clip(np.stack(planes, -1) + noise, 0, 255).astype(np.uint8)


def grey16(width, height, seed=0):
    """Every magnitude: u16 [height, width]."""
    return np.random.RandomState(seed).randint(0, 65536, (height, width)).astype(np.uint16)


def to_8_bits(samples, largest=65535):
    """v x 255 / largest, rounded half up; u8 of the same shape."""
    return ((samples.astype(np.int64) * 255 * 2 + largest) // (2 * largest)).astype(np.uint8)


def three_channels(grey):
    """Grey [height, width] as [height, width, 3]."""
    return np.repeat(grey[..., None], 3, axis=2)

"""PNG: every colour type and depth, interlacing, animation, EXIF."""

import struct
import zlib

import numpy as np
from PIL import Image

from common import SIZES, Case, grey16, same_as_pillow, saved, scene, three_channels, to_8_bits
from jpeg import exif

CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def encode(rows, width, height, depth, colour_type, extra=b""):
    """A PNG out of packed rows, without filters."""
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + row for row in rows))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def sixteen_bits(colour_type, width, height):
    channels = CHANNELS[colour_type]
    samples = grey16(width * channels, height).reshape(height, width, channels)
    data = encode([row.astype(">u2").tobytes() for row in samples], width, height, 16, colour_type)
    eight = to_8_bits(samples)
    expected = three_channels(eight[..., 0]) if channels <= 2 else eight[..., :3]
    return Case(f"png_16_bits_type_{colour_type}_{width}x{height}", data, expected=expected)


def cases():
    for width, height in SIZES:
        colours = Image.fromarray(scene(width, height))
        with_alpha = Image.fromarray(scene(width, height, 4), "RGBA")
        for interlace in (0, 1):
            pictures = {"rgb": colours, "rgba": with_alpha, "grey": colours.convert("L"), "la": with_alpha.convert("LA"),
                        "palette": colours.quantize(37), "bilevel": colours.convert("1")}
            for name, picture in pictures.items():
                data = saved(picture, "PNG", interlace=interlace)
                yield same_as_pillow(f"png_{name}_{interlace}_{width}x{height}", data)
        for bits in (1, 2, 4):
            data = saved(colours.quantize(2**bits), "PNG", bits=bits)
            yield same_as_pillow(f"png_palette_{bits}_bits_{width}x{height}", data)
        for colour_type in CHANNELS:
            yield sixteen_bits(colour_type, width, height)
    transparent = Image.fromarray(scene(31, 20)).quantize(9)
    yield same_as_pillow("png_transparent_entry", saved(transparent, "PNG", transparency=3))
    yield same_as_pillow("png_transparent_colour", saved(Image.fromarray(scene(31, 20)), "PNG", transparency=(9, 9, 9)))
    frames = [Image.fromarray(scene(24, 18, seed=seed)) for seed in range(3)]
    yield same_as_pillow("png_animation", saved(frames[0], "PNG", save_all=True, append_images=frames[1:]))
    for orientation in range(10):
        yield same_as_pillow(f"png_exif_{orientation}", saved(frames[0], "PNG", exif=exif(orientation)))
    assert np.array_equal(to_8_bits(np.arange(65536)), np.round(np.arange(65536) / 257))

"""GIF: palettes, interlacing, screens and frames that differ, transparency, animations, odd records."""

import struct

import numpy as np
from PIL import Image

from common import SIZES, Case, same_as_pillow, saved, scene, three_channels

RAMP = bytes(v for i in range(256) for v in (i, i, i))


def colours(count, seed=0):
    return np.random.RandomState(seed + count).randint(0, 256, 3 * count).astype(np.uint8).tobytes()


def blocks(data, size=255):
    parts = [data[i : i + size] for i in range(0, len(data), size)]
    return b"".join(bytes([len(part)]) + part for part in parts) + b"\0"


def pack(codes):
    """(code, bits) pairs, the lowest bits first."""
    value = at = 0
    for code, bits in codes:
        value |= code << at
        at += bits
    return value.to_bytes((at + 7) // 8, "little")


def lzw(indices, bits, clear_every=None, end=True):
    """A plain LZW encoder; it goes on with a full table, or clears it now and then."""
    clear = 1 << bits
    codes, width = [(clear, bits + 1)], bits + 1
    table, text = {(i,): i for i in range(clear)}, ()
    fill = clear + 2
    for count, index in enumerate(indices):
        longer = text + (int(index),)
        if longer in table:
            text = longer
            continue
        codes.append((table[text], width))
        if fill < 4096:
            table[longer] = fill
            fill += 1
            if fill > 1 << width and width < 12:
                width += 1
        text = (int(index),)
        if clear_every and count % clear_every == clear_every - 1:
            codes += [(clear, width)]
            table, fill, width = {(i,): i for i in range(clear)}, clear + 2, bits + 1
    if text:
        codes.append((table[text], width))
    if end:
        codes.append((clear + 1, width))
    return pack(codes)


def table_flags(palette):
    if palette is None:
        return 0
    bits = (len(palette) // 3 - 1).bit_length() or 1
    assert len(palette) == 3 << bits
    return 128 | (bits - 1)


def screen(width, height, palette=None, background=0, version=b"GIF89a"):
    return version + struct.pack("<HHBBB", width, height, table_flags(palette), background, 0) + (palette or b"")


def control(transparent=None, disposal=0):
    flags = disposal << 2 | (transparent is not None)
    return b"!\xf9\4" + struct.pack("<BHB", flags, 10, transparent or 0) + b"\0"


def frame(indices, left=0, top=0, palette=None, interlaced=False, bits=8, block=255, **options):
    height, width = indices.shape
    rows = indices
    if interlaced:
        order = [y for start, step in ((0, 8), (4, 8), (2, 4), (1, 2)) for y in range(start, height, step)]
        rows = indices[order]
    flags = table_flags(palette) | interlaced << 6
    head = b"," + struct.pack("<HHHHB", left, top, width, height, flags) + (palette or b"") + bytes([bits])
    return head + blocks(lzw(rows.ravel(), bits, **options), block)


def ramp(width, height, count=256, seed=0):
    """Indices below `count`: u8 [height, width]."""
    return (scene(width, height, 1, seed)[..., 0].astype(int) * count // 256).astype(np.uint8)


def from_pillow(width, height):
    base = Image.fromarray(scene(width, height))
    pictures = {"palette": base.quantize(64), "grey": base.convert("L"), "bilevel": base.convert("1"), "two": base.quantize(2)}
    for name, picture in pictures.items():
        for interlace in (0, 1):
            yield f"{name}_{interlace}", saved(picture, "GIF", interlace=interlace)
    yield "transparent", saved(pictures["palette"], "GIF", transparency=3)


def screens():
    """Frames that are not their screen."""
    palette, local = colours(16), colours(8, 5)
    small = ramp(7, 5, 8)
    for name, lead in (("opaque", b""), ("transparent", control(5)), ("transparent_beyond", control(200))):
        for interlaced in (False, True):
            kind = f"{name}_{int(interlaced)}"
            yield f"offset_{kind}", screen(17, 11, palette, 3) + lead + frame(small, 4, 3, bits=4, interlaced=interlaced) + b";"
            yield f"offset_local_{kind}", (screen(17, 11, palette, 3) + lead
                                           + frame(small, 4, 3, local, bits=3, interlaced=interlaced) + b";")
    yield "larger_than_screen", screen(5, 4, palette) + frame(small, bits=4) + b";"
    yield "partly_outside", screen(9, 20, palette) + control(2) + frame(small, 6, 3, bits=4) + b";"
    yield "screen_0x0", screen(0, 0, palette) + frame(small, bits=4) + b";"
    yield "narrower", screen(9, 5, palette) + frame(small, bits=4) + b";"
    yield "shorter", screen(7, 9, palette) + frame(small, bits=4) + b";"


def palettes():
    small = ramp(13, 9, 64)
    yield "palette_none", screen(13, 9) + frame(small) + b";"
    yield "palette_none_transparent", screen(13, 9) + control(7) + frame(small, bits=6) + b";"
    yield "palette_ramp", screen(13, 9, RAMP) + frame(small) + b";"
    yield "palette_only_local", screen(13, 9) + frame(small, palette=colours(64), bits=6) + b";"
    yield "palette_too_short", screen(13, 9, colours(16)) + frame(small, bits=6) + b";"
    yield "palette_of_two", screen(13, 9, colours(2)) + frame(ramp(13, 9, 4), bits=2) + b";"
    for bits in range(1, 9):
        count = 1 << bits
        yield f"bits_{bits}", screen(23, 16, colours(count)) + frame(ramp(23, 16, count), bits=max(bits, 2)) + b";"


def streams():
    """Odd data and odd records."""
    palette, noise = colours(256), np.random.RandomState(1).randint(0, 256, (70, 90)).astype(np.uint8)
    start = screen(90, 70, palette)
    yield "full_table", start + frame(noise) + b";"
    yield "cleared_often", start + frame(noise, clear_every=100) + b";"
    yield "cleared_late", start + frame(noise, clear_every=4100) + b";"
    small = ramp(13, 9)
    start = screen(13, 9, palette)
    yield "small_blocks", start + frame(small, block=1) + b";"
    yield "no_end_code", start + frame(small, end=False) + b";"
    yield "no_trailer", start + frame(small)
    yield "no_block_end", start + frame(small)[:-1]
    yield "trailing_garbage", start + frame(small) + b";" + b"<html>garbage" * 20
    data = frame(np.concatenate([small, small]))
    yield "more_data_than_pixels", start + data[:7] + struct.pack("<H", 9) + data[9:] + b";"
    yield "version_87a", screen(13, 9, palette, version=b"GIF87a") + frame(small) + b";"
    comment = b"!\xfe" + blocks(b"a comment" * 60)
    loop = b"!\xff\x0bNETSCAPE2.0\3\1\0\0\0"
    yield "extensions", start + comment + loop + control(3) + b"!\1" + blocks(b"plain text") + frame(small) + b";"
    yield "two_controls", screen(20, 20, palette) + control(9) + control() + frame(small) + b";"
    yield "bytes_between_records", start + b"\0\0\x07" + loop + b"\0" + frame(small) + b"\0\0" + frame(small) + b";"
    yield "clear_twice", start + b"," + struct.pack("<HHHHB", 0, 0, 3, 1, 0) + b"\2" + blocks(
        pack([(4, 3), (4, 3), (1, 3), (4, 3), (2, 3), (6, 3), (5, 4)])) + b";"


def animations():
    pictures = [Image.fromarray(scene(24, 18, seed=seed)).quantize(32) for seed in range(3)]
    yield "animation", saved(pictures[0], "GIF", save_all=True, append_images=pictures[1:], duration=50)
    small, palette = ramp(7, 5, 8), colours(16)
    for disposal in range(4):
        data = screen(17, 11, palette, 3)
        for index in range(4):
            data += control(index if index % 2 else None, disposal) + frame(small, index, index, bits=4)
        yield f"animation_disposal_{disposal}", data + b";"


def refusals():
    palette, small = colours(256), ramp(13, 9)
    start = screen(13, 9, palette)
    whole = start + frame(small) + b";"
    yield "cut", whole[: len(whole) * 2 // 3], "truncated"
    yield "cut_in_the_last_block", whole[:-4], "truncated"
    yield "no_picture", start + b";", "holds no picture"
    yield "zero_width", start + b"," + struct.pack("<HHHHB", 0, 0, 0, 9, 0) + b"\x08" + blocks(b"abc") + b";", "0x9"
    few = frame(small[:5])
    yield "data_ends_early", start + few[:7] + struct.pack("<H", 9) + few[9:] + b";", "row 5 of 9"
    yield "impossible_code", start + frame(small)[:11] + blocks(pack([(256, 9), (300, 9)])) + b";", "impossible code"
    late = pack([(256, 9), (1, 9), (400, 9)])
    yield "impossible_later_code", start + frame(small)[:11] + blocks(late) + b";", "impossible code"
    yield "huge", screen(65535, 65535, palette) + frame(small) + b";", "65535x65535"
    yield "large_screen", screen(15000, 15000, palette) + frame(small) + b";", "next to nothing"
    lie = frame(small)
    yield "lying_frame", start + lie[:5] + struct.pack("<HH", 4000, 4000) + lie[9:] + b";", "4000x4000 cannot be in"


def recorded():
    """The small cases that the unit tests keep."""
    for case in cases():
        if case.refused is None and len(case.data) < 2500 and not any(part in case.name for part in ("1x1", "23x1", "x16", "x33", "x40", "x65")):
            yield case


def cases():
    for width, height in SIZES:
        for name, data in from_pillow(width, height):
            yield same_as_pillow(f"gif_{name}_{width}x{height}", data)
        indices, palette = ramp(width, height), colours(256)
        for interlaced in (False, True):
            data = screen(width, height, palette) + frame(indices, interlaced=interlaced) + b";"
            yield same_as_pillow(f"gif_own_{int(interlaced)}_{width}x{height}", data)
    for kind in (screens, palettes, streams, animations):
        for name, data in kind():
            yield same_as_pillow(f"gif_{name}", data)
    # Pillow takes the screen's palette when the frame's own is the greys in their order.
    greys = ramp(13, 9, 64)
    for name, local, bits in (("256", RAMP, 8), ("64", RAMP[:192], 6)):
        data = screen(13, 9, colours(64)) + frame(greys, palette=local, bits=bits) + b";"
        yield Case(f"gif_palette_local_ramp_{name}", data, expected=three_channels(greys))
    for name, data, words in refusals():
        yield Case(f"gif_refused_{name}", data, refused=words)

"""BMP: every header, depth and direction, palettes of odd sizes, masks, run lengths, refusals."""

import struct

import numpy as np
from PIL import Image

from common import SIZES, Case, grey16, pillow, same_as_pillow, saved, scene

HEADERS = (12, 40, 52, 56, 64, 108, 124)


def bmp(width, height, bits, pixels, palette=b"", colours=0, compression=0, header=40, masks=(), offset=None, gap=0):
    """A BMP out of the bytes of its pixels; a negative height is stored from the top."""
    if header == 12:
        head = struct.pack("<IHHHH", 12, width, height, 1, bits)
    else:
        head = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(pixels), 0, 0, colours, 0)
        packed = struct.pack(f"<{len(masks)}I", *masks)
        head += packed if header == 40 else packed.ljust(header - 40, b"\0")
    body = head + palette + bytes(gap)
    start = 14 + len(body) if offset is None else offset
    return b"BM" + struct.pack("<IHHI", 14 + len(body) + len(pixels), 0, 0, start) + body + pixels


def rows(packed, top_down=False):
    """Rows of bytes, padded and in the file's order."""
    padded = [row + bytes(-len(row) % 4) for row in packed]
    return b"".join(padded if top_down else padded[::-1])


def indices(values, bits, top_down=False):
    """[height, width] packed from the top bit."""
    wide = (values[..., None].astype(int) >> np.arange(bits - 1, -1, -1)) & 1
    return rows([np.packbits(row.ravel().astype(np.uint8)).tobytes() for row in wide], top_down)


def words(values, width_in_bytes, top_down=False):
    """[height, width] of whole pixels."""
    return rows([b"".join(int(v).to_bytes(width_in_bytes, "little") for v in row) for row in values], top_down)


def palette(count, entry=4, seed=5):
    return np.random.RandomState(seed).randint(0, 256, (count, entry)).astype(np.uint8).tobytes()


def indexed_cases():
    for width, height in SIZES:
        for bits in (1, 2, 4, 8):
            values = grey16(width, height, bits) >> (16 - bits)
            for header in HEADERS:
                for top_down in (False, True):
                    if top_down and header == 12:
                        continue
                    entry = 3 if header == 12 else 4
                    colours = palette(1 << bits, entry)
                    data = bmp(width, -height if top_down else height, bits, indices(values, bits, top_down), colours,
                               header=header)
                    table = np.frombuffer(colours, np.uint8).reshape(-1, entry)[:, 2::-1]
                    if bits != 2:  # which Pillow does not read
                        assert np.array_equal(pillow(data), table[values])
                    yield Case(f"bmp_indexed_{bits}_{header}_{top_down:d}_{width}x{height}", data, expected=table[values])


def ramp(count):
    return b"".join(bytes((i, i, i, 0)) for i in range(count))


def palette_cases():
    values = grey16(21, 9) >> 8
    black_white, white_black = b"\0\0\0\0\xff\xff\xff\0", b"\xff\xff\xff\0\0\0\0\0"
    for count in (1, 2, 3, 10, 255, 256):
        yield same_as_pillow(f"bmp_palette_8_{count}", bmp(21, 9, 8, indices(values, 8), palette(count), count))
        if count > 2:
            yield same_as_pillow(f"bmp_palette_8_grey_{count}", bmp(21, 9, 8, indices(values, 8), ramp(count), count))
    for count in (1, 2, 5, 16):
        yield same_as_pillow(f"bmp_palette_4_{count}", bmp(21, 9, 4, indices(values >> 4, 4), palette(count), count))
    # Grey palettes of fewer than 256 entries, which Pillow fails on at 4 bits, and takes for 1 bit a pixel at 8.
    grey = np.repeat((values >> 4)[..., None], 3, 2).astype(np.uint8)
    yield Case("bmp_palette_4_grey", bmp(21, 9, 4, indices(values >> 4, 4), ramp(16), 16), expected=grey)
    white = np.repeat(np.where(values == 1, 255, 0)[..., None], 3, 2).astype(np.uint8)
    yield Case("bmp_palette_8_black_white", bmp(21, 9, 8, indices(values, 8), black_white, 2), expected=white)
    for name, colours in (("black_white", black_white), ("white_black", white_black), ("others", palette(2))):
        for count in (0, 2):
            yield same_as_pillow(f"bmp_palette_1_{name}_{count}", bmp(21, 9, 1, indices(values >> 15, 1), colours, count))
    yield same_as_pillow("bmp_palette_1_one", bmp(21, 9, 1, indices(values >> 7, 1), palette(1), 1))
    yield same_as_pillow("bmp_palette_1_one_black", bmp(21, 9, 1, indices(values >> 7, 1), bytes(4), 1))
    yield Case("bmp_palette_300", bmp(21, 9, 8, indices(values, 8), palette(300), 300),
               expected=np.frombuffer(palette(300), np.uint8).reshape(-1, 4)[:, 2::-1][values])
    yield same_as_pillow("bmp_offset_at_palette", bmp(21, 9, 8, indices(values, 8), palette(256), 0, offset=54))
    yield same_as_pillow("bmp_offset_at_short_palette", bmp(21, 9, 8, indices(values, 8), palette(7), 7, offset=54))
    yield same_as_pillow("bmp_offset_0_indexed", bmp(21, 9, 8, indices(values, 8), palette(256), 0, offset=0))
    yield same_as_pillow("bmp_gap_indexed", bmp(21, 9, 8, indices(values, 8), palette(256), 0, gap=7))


MASKS = {
    16: ((0xF800, 0x7E0, 0x1F), (0x7C00, 0x3E0, 0x1F)),
    24: ((0xFF0000, 0xFF00, 0xFF),),
    32: ((0xFF0000, 0xFF00, 0xFF, 0), (0xFF000000, 0xFF0000, 0xFF00, 0), (0xFF000000, 0xFF00, 0xFF, 0),
         (0xFF000000, 0xFF0000, 0xFF00, 0xFF), (0xFF, 0xFF00, 0xFF0000, 0xFF000000), (0xFF0000, 0xFF00, 0xFF, 0xFF000000),
         (0xFF000000, 0xFF00, 0xFF, 0xFF0000), (0, 0, 0, 0)),
}


def whole_pixels(width, height, bits):
    values = np.random.RandomState(width + bits).randint(0, 1 << 32, (height, width), dtype=np.uint64)
    return values & ((1 << bits) - 1)


def colour_cases():
    for width, height in SIZES:
        for bits in (16, 24, 32):
            values = whole_pixels(width, height, bits)
            for header in HEADERS:
                for top_down in (False, True):
                    if top_down and header == 12:
                        continue
                    name = f"bmp_colour_{bits}_{header}_{top_down:d}_{width}x{height}"
                    pixels = words(values, bits // 8, top_down)
                    yield same_as_pillow(name, bmp(width, -height if top_down else height, bits, pixels, header=header))
        for bits, choices in MASKS.items():
            for number, masks in enumerate(choices):
                for header in (40, 52, 56, 108, 124):
                    if header < 56 and len(masks) > 3 and masks[3]:
                        continue
                    given = masks[:3] if header < 56 else masks
                    if not any(masks) and header < 56:
                        given = (0, 0, 0)
                    data = bmp(width, height, bits, words(whole_pixels(width, height, bits), bits // 8), header=header,
                               compression=3, masks=given)
                    yield same_as_pillow(f"bmp_masks_{bits}_{number}_{header}_{width}x{height}", data)


def odd_mask_cases():
    """Masks that Pillow does not read."""
    for bits, masks in ((16, (0xF00, 0xF0, 0xF)), (16, (0x1F, 0x7E0, 0xF800)), (16, (0xE0, 0x1C, 0x3)), (24, (0xFF, 0xFF00, 0xFF0000)),
                        (32, (0x3FF00000, 0xFFC00, 0x3FF)), (32, (0xFFF, 0xFFF000, 0xFF000000)), (32, (0xFF, 0xFF00, 0xFF0000))):
        values = whole_pixels(23, 8, bits)
        channels = []
        for mask in masks:
            shift = (mask & -mask).bit_length() - 1
            most, v = mask >> shift, (values & np.uint64(mask)) >> np.uint64(shift)
            channels.append(v * 255 // most if most <= 255 else (v * 510 + most) // (2 * most))
        yield Case(f"bmp_masks_odd_{bits}_{masks[0]:x}", bmp(23, 8, bits, words(values, bits // 8), compression=3, masks=masks),
                   expected=np.stack(channels, -1).astype(np.uint8))
    for bits, masks in ((16, (0, 0x7E0, 0x1F)), (16, (0, 0, 0)), (16, (0xF801, 0x7E0, 0x1F)), (16, (0x1F0000, 0x7E0, 0x1F)),
                        (32, (0xFF00FF, 0xFF00, 0xFF))):
        data = bmp(23, 8, bits, words(whole_pixels(23, 8, bits), bits // 8), compression=3, masks=masks)
        yield Case(f"bmp_refused_masks_{bits}_{masks[0]:x}_{masks[1]:x}", data, refused="the masks")


def random_runs(seed, width, height, four):
    """Run lengths of every kind, with the odd ones: over the end of the row, skips, absolute runs across rows."""
    random = np.random.RandomState(seed)
    out, y = bytearray(), 0
    while y < height:
        x = 0
        while x < width:
            kind, left = random.randint(10), width - x
            if kind < 5:
                count = min(255, random.randint(1, left + (3 if kind == 0 else 1)))
                out += bytes((count, random.randint(256)))
                x += count
            elif kind < 8 and left >= 3:
                count = min(255, random.randint(3, left + 1))
                data = random.randint(0, 256, (count + 1) // 2 if four else count).astype(np.uint8).tobytes()
                out += bytes((0, count)) + data + bytes(len(data) % 2)
                x += count
            elif kind == 8 and left > 1:
                right = random.randint(1, min(left, 200))
                out += bytes((0, 2, right, 0))
                x += right
            elif kind == 9 and x > 0 and random.randint(3) == 0:
                break
        out += bytes((0, 0))
        y += 1
    return bytes(out + bytes((0, 1)))


def run_cases():
    for four in (False, True):
        bits, compression = (4, 2) if four else (8, 1)
        for seed in range(60):
            width, height = np.random.RandomState(seed).randint(1, 40, 2).tolist()
            pixels = random_runs(seed, width, height, four)
            for top_down in (False, True):
                data = bmp(width, -height if top_down else height, bits, pixels, palette(1 << bits), compression=compression)
                yield same_as_pillow(f"bmp_runs_{bits}_{seed}_{top_down:d}", data)
        yield same_as_pillow(f"bmp_runs_{bits}_absolute_across_rows",
                             bmp(5, 3, bits, bytes((0, 12, *range(12), 0, 0, 5, 0x33, 0, 1)), palette(1 << bits), compression=compression))
        yield same_as_pillow(f"bmp_runs_{bits}_skip_rows",
                             bmp(5, 4, bits, bytes((3, 0x21, 0, 2, 1, 2, 1, 0x44, 0, 0, 5, 0x55, 0, 1)), palette(1 << bits),
                                 compression=compression))
        yield same_as_pillow(f"bmp_runs_{bits}_grey", bmp(5, 1, bits, bytes((5, 0x21, 0, 1)), ramp(1 << bits), compression=compression))
        # Pillow refuses pictures that end before their last row; the rest has the first colour.
        early = bmp(4, 3, bits, bytes((4, 0x11, 0, 0, 2, 0x22, 0, 1)), palette(1 << bits), compression=compression)
        whole = bmp(4, 3, bits, bytes((4, 0x11, 0, 0, 2, 0x22, 2, 0, 0, 0, 4, 0, 0, 1)), palette(1 << bits), compression=compression)
        yield Case(f"bmp_runs_{bits}_early_end", early, expected=pillow(whole))
    for name, runs in (("first", (0, 0, 4, 1, 0, 0, 4, 2)), ("middle", (4, 1, 0, 0, 0, 0, 4, 2)), ("last", (4, 1, 0, 0, 4, 2, 0, 0, 0, 0)),
                       ("skipped", (0, 2, 0, 1, 4, 1, 0, 0, 4, 2))):
        order = {"first": (0, 1, 2), "middle": (1, 0, 2), "last": (1, 2, 0), "skipped": (0, 1, 2)}[name]
        table = np.frombuffer(palette(256), np.uint8).reshape(-1, 4)[:, 2::-1]
        yield Case(f"bmp_runs_blank_row_{name}", bmp(4, 3, 8, bytes((*runs, 0, 1)), palette(256), compression=1),
                   expected=np.repeat(table[list(order[::-1])][:, None], 4, 1))
    yield Case("bmp_refused_runs_cut", bmp(4, 2, 8, bytes((4, 1, 0, 0, 2, 2)), palette(256), compression=1), refused="truncated")
    yield Case("bmp_refused_runs_cut_absolute", bmp(4, 2, 8, bytes((0, 4, 1, 2)), palette(256), compression=1), refused="truncated")


def refused_cases():
    values = grey16(21, 9) >> 8
    good = bmp(21, 9, 8, indices(values, 8), palette(256))
    for name, data, part in (
            ("cut", good[:-4], "truncated"), ("cut_header", good[:40], "truncated"), ("cut_start", good[:16], "truncated"),
            ("zero_width", bmp(0, 9, 8, b""), "0x9"), ("zero_height", bmp(9, 0, 8, b""), "9x0"),
            ("too_large", bmp(70000, 70000, 8, b""), "--max-pixels"), ("negative_width", bmp(-5, 5, 8, b""), "--max-pixels"),
            ("header_16", b"BM" + bytes(8) + struct.pack("<II", 30, 16) + bytes(99), "a header of 16 bytes"),
            ("bits_3", bmp(9, 9, 3, bytes(999)), "3 bits a pixel"), ("bits_64", bmp(9, 9, 64, bytes(9999)), "64 bits a pixel"),
            ("jpeg", bmp(9, 9, 0, bytes(99), compression=4), "0 bits a pixel"),
            ("jpeg_24", bmp(9, 9, 24, bytes(999), compression=4), "a JPEG picture inside"),
            ("png_24", bmp(9, 9, 24, bytes(999), compression=5), "a PNG picture inside"),
            ("compression_9", bmp(9, 9, 24, bytes(999), compression=9), "the unknown compression 9"),
            ("huffman", bmp(9, 9, 1, bytes(999), palette(2), 2, compression=3, header=64), "Huffman compression"),
            ("runs_24", bmp(9, 9, 24, bytes(999), compression=4, header=64), "run lengths of 24 bits"),
            ("runs_of_4_in_8", bmp(9, 9, 8, bytes(999), palette(256), compression=2), "run lengths of 8 bits"),
            ("masks_8", bmp(9, 9, 8, bytes(999), palette(256), compression=3), "masks for 8 bits"),
            ("offset_outside", bmp(9, 9, 8, bytes(999), palette(256), offset=99999), "truncated")):
        yield Case(f"bmp_refused_{name}", data, refused=part)


def recorded():
    """The small files that the unit tests keep."""
    kept = ("bmp_palette", "bmp_offset", "bmp_gap", "bmp_masks_odd", "bmp_last", "bmp_more")
    for case in cases():
        parts = ("_40_", "_12_", "_124_1_", "_124_7x9", "masks_16_0_", "masks_32_5_")
        small = case.name.endswith("_7x9") and any(part in case.name for part in parts)
        runs = case.name.startswith("bmp_runs") and (not case.name[11].isdigit() or case.name[11:13] in ("1_", "2_", "3_"))
        if case.refused is None and (case.name.startswith(kept) or small or runs):
            yield case


def missing_offset_cases():
    """The offset of the pixels may be 0; they follow the header, whatever its length."""
    saved_picture = saved(Image.fromarray(scene(7, 5)), "BMP")
    for size in (40, 52, 56, 108, 124):
        header = struct.pack("<I", size) + saved_picture[18:54] + bytes(size - 40)
        data = saved_picture[:10] + bytes(4) + header + saved_picture[54:]
        yield same_as_pillow(f"bmp_no_offset_header_{size}", data)


def cases():
    for width, height in SIZES:
        colours = Image.fromarray(scene(width, height))
        for name, picture in (("rgb", colours), ("grey", colours.convert("L")), ("palette", colours.quantize(31)),
                              ("bilevel", colours.convert("1")), ("rgba", Image.fromarray(scene(width, height, 4), "RGBA"))):
            yield same_as_pillow(f"bmp_saved_{name}_{width}x{height}", saved(picture, "BMP"))
    yield from indexed_cases()
    yield from palette_cases()
    yield from colour_cases()
    yield from odd_mask_cases()
    yield from run_cases()
    yield from missing_offset_cases()
    pixels = words(whole_pixels(3, 2, 24), 3)
    yield same_as_pillow("bmp_last_padding_missing", bmp(3, 2, 24, pixels[:-3]))
    yield same_as_pillow("bmp_more", bmp(3, 2, 24, pixels + b"garbage"))
    yield same_as_pillow("bmp_offset_0", bmp(3, 2, 24, pixels, offset=0))
    yield same_as_pillow("bmp_offset_0_masks", bmp(3, 2, 32, words(whole_pixels(3, 2, 32), 4), compression=3, masks=MASKS[32][0][:3],
                                                   offset=0))
    yield same_as_pillow("bmp_gap", bmp(3, 2, 24, pixels, gap=9))
    yield from refused_cases()

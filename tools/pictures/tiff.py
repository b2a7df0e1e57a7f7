"""TIFF: byte orders, BigTIFF, strips and tiles, planes, predictors, compressions, colours, depths, orientation, refusals."""

import lzma
import struct
import zlib

import numpy as np
from PIL import Image

from common import SIZES, Case, grey16, pillow, same_as_pillow, saved, scene, three_channels, to_8_bits

NONE, LZW, JPEG, DEFLATE, PACKBITS, LZMA = 1, 5, 7, 8, 32773, 34925
FORMATS = {1: "B", 2: "s", 3: "H", 4: "I", 12: "d", 16: "Q"}


def packbits(data):
    """Literal runs, and one repeated run where a byte comes thrice."""
    out, i = bytearray(), 0
    while i < len(data):
        run = 1
        while run < 128 and i + run < len(data) and data[i + run] == data[i]:
            run += 1
        if run >= 3:
            out += bytes((257 - run, data[i]))
        else:
            run = min(5, len(data) - i)
            out += bytes((run - 1,)) + data[i:i + run]
        i += run
    return bytes(out)


def lzw(data):
    """TIFF's kind of LZW: codes from the top bit."""
    bits, filled, out = 0, 0, bytearray()

    def put(code, width):
        nonlocal bits, filled
        bits, filled = bits << width | code, filled + width
        while filled >= 8:
            filled -= 8
            out.append(bits >> filled & 255)
        bits &= (1 << filled) - 1

    table, width, word = {bytes((i,)): i for i in range(256)}, 9, b""
    put(256, width)
    for value in data:
        longer = word + bytes((value,))
        if longer in table:
            word = longer
            continue
        put(table[word], width)
        table[longer] = len(table) + 2
        word = bytes((value,))
        if len(table) + 2 == 4094:
            put(256, width)
            table, width = {bytes((i,)): i for i in range(256)}, 9
        elif len(table) + 2 > (1 << width) - 1:
            width += 1
    if word:
        put(table[word], width)
        if len(table) + 3 > (1 << width) - 1 and width < 12:
            width += 1
    put(257, width)
    put(0, 7)
    return bytes(out)


PACKERS = {NONE: bytes, LZW: lzw, DEFLATE: zlib.compress, PACKBITS: packbits, LZMA: lzma.compress}


def file_of(tags, blocks, order="<", big=False, tiled=False, more=b"", head=None):
    """A TIFF of one directory out of {tag: (type, values)} and the packed strips or tiles."""
    tags = dict(tags)
    offset_type, count, entry = (16, "Q", 20) if big else (4, "I", 12)
    tags[324 if tiled else 273] = (offset_type, [0] * len(blocks))
    tags[325 if tiled else 279] = (offset_type, [len(block) for block in blocks])
    first = 16 if big else 8
    start = first + (8 if big else 2) + entry * len(tags) + (8 if big else 4)
    room = 8 if big else 4

    def values(tag):
        kind, numbers = tags[tag]
        return bytes(numbers) if kind in (1, 2, 7) else struct.pack(f"{order}{len(numbers)}{FORMATS[kind]}", *numbers)

    far = {}
    for tag in tags:
        if len(values(tag)) > room:
            far[tag] = start
            start += len(values(tag)) + len(values(tag)) % 2
    offsets = []
    for block in blocks:
        offsets.append(start)
        start += len(block)
    tags[324 if tiled else 273] = (offset_type, offsets)
    out = head or ((b"II" if order == "<" else b"MM") + struct.pack(order + "H", 43 if big else 42))
    out += struct.pack(order + "HHQ", 8, 0, first) if big else struct.pack(order + "I", first)
    out += struct.pack(order + ("Q" if big else "H"), len(tags))
    for tag in sorted(tags):
        kind, numbers = tags[tag]
        out += struct.pack(order + "HH" + count, tag, kind, len(numbers))
        out += struct.pack(order + count, far[tag]) if tag in far else values(tag).ljust(room, b"\0")
    out += bytes(8 if big else 4)
    for tag in tags:
        if tag in far:
            out += values(tag) + bytes(len(values(tag)) % 2)
    return out + b"".join(blocks) + more


def rows_of(samples, bits, order):
    """Packed rows of [height, width, bands]."""
    flat = samples.reshape(samples.shape[0], -1)
    if bits == 8:
        return [row.astype(np.uint8).tobytes() for row in flat]
    if bits == 16:
        return [row.astype(order + "u2").tobytes() for row in flat]
    rows = []
    for row in flat:
        wide = (row[:, None].astype(np.int64) >> np.arange(bits - 1, -1, -1)) & 1
        rows.append(np.packbits(wide.ravel().astype(np.uint8)).tobytes())
    return rows


def differences(samples):
    """Predictor 2."""
    out = samples.copy()
    out[:, 1:] -= samples[:, :-1]
    return out


def tiff(samples, photometric, bits=8, extras=None, compression=NONE, order="<", big=False, rows=7, tile=None, planar=False,
         predictor=1, tags=None, more=b"", head=None, fill_order=1):
    """A TIFF of samples [height, width, bands]."""
    height, width, bands = samples.shape
    fields = {256: (4, [width]), 257: (4, [height]), 258: (3, [bits] * bands), 259: (3, [compression]),
              262: (3, [photometric]), 277: (3, [bands]), 284: (3, [2 if planar else 1])}
    if extras is not None:
        fields[338] = (3, extras)
    if predictor != 1:
        fields[317] = (3, [predictor])
    if fill_order != 1:
        fields[266] = (3, [fill_order])
    fields.update(tags or {})
    parts = []
    if tile:
        fields[322], fields[323] = (4, [tile[0]]), (4, [tile[1]])
        padded = np.zeros((-(-height // tile[1]) * tile[1], -(-width // tile[0]) * tile[0], bands), samples.dtype)
        padded[:height, :width] = samples
        parts = [padded[y:y + tile[1], x:x + tile[0]] for y in range(0, height, tile[1]) for x in range(0, width, tile[0])]
    else:
        fields[278] = (4, [rows])
        parts = [samples[y:y + rows] for y in range(0, height, rows)]
    if planar:
        parts = [part[:, :, band:band + 1] for band in range(bands) for part in parts]
    blocks = []
    for part in parts:
        data = b"".join(rows_of(differences(part) if predictor == 2 else part, bits, order))
        data = PACKERS[compression](data)
        if fill_order == 2:
            data = bytes(int(f"{byte:08b}"[::-1], 2) for byte in data)
        blocks.append(data)
    return file_of(fields, blocks, order, big, bool(tile), more, head)


def palette(bits, seed=3):
    return np.random.RandomState(seed).randint(0, 65536, (3, 1 << bits))


def layouts():
    """Every way to lay the same samples out."""
    for order in "<>":
        for big in (False, True):
            for place in ({"rows": 7}, {"rows": 1000}, {"rows": 1}, {"tile": (16, 32)}, {"tile": (64, 16)}):
                for planar in (False, True):
                    name = ("little" if order == "<" else "big") + ("_64" if big else "") + "_"
                    name += "_".join(f"{k}{v if k == 'rows' else v[0]}" for k, v in place.items()) + ("_planar" if planar else "")
                    yield name, {"order": order, "big": big, "planar": planar, **place}


def colours(width, height):
    """(name, expected, arguments of tiff()) of every kind of picture."""
    eight, sixteen = scene(width, height, 4), grey16(width * 4, height).reshape(height, width, 4)
    yield "grey8", three_channels(eight[..., 0]), (eight[..., :1], 1)
    yield "white8", three_channels(255 - eight[..., 0]), (eight[..., :1], 0)
    yield "rgb8", eight[..., :3], (eight[..., :3], 2)
    yield "rgba8", eight[..., :3], (eight, 2, 8, [2])
    yield "rgbx8", eight[..., :3], (eight, 2, 8, [0])
    yield "greyalpha8", three_channels(eight[..., 0]), (eight[..., :2], 1, 8, [2])
    yield "cmyk8", np.asarray(Image.fromarray(eight, "CMYK").convert("RGB")), (eight, 5)
    yield "grey16", three_channels(to_8_bits(sixteen[..., 0])), (sixteen[..., :1], 1, 16)
    yield "white16", three_channels(to_8_bits(65535 - sixteen[..., 0])), (sixteen[..., :1], 0, 16)
    yield "rgb16", to_8_bits(sixteen[..., :3]), (sixteen[..., :3], 2, 16)
    yield "rgba16", to_8_bits(sixteen[..., :3]), (sixteen, 2, 16, [2])


def few_bits(width, height):
    for bits in (1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 14, 15):
        samples = grey16(width * 3, height, bits).reshape(height, width, 3) >> (16 - bits)
        most = (1 << bits) - 1
        yield f"grey_{bits}_bits", three_channels(to_8_bits(samples[..., 0], most)), (samples[..., :1], 1, bits)
        yield f"white_{bits}_bits", three_channels(to_8_bits(most - samples[..., 0], most)), (samples[..., :1], 0, bits)
        yield f"rgb_{bits}_bits", to_8_bits(samples, most), (samples, 2, bits)


def premultiplied(samples, bands, bits):
    colour, alpha = samples[..., :bands].astype(np.int64), samples[..., bands:bands + 1].astype(np.int64)
    safe = np.maximum(alpha, 1)
    made = colour * 255 // safe if bits == 8 else (colour * 510 + safe) // (2 * safe)
    made = np.where(alpha == 0, 0, np.minimum(made, 255)).astype(np.uint8)
    return three_channels(made[..., 0]) if bands == 1 else made


def colour_cases():
    for width, height in SIZES:
        for kind, expected, arguments in colours(width, height):
            for name, layout in layouts():
                if (width, height) not in ((33, 17), (17, 33), (1, 1)) and not name.startswith(("little_rows7", "big_tile16")):
                    continue
                data = tiff(*arguments, **layout)
                # Pillow cannot read BigTIFF from the big end, and some layouts of planes.
                if "16" not in kind and "big_64" not in name and "planar" not in name and kind != "white8":
                    assert np.array_equal(pillow(data), expected), (kind, name)
                yield Case(f"tiff_{kind}_{name}_{width}x{height}", data, expected=expected)
    for width, height in ((1, 1), (23, 9), (64, 5)):
        for kind, expected, arguments in few_bits(width, height):
            for planar in (False, True):
                for order in "<>":
                    for place in ({"rows": 4}, {"tile": (16, 16)}):
                        where = "tile" if "tile" in place else "rows"
                        side = "little" if order == "<" else "big"
                        name = f"tiff_{kind}_{side}_{where}_{planar:d}_{width}x{height}"
                        yield Case(name, tiff(*arguments, planar=planar, order=order, **place), expected=expected)


def packed_cases():
    for compression in (LZW, DEFLATE, PACKBITS, LZMA, 32946):
        PACKERS[32946] = zlib.compress
        for width, height in ((1, 1), (17, 33), (129, 40)):
            eight, sixteen = scene(width, height, 4), grey16(width * 3, height).reshape(height, width, 3)
            for planar in (False, True):
                for place in ({"rows": 7}, {"rows": 100}, {"tile": (32, 16)}):
                    for predictor in (1, 2):
                        where = "_".join(f"{k}{v if k == 'rows' else v[0]}" for k, v in place.items())
                        name = f"tiff_packed_{compression}_{where}_{planar:d}_{predictor}_{width}x{height}"
                        more = dict(compression=compression, planar=planar, predictor=predictor, **place)
                        if predictor == 2 and compression == PACKBITS:
                            continue  # has none
                        yield same_as_pillow(name + "_rgb", tiff(eight[..., :3], 2, **more))
                        yield same_as_pillow(name + "_grey", tiff(eight[..., :1], 1, **more))
                        for order in "<>":
                            yield Case(f"{name}_rgb16_{order == '<':d}", tiff(sixteen, 2, 16, order=order, **more),
                                       expected=to_8_bits(sixteen))
                        yield Case(name + "_grey16", tiff(sixteen[..., :1], 1, 16, **more),
                                   expected=three_channels(to_8_bits(sixteen[..., 0])))


def saved_cases():
    """What Pillow writes through libtiff."""
    for width, height in SIZES:
        rgb = Image.fromarray(scene(width, height))
        pictures = {"1": rgb.convert("1"), "L": rgb.convert("L"), "RGB": rgb, "P": rgb.quantize(41),
                    "RGBA": Image.fromarray(scene(width, height, 4), "RGBA"), "LA": Image.fromarray(scene(width, height, 2), "LA"),
                    "CMYK": Image.fromarray(scene(width, height, 4), "CMYK"), "YCbCr": rgb.convert("YCbCr"),
                    "PA": rgb.quantize(20).convert("PA")}
        for mode, picture in pictures.items():
            for compression in ("raw", "tiff_lzw", "tiff_adobe_deflate", "packbits", "zstd", "lzma", "jpeg",
                                "group3", "group4", "tiff_ccitt"):
                if (compression in ("group3", "group4", "tiff_ccitt")) != (mode == "1") and compression not in ("raw", "tiff_lzw"):
                    continue
                if compression == "jpeg" and mode in ("P", "PA", "1", "RGBA", "LA"):
                    continue
                if compression in ("zstd", "lzma") and mode not in ("RGB", "L", "P"):
                    continue
                options = {"quality": 90} if compression == "jpeg" else {}
                data = saved(picture, "TIFF", compression=compression, **options)
                yield same_as_pillow(f"tiff_saved_{mode}_{compression}_{width}x{height}", data)


def palette_cases():
    for bits in (1, 2, 4, 8):
        table = palette(bits)
        for width, height in ((1, 1), (23, 9), (65, 20)):
            samples = grey16(width, height)[..., None] >> (16 - bits)
            fields = {320: (3, table.ravel().tolist())}
            for order in "<>":
                for fill in (1, 2):
                    name = f"tiff_palette_{bits}_{order == '<':d}_{fill}_{width}x{height}"
                    # Pillow cannot unpack palettes whose bits are turned round.
                    expected = pillow(tiff(samples, 3, bits, tags=fields, order=order))
                    yield Case(name, tiff(samples, 3, bits, tags=fields, order=order, fill_order=fill), expected=expected)
    samples = scene(19, 8, 2)
    fields = {320: (3, palette(8).ravel().tolist())}
    for extra in (0, 2):
        yield same_as_pillow(f"tiff_palette_extra_{extra}", tiff(samples, 3, 8, [extra], tags=fields))
    eight = np.random.RandomState(1).randint(0, 256, (3, 256))
    yield Case("tiff_palette_of_8_bits", tiff(samples[..., :1], 3, 8, tags={320: (3, eight.ravel().tolist())}),
               expected=eight.T.astype(np.uint8)[samples[..., 0]])
    yield Case("tiff_palette_short", tiff(samples[..., :1], 3, 8, tags={320: (3, [0] * 30)}), refused="its palette has 30 values")
    yield Case("tiff_palette_missing", tiff(samples[..., :1], 3, 8), refused="its palette has 0 values")


def extra_cases():
    eight, sixteen = scene(21, 13, 6), grey16(21 * 6, 13, 4).reshape(13, 21, 6)
    eight[0, :5, 3], eight[0, :5, 1] = (0, 1, 128, 254, 255), 0
    for planar in (False, True):
        for first in (0, 1, 2, 999):
            for bands in (4, 5, 6):
                if first == 999 and bands > 4:
                    continue
                extras = [first] + [0] * (bands - 4)
                name = f"tiff_rgb_extra_{first}_{bands}_{planar:d}"
                expected = premultiplied(eight, 3, 8) if first == 1 else eight[..., :3]
                data = tiff(eight[..., :bands], 2, 8, extras, planar=planar)
                yield Case(name, data, expected=expected) if planar else same_as_pillow(name, data)
        yield Case(f"tiff_rgb16_premultiplied_{planar:d}", tiff(sixteen[..., :4], 2, 16, [1], planar=planar),
                   expected=premultiplied(sixteen, 3, 16))
        yield Case(f"tiff_grey_premultiplied_{planar:d}", tiff(eight[..., 2:4], 1, 8, [1], planar=planar),
                   expected=premultiplied(eight[..., 2:4], 1, 8))
        yield Case(f"tiff_grey16_premultiplied_{planar:d}", tiff(sixteen[..., :2], 1, 16, [1], planar=planar),
                   expected=premultiplied(sixteen[..., :2], 1, 16))
    yield same_as_pillow("tiff_grey_extra_0", tiff(eight[..., :2], 1, 8, [0]))
    yield same_as_pillow("tiff_rgba_unnamed", tiff(eight[..., :4], 2))
    for bands in (5, 6):
        yield same_as_pillow(f"tiff_cmyk_extra_{bands}", tiff(eight[..., :bands], 5, 8, [0] * (bands - 4)))
    cmyk = to_8_bits(sixteen[..., :4])
    yield Case("tiff_cmyk16", tiff(sixteen[..., :4], 5, 16), expected=np.asarray(Image.fromarray(cmyk, "CMYK").convert("RGB")))


def jpeg_strip(samples, mode, **options):
    return saved(Image.fromarray(samples[..., 0] if mode == "L" else samples, mode), "JPEG", **options)


def jpeg_cases():
    """Strips and tiles that are JPEG streams of their own."""
    for width, height in ((33, 40), (16, 16), (90, 61)):
        eight = scene(width, height, 4)
        for mode, photometric, bands in (("L", 1, 1), ("RGB", 6, 3), ("CMYK", 5, 4)):
            for sampling in (0, 1, 2) if mode == "RGB" else (0,):
                for progressive in (False, True):
                    fields = {256: (4, [width]), 257: (4, [height]), 258: (3, [8] * bands), 259: (3, [JPEG]),
                              262: (3, [photometric]), 277: (3, [bands]), 278: (4, [16])}
                    if mode == "RGB":
                        fields[530] = (3, [(1, 1), (2, 1), (2, 2)][sampling])
                    blocks = [jpeg_strip(eight[y:y + 16, :, :bands], mode, quality=80, subsampling=sampling,
                                         progressive=progressive) for y in range(0, height, 16)]
                    yield same_as_pillow(f"tiff_jpeg_{mode}_{sampling}_{progressive:d}_{width}x{height}", file_of(fields, blocks))


def jpeg_tile_cases():
    for width, height in ((33, 40), (90, 61)):
        for mode, photometric, bands in (("L", 1, 1), ("RGB", 6, 3), ("CMYK", 5, 4)):
            samples = np.zeros((64, 96, bands), np.uint8)
            samples[:height, :width] = scene(width, height, bands)
            fields = {256: (4, [width]), 257: (4, [height]), 258: (3, [8] * bands), 259: (3, [JPEG]), 262: (3, [photometric]),
                      277: (3, [bands]), 322: (4, [32]), 323: (4, [32])}
            if mode == "RGB":
                fields[530] = (3, [2, 2])
            blocks = [jpeg_strip(samples[y:y + 32, x:x + 32], mode, quality=80, subsampling=2 if mode == "RGB" else 0)
                      for y in range(0, height, 32) for x in range(0, width, 32)]
            yield same_as_pillow(f"tiff_jpeg_tiles_{mode}_{width}x{height}", file_of(fields, blocks, tiled=True))


def webp_cases():
    """Strips that are WebP streams, which the libtiff of Pillow's wheel leaves out."""
    for width, height in ((16, 16), (33, 40)):
        for bands, mode in ((3, "RGB"), (4, "RGBA")):
            samples = scene(width, height, bands)
            samples[..., 3:] |= 1  # WebP may drop the colours below an alpha of 0
            fields = {256: (4, [width]), 257: (4, [height]), 258: (3, [8] * bands), 259: (3, [50001]), 262: (3, [2]),
                      277: (3, [bands]), 278: (4, [16])}
            if bands == 4:
                fields[338] = (3, [2])
            blocks = [saved(Image.fromarray(samples[y:y + 16], mode), "WEBP", lossless=True, exact=True)
                      for y in range(0, height, 16)]
            yield Case(f"tiff_webp_{mode}_{width}x{height}", file_of(fields, blocks), expected=samples[..., :3])


def ycbcr(width, height, across, down, **options):
    """YCbCr in clumps, as TIFF has it outside of JPEG."""
    planes = scene(width, height, 3)
    block_rows = options.pop("rows", 16)
    tile = options.pop("tile", None)
    wide, high = tile or (width, block_rows)
    fields = {256: (4, [width]), 257: (4, [height]), 258: (3, [8, 8, 8]), 262: (3, [6]), 277: (3, [3]),
              530: (3, [across, down])}
    compression = options.pop("compression", NONE)
    fields[259] = (3, [compression])
    if tile:
        fields[322], fields[323] = (4, [wide]), (4, [high])
    else:
        fields[278] = (4, [high])
    fields.update(options.pop("tags", {}))
    blocks = []
    for top in range(0, height, high):
        for left in range(0, width, wide):
            part = planes[top:top + high, left:left + wide]
            rows = high if tile else part.shape[0]
            pad = np.zeros((-(-rows // down) * down, -(-wide // across) * across, 3), np.uint8)
            pad[:part.shape[0], :part.shape[1]] = part
            data = bytearray()
            for y in range(0, pad.shape[0], down):
                for x in range(0, pad.shape[1], across):
                    data += pad[y:y + down, x:x + across, 0].tobytes() + pad[y, x, 1:].tobytes()
            blocks.append(PACKERS[compression](bytes(data)))
    return file_of(fields, blocks, tiled=bool(tile), **options)


def ycbcr_cases():
    for width, height in ((1, 1), (2, 3), (17, 33), (64, 48)):
        for across, down in ((1, 1), (2, 1), (2, 2), (4, 1), (4, 2), (4, 4), (1, 2)):
            for name, place in (("rows16", {"rows": 16}), ("rows100", {"rows": 100}), ("tile", {"tile": (16, 32)})):
                planes = scene(width, height, 3)
                down_here = np.arange(height) // down * down
                planes[..., 1:] = planes[down_here][:, np.arange(width) // across * across, 1:]
                expected = pillow(tiff(planes, 6, compression=LZW, tags={530: (3, [1, 1])}))
                for compression in (LZW, NONE):
                    data = ycbcr(width, height, across, down, compression=compression, **place)
                    # libtiff refuses clumps wider than the picture, and errs at the edge of 4x4; uncompressed and not
                    # subsampled is what Pillow converts itself.
                    if compression == LZW and width > 4 and (across, down) != (4, 4):
                        assert np.array_equal(pillow(data), expected), (across, down, name, width)
                    if compression == NONE and across == down == 1:
                        expected = pillow(data)
                    yield Case(f"tiff_ycbcr_{across}{down}_{name}_{compression}_{width}x{height}", data, expected=expected)
    planes = scene(20, 11, 3)
    yield same_as_pillow("tiff_ycbcr_planar", tiff(planes, 6, planar=True, compression=LZW, tags={530: (3, [1, 1])}))
    yield Case("tiff_ycbcr_planar_subsampled", tiff(planes, 6, planar=True, compression=LZW, tags={530: (3, [2, 2])}),
               refused="bands of different sizes")


def orientation_cases():
    picture = scene(13, 7)
    for value in list(range(0, 11)) + [65535]:
        for order in "<>":
            for big in (False, True):
                name = f"tiff_orientation_{value}_{order == '<':d}_{big:d}"
                data = tiff(picture, 2, order=order, big=big, tags={274: (3, [value])})
                if big and order == ">":  # which Pillow misreads
                    yield Case(name, data, expected=pillow(tiff(picture, 2, tags={274: (3, [value])})))
                else:
                    yield same_as_pillow(name, data)
        yield same_as_pillow(f"tiff_orientation_{value}_lzw", tiff(picture, 2, compression=LZW, tags={274: (3, [value])}))
        yield same_as_pillow(f"tiff_orientation_{value}_long", tiff(picture, 2, tags={274: (4, [value])}))
        plain = ycbcr(18, 10, 2, 2, compression=LZW)
        turned = ycbcr(18, 10, 2, 2, compression=LZW, tags={274: (3, [value])})
        upright = pillow(plain)
        turns = pillow(tiff(upright, 2, tags={274: (3, [value])}))
        yield Case(f"tiff_orientation_{value}_ycbcr", turned, expected=turns)
    packet = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    yield same_as_pillow("tiff_orientation_xmp", tiff(picture, 2, tags={700: (1, list(packet))}))
    yield same_as_pillow("tiff_orientation_xmp_loses", tiff(picture, 2, tags={700: (1, list(packet)), 274: (3, [3])}))
    yield same_as_pillow("tiff_orientation_xmp_loses_to_9", tiff(picture, 2, tags={700: (1, list(packet)), 274: (3, [9])}))


def odd_cases():
    picture = scene(13, 7)
    yield same_as_pillow("tiff_trailing_garbage", tiff(picture, 2, more=b"garbage" * 99))
    yield same_as_pillow("tiff_swapped_42_little", tiff(picture, 2, head=b"II\0*"))
    yield same_as_pillow("tiff_swapped_42_big", tiff(picture, 2, order=">", head=b"MM*\0"))
    yield same_as_pillow("tiff_fill_order_2", tiff(picture, 2, fill_order=2))
    yield same_as_pillow("tiff_fill_order_2_lzw", tiff(picture, 2, fill_order=2, compression=LZW))
    yield same_as_pillow("tiff_one_bits_value", tiff(picture, 2, tags={258: (3, [8])}))
    yield same_as_pillow("tiff_four_bits_values", tiff(picture, 2, tags={258: (3, [8, 8, 8, 9])}))
    yield same_as_pillow("tiff_sample_format_1", tiff(picture, 2, tags={339: (3, [1, 1, 1])}))
    yield Case("tiff_sample_format_4", tiff(picture, 2, tags={339: (3, [4, 4, 4])}), expected=picture)
    yield same_as_pillow("tiff_private_tags", tiff(picture, 2, tags={65000: (2, b"words\0"), 65001: (4, [1, 2, 3])}))
    yield same_as_pillow("tiff_no_rows_per_strip", tiff(picture, 2, rows=2**32 - 1))
    frames = [Image.fromarray(scene(13, 7, seed=seed)) for seed in range(3)]
    yield same_as_pillow("tiff_three_pages", saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]))


def refused_cases():
    picture, many = scene(13, 7), scene(13, 7, 6)
    sixteen = grey16(13 * 4, 7).reshape(7, 13, 4)
    for order in "<>":
        for bits in (16, 32, 64):
            fields = {256: (4, [13]), 257: (4, [7]), 258: (3, [bits]), 259: (3, [1]), 262: (3, [1]), 277: (3, [1]), 278: (4, [7])}
            for sample_format, words in ((1, "unsigned integers"), (2, "signed integers"), (3, "floating-point numbers"),
                                         (6, "complex floating-point numbers")):
                if bits == 16 and sample_format == 1:
                    continue
                values = np.full((7, 13), np.nan, f"{order}f{bits // 8}").tobytes()
                yield Case(f"tiff_refused_{bits}_{sample_format}_{order == '<':d}",
                           file_of({**fields, 339: (3, [sample_format])}, [values], order),
                           refused=f"1 band of {bits}-bit {words}")
    yield Case("tiff_refused_signed_8", tiff(picture, 2, tags={339: (3, [2, 2, 2])}), refused="3 bands of 8-bit signed integers")
    yield Case("tiff_refused_mixed_formats", tiff(picture, 2, tags={339: (3, [1, 1, 3])}), refused="numbers of several formats")
    yield Case("tiff_refused_565", tiff(picture, 2, tags={258: (3, [5, 6, 5])}), refused="3 bands of 5/6/5-bit")
    for bands in (2, 3, 4, 5, 6):
        for planar in (False, True):
            yield Case(f"tiff_refused_grey_{bands}_bands_{planar:d}", tiff(many[..., :bands], 1, planar=planar),
                       refused=f"{bands} bands of 8-bit unsigned integers")
            if bands > 2:
                yield Case(f"tiff_refused_grey_{bands}_extras_{planar:d}",
                           tiff(many[..., :bands], 1, 8, [0] * (bands - 1), planar=planar), refused=f"{bands} bands of 8-bit")
    yield Case("tiff_refused_16_bit_bands", tiff(np.concatenate([sixteen] * 3, -1), 1, 16), refused="12 bands of 16-bit")
    for photometric, name in ((4, "a transparency mask"), (8, "CIE L*a*b*"), (9, "ICC L*a*b*"), (10, "ITU L*a*b*"),
                              (32844, "CIE Log2(L)"), (32845, "CIE Log2(L) (u',v')"), (77, "of the unknown kind 77")):
        yield Case(f"tiff_refused_photometric_{photometric}", tiff(picture, photometric), refused=name)
    for photometric in (32803, 34892):
        yield Case(f"tiff_refused_raw_{photometric}", tiff(picture[..., :1], photometric), refused="camera raw picture")
    yield Case("tiff_refused_dng", tiff(picture, 2, tags={50706: (1, [1, 4, 0, 0])}), refused="camera raw picture (DNG)")
    yield Case("tiff_refused_preview", tiff(picture, 2, tags={254: (4, [1]), 330: (4, [99999])}), refused="camera raw picture (NEF")
    for compression, name in ((6, "old-style JPEG"), (34661, "JBIG"), (34887, "LERC"), (34712, "JPEG 2000"),
                              (9999, "the unknown compression 9999")):
        yield Case(f"tiff_refused_compression_{compression}", tiff(picture, 2, tags={259: (3, [compression])}), refused=name)
    for keep in (0.3, 0.6, 0.9):
        for compression in (NONE, LZW, DEFLATE, PACKBITS):
            data = tiff(scene(60, 50), 2, compression=compression)
            yield Case(f"tiff_refused_cut_{keep}_{compression}", data[:int(len(data) * keep)], refused="truncated")


def large_cases():
    """Strips of more than a megabyte, which are decoded row by row."""
    samples, deep = scene(900, 700), grey16(900 * 3, 700).reshape(700, 900, 3)
    for planar in (False, True):
        for compression in (NONE, DEFLATE, LZMA, PACKBITS):
            yield Case(f"tiff_large_{compression}_{planar:d}", tiff(samples, 2, rows=1000, compression=compression, planar=planar),
                       expected=samples)
        yield Case(f"tiff_large_16_bits_{planar:d}", tiff(deep, 2, 16, rows=600, compression=DEFLATE, predictor=2, planar=planar),
                   expected=to_8_bits(deep))
    picture = Image.fromarray(samples)
    for compression in ("tiff_lzw", "zstd"):
        yield same_as_pillow(f"tiff_large_{compression}", saved(picture, "TIFF", compression=compression, strip_size=1 << 30))
    yield same_as_pillow("tiff_large_jpeg", saved(picture, "TIFF", compression="jpeg", strip_size=1 << 30))
    page = Image.fromarray(scene(3300, 2700)[..., 0]).convert("1")
    for compression in ("group3", "group4"):
        yield same_as_pillow(f"tiff_large_{compression}", saved(page, "TIFF", compression=compression, strip_size=1 << 30))


def recorded():
    """The small files that the unit tests keep."""
    colours, deep = scene(19, 13, 4), grey16(19 * 4, 13).reshape(13, 19, 4)
    rgb, grey = colours[..., :3], colours[..., :1]
    yield same_as_pillow("tiff_grey8", tiff(grey, 1))
    yield same_as_pillow("tiff_white8", tiff(grey, 0))
    for bits in (1, 2, 4):
        yield same_as_pillow(f"tiff_grey{bits}", tiff(grey >> (8 - bits), 1, bits))
        yield same_as_pillow(f"tiff_white{bits}", tiff(grey >> (8 - bits), 0, bits))
    for bits in (1, 2, 4, 8):
        fields = {320: (3, palette(bits).ravel().tolist())}
        yield same_as_pillow(f"tiff_palette{bits}", tiff(grey >> (8 - bits), 3, bits, tags=fields))
    eight = np.random.RandomState(1).randint(0, 256, (3, 256))
    yield Case("tiff_palette_of_8_bits", tiff(grey, 3, tags={320: (3, eight.ravel().tolist())}),
               expected=eight.T.astype(np.uint8)[grey[..., 0]])
    yield same_as_pillow("tiff_greyalpha", tiff(colours[..., :2], 1, extras=[2]))
    yield same_as_pillow("tiff_rgb", tiff(rgb, 2))
    yield same_as_pillow("tiff_rgba", tiff(colours, 2, extras=[2]))
    yield same_as_pillow("tiff_rgbx", tiff(colours, 2, extras=[0]))
    yield same_as_pillow("tiff_rgba_unnamed", tiff(colours, 2))
    yield same_as_pillow("tiff_premultiplied", tiff(colours, 2, extras=[1]))
    yield Case("tiff_premultiplied16", tiff(deep, 2, 16, [1]), expected=premultiplied(deep, 3, 16))
    yield Case("tiff_grey_premultiplied", tiff(colours[..., 2:], 1, 8, [1]), expected=premultiplied(colours[..., 2:], 1, 8))
    yield same_as_pillow("tiff_cmyk", tiff(colours, 5))
    # The four values around each border where the rounding changes.
    steps = np.clip(257 * np.arange(256)[:, None] + (128, 129, -128, -129), 0, 65535).astype(np.uint16).reshape(32, 32, 1)
    yield Case("tiff_grey16_steps", tiff(steps, 1, 16), expected=three_channels(to_8_bits(steps[..., 0])))
    yield Case("tiff_white16", tiff(deep[..., :1], 0, 16), expected=three_channels(to_8_bits(65535 - deep[..., 0])))
    yield Case("tiff_grey12", tiff(deep[..., :1] >> 4, 1, 12), expected=three_channels(to_8_bits(deep[..., 0] >> 4, 4095)))
    for order in "<>":
        yield Case(f"tiff_rgb16_{'little' if order == '<' else 'big'}", tiff(deep[..., :3], 2, 16, order=order),
                   expected=to_8_bits(deep[..., :3]))
    yield same_as_pillow("tiff_lzw", tiff(rgb, 2, compression=LZW, predictor=2))
    yield same_as_pillow("tiff_deflate", tiff(rgb, 2, compression=DEFLATE))
    yield same_as_pillow("tiff_packbits", tiff(grey // 128 * 255, 1, compression=PACKBITS))
    yield same_as_pillow("tiff_lzma", tiff(rgb, 2, compression=LZMA))
    yield same_as_pillow("tiff_zstd", saved(Image.fromarray(rgb), "TIFF", compression="zstd"))
    page = Image.fromarray(scene(40, 30)).convert("1")
    for compression in ("group3", "group4", "tiff_ccitt"):
        yield same_as_pillow(f"tiff_{compression.removeprefix('tiff_')}", saved(page, "TIFF", compression=compression))
    yield same_as_pillow("tiff_planar", tiff(rgb, 2, planar=True))
    yield same_as_pillow("tiff_tiles", tiff(rgb, 2, tile=(16, 16), compression=DEFLATE))
    yield same_as_pillow("tiff_tiles_planar", tiff(rgb, 2, tile=(16, 16), planar=True, compression=LZW))
    yield same_as_pillow("tiff_bigtiff", tiff(rgb, 2, big=True))
    yield Case("tiff_bigtiff_big", tiff(rgb, 2, big=True, order=">", tags={274: (3, [6])}), expected=np.rot90(rgb, -1))
    yield same_as_pillow("tiff_swapped_42", tiff(rgb, 2, head=b"II\0*"))
    yield same_as_pillow("tiff_fill_order_2", tiff(rgb, 2, fill_order=2))
    yield same_as_pillow("tiff_trailing_garbage", tiff(rgb, 2, more=b"garbage" * 9))
    yield same_as_pillow("tiff_jpeg", saved(Image.fromarray(rgb), "TIFF", compression="jpeg"))
    yield same_as_pillow("tiff_jpeg_grey", saved(Image.fromarray(grey[..., 0]), "TIFF", compression="jpeg"))
    yield same_as_pillow("tiff_ycbcr", saved(Image.fromarray(rgb).convert("YCbCr"), "TIFF"))
    yield same_as_pillow("tiff_ycbcr_22", ycbcr(19, 13, 2, 2, compression=LZW))
    yield same_as_pillow("tiff_ycbcr_tiles", ycbcr(19, 13, 2, 1, compression=LZW, tile=(16, 16)))
    frames = [Image.fromarray(scene(13, 7, seed=seed)) for seed in range(3)]
    yield same_as_pillow("tiff_three_pages", saved(frames[0], "TIFF", save_all=True, append_images=frames[1:]))
    small = scene(11, 7)
    for value in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535):
        yield same_as_pillow(f"tiff_orientation_{value}", tiff(small, 2, order="<>"[value % 2], tags={274: (3, [value])}))
    packet = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="6"/></x:xmpmeta>'
    yield same_as_pillow("tiff_xmp_6", tiff(small, 2, tags={700: (1, list(packet))}))
    yield same_as_pillow("tiff_xmp_loses", tiff(small, 2, tags={700: (1, list(packet)), 274: (3, [3])}))


def cases():
    yield from large_cases()
    yield from colour_cases()
    yield from packed_cases()
    yield from saved_cases()
    yield from palette_cases()
    yield from extra_cases()
    yield from jpeg_cases()
    yield from jpeg_tile_cases()
    yield from webp_cases()
    yield from ycbcr_cases()
    yield from orientation_cases()
    yield from odd_cases()
    yield from refused_cases()

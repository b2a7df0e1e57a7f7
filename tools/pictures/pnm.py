"""PBM, PGM and PPM, plain and raw: every largest value, comments, blanks, refusals."""

import numpy as np
from PIL import Image

from common import SIZES, Case, grey16, same_as_pillow, saved, scene, three_channels, to_8_bits


def raw(samples, largest=255, header=None):
    """P5 or P6 of [height, width, 1 or 3]."""
    height, width, bands = samples.shape
    head = header or f"P{6 if bands == 3 else 5}\n{width} {height}\n{largest}\n".encode()
    return head + samples.astype(">u2" if largest > 255 else np.uint8).tobytes()


def plain(samples, largest=255, between=" ", line=10):
    """P2 or P3."""
    height, width, bands = samples.shape
    words = [str(v) for v in samples.ravel()]
    lines = [between.join(words[i:i + line]) for i in range(0, len(words), line)]
    return f"P{3 if bands == 3 else 2}\n{width} {height}\n{largest}\n".encode() + "\n".join(lines).encode() + b"\n"


def bits(samples, between=""):
    """P1 of [height, width] of 0 and 1."""
    rows = [between.join(str(v) for v in row) for row in samples]
    return f"P1\n{samples.shape[1]} {samples.shape[0]}\n".encode() + "\n".join(rows).encode() + b"\n"


def colours(samples):
    return samples if samples.shape[2] == 3 else three_channels(samples[..., 0])


def value_cases():
    """As Pillow up to 255; exact above."""
    for largest in (*range(1, 256), 256, 257, 300, 1000, 1023, 4095, 32767, 65534, 65535):
        for bands in (1, 3):
            samples = (grey16(17 * bands, 33, largest).astype(np.uint32) % (largest + 1)).reshape(33, 17, bands)
            name = f"pnm_{bands}_largest_{largest}"
            if largest <= 255:
                yield same_as_pillow(name, raw(samples, largest))
                yield same_as_pillow(name + "_plain", plain(samples, largest))
            else:
                expected = colours(to_8_bits(samples, largest))
                yield Case(name, raw(samples, largest), expected=expected)
                yield Case(name + "_plain", plain(samples, largest), expected=expected)


def header_cases():
    pixels = scene(3, 2)
    for name, header in (("blanks", b"P6 3 2 255 "), ("lines", b"P6\r\n3\t2\r\n255\r"), ("odd_blanks", b"P6\v3\f2\v255\f"),
                         ("comment", b"P6\n# words 9 9\n3 # more\n2\n#\n#x\r255\n"), ("zeros", b"P6\n0003 02\n00255\n"),
                         ("many_blanks", b"P6\n\n\n  3 \t 2\n\n255\n")):
        yield same_as_pillow(f"pnm_header_{name}", raw(pixels, header=header))
    # Pillow takes what follows a comment for the rest of the number; Netpbm ends it.
    yield Case("pnm_header_comment_after_number", raw(pixels, header=b"P6\n3#c\n2#c\n255#c\n"), expected=pixels)
    one = scene(5, 4)[..., :1]
    yield Case("pnm_plain_comment_after_number", plain(one).replace(b" ", b"#c\n"), expected=colours(one))
    yield same_as_pillow("pnm_plain_comments", plain(one).replace(b" ", b" #c 7\n"))
    yield same_as_pillow("pnm_plain_one_a_line", plain(one, line=1))
    yield same_as_pillow("pnm_plain_no_last_line_end", plain(one)[:-1])
    yield same_as_pillow("pnm_plain_more", plain(one) + b"1 2 3")
    yield same_as_pillow("pnm_more", raw(pixels) + b"garbage")
    yield same_as_pillow("pnm_two_pictures", raw(pixels) + raw(scene(7, 7)))
    # Raw samples above the largest value are the largest.
    above = scene(9, 7)
    yield same_as_pillow("pnm_above_largest", raw(above, 100))
    deep = grey16(9, 7).reshape(7, 9, 1)
    yield Case("pnm_above_largest_16", raw(deep, 1000), expected=colours(to_8_bits(np.minimum(deep, 1000), 1000)))


def bit_cases():
    for width, height in SIZES:
        samples = grey16(width, height) & 1
        yield same_as_pillow(f"pnm_bits_plain_{width}x{height}", bits(samples))
        yield same_as_pillow(f"pnm_bits_plain_blanks_{width}x{height}", bits(samples, " "))
        yield same_as_pillow(f"pnm_bits_{width}x{height}", saved(Image.fromarray(samples == 0), "PPM"))
    yield same_as_pillow("pnm_bits_plain_comment", bits(grey16(6, 3) & 1, "#x 01\n"))


def refused_cases():
    pixels = scene(30, 20)
    for name, data, words in (
            ("cut", raw(pixels)[:-1], "truncated"), ("cut_plain", plain(pixels)[:1500], "truncated"),
            ("cut_bits", bits(grey16(20, 9) & 1)[:-9], "truncated"), ("cut_header", b"P6\n3 2\n", "truncated"),
            ("empty_header", b"P5 ", "truncated"), ("zero_width", b"P6\n0 2\n255\n", "0x2"),
            ("negative", b"P6\n-3 2\n255\n", "number"), ("letters", b"P5\nabc", "number"),
            ("largest_0", raw(pixels, header=b"P6\n30 20\n0\n"), "largest value is 0"),
            ("largest_65536", raw(pixels, header=b"P6\n30 20\n65536\n"), "largest value is 65536"),
            ("above", plain(scene(4, 4), 9), "above its largest of 9"), ("no_bit", b"P1\n2 2\n0 1 2 1\n", "no 0 or 1"),
            ("too_large", b"P6\n70000 70000\n255\n", "--max-pixels"), ("too_large_number", b"P5\n99999999999 1\n255\n", "--max-pixels"),
            ("floats", saved(Image.fromarray(np.ones((3, 3), np.float32)), "PPM"), "PFM picture of floating-point"),
            ("pam", b"P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n\0", "PAM picture")):
        yield Case(f"pnm_refused_{name}", data, refused=words)


def recorded():
    """The small files that the unit tests keep."""
    kept = ("largest_1", "largest_2", "largest_100", "largest_170", "largest_255", "largest_4095", "largest_65535")
    for case in cases():
        if case.refused is not None:
            continue
        if case.name.startswith(("pnm_header", "pnm_plain", "pnm_above", "pnm_two", "pnm_more")) or "7x9" in case.name or \
                case.name.removesuffix("_plain").endswith(kept) and "pnm_3" not in case.name or case.name == "pnm_3_largest_4095":
            yield case


def cases():
    for width, height in SIZES:
        for bands in (1, 3):
            samples = scene(width, height, bands)
            yield same_as_pillow(f"pnm_{bands}_{width}x{height}", raw(samples))
            yield same_as_pillow(f"pnm_{bands}_plain_{width}x{height}", plain(samples))
            deep = grey16(width * bands, height).reshape(height, width, bands)
            yield Case(f"pnm_{bands}_16_bits_{width}x{height}", raw(deep, 65535), expected=colours(to_8_bits(deep)))
    yield from value_cases()
    yield from header_cases()
    yield from bit_cases()
    yield from refused_cases()

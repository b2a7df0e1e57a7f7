"""WebP: lossy and lossless, alpha, animations, EXIF and XMP, extended headers that are right or lie."""

import struct

from PIL import Image

from common import SIZES, Case, pillow, same_as_pillow, saved, scene
from jpeg import exif

ALPHA, EXIF, XMP, ANIMATION = 16, 8, 4, 2


def picture(mode, width, height, seed=0):
    pixels = scene(width, height, {"L": 1, "RGB": 3, "RGBA": 4}[mode], seed)
    return Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode)


def chunk(name, data):
    return name + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)


def riff(*chunks):
    body = b"WEBP" + b"".join(chunks)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def u24(value):
    return struct.pack("<I", value)[:3]


def extended(flags, width, height):
    return chunk(b"VP8X", bytes([flags, 0, 0, 0]) + u24(width - 1) + u24(height - 1))


def image_chunks(data):
    """The chunks that hold the picture of a file that Pillow wrote: ALPH, VP8 or VP8L."""
    out, at = b"", 12
    while at < len(data):
        name, size = struct.unpack("<4sI", data[at : at + 8])
        whole = 8 + size + size % 2
        if name in (b"ALPH", b"VP8 ", b"VP8L"):
            out += data[at : at + whole]
        at += whole
    return out


def frame(data, width, height, x=0, y=0, flags=0):
    """An ANMF chunk; x and y are even."""
    return chunk(b"ANMF", u24(x // 2) + u24(y // 2) + u24(width - 1) + u24(height - 1) + u24(100) + bytes([flags])
                 + image_chunks(data))


def animation(canvas, *frames, flags=ANIMATION | ALPHA, background=b"\xff\x80\x40\xff"):
    return riff(extended(flags, *canvas), chunk(b"ANIM", background + b"\0\0"), *frames)


def xmp(value):
    return f'<x:xmpmeta tiff:Orientation="{value}"/>'.encode()


def forms(width, height):
    """One picture in every way to store it."""
    for mode in ("RGB", "RGBA", "L"):
        base = picture(mode, width, height)
        yield f"{mode}_lossless", saved(base, "WEBP", lossless=True, quality=60)
        yield f"{mode}_lossy", saved(base, "WEBP", quality=75)
    base = picture("RGBA", width, height)
    yield "RGBA_exact", saved(base, "WEBP", lossless=True, exact=True)
    yield "RGBA_lossy_exact", saved(base, "WEBP", quality=90, exact=True, alpha_quality=30)
    few = base.convert("RGB").quantize(5).convert("RGB")
    yield "few_colours_lossless", saved(few, "WEBP", lossless=True)
    yield "two_colours_lossless", saved(base.convert("1").convert("RGB"), "WEBP", lossless=True)


def containers():
    """Everything about the chunks around a picture of 23x38, lossy, and 11x7, lossless."""
    large = saved(picture("RGB", 23, 38), "WEBP", quality=70)
    small = saved(picture("RGBA", 11, 7), "WEBP", lossless=True, exact=True)
    for value in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535):
        yield f"exif_{value}", saved(picture("RGB", 11, 7), "WEBP", lossless=True, exif=exif(value))
    for value in (3, 6, 7):
        yield f"lossy_exif_{value}", saved(picture("RGB", 23, 38), "WEBP", exif=exif(value))
        yield f"xmp_{value}", saved(picture("RGBA", 11, 7), "WEBP", lossless=True, xmp=xmp(value))
    yield "exif_before_xmp", saved(picture("RGB", 11, 7), "WEBP", lossless=True, exif=exif(6), xmp=xmp(3))
    six, header = chunk(b"EXIF", exif(6)), extended(EXIF | XMP | ALPHA, 11, 7)
    pixels = image_chunks(small)
    yield "exif_first", riff(header, six, pixels)
    yield "exif_twice", riff(header, pixels, six, chunk(b"EXIF", exif(3)))
    yield "exif_without_prefix", riff(header, pixels, chunk(b"EXIF", exif(6).removeprefix(b"Exif\0\0")))
    yield "exif_empty_then_xmp", riff(header, pixels, chunk(b"EXIF", b""), chunk(b"XMP ", xmp(8)))
    yield "exif_not_flagged", riff(extended(ALPHA, 11, 7), pixels, six)
    yield "exif_flagged_but_absent", riff(header, pixels)
    yield "alpha_not_flagged", riff(extended(0, 11, 7), pixels)
    yield "unknown_chunk", riff(header, chunk(b"wHAT", b"odd"), pixels, chunk(b"mORE", b"even"), six)
    yield "icc_profile", saved(picture("RGB", 11, 7), "WEBP", icc_profile=b"not a profile" * 99)
    yield "plain_with_exif", riff(image_chunks(large), six)
    yield "trailing_garbage", large + b"<html>garbage" * 20
    yield "trailing_byte", small + b"x"


def animations():
    seeds = [picture("RGBA", 24, 18, seed) for seed in range(3)]
    for name, options in (("lossless", {"lossless": True}), ("lossy", {"quality": 60}), ("mixed", {"allow_mixed": True})):
        yield name, saved(seeds[0], "WEBP", save_all=True, append_images=seeds[1:], **options)
    opaque = [picture("RGB", 24, 18, seed) for seed in range(2)]
    yield "opaque", saved(opaque[0], "WEBP", save_all=True, append_images=opaque[1:], lossless=True)
    yield "turned", saved(opaque[0], "WEBP", save_all=True, append_images=opaque[1:], lossless=True, exif=exif(6))
    small = saved(picture("RGBA", 11, 7), "WEBP", lossless=True, exact=True)
    lossy = saved(picture("RGBA", 11, 7), "WEBP", quality=80, exact=True)
    solid = saved(picture("RGB", 11, 7), "WEBP", quality=80)
    for flags in range(4):  # blending, disposal
        yield f"offset_{flags}", animation((30, 20), frame(small, 11, 7, 6, 4, flags), frame(solid, 11, 7, 2, 2))
        yield f"offset_lossy_{flags}", animation((17, 11), frame(lossy, 11, 7, 6, 4, flags))
    yield "offset_opaque", animation((17, 19), frame(solid, 11, 7, 2, 12), flags=ANIMATION)
    # The size in front of a frame does not count, only the frame's own.
    yield "frame_lies", animation((17, 11), frame(small, 10, 7))
    yield "one_frame", animation((11, 7), frame(small, 11, 7))


def refusals():
    small = saved(picture("RGBA", 11, 7), "WEBP", lossless=True)
    lossy = saved(picture("RGB", 23, 38), "WEBP", quality=70)
    pixels = image_chunks(small)
    yield "canvas_too_large", riff(extended(ALPHA, 12, 7), pixels), "contradict"
    yield "canvas_too_small", riff(extended(ALPHA, 11, 6), pixels), "contradict"
    yield "huge_canvas", riff(extended(ALPHA, 1 << 24, 100), pixels), "16777216x100"
    yield "no_frames", riff(extended(ANIMATION, 11, 7), chunk(b"ANIM", bytes(6))), "contradict"
    yield "no_picture", riff(extended(0, 11, 7)), "contradict"
    yield "frame_outside", animation((17, 11), frame(small, 11, 7, 8, 0)), "contradict"
    yield "two_pictures", riff(extended(ALPHA, 11, 7), pixels, pixels), "contradict"
    yield "unknown_form", riff(chunk(b"VP9 ", bytes(20))), "'VP9 '"
    yield "size_beyond_file", small[:4] + struct.pack("<I", 5000) + small[8:], "says 5008 bytes"
    yield "cut_lossy", lossy[: len(lossy) * 2 // 3], "truncated"
    yield "short_lossy", riff(chunk(b"VP8 ", lossy[20 : len(lossy) // 2])), "truncated"
    yield "short_lossless", riff(chunk(b"VP8L", small[20 : len(small) // 2])), "is damaged"
    yield "cut_lossless", small[: len(small) * 2 // 3], "truncated"
    flat = saved(Image.new("RGB", (8000, 8000), (9, 99, 200)), "WEBP", lossless=True, quality=0, method=0)
    yield "flat_bomb", flat, "can only hold a flat colour"


def recorded():
    """The small cases that the unit tests keep."""
    kept = ("7x9", "1x1", "exif", "xmp", "animation", "garbage", "flagged", "unknown_chunk")
    for case in cases():
        if case.refused is None and any(part in case.name for part in kept):
            yield case


def cases():
    for width, height in SIZES:
        for name, data in forms(width, height):
            yield same_as_pillow(f"webp_{name}_{width}x{height}", data)
    for quality in (0, 1, 30, 100):
        for method in (0, 4, 6):
            data = saved(picture("RGB", 90, 61), "WEBP", quality=quality, method=method)
            yield same_as_pillow(f"webp_quality_{quality}_{method}", data)
            data = saved(picture("RGBA", 61, 90), "WEBP", quality=quality, method=method, lossless=True)
            yield same_as_pillow(f"webp_effort_{quality}_{method}", data)
    for name, data in containers():
        yield same_as_pillow(f"webp_{name}", data)
    # Pillow fails on EXIF that is none; such a picture counts as upright.
    plain = riff(extended(EXIF | XMP | ALPHA, 11, 7), image_chunks(saved(picture("RGBA", 11, 7), "WEBP", lossless=True)))
    damaged = riff(plain[12:], chunk(b"EXIF", b"no TIFF block"), chunk(b"XMP ", xmp(8)))
    yield Case("webp_exif_damaged_then_xmp", damaged, expected=pillow(plain))
    for name, data in animations():
        yield same_as_pillow(f"webp_animation_{name}", data)
    for name, data, words in refusals():
        yield Case(f"webp_refused_{name}", data, refused=words)

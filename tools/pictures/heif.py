"""HEIC and AVIF: lossless and lossy, sampling, depth, grey, alpha, sequences, turned pictures, headers that lie.

HEIC is compared with pillow_heif, AVIF with Pillow's own plugin, which bring other versions of the libraries than the system
has. Measured: HEIC 4:4:4 and 4:2:2 are equal, 4:2:0 differs by one; AVIF 4:4:4 differs by one (libavif rounds in another
way). AVIF with less chroma differs as far as the chroma itself does from pixel to pixel, because libheif repeats it and
libavif blends it: up to 67 on the noisy scene, up to 4 on smooth pictures, which are therefore used here.
"""

import base64
import io
import struct

import numpy as np
import pillow_heif
from PIL import Image, ImageOps

from common import SIZES, Case, saved, scene, to_8_bits
from jpeg import exif

pillow_heif.register_heif_opener()
IDENTITY = {"quality": -1, "chroma": "444", "matrix_coefficients": 0}  # HEIC without any loss


def picture(mode, width, height, seed=0):
    pixels = scene(width, height, {"L": 1, "RGB": 3, "RGBA": 4}[mode], seed)
    return Image.fromarray(pixels[..., 0] if mode == "L" else pixels, mode)


def smooth(width, height, mode="RGB"):
    y, x = np.mgrid[0:height, 0:width]
    planes = [128 + 60 * np.sin((x + y) / 40 + c) for c in range(len(mode))]
    return Image.fromarray(np.stack(planes, -1).astype(np.uint8), mode)


def case(name, data, tolerance=0):
    """The boxes turn a picture, EXIF and XMP do not: Pillow's plugins see to it."""
    with Image.open(io.BytesIO(data)) as image:
        pixels = np.asarray(ImageOps.exif_transpose(image).convert("RGB"))
    return Case(name, data, expected=pixels, tolerance=tolerance)


def heic_forms(width, height):
    for mode in ("L", "RGB", "RGBA"):
        base, size = picture(mode, width, height), f"{mode}_{width}x{height}"
        yield case(f"heic_lossless_{size}", saved(base, "HEIF", **IDENTITY))
        yield case(f"heic_444_{size}", saved(base, "HEIF", quality=80, chroma="444"))
        yield case(f"heic_422_{size}", saved(base, "HEIF", quality=80, chroma="422"))
        yield case(f"heic_420_{size}", saved(base, "HEIF", quality=80, chroma="420"), 1)


def avif_forms(width, height):
    for mode in ("L", "RGB", "RGBA"):
        base, size = picture(mode, width, height), f"{mode}_{width}x{height}"
        yield case(f"avif_444_{size}", saved(base, "AVIF", quality=90, subsampling="4:4:4", speed=8), 1)
        yield case(f"avif_400_{size}", saved(base, "AVIF", quality=90, subsampling="4:0:0", speed=8), 1)
    for mode in ("RGB", "RGBA"):
        base, size = smooth(width, height, mode), f"{mode}_{width}x{height}"
        yield case(f"avif_422_{size}", saved(base, "AVIF", quality=75, subsampling="4:2:2", speed=8), 4)
        yield case(f"avif_420_{size}", saved(base, "AVIF", quality=75, subsampling="4:2:0", speed=8), 4)


def turned():
    base = picture("RGB", 13, 9)
    for value in range(10):
        yield case(f"heic_turned_{value}", saved(base, "HEIF", **IDENTITY, exif=exif(value)))
        data = saved(base, "AVIF", quality=90, subsampling="4:4:4", exif=exif(value))
        yield case(f"avif_turned_{value}", data, 1)
    # Only EXIF says so, which does not count. The writers would make a box of it, so the tag gets its number later.
    entry = struct.pack("<HHIH", 277, 3, 1, 6)
    other = b"Exif\0\0II*\0\x08\0\0\0\1\0" + entry + bytes(6)
    for kind, data, tolerance in (("heic", saved(base, "HEIF", **IDENTITY, exif=other), 0),
                                  ("avif", saved(base, "AVIF", quality=90, subsampling="4:4:4", exif=other), 1)):
        assert data.count(entry) == 1, kind
        yield case(f"{kind}_only_exif", data.replace(entry, struct.pack("<HHIH", 274, 3, 1, 6)), tolerance)
    # Pillow turns an AVIF without EXIF by its XMP; samlet does not.
    xmp = b'<x:xmpmeta tiff:Orientation="6"/>'
    plain = saved(base, "AVIF", quality=90, subsampling="4:4:4")
    data = saved(base, "AVIF", quality=90, subsampling="4:4:4", xmp=xmp)
    yield Case("avif_only_xmp", data, expected=case("", plain).expected, tolerance=1)
    # pillow_heif makes a box of it.
    yield case("heic_turned_as_xmp_said", saved(base, "HEIF", **IDENTITY, xmp=xmp))


def deep_heic(mode, bits, width, height):
    """10 or 12 bits: the expected pixels are rounded from the full depth."""
    channels = len(mode)
    samples = np.random.RandomState(bits).randint(0, 2**bits, (height, width, channels)).astype(np.uint16)
    pillow_heif.options.SAVE_HDR_TO_12_BIT = bits == 12
    file = pillow_heif.from_bytes(f"{mode};16", (width, height), (samples << (16 - bits)).tobytes())
    out = io.BytesIO()
    file.save(out, **IDENTITY)
    data = out.getvalue()
    decoded = pillow_heif.open_heif(data, convert_hdr_to_8bit=False)
    full = np.asarray(decoded)[..., :3] >> (16 - bits)
    assert np.array_equal(full, samples[..., :3])
    return Case(f"heic_{bits}_bits_{mode}_{width}x{height}", data, expected=to_8_bits(full, 2**bits - 1))


# Pillow writes AVIF of 8 bits only. These are 41x23, 4:4:4, three waves, written by libavif with imagecodecs.
AVIF_10_BITS = (
    "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAAAAAAAAAOcGl0bQAAAA"
    "AAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAkwAAAChpaW5mAAAAAAABAAAAGmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNv"
    "AAAAFGlzcGUAAAAAAAAAKQAAABcAAAAQcGl4aQAAAAADCgoKAAAADGF2MUOBIEAAAAAAE2NvbHJuY2x4AAIAAgAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAo"
    "MEAAAAm21kYXQSAAoJOBUos3gQEDSAMoMBEQIjUoAA8gAAANyoXPY1GuVPIood1rOchOSDlNahZ0V1uMl2d7Ni7OjN/eL//+1B5DJz2z+R+lFulSgQ3FzE"
    "TpEfTThwVQbijJPiCghz2g8oCXFWqNp1jQFbF7SW+oqJ1+y9zJukIzABhYSuGKGHkeaZjoP3p8OCWkpDbIDbrHBwLWg="
)
AVIF_12_BITS = (
    "AAAAHGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZgAAAOttZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAAAA5waXRtAAAAAAABAA"
    "AAHmlsb2MAAAAARAAAAQABAAAAAQAAAQ8AAACdAAAAKGlpbmYAAAAAAAEAAAAaaW5mZQIAAAAAAQAAYXYwMUNvbG9yAAAAAGppcHJwAAAAS2lwY28AAAAU"
    "aXNwZQAAAAAAAAApAAAAFwAAABBwaXhpAAAAAAMMDAwAAAAMYXYxQ4FAYAAAAAATY29scm5jbHgAAgACAAaAAAAAF2lwbWEAAAAAAAAAAQABBAECgwQAAA"
    "ClbWRhdBIACglYFSizWgQEDRAyjQERAiNSgAQQTyAAANynqZWd/C7DTWSc1qJ397PX0ekhzNG2jCAC+lCO7AyDhAcg7dsHt//rUr3jlhgVbQwfNOUwKcJt"
    "fmlSs2WEKQkCuO1uGP1jzdHQtSdxqZIr/OnjZ8GlkabQxGOAMgXkbSOK4k4GccEle5/vhvIThMEtVOYcTZKHCQZOlPoYBE1enbA="
)


def timeless(data):
    """Without the time of writing, so that a file is the same on every run."""
    out = bytearray(data)
    for name in (b"mvhd", b"tkhd", b"mdhd"):
        at = data.find(name)
        while at >= 0:
            count = 16 if data[at + 4] == 1 else 8  # by the box's version
            out[at + 8 : at + 8 + count] = bytes(count)
            at = data.find(name, at + 4)
    return bytes(out)


def sequences():
    frames = [picture("RGB", 16, 12, seed) for seed in range(3)]
    more = {"save_all": True, "append_images": frames[1:]}
    yield case("avif_sequence", timeless(saved(frames[0], "AVIF", subsampling="4:4:4", **more)), 1)
    yield case("heic_several", saved(frames[0], "HEIF", **IDENTITY, **more))
    yield case("heic_several_second_is_primary", saved(frames[0], "HEIF", **IDENTITY, **more, primary_index=1))


def brands():
    """The file type box in its other forms; the offsets in the file are counted from its start, so the size stays."""
    data = saved(picture("RGB", 16, 16), "HEIF", quality=80)
    assert data[:28] == b"\0\0\0\x1cftypheic\0\0\0\0mif1heicmiaf"
    rest = data[28:]
    yield case("heic_brand_mif1", b"\0\0\0\x1cftypmif1\0\0\0\0heicmif1miaf" + rest, 1)
    yield case("heic_brand_heix", b"\0\0\0\x1cftypheix\0\0\0\0heicmif1miaf" + rest, 1)
    plain = case("", data).expected
    large = b"\0\0\0\x01ftyp" + struct.pack(">Q", 28) + b"heic\0\0\0\0mif1"
    yield Case("heic_brand_in_a_large_box", large + rest, expected=plain, tolerance=1)
    data = saved(picture("RGB", 16, 16), "AVIF", subsampling="4:4:4")
    assert data[:28] == b"\0\0\0\x20ftypavif\0\0\0\0avifmif1miaf"
    yield Case("avif_brand_mif1", b"\0\0\0\x20ftypmif1\0\0\0\0mif1miafavif" + data[28:],
               expected=case("", data).expected, tolerance=1)
    yield case("heic_trailing_garbage", saved(picture("RGB", 16, 16), "HEIF", **IDENTITY) + b"garbage" * 30)
    yield case("avif_trailing_garbage", data + b"garbage" * 30, 1)


def refusals():
    heic, avif = saved(picture("RGB", 64, 64), "HEIF", quality=50), saved(picture("RGB", 64, 64), "AVIF", quality=50)
    for kind, data in (("heic", heic), ("avif", avif)):
        yield f"{kind}_cut", data[: len(data) * 2 // 3], "truncated"
        size = struct.pack(">II", 64, 64)
        for name, claim, words in (("zero", (0, 64), "0x64"), ("huge", (60000, 60000), "60000x60000"),
                                   ("large", (15000, 15000), "next to nothing"),
                                   ("wrong", (1000, 1000), "its data holds 64x64 pixels")):
            yield f"{kind}_size_{name}", data.replace(size, struct.pack(">II", *claim)), words
        yield f"{kind}_without_meta", data.replace(b"meta", b"free"), "damaged"
        yield f"{kind}_only_brand", data[:40], "damaged"


def recorded():
    """The small cases that the unit tests keep."""
    kept = ("7x9", "1x1", "turned", "only", "brand", "several", "sequence", "garbage", "bits_RGB_16x16", "avif_1")
    for each in cases():
        if each.refused is None and any(part in each.name for part in kept) and "1x17" not in each.name:
            yield each


def cases():
    for width, height in SIZES:
        yield from heic_forms(width, height)
        yield from avif_forms(width, height)
    for quality in (1, 30, 100):
        yield case(f"heic_quality_{quality}", saved(picture("RGB", 90, 61), "HEIF", quality=quality, chroma="444"))
        data = saved(picture("RGB", 90, 61), "AVIF", quality=quality, subsampling="4:4:4")
        yield case(f"avif_quality_{quality}", data, 1)
    yield from turned()
    for bits in (10, 12):
        for mode in ("RGB", "RGBA"):
            yield deep_heic(mode, bits, 16, 16)
            yield deep_heic(mode, bits, 64, 32)
    # libavif and libheif both round, but one from YCbCr, the other from RGB of the full depth.
    yield case("avif_10_bits", base64.b64decode(AVIF_10_BITS), 2)
    yield case("avif_12_bits", base64.b64decode(AVIF_12_BITS), 2)
    yield from sequences()
    yield from brands()
    for name, data, words in refusals():
        yield Case(f"refused_{name}", data, refused=words)

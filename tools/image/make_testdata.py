#!/usr/bin/env python3
"""Writes libs/image/testdata: picture files with the pixels Pillow makes of them, and Pillow's resize results.

Needs Python 3.11, Pillow 13.0.0, pillow_heif 1.8.1, numpy 2.x, and jpegtran of libjpeg-turbo 2.1.5 (for arithmetic coding).
Run from the repository root:  python tools/image/make_testdata.py
The output is the same on every run.

decode/NAME.jpg|png|...  the input
decode/NAME.ppm          ImageOps.exif_transpose(Image.open(f)).convert("RGB"); 16-bit PNG: round(v / 257)
resize.txt               one line a case: kind seed width height new_width new_height sha256(of the RGB bytes)
"""

import hashlib
import io
import pathlib
import shutil
import struct
import subprocess
import sys
import warnings
import zlib

import numpy as np
import PIL
from PIL import Image, ImageOps

assert PIL.__version__ == "13.0.0", PIL.__version__
warnings.simplefilter("ignore")
Image.MAX_IMAGE_PIXELS = None

# The other kinds: the small cases of the differential tests.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "pictures"))
import bmp
import gif
import heif
import pnm
import tiff as tiff_files
import webp
from common import scene

ROOT = pathlib.Path(__file__).resolve().parents[2] / "libs/image/testdata"


# ---- Pictures to start from.


def source(kind, seed, width, height):
    """The same bytes as make_source of resize_test.cc: a hash of the byte's index."""
    i = np.arange(width * height * 3, dtype=np.uint64)
    h = (i * 2654435761 + seed * 40503) & 0xFFFFFFFF
    h ^= h >> np.uint64(15)
    h = (h * 2246822519) & 0xFFFFFFFF
    h ^= h >> np.uint64(13)
    byte = (h >> np.uint64(24)).astype(np.uint8)
    if kind == "extremes":
        byte = np.where(byte & 1, 255, 0).astype(np.uint8)
    elif kind == "white":
        byte = np.full_like(byte, 255)
    return byte.reshape(height, width, 3)


# ---- Files.


def jpeg(pixels, mode="RGB", **options):
    out = io.BytesIO()
    Image.fromarray(pixels if mode != "L" else pixels[..., 0], mode).save(out, "JPEG", **{"quality": 85, **options})
    return out.getvalue()


def insert_after_soi(data, *segments):
    return data[:2] + b"".join(segments) + data[2:]


def app1(body):
    return b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body


def patch_sampling(data, table):
    """Changes the sampling factors of the frame header: {component index: factors byte}."""
    at = next(data.index(bytes([0xFF, m])) for m in (0xC0, 0xC2) if bytes([0xFF, m, 0, 17]) in data)
    out = bytearray(data)
    for component, factors in table.items():
        out[at + 11 + 3 * component] = factors
    return bytes(out)


def patch_size(data, width, height):
    at = next(data.index(bytes([0xFF, m, 0])) for m in (0xC0, 0xC2) if bytes([0xFF, m, 0, 17]) in data)
    return data[: at + 5] + struct.pack(">HH", height, width) + data[at + 9 :]


def jpegtran(data, *options):
    return subprocess.run([shutil.which("jpegtran"), *options], input=data, stdout=subprocess.PIPE, check=True).stdout


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


ADAM7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]


def pack_rows(samples, bit_depth):
    """samples [height, width, channels] -> filtered rows; the filter type changes from row to row."""
    rows = []
    channels = samples.shape[2]
    step = max(1, channels * bit_depth // 8)
    before = None
    for y, row in enumerate(samples):
        if bit_depth == 16:
            raw = row.astype(">u2").tobytes()
        elif bit_depth == 8:
            raw = row.astype(np.uint8).tobytes()
        else:
            bits = "".join(format(int(v), f"0{bit_depth}b") for v in row.ravel())
            bits += "0" * (-len(bits) % 8)
            raw = bytes(int(bits[i : i + 8], 2) for i in range(0, len(bits), 8))
        left = bytes(step) + raw[:-step] if len(raw) > step else bytes(len(raw))
        up = before or bytes(len(raw))
        if y % 3 == 0:
            rows.append(b"\0" + raw)
        elif y % 3 == 1:
            rows.append(b"\1" + bytes((a - b) & 255 for a, b in zip(raw, left)))
        else:
            rows.append(b"\2" + bytes((a - b) & 255 for a, b in zip(raw, up)))
        before = raw
    return b"".join(rows)


def png(samples, bit_depth, colour_type, before=b"", after=b"", interlaced=False):
    height, width = samples.shape[:2]
    if interlaced:
        passes = [samples[y0::dy, x0::dx] for x0, y0, dx, dy in ADAM7]
        raw = b"".join(pack_rows(p, bit_depth) for p in passes if p.shape[0] and p.shape[1])
    else:
        raw = pack_rows(samples, bit_depth)
    packed = zlib.compress(raw, 9)
    middle = len(packed) // 2  # two IDAT chunks
    header = struct.pack(">IIBBBBB", width, height, bit_depth, colour_type, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", packed[:middle])
            + chunk(b"IDAT", packed[middle:]) + after + chunk(b"IEND", b""))


# ---- EXIF.


def tiff(entries, little=True, head=None, offset=8):
    """entries: (tag, type, count, 4 bytes) -> a TIFF block with one directory."""
    e = "<" if little else ">"
    head = head or (b"II*\0" if little else b"MM\0*")
    body = struct.pack(e + "H", len(entries))
    for tag, kind, count, value in entries:
        body += struct.pack(e + "HHI", tag, kind, count) + value
    return head + struct.pack(e + "I", offset) + bytes(offset - 8) + body + bytes(4)


def orientation(value, little=True, **options):
    return tiff([(274, 3, 1, struct.pack("<HH" if little else ">HH", value, 0))], little, **options)


def exif_segment(block):
    return app1(b"Exif\0\0" + block)


def xmp_packet(text):
    return (b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF><rdf:Description ' + text + b"/></rdf:RDF></x:xmpmeta>")


def raw_profile(block):
    return f"\nexif\n{len(block):8}\n".encode() + b"\n".join(
        block.hex()[i : i + 72].encode() for i in range(0, len(block.hex()), 72)) + b"\n"


# ---- The cases.


def jpeg_cases():
    rgb = scene(37, 29)
    yield "jpeg_444", jpeg(rgb, subsampling=0)
    yield "jpeg_422", jpeg(rgb, subsampling=1)
    yield "jpeg_420", jpeg(rgb, subsampling=2)
    # 4:4:0, 4:1:1 and 4:1:0 by changing the frame header: the blocks stay legal, the picture is scrambled.
    yield "jpeg_440", patch_size(patch_sampling(jpeg(scene(29, 37), subsampling=1), {0: 0x12}), 37, 29)
    yield "jpeg_441_odd", patch_size(patch_sampling(jpeg(scene(64, 64), subsampling=2), {0: 0x41}), 127, 31)
    yield "jpeg_progressive", jpeg(rgb, progressive=True)
    yield "jpeg_progressive_444", jpeg(rgb, progressive=True, subsampling=0)
    yield "jpeg_optimized", jpeg(rgb, optimize=True, quality=40)
    yield "jpeg_quality_100", jpeg(rgb, quality=100)
    yield "jpeg_quality_1", jpeg(rgb, quality=1)
    yield "jpeg_restart", jpeg(rgb, restart_marker_blocks=2)
    yield "jpeg_restart_progressive", jpeg(rgb, restart_marker_rows=1, progressive=True)
    yield "jpeg_grey", jpeg(rgb, "L")
    yield "jpeg_grey_progressive", jpeg(rgb, "L", progressive=True)
    yield "jpeg_rgb_adobe", jpeg(rgb, keep_rgb=True)
    cmyk = jpeg(scene(37, 29, 4), "CMYK")
    yield "jpeg_cmyk", cmyk
    adobe = cmyk.index(b"Adobe")
    yield "jpeg_ycck", cmyk[: adobe + 11] + b"\2" + cmyk[adobe + 12 :]
    yield "jpeg_cmyk_no_adobe", cmyk[: adobe - 4] + cmyk[adobe + 12 :]
    yield "jpeg_arithmetic", jpegtran(jpeg(rgb), "-arithmetic")
    yield "jpeg_arithmetic_progressive", jpegtran(jpeg(rgb), "-arithmetic", "-progressive")
    for width, height in [(1, 1), (1, 33), (33, 1), (2, 2), (7, 9), (8, 8), (16, 16), (17, 17), (3, 70)]:
        yield f"jpeg_{width}x{height}", jpeg(scene(width, height, seed=width))
    yield "jpeg_wide", jpeg(scene(4099, 3))
    yield "jpeg_trailing_garbage", jpeg(rgb) + b"<html>garbage" * 20
    yield "jpeg_junk_between_segments", insert_after_soi(jpeg(rgb), b"\xff\xff\xff\xfe\0\4hi", b"\0\0")
    data = jpeg(rgb)
    scan = data.index(b"\xff\xda")
    yield "jpeg_flipped_bits", data[: scan + 300] + bytes([data[scan + 300] ^ 0x5A]) + data[scan + 301 :]
    yield "jpeg_icc_profile", jpeg(rgb, icc_profile=b"not a profile" * 100)


def exif_cases():
    small = scene(11, 7, seed=3)
    base = jpeg(small, subsampling=0, quality=95)
    samples = small.astype(np.uint16)
    for value in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 65535]:
        little = value % 2 == 0
        block = orientation(value, little)
        yield f"exif_jpeg_{value}", insert_after_soi(base, exif_segment(block))
        yield f"exif_png_{value}", png(samples, 8, 2, before=chunk(b"eXIf", block))
    sub = jpeg(scene(23, 38), subsampling=2)
    for value in [3, 6, 7]:
        yield f"exif_jpeg_420_{value}", insert_after_soi(sub, exif_segment(orientation(value)))
    yield from odd_exif_cases(base)
    yield from png_metadata_cases(samples)


def odd_exif_cases(base):
    def case(name, *segments):
        return f"exif_odd_{name}", insert_after_soi(base, *segments)

    six = struct.pack("<HH", 6, 0)
    yield case("long", exif_segment(tiff([(274, 4, 1, struct.pack("<I", 6))])))
    yield case("byte", exif_segment(tiff([(274, 1, 1, b"\6\0\0\0")])))
    yield case("ascii", exif_segment(tiff([(274, 2, 2, b"6\0\0\0")])))
    yield case("signed_byte", exif_segment(tiff([(274, 6, 1, b"\6\0\0\0")])))
    yield case("signed_short", exif_segment(tiff([(274, 8, 1, six)])))
    yield case("negative", exif_segment(tiff([(274, 8, 1, b"\xfa\xff\0\0")])))
    yield case("float", exif_segment(tiff([(274, 11, 1, struct.pack("<f", 6))])))
    yield case("rational", exif_segment(tiff([(274, 5, 1, struct.pack("<I", 26))]) + struct.pack("<II", 12, 2)))
    yield case("rational_zero", exif_segment(tiff([(274, 5, 1, struct.pack("<I", 26))]) + struct.pack("<II", 6, 0)))
    yield case("unknown_type", exif_segment(tiff([(274, 99, 1, six)])))
    yield case("count_0", exif_segment(tiff([(274, 3, 0, six)])))
    yield case("count_2", exif_segment(tiff([(274, 3, 2, struct.pack("<HH", 6, 3))])))
    yield case("count_3", exif_segment(tiff([(274, 3, 3, struct.pack("<I", 26))]) + struct.pack("<HHH", 8, 3, 1)))
    yield case("count_outside", exif_segment(tiff([(274, 3, 3, struct.pack("<I", 5000))])))
    yield case("count_huge", exif_segment(tiff([(274, 3, 0xFFFFFFFF, struct.pack("<I", 8))])))
    yield case("twice", exif_segment(tiff([(274, 3, 1, six), (274, 3, 1, b"\3\0\0\0")])))
    yield case("after_good_tag", exif_segment(tiff([(271, 2, 4, b"abc\0"), (274, 3, 1, six)])))
    yield case("after_data_outside", exif_segment(tiff([(271, 2, 9, struct.pack("<I", 36)), (274, 3, 1, six)])))
    yield case("after_claim_too_large", exif_segment(tiff([(271, 2, 999, struct.pack("<I", 5)), (274, 3, 1, six)])))
    yield case("far_directory", exif_segment(orientation(6, offset=1000)))
    yield case("directory_outside", exif_segment(b"II*\0" + struct.pack("<I", 99999)))
    yield case("cut_entry", exif_segment(orientation(6)[:18]))
    yield case("cut_next", exif_segment(orientation(6)[:22]))
    yield case("swapped_42_little", exif_segment(orientation(6, head=b"II\0*")))
    yield case("swapped_42_big", exif_segment(orientation(6, little=False, head=b"MM*\0")))
    yield case("bigtiff_big", exif_segment(orientation(6, little=False, head=b"MM\0+")))
    yield case("empty", exif_segment(b""))
    yield case("two_prefixes", exif_segment(b"Exif\0\0" + orientation(6)))
    yield case("split", exif_segment(orientation(6)[:15]), exif_segment(orientation(6)[15:]))
    yield case("two_segments", exif_segment(orientation(6)), exif_segment(orientation(3)))
    attribute = xmp_packet(b'tiff:Orientation="6"')
    name = b"http://ns.adobe.com/xap/1.0/\0"
    yield case("xmp_attribute", app1(name + attribute))
    yield case("xmp_element", app1(name + b"<tiff:Orientation>8</tiff:Orientation>"))
    yield case("xmp_two_digits", app1(name + b'tiff:Orientation="38"'))
    yield case("xmp_illegal", app1(name + b'tiff:Orientation="9"'))
    yield case("xmp_second_match", app1(name + b'tiff:Orientation=\'6\' tiff:Orientation="x" tiff:Orientation="3"'))
    yield case("xmp_last_packet", app1(name + attribute), app1(name + b"nothing"))
    yield case("xmp_loses_to_exif", exif_segment(orientation(3)), app1(name + attribute))
    yield case("xmp_loses_to_illegal_exif", exif_segment(orientation(9)), app1(name + attribute))
    yield case("xmp_wins_without_tag", exif_segment(tiff([(271, 2, 4, b"abc\0")])), app1(name + attribute))


def png_metadata_cases(samples):
    def case(name, before=b"", after=b""):
        return f"exif_png_{name}", png(samples, 8, 2, before, after)

    six, three = orientation(6), orientation(3)
    yield case("exif_after_pixels", after=chunk(b"eXIf", six))
    yield case("two_exif", chunk(b"eXIf", six), chunk(b"eXIf", three))
    yield case("exif_with_prefix", chunk(b"eXIf", b"Exif\0\0" + six))
    yield case("exif_bad_checksum_after_pixels", after=chunk(b"eXIf", six)[:-4] + b"oops")
    key = b"Raw profile type exif\0"
    yield case("raw_text", chunk(b"tEXt", key + raw_profile(b"Exif\0\0" + six)))
    yield case("raw_ztxt", chunk(b"zTXt", key + b"\0" + zlib.compress(raw_profile(b"Exif\0\0" + six))))
    yield case("raw_itxt", chunk(b"iTXt", key + b"\1\0\0\0" + zlib.compress(raw_profile(six))))
    yield case("raw_after_pixels", after=chunk(b"tEXt", key + raw_profile(six)))
    yield case("raw_loses_to_exif", chunk(b"tEXt", key + raw_profile(six)), chunk(b"eXIf", three))
    yield case("raw_damaged_zlib", chunk(b"zTXt", key + b"\0" + b"garbage"))
    xmp = b"XML:com.adobe.xmp\0"
    packet = xmp_packet(b'tiff:Orientation="6"')
    yield case("xmp_itxt", chunk(b"iTXt", xmp + b"\0\0\0\0" + packet))
    yield case("xmp_itxt_packed", chunk(b"iTXt", xmp + b"\1\0en\0x\0" + zlib.compress(packet)))
    yield case("xmp_text", chunk(b"tEXt", xmp + packet))
    yield case("xmp_loses_to_exif", chunk(b"iTXt", xmp + b"\0\0\0\0" + packet), chunk(b"eXIf", three))
    yield case("other_text", chunk(b"tEXt", b"Comment\0tiff:Orientation=\"6\""))


def png_cases():
    grey = scene(37, 29)[..., :1].astype(np.uint16)
    for depth in [1, 2, 4, 8]:
        yield f"png_grey{depth}", png(grey >> (8 - depth), depth, 0)
        yield f"png_grey{depth}_interlaced", png(grey >> (8 - depth), depth, 0, interlaced=True)
    yield "png_grey8_trns", png(grey, 8, 0, before=chunk(b"tRNS", struct.pack(">H", int(grey[0, 0, 0]))))
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256, 1)
    yield "png_grey16_every_value", png(every, 16, 0)
    deep = (scene(19, 23, 4).astype(np.uint16) * 251 + 77) & 0xFFFF
    yield "png_grey16_interlaced", png(deep[..., :1], 16, 0, interlaced=True)
    yield "png_grey16_trns", png(deep[..., :1], 16, 0, before=chunk(b"tRNS", b"\0\1"))
    yield "png_greyalpha8", png(scene(37, 29, 2), 8, 4)
    yield "png_greyalpha16", png(deep[..., :2], 16, 4)
    yield "png_rgb8", png(scene(37, 29), 8, 2)
    yield "png_rgb8_interlaced", png(scene(37, 29), 8, 2, interlaced=True)
    yield "png_rgb8_trns", png(scene(37, 29), 8, 2, before=chunk(b"tRNS", bytes(6)))
    yield "png_rgb16", png(deep[..., :3], 16, 2)
    yield "png_rgba8", png(scene(37, 29, 4), 8, 6)
    yield "png_rgba8_interlaced", png(scene(37, 29, 4), 8, 6, interlaced=True)
    yield "png_rgba16", png(deep, 16, 6)
    yield "png_rgba16_interlaced", png(deep, 16, 6, interlaced=True)
    transparent = scene(13, 9, 4)
    transparent[..., 3] = 0
    yield "png_rgba8_all_transparent", png(transparent, 8, 6)
    yield from palette_cases(grey)
    for width, height in [(1, 1), (1, 33), (33, 1), (2, 3), (5, 5)]:
        yield f"png_{width}x{height}", png(scene(width, height), 8, 2)
        yield f"png_{width}x{height}_interlaced", png(scene(width, height), 8, 2, interlaced=True)
    profile = chunk(b"iCCP", b"name\0\0" + zlib.compress(b"not a profile" * 50))
    yield "png_iccp", png(scene(13, 9), 8, 2, before=profile)
    yield "png_gama", png(scene(13, 9), 8, 2, before=chunk(b"gAMA", struct.pack(">I", 100000)))
    yield "png_srgb_chrm", png(scene(13, 9), 8, 2, before=chunk(b"cHRM", struct.pack(">8I", *range(1, 9)))
                               + chunk(b"sRGB", b"\1"))
    yield "png_trailing_garbage", png(scene(13, 9), 8, 2) + b"garbage" * 30
    yield "png_no_iend", png(scene(13, 9), 8, 2)[:-12]
    yield "png_unknown_chunk", png(scene(13, 9), 8, 2, before=chunk(b"prVt", b"x" * 100))
    yield "png_pillow_best", pillow_png(scene(37, 29), optimize=True)
    frames = [Image.fromarray(scene(13, 9, seed=s)) for s in (1, 2, 3)]
    yield "png_animated", pillow_png(None, frames, save_all=True, append_images=frames[1:])
    yield "png_animated_default_image", pillow_png(None, frames, save_all=True, append_images=frames[1:],
                                                   default_image=True)


def palette_cases(grey):
    rng = np.random.RandomState(7)
    for depth in [1, 2, 4, 8]:
        colours = rng.randint(0, 256, (1 << depth, 3)).astype(np.uint8).tobytes()
        plte = chunk(b"PLTE", colours)
        yield f"png_palette{depth}", png(grey >> (8 - depth), depth, 3, before=plte)
        yield f"png_palette{depth}_interlaced", png(grey >> (8 - depth), depth, 3, before=plte, interlaced=True)
        alpha = chunk(b"tRNS", rng.randint(0, 256, 1 << (depth - 1)).astype(np.uint8).tobytes())
        yield f"png_palette{depth}_trns", png(grey >> (8 - depth), depth, 3, before=plte + alpha)
    one = chunk(b"PLTE", rng.randint(0, 256, (256, 3)).astype(np.uint8).tobytes()) + chunk(b"tRNS", b"\xff\xff\0")
    yield "png_palette8_one_transparent", png(grey, 8, 3, before=one)
    yield "png_palette8_short", png(grey, 8, 3, before=chunk(b"PLTE", bytes(range(30))))
    yield "png_palette4_short", png(grey >> 4, 4, 3, before=chunk(b"PLTE", bytes(range(30))))


def pillow_png(pixels, frames=None, **options):
    out = io.BytesIO()
    (frames[0] if frames else Image.fromarray(pixels)).save(out, "PNG", **options)
    return out.getvalue()


def expected(name, data):
    image = Image.open(io.BytesIO(data))
    if "16" in name and name.startswith("png_") and "16x" not in name:
        return sixteen_bit(data)
    return np.array(ImageOps.exif_transpose(image).convert("RGB"))


def sixteen_bit(data):
    """Pillow clips 16-bit grey and cuts 16-bit colour; we round. Unpacks the pixels without Pillow."""
    width, height, depth, colour_type, _, _, interlaced = struct.unpack(">IIBBBBB", data[16:29])
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour_type]
    packed, at = b"", 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        packed += data[at + 8 : at + 8 + length] if name == b"IDAT" else b""
        at += 12 + length
    raw = zlib.decompress(packed)
    samples = np.zeros((height, width, channels), np.uint32)
    for x0, y0, dx, dy in ADAM7 if interlaced else [(0, 0, 1, 1)]:
        view = samples[y0::dy, x0::dx]
        raw = unfilter(raw, view, 2 * channels)
    rgb = samples[..., :3] if channels > 2 else np.repeat(samples[..., :1], 3, -1)
    return ((rgb * 2 + 257) // 514).astype(np.uint8)  # round(v / 257)


def unfilter(raw, view, step):
    before = bytes(view.shape[1] * step)
    for y in range(view.shape[0] if view.shape[1] else 0):
        kind, row = raw[0], bytearray(raw[1 : 1 + len(before)])
        raw = raw[1 + len(before) :]
        for i in range(len(row)):
            left = row[i - step] if i >= step else 0
            row[i] = (row[i] + (0, left, before[i])[kind]) & 255
        view[y] = np.frombuffer(bytes(row), ">u2").reshape(view.shape[1], -1)
        before = bytes(row)
    return raw


def resize_cases():
    sizes = [(1, 1), (1, 2), (2, 1), (1, 17), (17, 1), (2, 2), (3, 5), (7, 13), (31, 37), (101, 97), (640, 480)]
    targets = [(1, 1), (1, 7), (7, 1), (2, 2), (13, 11), (97, 101), (168, 168)]
    for size in sizes:
        for target in targets:
            yield "noise", 1, *size, *target
    for kind in ["extremes", "white"]:
        for size, target in [((640, 480), (168, 168)), ((31, 37), (97, 101)), ((5000, 1), (1, 1)), ((1, 5000), (1, 1)),
                             ((5000, 3), (7, 3)), ((1997, 1999), (3, 2))]:
            yield kind, 2, *size, *target
    # One side only, none, and off by one.
    for target in [(101, 97), (101, 50), (50, 97), (101, 200), (200, 97), (100, 97), (101, 98), (102, 96)]:
        yield "noise", 3, 101, 97, *target
    yield "noise", 4, 4000, 3000, 168, 168
    yield "noise", 4, 4000, 3000, 1008, 1008
    yield "noise", 5, 17, 11, 1008, 1008
    yield "noise", 6, 1008, 1008, 1008, 1008
    yield "noise", 7, 1007, 1009, 1008, 1008
    # Around the border of the rule for the order of the passes: the height loses twice what the width does.
    for size in [(60, 62), (60, 63), (62, 64), (62, 65), (64, 67), (64, 68), (64, 69), (50, 61), (900, 1600)]:
        yield "noise", 10, *size, 61 if size[0] < 900 else 1008, 60 if size[0] < 900 else 1008
    yield "noise", 11, 3000, 4000, 1008, 1008
    # The box is a float in Pillow: 2^24 + 1 columns are 2^24.
    yield "noise", 8, 16777217, 1, 1000, 1
    yield "noise", 9, 3000001, 1, 3, 2


def write_decode():
    folder = ROOT / "decode"
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    for cases in (jpeg_cases, exif_cases, png_cases):
        for name, data in cases():
            pixels = expected(name, data)
            (folder / f"{name}.{'jpg' if data[:1] == bytes([255]) else 'png'}").write_bytes(data)
            header = f"P6\n{pixels.shape[1]} {pixels.shape[0]}\n255\n".encode()
            (folder / f"{name}.ppm").write_bytes(header + pixels.tobytes())


def write_recorded(module, suffix):
    for case in module.recorded():
        height, width = case.expected.shape[:2]
        (ROOT / "decode" / f"{case.name}.{suffix}").write_bytes(case.data)
        (ROOT / "decode" / f"{case.name}.ppm").write_bytes(f"P6\n{width} {height}\n255\n".encode() + case.expected.tobytes())


def write_resize():
    lines = []
    for kind, seed, width, height, new_width, new_height in resize_cases():
        image = Image.fromarray(source(kind, seed, width, height))
        out = image.resize((new_width, new_height), Image.Resampling.BILINEAR)
        lines.append(f"{kind} {seed} {width} {height} {new_width} {new_height} "
                     f"{hashlib.sha256(out.tobytes()).hexdigest()}\n")
    (ROOT / "resize.txt").write_text("".join(lines))


if __name__ == "__main__":
    write_decode()
    write_recorded(bmp, "bmp")
    write_recorded(pnm, "pnm")
    write_recorded(tiff_files, "tif")
    write_recorded(webp, "webp")
    write_recorded(heif, "heif")
    write_recorded(gif, "gif")
    write_resize()
